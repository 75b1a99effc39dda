"""Tables of pages kept open: found by their ids, shown one at a time, scored as they are edited."""

import contextlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from carouseval.errors import DataError
from carouseval.evaluation.defects import page_defects
from carouseval.evaluation.editing.page_rows import PageRow, lines_of_rows, rows_of_lines
from carouseval.evaluation.editing.page_scorer import PageScorer
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.reading.packed_lines import Lines
from carouseval.evaluation.settings import Settings
from carouseval.messages import nested
from carouseval.metrics.grid import Grid
from carouseval.progress import Progress
from carouseval.tables.table import RECORD, Table, TableLike

_MOST_SCORERS = 32  # kept for pages and settings that were used last


class PageName(NamedTuple):
    """A page: its code, and its ids as text."""

    code: int
    user_id: str
    page_id: str | None


@dataclass(frozen=True)
class StoredPage:
    """A page as its table has it."""

    name: PageName
    rows: tuple[PageRow, ...]
    grid: Grid
    relevance: Mapping[int, float]  # of the items that its user judged


class OpenPages:
    """The pages of one or several systems, and what they are judged by.

    Tables are read once. Nothing is computed for a page before it is asked for. Use as a context manager, or call
    :meth:`close`, which removes temporary files.
    """

    def __init__(
        self,
        systems: Mapping[str, TableLike],
        judgments: TableLike,
        items: TableLike | None,
        settings: Settings,
        progress: Progress | None = None,
    ) -> None:
        self.settings: Settings = settings
        self.names: tuple[str, ...] = tuple(systems)
        self._scorers: OrderedDict[Any, PageScorer] = OrderedDict()
        sources = JudgedSources(judgments, items, ScoringPlan.of(settings))
        with contextlib.ExitStack() as stack:
            self._inputs: list[Inputs] = stack.enter_context(sources.open_all([*systems.values()], progress))
            self._stack = stack.pop_all()
        codebook = self._inputs[0].codebook
        self.item_ids: pl.Series = codebook.items.values()
        self.categories: pl.Series = codebook.categories.values()
        self._names = [_names(inputs) for inputs in self._inputs]
        self._pictures = {name: self._item_texts(name) for name in ("title", "poster")}

    def __enter__(self) -> "OpenPages":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove temporary files."""
        self._stack.close()

    def counts(self) -> list[int]:
        """How many pages each system has."""
        return [names.height for names in self._names]

    def has_column(self, system: int, column: str) -> bool:
        """Whether the layouts of a system have a column."""
        return column in self._inputs[system].tables["layouts"]

    def find(self, system: int, text: str, offset: int, limit: int) -> tuple[int, list[PageName]]:
        """How many pages have a text in one of their ids, and some of them, in the order of the table."""
        names = self._names[system]
        if text:
            ids = [name for name in ("user_id", "page_id") if name in names.columns]
            has_text = [pl.col(name).str.to_lowercase().str.contains(text.lower(), literal=True) for name in ids]
            names = names.filter(pl.any_horizontal(has_text))
        some = names.slice(offset, limit)
        return names.height, [_page_name(line) for line in some.iter_rows(named=True)]

    def look_up(self, system: int, user_id: str, page_id: str | None) -> PageName | None:
        """The page of these ids, the first of its user by default; None if there is none."""
        names = self._names[system]
        ids = {"user_id": user_id} | ({} if page_id is None or "page_id" not in names.columns else {"page_id": page_id})
        matches = names.filter(*(pl.col(column) == value for column, value in ids.items())).head(1)
        return None if matches.is_empty() else _page_name(matches.row(0, named=True))

    def neighbour(self, system: int, code: int, step: int) -> int:
        """The code of the page some steps after another in the table; the first follows the last."""
        codes = self._names[system]["code"]
        return int(codes[(int(codes.search_sorted(code)) + step) % len(codes)])

    def has_page(self, system: int, code: int) -> bool:
        """Whether there is a page of this code."""
        layouts = self._inputs[system].layouts
        return 0 <= code < len(layouts) and bool(layouts.present[code])

    def grid(self, system: int, code: int) -> Grid:
        """The screen of a page."""
        inputs = self._inputs[system]
        return inputs.plan.grids[int(inputs.layouts.grid[code])]

    def page(self, system: int, code: int) -> StoredPage:
        """A page by its code; one that ``evaluate`` refuses because of its cells is refused."""
        inputs = self._inputs[system]
        layouts, judgments = inputs.layouts, inputs.judged.judgments
        part = code % len(layouts.parts)  # as temporary files are split
        lines = next(lines for number, lines in enumerate(layouts.lines_by_part()) if number == part)
        of_page = judgments.of_set(int(layouts.judgment_set[code]))
        name = self._names[system].row(by_predicate=pl.col("code") == code, named=True)
        lines = lines[lines[:, 0] == code]
        rows = rows_of_lines(lines)
        _check_cells(lines, rows, name["user_id"])
        return StoredPage(
            name=_page_name(name),
            rows=tuple(rows),
            grid=self.grid(system, code),
            relevance=dict(zip(judgments.item[of_page].tolist(), judgments.relevance[of_page].tolist(), strict=True)),
        )

    def judged_items(self, system: int, code: int) -> int:
        """How many items a page is judged by."""
        layouts, judgments = self._inputs[system].layouts, self._inputs[system].judged.judgments
        return len(judgments.item[judgments.of_set(int(layouts.judgment_set[code]))])

    def scorer(self, system: int, code: int, grid: Grid, **choices: Any) -> PageScorer:
        """What scores versions of a page on a grid, with other settings than those the tables were opened with."""
        inputs = self._inputs[system]
        key = (system, code, grid, *sorted(choices.items()))
        if key not in self._scorers:
            settings = replace(self.settings, grid=grid, **choices)
            self._scorers[key] = PageScorer(inputs, code, settings)
        self._scorers.move_to_end(key)
        while len(self._scorers) > _MOST_SCORERS:
            self._scorers.popitem(last=False)
        return self._scorers[key]

    def title(self, item: int) -> str | None:
        """An item's title, if items have titles."""
        return self._pictures["title"].get(item)

    def poster(self, item: int) -> Path | None:
        """The file of an item's poster, relative to the file of items; None where it would have to be fetched."""
        name, items = self._pictures["poster"].get(item), self._inputs[0].tables.get("items")
        if name is None or items is None or not items.files:
            return None
        path = items.files[0].path
        return None if "://" in path or "://" in name else Path(path).parent / name

    def layout(self, system: int, code: int, rows: Sequence[PageRow]) -> pl.DataFrame:
        """A version of a page as a table of layouts, ids of the same type as in the tables, with its segments."""
        inputs = self._inputs[system]
        cells = [
            (number, col, item, row.category, row.pinned)
            for number, row in enumerate(rows, 1)
            for col, item in enumerate(row.items, 1)
            if item is not None
        ]
        row, col, item, category, pinned = (list(column) for column in zip(*cells, strict=True))
        names = page_names(inputs, np.full(len(cells), code))
        frame = names.with_columns(
            pl.Series("row", row), pl.Series("col", col), self.item_ids.gather(item).alias("item_id")
        )
        if inputs.layouts.labelled:
            frame = frame.with_columns(self.categories.gather(category).alias("category"))
        if self.has_column(system, "pinned"):
            frame = frame.with_columns(pl.Series("pinned", pinned))
        return frame.with_columns(
            inputs.codebook.segment_values(name, np.full(len(cells), codes[code]))
            for name, codes in inputs.layouts.segments.items()
            if self.has_column(system, name)
        )

    def _item_texts(self, column: str) -> dict[int, str]:
        """The first text of each item in a column of the table of items, where it has one."""
        inputs = self._inputs[0]
        items: Table | None = inputs.tables.get("items")
        if items is None or column not in items:
            return {}
        first = pl.col(column).sort_by(RECORD).first()
        (texts,) = items.query(lambda frame: frame.filter(pl.col(column).is_not_null()).group_by("item_id").agg(first))
        codes = inputs.codebook.items.add(texts["item_id"])
        return dict(zip(codes.tolist(), texts[column].to_list(), strict=True))


def _names(inputs: Inputs) -> pl.DataFrame:
    """The ids of all pages as text, and their codes."""
    codes = np.flatnonzero(inputs.layouts.present)
    return page_names(inputs, codes).cast(pl.String).with_columns(pl.Series("code", codes))


def _check_cells(lines: Lines, rows: Sequence[PageRow], user_id: str) -> None:
    """Refuse a page whose rows do not have all that its lines have."""
    cells, shown_cells = np.sort(lines[:, 3]), np.sort(lines_of_rows(rows)[:, 3])
    if not np.array_equal(cells, shown_cells):
        defect = page_defects.REPEATED_CELL if len(shown_cells) < len(cells) else page_defects.PARTLY_PINNED
        raise DataError(f"layouts: user_id={user_id!r}: at least one {defect.one}. {nested(defect.remedy)}")


def _page_name(line: Mapping[str, Any]) -> PageName:
    return PageName(line["code"], line["user_id"], line.get("page_id"))
