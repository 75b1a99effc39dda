"""What a report consists of: a summary, then sections of text, figures and tables."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, NamedTuple, TypeAlias

from carouseval.show.charts.chart import Chart
from carouseval.text_tables import TextTable

Tone: TypeAlias = Literal["clear", "open", "care"]
"""How a headline is set off: a clear outcome, one that is open, or one to be read with care."""
_MOST_LINES = 60  # of a table
_FEW_LINES = 15  # of a table that is not folded


@dataclass(frozen=True)
class Paragraph:
    """Sentences."""

    text: str
    kind: ClassVar[str] = "paragraph"


@dataclass(frozen=True)
class Figure:
    """A chart; a wide one scrolls rather than shrink to what cannot be read."""

    chart: Chart
    wide: bool = False
    kind: ClassVar[str] = "figure"


@dataclass(frozen=True)
class TableBlock:
    """A table with its caption, and notes about it."""

    table: TextTable
    note: str = ""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True)
class Code:
    """Lines to be copied."""

    text: str
    kind: ClassVar[str] = "code"


@dataclass(frozen=True)
class Links:
    """Things to be cited, each with its address."""

    links: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "links"


@dataclass(frozen=True)
class Folded:
    """Blocks that are shown when their heading is opened, and in print."""

    heading: str
    blocks: Sequence["Block"]
    kind: ClassVar[str] = "folded"


@dataclass(frozen=True)
class Section:
    """Blocks under a heading."""

    heading: str
    blocks: Sequence["Block"]
    kind: ClassVar[str] = "section"


Block: TypeAlias = Paragraph | Figure | TableBlock | Code | Links | Folded | Section


class Tile(NamedTuple):
    """A number to be seen first."""

    label: str
    value: str
    note: str = ""


class Point(NamedTuple):
    """Sentences of the summary under a label."""

    label: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class Summary:
    """What a reader should take away."""

    headline: str
    points: Sequence[Point]
    tiles: Sequence[Tile] = ()
    cautions: Sequence[str] = ()
    tone: Tone = "open"


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    subtitle: str
    summary: Summary
    sections: Sequence[Section] = field(default_factory=list)

    def with_caution(self, text: str) -> "Document":
        """The same document with one more caution in its summary."""
        return replace(self, summary=replace(self.summary, cautions=[*self.summary.cautions, text]))


class Detail(NamedTuple):
    """How much a report shows, so that it stays small."""

    pages: int  # drawn, of each system
    posters: bool
    cells: bool  # heat maps of cells


def table_block(table: TextTable, about: str, where: str = "") -> TableBlock | Folded:
    """A table with a caption of its own: folded if it is long, cut off if it is very long.

    The first sentence of ``about`` is the caption, the others are notes. ``where`` tells where the lines that are left
    out can be found.
    """
    caption, _, note = about.partition(". ")
    count, caption = len(table.rows), caption.rstrip(".")
    cut = f" (the first {_MOST_LINES} of {count:,}{'; ' * bool(where)}{where})" if count > _MOST_LINES else ""
    block = TableBlock(replace(table, rows=table.rows[:_MOST_LINES], caption=f"{caption}{cut}"), note)
    return Folded(f"{caption}: {count:,} lines", [block]) if count > _FEW_LINES else block


def without_figures(document: Document) -> Document:
    """A document with the descriptions of its charts in their place."""

    def described(block: Block) -> Block:
        if isinstance(block, Section | Folded):
            return replace(block, blocks=[described(part) for part in block.blocks])
        return Paragraph(f"{block.chart.title}. {block.chart.alt}") if isinstance(block, Figure) else block

    sections = [replace(part, blocks=[described(block) for block in part.blocks]) for part in document.sections]
    return replace(document, sections=sections)
