"""The result of an explanation: what was lost, where, and on which pages."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, SupportsIndex

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.outcomes import MISSING, page_shares
from carouseval.evaluation.page_table import NO_PAGE
from carouseval.evaluation.page_view import PageView, first_page_text, ids_text, is_id
from carouseval.evaluation.results import Evaluation
from carouseval.forks import refuse_fork
from carouseval.messages import Expression, Message, nested, setting
from carouseval.metrics.grid import Grid
from carouseval.results import Charted, Reported, plain

LOSSES = (Columns.ITEM_ORDER, Columns.ROW_ORDER, Columns.CHOICE)
PAGES_SHOWN = 3  # of the worst, beside their ideals
_REMEDIES = {
    Columns.ITEM_ORDER: "reordering items inside their carousels",
    Columns.ROW_ORDER: "reordering the carousels",
    Columns.CHOICE: "showing other items and carousels",
    Columns.MISSING: "adding the missing pages",
}


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Reported):
    """Where the score was lost, as :func:`carouseval.explain` returns it.

    Losses are means over users and pages, as the score is: the score and the losses in :attr:`shares` sum to 1, and the
    losses of cells sum to what is lost on the pages shown.

    Attributes
    ----------
    metric : str
        The metric that is explained.
    per_page : polars.DataFrame
        One line per page: its ids, segments and status; its score, its 2DCG (``dcg``), what ``item_order``,
        ``row_order`` and ``choice`` cost in 2DCG, and its ``ideal``.
    cells : polars.DataFrame
        One line per cell (and segment): the ``loss``, (ideal gain - gain) x weight over the page's ideal, and the mean
        ``gain`` and ``ideal_gain``.
    rows : polars.DataFrame
        One line per row (and segment): what the order of items cost there; negative where a repeated item would better
        count in another row.
    by : tuple of str
        The columns that segments are made by.
    evaluation : Evaluation
        The scores that are explained, with counts, intervals and settings.
    grid : Grid or dict of str to Grid
        The screen; or that of each segment, where the setting ``grid`` names several.
    pages : tuple of PageView
        The pages that charts and reports show beside their ideals: the three with the lowest scores among those that
        show a relevant item or, if none does, among all.
    view : callable or None
        Looks up any other page of (user_id, page_id) for :meth:`page`. It keeps the tables given to ``explain`` in
        memory, but reads files again; copies by pickle leave it behind.
    typical : PageView, optional
        The page with the median score among those that show a relevant item or, if none does, among all.
    named : tuple of PageView, default ()
        The pages that :func:`carouseval.explain` was asked to hold.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(users=20, systems=["new"])
    >>> explanation = cv.explain(data.layouts["new"], data.judgments, data.items)
    >>> {name: round(share, 3) for name, share in explanation.shares.items()}
    {'score': 0.496, 'item_order': 0.132, 'row_order': 0.085, 'choice': 0.286}
    >>> explanation.worst["user_id"][0]
    'u000008'
    """

    metric: str
    per_page: pl.DataFrame
    cells: pl.DataFrame
    rows: pl.DataFrame
    by: tuple[str, ...]
    evaluation: Evaluation
    grid: Grid | dict[str, Grid]
    pages: tuple[PageView, ...] = field(repr=False)
    view: Callable[[SupportsIndex | str, SupportsIndex | str | None], PageView] | None = field(repr=False)
    typical: PageView | None = field(default=None, repr=False)
    named: tuple[PageView, ...] = field(default=(), repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Copies leave the tables behind."""
        return self.__dict__ | {"view": None}

    @cached_property
    def shares(self) -> dict[str, float]:
        """The score, and what was lost to item order, row order and the choice of items; they sum to 1.

        Where the settings score them as zero, ``missing`` is the share of missing pages and ``nothing_to_show`` that of
        users without a relevant item.
        """
        return _shares(self.per_page)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The shares of each segment; empty unless ``by`` was given."""
        if not self.by:
            return pl.DataFrame()
        scored = self.per_page.filter(pl.col(Columns.SCORE).is_not_null())
        parts = scored.with_columns(pl.col(self.by).fill_null(NO_PAGE)).partition_by(self.by, as_dict=True)
        ordered = sorted(parts.items(), key=lambda part: str(part[0]))
        lines = [dict(zip(self.by, key, strict=True)) | _shares(pages) for key, pages in ordered]
        if not lines:
            return pl.DataFrame()
        return pl.concat([pl.DataFrame([line]) for line in lines], how="diagonal").fill_null(0.0)

    @property
    def worst(self) -> pl.DataFrame:
        """The lines of ``per_page`` by score, lowest first; ties by the 2DCG that is lost."""
        return worst_pages(self.per_page)

    @cached_property
    def summary(self) -> str:
        """The score and what each change would add to it, the largest first, in a sentence."""
        heading, shares = self.evaluation.heading, self.shares
        if math.isnan(shares[Columns.SCORE]):
            return "No page was scored, so there is nothing to explain."
        losses = sorted(((value, name) for name, value in shares.items() if name in _REMEDIES), reverse=True)
        parts = [
            f"{_REMEDIES[name]}{' would add' if rank == 0 else ''} {_points(value)}"
            for rank, (value, name) in enumerate(losses)
            if value >= 5e-4
        ]
        score = f"{heading} These pages score {_points(shares['score'])} out of 100, the score of an ideal page".strip()
        if not parts:
            return f"{score}: there is nothing left to gain."
        changes = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        row = "" if self.worst_row is None else f" Row {self.worst_row} falls furthest short of the ideal page."
        return f"{score}; {changes}.{row}"

    @cached_property
    def worst_row(self) -> int | None:
        """The row that falls furthest short of ideal pages, the upper one of equals; None where hardly any is lost."""
        by_row = self.cells.group_by(Columns.ROW, maintain_order=True).agg(pl.col(Columns.LOSS).sum())
        by_row = by_row.sort(-pl.col(Columns.LOSS), Columns.ROW)
        return None if by_row.is_empty() or by_row[Columns.LOSS][0] < 5e-4 else int(by_row[Columns.ROW][0])

    @property
    def heading(self) -> str:
        """The same as :attr:`summary`."""
        return self.summary

    @property
    def caption(self) -> str:
        """What the score is, in a sentence; the same as that of :attr:`evaluation`."""
        return self.evaluation.caption

    def page(self, user_id: SupportsIndex | str | None = None, page_id: SupportsIndex | str | None = None) -> PageView:
        """Return one page beside its ideal.

        Those in :attr:`pages` are at hand; another is read again from the tables given to ``explain``, and its ideal
        solved.

        Parameters
        ----------
        user_id : int or str, optional
            Whose page; by default that of the lowest score among pages that show a relevant item.
        page_id : int or str, optional
            Which of the user's pages; by default the first.

        Returns
        -------
        PageView
            The cells of the page and of its ideal; its ``reason`` says why it was chosen, where that was left open.
        """
        refuse_fork()  # a page that is held has tables too
        if user_id is not None:
            return self._held(user_id, page_id) or self._look_up(user_id, page_id)
        if page_id is not None:
            raise ParameterError(
                f"{setting('page_id')} needs {setting('user_id')}: pages of different users may have the same id."
            )
        if not self.pages:
            raise ParameterError("no page was scored, so there is none to show.")
        first = self.pages[0]
        choice = (
            "the lowest score among pages that show a relevant item"
            if first.values[Columns.DCG] > 0
            else "no page shows a relevant item, and this one loses most"
        )
        return replace(first, reason=Message(f"Shown because no {setting('user_id')} was given: {choice}."))

    def _held(self, user_id: object, page_id: object) -> PageView | None:
        """The page of these ids, if it is one of :attr:`pages`."""
        for view in (*self.pages, *([] if self.typical is None else [self.typical]), *self.named):
            if not is_id(user_id, view.user_id):
                continue
            if view.page_id is page_id is None or is_id(page_id, view.page_id):
                return view
            if page_id is None and view.page_id == (ids := self._page_ids(view.user_id))[0]:
                return replace(view, reason=first_page_text(len(ids)))
        return None

    def _page_ids(self, user_id: SupportsIndex | str) -> list[Any]:
        """The pages that a user was shown, in order."""
        is_shown = (pl.col(Columns.USER) == pl.lit(user_id)) & (pl.col(Columns.STATUS) != MISSING)
        return self.per_page.filter(is_shown)[Columns.PAGE].sort().to_list()

    def _look_up(self, user_id: SupportsIndex | str, page_id: SupportsIndex | str | None) -> PageView:
        """Any page, read again."""
        if self.view is None:
            raise ParameterError(
                "this explanation has no tables to read pages from, only those that it holds: it was made on an "
                f"engine, or unpickled. Call explain again, with {setting('pages', Expression('[...]'))}."
            )
        try:
            view = self.view(user_id, page_id)
        except DataError as error:
            about = (
                f"The page of {ids_text(user_id, page_id)} is not one that the explanation holds, so it is read again."
            )
            raise DataError(f"{nested(error)} {about}") from None
        self._require_same(view)
        return view

    def _require_same(self, view: PageView) -> None:
        """Refuse a page that was read again if it is another than the one explained."""
        keys = {Columns.USER: view.user_id} | ({} if view.page_id is None else {Columns.PAGE: view.page_id})
        lines = self.per_page.filter(*(pl.col(key) == pl.lit(value) for key, value in keys.items()))
        values = {name: view.values[name] for name in (Columns.DCG, Columns.IDEAL)}
        if not any(all(line[name] in (None, value) for name, value in values.items()) for line in lines.to_dicts()):
            raise DataError(
                f"layouts: the page of {ids_text(view.user_id, view.page_id)} is not the one that was explained: the "
                "table has changed since. Call explain again."
            )

    def _drawn(self, kind: str | None, options: dict[str, Any]) -> tuple[Charted, str | None, dict[str, Any]]:
        """A page that is named, which may have to be read again, in place of the explanation."""
        if kind == "page" and Columns.USER in options and options.keys() <= {Columns.USER, Columns.PAGE}:
            return self.page(**options), None, {}
        return super()._drawn(kind, options)

    def to_frame(self) -> pl.DataFrame:
        """The shares: one line overall, and one per segment."""
        lines = [dict.fromkeys(self.by, "(all)") | self.shares]
        return (
            pl.concat([pl.DataFrame(lines), self.segments], how="diagonal_relaxed") if self.by else pl.DataFrame(lines)
        )

    def to_dict(self) -> dict[str, Any]:
        """``metric``, ``summary``, ``caption``, ``shares``, ``segments``, ``rows``, ``cells``, ``counts`` and
        ``config``.
        """
        content = {
            "metric": self.metric,
            "summary": self.summary,
            "caption": self.caption,
            "shares": self.shares,
            "segments": self.segments.to_dicts(),
            "rows": self.rows.to_dicts(),
            "cells": self.cells.to_dicts(),
            "counts": self.evaluation.counts,
            "config": self.evaluation.config,
        }
        return plain(content)

    def __repr__(self) -> str:
        shares = ", ".join(f"{name.replace('_', ' ')} {_points(share)}" for name, share in self.shares.items())
        pages = f"{self.per_page.height:,} page{'s' * (self.per_page.height != 1)}"
        return f"Explanation({self.metric}, points out of 100: {shares}; {pages})"


def worst_pages(per_page: pl.DataFrame) -> pl.DataFrame:
    """The lines of pages that are part of the mean by score, lowest first; ties by the 2DCG that is lost."""
    lost = (pl.col(Columns.IDEAL) - pl.col(Columns.DCG)).alias(Columns.LOST)
    has_weight = pl.col(Columns.WEIGHT) > 0 if Columns.WEIGHT in per_page.columns else pl.lit(True)
    scored = per_page.filter((pl.col(Columns.IDEAL) > 0) & has_weight).with_columns(lost)
    return scored.sort(Columns.SCORE, Columns.LOST, Columns.USER, descending=[False, True, False])


def _shares(pages: pl.DataFrame) -> dict[str, float]:
    """The shares of some pages; they sum to 1."""
    scored = pages.filter(pl.col(Columns.SCORE).is_not_null())
    weight = scored[Columns.WEIGHT].to_numpy() if Columns.WEIGHT in scored.columns else None
    share = pl.Series(page_shares(scored[Columns.USER].to_numpy(), weight))
    has_ideal = (scored[Columns.IDEAL] > 0).fill_null(False)
    shares = {
        name: math.fsum((share * scored[column] / scored[Columns.IDEAL]).filter(has_ideal).to_list())
        for name, column in ((Columns.SCORE, Columns.DCG), *((name, name) for name in LOSSES))
    }
    missing = scored[Columns.STATUS] == MISSING
    for name, holds in ((Columns.MISSING, missing), (Columns.NOTHING_TO_SHOW, ~has_ideal & ~missing)):
        if holds.any():
            shares[name] = math.fsum(share.filter(holds).to_list())
    return shares if scored.height and share.sum() > 0 else dict.fromkeys(shares, math.nan)


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
