"""A page drawn as carousels with the posters or titles of its items, beside its ideal page."""

import itertools
from collections.abc import Mapping
from textwrap import shorten, wrap
from typing import Any, SupportsIndex

import altair as alt
import polars as pl

from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.page_view import PageView, item_label
from carouseval.metrics.grid import Array, Grid, resized
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import (
    chart_of,
    chart_title,
    count_text,
    finished,
    numbered_axis,
    short_name,
    tooltip,
)
from carouseval.show.charts.shapes.screens import cell_edges, position
from carouseval.show.charts.theme import FAINT, GREY, HUES, INK, PAPER, RAMP
from carouseval.show.posters import embedded_posters

_WIDEST = 1400  # pixels of both pages beside each other, or of one, if its cards can be that small
_SMALLEST, _LARGEST, _READABLE = 9.0, 92.0, 58.0  # pixels of a card: limits, and from where it has text
_MOST_CELLS = 5_000  # of a page that is drawn as a whole; of a larger one the first rows and columns
_FIRST_ROWS, _FIRST_COLS = 50, 100
_NAME, _SPACE = 22.0, 12.0  # pixels of a carousel's name, and between carousels
_LETTER = 6.2  # pixels of a letter of a title, on average, in wide fonts too
_STAR = "M0,-1L.235,-.324L.951,-.309L.38,.124L.588,.809L0,.4L-.588,.809L-.38,.124L-.951,-.309L-.235,-.324Z"


def page_of(
    result: Explanation, user_id: SupportsIndex | str | None = None, page_id: SupportsIndex | str | None = None
) -> Chart:
    """A page that an explanation holds beside its ideal; one that is named, ``chart`` has looked up before."""
    return page_picture(result.page(user_id, page_id))


def page_picture(view: PageView) -> Chart:
    """A page as carousels, beside its ideal or, if both are wide, above it; of huge pages the first cells."""
    tables, left_out = _first_cells({"The page": view.shown, "Its ideal page": view.ideal})
    cols = [max([1, *table[Columns.COL]]) for table in tables.values()]
    paths = [path for table in tables.values() if Columns.POSTER in table.columns for path in table[Columns.POSTER]]
    posters = embedded_posters(paths)
    columns = 2 if sum(cols) <= _WIDEST / _READABLE else 1  # beside each other, if text then has room
    wide = sum(cols) if columns == 2 else max(cols)
    size = max(_SMALLEST, min(_LARGEST, _WIDEST / wide))
    panels = [
        _Panel(table, view.grid, width, size, posters).chart(title)
        for (title, table), width in zip(tables.items(), cols, strict=True)
    ]
    title = f"The page of {view.ids}"
    relevant = "Star and blue frame: relevant, with its gain" if size >= _READABLE else "Blue: relevant"
    notes = (
        f"{view.score_text}. {relevant}; dashed frame: a repeat that does not count. "
        f"Gaps with dotted lines: borders of swipe pages. {left_out} {view.reason}"
    )
    params = chart_title(title, notes.strip(), max(620, size * wide))
    return finished(alt.concat(*panels, columns=columns, spacing=36, title=params), title, _described(view))


def _first_cells(tables: dict[str, pl.DataFrame]) -> tuple[dict[str, pl.DataFrame], str]:
    """What can be seen of pages, and what is left out, in a sentence."""
    rows, cols = (
        max([1, *(size for table in tables.values() for size in table[side])]) for side in (Columns.ROW, Columns.COL)
    )
    if rows * cols <= _MOST_CELLS:
        return tables, ""
    first = (pl.col(Columns.ROW) <= _FIRST_ROWS) & (pl.col(Columns.COL) <= _FIRST_COLS)
    beyond = [table.filter(~first, pl.col(Columns.GAIN) > 0).height for table in tables.values()]
    left_out = (
        f"Drawn: the first {min(rows, _FIRST_ROWS)} of {rows:,} rows and {min(cols, _FIRST_COLS)} of {cols:,} columns; "
        f"beyond them are {beyond[0]:,} relevant cells of the page and {beyond[1]:,} of its ideal."
    )
    return {title: table.filter(first) for title, table in tables.items()}, left_out


def _described(view: PageView) -> str:
    relevant = view.shown.filter(pl.col(Columns.GAIN) > 0)
    texts = [_places(cells) for cells in (relevant, view.ideal)]
    return (
        f"A page of {count_text(view.shown[Columns.ROW].n_unique(), 'carousel')} with "
        f"{count_text(relevant.height, 'relevant item')}{texts[0]}. Its ideal page has "
        f"{count_text(view.ideal.height, 'relevant item')}{texts[1]}. {view.score_text}."
    )


def _places(cells: pl.DataFrame) -> str:
    """The first items and where they stand."""
    first = cells.head(5).iter_rows(named=True)
    places = [f"{item_label(cell)} in row {cell[Columns.ROW]}, column {cell[Columns.COL]}" for cell in first]
    return f": {', '.join(places)}{', ...' * (cells.height > 5)}" if places else ""


class _Panel:
    """One page; all places are in pixels."""

    def __init__(self, table: pl.DataFrame, grid: Grid, cols: int, size: float, posters: Mapping[str, str]) -> None:
        self._size, self._posters = size, posters
        self._rows = max([1, *table[Columns.ROW]])
        self._edges: tuple[Array, Array] = cell_edges(resized(grid, self._rows, cols))
        self._readable = size >= _READABLE
        self._height = size * 1.4 if posters else 46.0 if self._readable else max(8.0, size)
        self._name = _NAME * self._readable
        self._step = self._name + self._height + _SPACE
        self._cards = [self._card(cell) for cell in table.iter_rows(named=True)]
        lines = table.sort(Columns.ROW, Columns.COL).to_dicts()
        self._last = {cell[Columns.ROW]: cell[Columns.COL] for cell in lines}
        self._names = dict.fromkeys(range(1, self._rows + 1), "(nothing relevant)") | {
            cell[Columns.ROW]: cell.get(Columns.CATEGORY) or "" for cell in reversed(lines)
        }

    def _box(self, row: int, col: int) -> dict[str, float]:
        """The edges of a card."""
        left, right = (float(edges[row - 1, col - 1]) * self._size for edges in self._edges)
        top = (row - 1) * self._step + self._name
        return {"x": left + 2, "x2": right - 2, "y": top, "y2": top + self._height}

    def _card(self, cell: dict[str, Any]) -> dict[str, Any]:
        poster = self._posters.get(cell.get(Columns.POSTER) or "")
        label, gain, box = item_label(cell), cell[Columns.GAIN], self._box(cell[Columns.ROW], cell[Columns.COL])
        lines = _title_lines(label, box["x2"] - box["x"], 2 if gain > 0 else 3)
        return (
            box
            | {name: cell[name] for name in ("row", "col", "gain", "weight")}
            | {"item": label, "relevant": gain > 0, "counts": bool(cell.get("counts", True)), "text": f"{gain:.4g}"}
            | {"poster": poster, "lines": None if poster else lines}
        )

    @property
    def _holes(self) -> list[dict[str, float]]:
        """Cells without an item, left of one that has one."""
        filled = {(card["row"], card["col"]) for card in self._cards}
        return [
            self._box(row, col) for row, end in self._last.items() for col in range(1, end) if (row, col) not in filled
        ]

    @property
    def _borders(self) -> list[dict[str, float]]:
        """Lines between the swipe pages of each row, as far as it has items."""
        lines = []
        for row in self._last:
            boxes = [self._box(row, col) for col in range(1, self._last[row] + 1)]
            for left, right in itertools.pairwise(boxes):
                if right["x"] - left["x2"] > 4.1:
                    middle = (left["x2"] + right["x"]) / 2
                    lines.append({"x": middle, "y": left["y"] - 3, "y2": left["y2"] + 3})
        return lines

    def chart(self, title: str) -> alt.LayerChart:
        """The page under its title."""
        width, height = float(self._edges[1].max()) * self._size, self._rows * self._step - _SPACE
        rows = [row * self._step + self._name + self._height / 2 for row in range(self._rows)]
        numbers = None if self._readable else numbered_axis(rows, "row")  # in place of the names of carousels
        place = position([0, width], [0, height], None, numbers)
        boxes = chart_of([_without(card, "poster", "lines", "text") for card in self._cards])
        radius, frame = (4, 2.4) if self._readable else (0, 1)
        hint = tooltip(item="", row="d", col="d", gain=".4~g", weight=".4f")
        layers = [
            chart_of(self._holes)
            .mark_rect(filled=False, stroke=FAINT, strokeDash=[2, 3], cornerRadius=radius)
            .encode(**place),
            chart_of(self._borders).mark_rule(color=GREY, strokeDash=[2, 2]).encode(**_without(place, "x2")),
            boxes.transform_filter("!datum.relevant")
            .mark_rect(fill=PAPER, stroke=FAINT, cornerRadius=radius)
            .encode(**place, tooltip=hint),
            boxes.transform_filter("datum.relevant && datum.counts")
            .mark_rect(fill=RAMP[1], stroke=HUES[0], strokeWidth=frame, cornerRadius=radius)
            .encode(**place, tooltip=hint),
            boxes.transform_filter("datum.relevant && !datum.counts")
            .mark_rect(fill=PAPER, stroke=HUES[0], strokeWidth=frame, strokeDash=[4, 3], cornerRadius=radius)
            .encode(**place, tooltip=hint),
            *(self._contents(width, place) if self._readable else []),
        ]
        return alt.LayerChart(layer=layers, width=width, height=height, title=alt.TitleParams(title, offset=6))

    def _contents(self, width: float, place: dict[str, Any]) -> list[alt.Chart]:
        """Names of carousels; posters or titles; stars and gains."""
        names = [
            {"x": 0, "y": (row - 1) * self._step + 12, "text": short_name(f"{row}  {name}".rstrip(), 200)}
            for row, name in sorted(self._names.items())
        ]
        pictures = [card for card in self._cards if card["poster"]]
        relevant = [card for card in self._cards if card["relevant"]]
        badges = [
            {"x": card["x"], "x2": card["x2"], "y": card["y2"] - 16, "y2": card["y2"]}
            for card in relevant
            if card["poster"]
        ]
        centres = [_at(card, "poster", (card["x2"] - card["x"]) / 2, self._height / 2) for card in pictures]
        titles = [_at(card, "lines", 4, 5) for card in self._cards if card["lines"]]
        gains = [_at(card, "text", 11, self._height - 9) for card in relevant]
        inner = self._size - 8
        xy = _without(place, "x2", "y2")
        text: dict[str, Any] = {"align": "left", "color": INK, "aria": False}
        return [
            chart_of(names).mark_text(fontSize=12, fontWeight="bold", limit=width, **text).encode(**xy, text="text:N"),
            chart_of(centres).mark_image(width=inner, height=self._height - 6, aria=False).encode(**xy, url="poster:N"),
            chart_of(badges).mark_rect(fill=RAMP[1], opacity=0.92, aria=False).encode(**place),
            chart_of(titles)
            .mark_text(baseline="top", fontSize=10, lineHeight=11, limit=inner, **text)
            .encode(**xy, text="lines:N"),
            chart_of(gains)
            .mark_point(filled=True, size=64, color=HUES[0], opacity=1, shape=_STAR, aria=False)
            .encode(**xy),
            chart_of(gains).mark_text(dx=9, fontSize=10, fontWeight="bold", **text).encode(**xy, text="text:N"),
        ]


def _at(card: dict[str, Any], content: str, right: float, down: float) -> dict[str, Any]:
    """A part of a card's content, at a distance from the card's upper left corner."""
    return {"x": card["x"] + right, "y": card["y"] + down, content: card[content]}


def _without(content: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in names}


def _title_lines(title: str, width: float, most: int) -> list[str]:
    """A title in lines that fit a card; what does not fit ends in dots."""
    letters = max(6, int((width - 6) / _LETTER))
    lines = wrap(title, letters) or [""]
    if len(lines) <= most:
        return lines
    rest = " ".join(lines[most - 1 :])
    return [*lines[: most - 1], shorten(rest, letters, placeholder="…") if " " in rest else f"{rest[: letters - 1]}…"]
