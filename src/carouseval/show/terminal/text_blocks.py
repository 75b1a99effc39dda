"""Pages as heat maps, and small tables, in the terminal."""

import math
import re
from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style
from rich.text import Text

from carouseval.metrics.grid import Array, Grid, sizes_by_row
from carouseval.metrics.page_score import PageAnalysis, PageScore
from carouseval.results import Result
from carouseval.text_tables import brief, printable, printable_lines

# from pale to dark blue, light enough at the low end for black text (ColorBrewer's Blues, by hand)
_RAMP = [(239, 243, 255), (189, 215, 231), (107, 174, 214), (49, 130, 189), (8, 81, 156)]
EMPTY = "·"
WIDTH = 120  # of sentences, and of everything if the output is not a terminal


def page_score(result: PageScore, width: int | None = None) -> Text:
    """The scores, the page, its weights and its ideal page; wide pages in blocks of swipe pages that fit ``width``."""
    longest = max((len(brief(name)) for name in result.scores), default=0)
    lines = [
        Text.assemble(
            (brief(name).ljust(longest), "bold"),
            "  ",
            _score(value).rjust(8),
            (f"  {_discount(result, name)}", "dim"),
        )
        for name, value in result.scores.items()
    ]
    if result.analysis is None:
        lines += heading("The page", "relevance") + heat(result.page, result.grid, width=width)
    else:
        lines += _analysis(result, result.analysis, width)
    return Text("\n").join(lines)


def _score(value: float) -> str:
    if math.isnan(value):
        return "none: no relevant item"
    return f"{value:.4f}" if value == 0 or 1e-3 <= value < 1e9 else f"{value:.4g}"


def _discount(result: PageScore, name: str) -> str:
    """The symbol of a metric's discount, if its name leaves it out."""
    discount = result.discounts.get(name, "").partition("(")[0]
    return "" if not discount or discount in name else discount


def _analysis(result: PageScore, analysis: PageAnalysis, width: int | None) -> list[Text]:
    kind = "each row one category" if analysis.ideal == "category" else "any item anywhere"
    share = f", {analysis.dcg / analysis.ideal_dcg:.1%} of the ideal page" if analysis.ideal_dcg > 0 else ""
    cutoff = analysis.metric.cutoff
    cut = f", cut off at {cutoff[0]}x{cutoff[1]}" if isinstance(cutoff, tuple) else ""
    used = analysis.source[..., 0] >= 0  # cells of a larger screen that neither page uses are left out
    rows = max(result.page.shape[0], int(np.flatnonzero(used.any(axis=1)).max(initial=-1)) + 1)
    cols = max(result.page.shape[1], int(np.flatnonzero(used.any(axis=0)).max(initial=-1)) + 1)
    more = "" if (rows, cols) == result.grid.shape else f"; the first {rows}x{cols} of the {result.grid} screen"
    origins = [_origin(sources) for sources in analysis.source[:rows, :, 0].tolist()]
    return [
        *heading("The page", f"relevance; its 2DCG is {_score(analysis.dcg)}{share}"),
        *heat(result.page, result.grid, width=width),
        *heading("Weights", f"{brief(str(analysis.discount))}{cut}{more}"),
        *heat(analysis.weights[:rows, :cols], result.grid, decimals=2, width=width),
        *heading("The ideal page", f"{kind}; its 2DCG is {_score(analysis.ideal_dcg)}"),
        *heat(analysis.ideal_page[:rows, :cols], result.grid, notes=origins, width=width),
    ]


def small_table(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Text:
    """Aligned columns: text on the left, numbers on the right."""
    header, cells = [printable(name) for name in header], [[_cell(value) for value in row] for row in rows]
    left = [not all(map(_is_number, column)) for column in zip(*cells, strict=True)] or [True] * len(header)
    widths = [max(len(text) for text in column) for column in zip(header, *cells, strict=True)]

    def line(texts: Sequence[str]) -> str:
        aligned = (
            text.ljust(width) if is_text else text.rjust(width)
            for text, width, is_text in zip(texts, widths, left, strict=True)
        )
        return "  ".join(aligned).rstrip()

    lines = [Text(title, "bold")] * bool(title) + [Text(line(header), "dim"), *(Text(line(row)) for row in cells)]
    return Text("\n").join(lines)


def frame_table(result: Result) -> Text:
    """A result's own table under its heading."""
    frame = result.to_frame()
    rows = [[brief(value) if isinstance(value, str) else value for value in row] for row in frame.iter_rows()]
    return small_table(result.heading, frame.columns, rows)


def sentences(text: str, width: int | None, style: str = "") -> Text:
    """Text in lines that fit the terminal."""
    lines = wrap(text, min(width or WIDTH, WIDTH), break_on_hyphens=False)
    return Text("\n".join(map(printable, lines)), style)


def with_escapes(drawing: Text, console: Console) -> Segments:
    """What is drawn on a console, with escapes in place of characters that a terminal would obey."""
    options = console.options.update(no_wrap=True, overflow="ignore")
    return Segments(Segment(printable_lines(text), style) for text, style, _ in console.render(drawing, options))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[\d,]*\.?\d*(e-?\d+)?%?", text) is not None


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:.4f}" if isinstance(value, float) else printable(str(value))


def heading(title: str, note: str) -> list[Text]:
    """A title with a note beside it, after a blank line."""
    return [Text(), Text.assemble((title, "bold"), "  ", (note, "dim"))]


def _origin(source_rows: list[int]) -> str:
    """The row of the page that a row of the ideal page comes from."""
    rows = sorted({row + 1 for row in source_rows if row >= 0})
    return "" if not rows else f"row {rows[0]}" if len(rows) == 1 else f"{len(rows)} rows"


def heat(
    values: Array,
    grid: Grid,
    decimals: int | None = None,
    notes: Sequence[str] | None = None,
    width: int | None = None,
    notes_title: str = "from",
) -> list[Text]:
    """A table as a heat map, with gaps between swipe pages and a note after each row.

    Where page sizes differ by row, columns stay aligned and a line marks where a swipe page of a row begins. If lines
    would be longer than ``width``, the columns are split into blocks one below the other.
    """
    cells = [[_number(value, decimals) for value in row] for row in values.tolist()]
    size = max(*(len(cell) for row in cells for cell in row), len(str(values.shape[1]))) + 1
    margin = len(str(values.shape[0])) + 2
    room = max(1, ((width or 10**9) - margin - max(map(len, notes or [""])) - 2) // size)
    begins = np.broadcast_to(grid.slot == 1, grid.shape)[: values.shape[0], : values.shape[1]]  # a swipe page
    in_any: NDArray[np.bool_] = np.any(begins, axis=0)
    if (begins == in_any).all():
        mark, page_size = "  ", sizes_by_row(grid)[0]
        swipe_pages = max(1, (room * size) // (page_size * size + 2))
        step = swipe_pages * page_size if room >= page_size else room
    else:
        mark, step = "│ ", max(1, (room * size) // (size + 2))
    step = min(values.shape[1], step)
    top = max((value for row in values.tolist() for value in row if not math.isnan(value)), default=0.0)
    lines: list[Text] = []
    for begin in range(0, values.shape[1], step):
        block = range(begin, min(begin + step, values.shape[1]))
        gaps = ["  " if j > begin and in_any[j] else "" for j in block]  # between swipe pages
        header = "".join(gap + str(j + 1).rjust(size - 1) + " " for j, gap in zip(block, gaps, strict=True))
        lines += [Text()] * bool(lines) + [Text(" " * margin + header + (f" {notes_title}" if notes else ""), "dim")]
        for i, row in enumerate(values.tolist()):
            line = Text.assemble((str(i + 1).rjust(margin - 2), "dim"), "  ")
            for j, gap in zip(block, gaps, strict=True):
                line.append(mark if gap and begins[i, j] else gap)
                line.append(cells[i][j].rjust(size - 1) + " ", _shade(row[j], top))
            lines.append(line.append(f"  {notes[i]}", "dim") if notes else line)
    return lines


def _number(value: float, decimals: int | None) -> str:
    if math.isnan(value):
        return EMPTY
    if decimals is not None and value < 1:
        return f"{value:.{decimals}f}".removeprefix("0")
    if value == int(value) and value < 1e7:
        return str(int(value))
    return f"{value:.2f}".rstrip("0").rstrip(".") if 0.005 <= value < 1e5 else f"{value:.2g}"


def _shade(value: float, top: float) -> Style:
    if math.isnan(value):
        return Style(dim=True)
    share = max(0.0, value / top) if top > 0 else 0.0
    step = min(int(share * (len(_RAMP) - 1)), len(_RAMP) - 2)
    rest = share * (len(_RAMP) - 1) - step
    red, green, blue = (round(a + (b - a) * rest) for a, b in zip(_RAMP[step], _RAMP[step + 1], strict=True))
    ink = Color.from_rgb(0, 0, 0) if share < 0.7 else Color.from_rgb(255, 255, 255)
    return Style(color=ink, bgcolor=Color.from_rgb(red, green, blue))
