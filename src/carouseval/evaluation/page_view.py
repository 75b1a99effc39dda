"""One page beside its ideal, as text, HTML and plain values."""

import html
from dataclasses import dataclass
from numbers import Integral
from typing import Any, SupportsIndex

import polars as pl

from carouseval.messages import Message, setting
from carouseval.metrics.grid import Array, Grid
from carouseval.results import Charted

_RELEVANT, _OTHER, _EMPTY = "●", "·", " "  # cells in text
_MARK = 'style="background:#c6dbef;font-weight:bold"'  # of relevant items in HTML


@dataclass(frozen=True, eq=False, repr=False)
class PageView(Charted):
    """One page beside its ideal, as :meth:`carouseval.Explanation.page` returns it.

    Attributes
    ----------
    user_id : int or str
        Whose page it is.
    page_id : int, str or None
        Which of the user's pages; None where layouts have no pages.
    grid : Grid
        The page's screen.
    weights : numpy.ndarray
        The weight of every cell, ``(rows, cols)``.
    values : dict of str to float
        2DCG of the page (``dcg``), with the best order of items in their rows (``item_order``), with the best order of
        rows too (``row_order``), and of the ideal page (``ideal``).
    shown : polars.DataFrame
        The page's cells: row, col, item_id, title and poster (if items have them), category (if layouts name it),
        relevance, gain, ``counts`` (False for repeats that do not count, and where nothing is gained) and weight.
    ideal : polars.DataFrame
        The relevant items of the ideal page: row, col, item_id, title and poster (if items have them), category, gain
        and weight.
    reason : str
        Why this page was chosen, in a sentence; empty where the caller named it.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [10, 11, 12],
    ...            "category": ["new", "new", "drama"]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> cv.explain(layouts, judgments).page(user_id=1)
    PageView(user_id=1): 2DCG 1.851, 87.2% of its ideal 2.124 (● relevant, · not)
    row  page  ideal
      1  ·●    ●
      2  ●     ●
    """

    user_id: SupportsIndex | str
    page_id: SupportsIndex | str | None
    grid: Grid
    weights: Array
    values: dict[str, float]
    shown: pl.DataFrame
    ideal: pl.DataFrame
    reason: str

    @property
    def ids(self) -> str:
        """The page's ids as text: ``user_id=1 page_id='home'``."""
        return ids_text(self.user_id, self.page_id)

    def to_dict(self) -> dict[str, Any]:
        """Return the page and its ideal as plain values.

        Returns
        -------
        dict
            ``user_id``, ``page_id``, ``reason``, ``values``, and the cells of ``shown`` and ``ideal``.
        """
        return {
            "user_id": self.user_id,
            "page_id": self.page_id,
            "reason": self.reason,
            "values": self.values,
            "shown": self.shown.to_dicts(),
            "ideal": self.ideal.to_dicts(),
        }

    @property
    def score_text(self) -> str:
        """The 2DCG of the page and its share of the ideal page's, in words."""
        dcg, ideal = self.values["dcg"], self.values["ideal"]
        share = f", {dcg / ideal:.1%} of its ideal {ideal:.4g}" if ideal > 0 else ", and so is its ideal"
        return f"2DCG {dcg:.4g}{share}"

    def __repr__(self) -> str:
        page, ideal = _drawn(self.shown), _drawn(self.ideal)
        width = max([len("page"), *map(len, page.values())])
        rows = range(1, max([0, *page, *ideal]) + 1)
        lines = [f"{row:>3}  {page.get(row, ''):<{width}}  {ideal.get(row, '')}".rstrip() for row in rows]
        legend = f"({_RELEVANT} relevant, {_OTHER} not)"
        heading = [f"PageView({self.ids}): {self.score_text} {legend}", *([self.reason] if self.reason else [])]
        return "\n".join([*heading, f"row  {'page':<{width}}  ideal", *lines])

    def _repr_html_(self) -> str:
        heading = html.escape(f"{self.ids}: {self.score_text}. {self.reason}".strip())
        return f"<p>{heading}</p><p><b>Page</b></p>{_table(self.shown)}<p><b>Ideal</b></p>{_table(self.ideal)}"


def ids_text(user_id: object, page_id: object) -> str:
    """The ids of a page as text."""
    return f"user_id={user_id!r}" + ("" if page_id is None else f" page_id={page_id!r}")


def is_id(value: object, known: object) -> bool:
    """Whether a value is this id: True is not 1, and neither is 1.0."""
    kind = str if isinstance(known, str) else Integral
    return isinstance(value, kind) and not isinstance(value, bool) and value == known


def first_page_text(pages: int) -> str:
    """Why the first of a user's pages was chosen; empty if there is no other."""
    if pages == 1:
        return ""
    return Message(f"Shown because no {setting('page_id')} was given: the first of the user's {pages} pages.")


def _drawn(cells: pl.DataFrame) -> dict[int, str]:
    """Each row as text, a character per cell."""
    rows: dict[int, str] = {}
    for row, col, gain in cells.select("row", "col", "gain").sort("row", "col").iter_rows():
        rows[row] = rows.get(row, "").ljust(col - 1, _EMPTY) + (_RELEVANT if gain > 0 else _OTHER)
    return rows


def _table(cells: pl.DataFrame) -> str:
    """Titles, or ids, of items as on the screen; relevant ones marked, with gain and weight on hover."""
    placed = {(cell["row"], cell["col"]): cell for cell in cells.iter_rows(named=True)}
    height, width = (max((place[axis] for place in placed), default=0) for axis in (0, 1))
    lines = ["<tr><th></th>" + "".join(f"<th>{col}</th>" for col in range(1, width + 1)) + "</tr>"]
    for row in range(1, height + 1):
        texts = [_cell(placed.get((row, col))) for col in range(1, width + 1)]
        lines.append(f"<tr><th>{row}</th>{''.join(texts)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "<td></td>"
    mark = f' {_MARK} title="gain {cell["gain"]:g}, weight {cell["weight"]:.4g}"' if cell["gain"] > 0 else ""
    return f"<td{mark}>{html.escape(item_label(cell))}</td>"


def item_label(cell: dict[str, Any]) -> str:
    """What an item is called in a drawing: its title, or its id if it has none."""
    return str(cell.get("title") or cell["item_id"])
