"""An explanation: what was lost, where, on which pages; and one page beside its ideal."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from carouseval.errors import ParameterError
from carouseval.evaluation.outcomes import MISSING, page_shares
from carouseval.evaluation.results import NO_PAGE, Evaluation
from carouseval.metrics.grid import Array, Grid
from carouseval.result_base import Result, plain

LOSSES = ("item_order", "row_order", "choice")
_WORDS = {
    "item_order": "reordering items inside their carousels",
    "row_order": "reordering the carousels",
    "choice": "showing other items and carousels",
    "missing": "making the pages that are missing",
}


@dataclass(frozen=True, eq=False)
class PageView:
    """One page beside its ideal."""

    user_id: Any
    page_id: Any
    grid: Grid
    weights: Array
    values: dict[str, float]  # S, S1, S2, S3
    shown: pl.DataFrame  # row, col, item_id, category, relevance, gain, counts, weight
    ideal: pl.DataFrame  # row, col, item_id, category, gain, weight

    @property
    def who(self) -> str:
        """The page's ids."""
        return f"user_id={self.user_id!r}" + ("" if self.page_id is None else f" page_id={self.page_id!r}")

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "user_id": self.user_id,
            "page_id": self.page_id,
            "values": self.values,
            "shown": self.shown.to_dicts(),
            "ideal": self.ideal.to_dicts(),
        }


@dataclass(frozen=True, eq=False)
class Explanation(Result):
    """Where the score was lost.

    ``shares`` sum to 1: the score, then what item order, row order and the choice of items and categories cost; and,
    where the policies let them score 0, pages that are missing or whose users have nothing relevant to be shown.
    ``per_page`` holds the same for single pages, in 2DCG; ``cells`` what each cell lost, (ideal gain - gain) x weight
    over the page's ideal; ``rows`` what item order cost in each row (less than 0 where a repeated item had better count
    in another row). Both are means as the score is, so that cells sum to what is lost.
    """

    metric: str
    per_page: pl.DataFrame
    cells: pl.DataFrame
    rows: pl.DataFrame
    by: tuple[str, ...]
    evaluation: Evaluation  # the scores that are explained, with counts, intervals and every policy in force
    grid: Grid
    view: Callable[[Any, Any], PageView] | None = field(repr=False)  # looks a page up, while its tables are at hand

    def __getstate__(self) -> dict[str, Any]:
        """Copies leave the tables behind."""
        return self.__dict__ | {"view": None}

    @cached_property
    def shares(self) -> dict[str, float]:
        """Of what the ideal pages are worth: what was earned, and what each step lost."""
        return _shares(self.per_page)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The shares of each segment; empty unless ``by`` was given."""
        if not self.by:
            return pl.DataFrame()
        scored = self.per_page.filter(pl.col("score").is_not_null())
        parts = scored.with_columns(pl.col(self.by).fill_null(NO_PAGE)).partition_by(self.by, as_dict=True)
        ordered = sorted(parts.items(), key=lambda part: str(part[0]))
        lines = [dict(zip(self.by, key, strict=True)) | _shares(pages) for key, pages in ordered]
        if not lines:
            return pl.DataFrame()
        return pl.concat([pl.DataFrame([line]) for line in lines], how="diagonal").fill_null(0.0)

    @property
    def worst(self) -> pl.DataFrame:
        """Pages by score, the lowest first; of equal ones, what lost most."""
        lost = (pl.col("ideal") - pl.col("dcg")).alias("lost")
        weighs = pl.col("weight") > 0 if "weight" in self.per_page.columns else pl.lit(True)
        scored = self.per_page.filter((pl.col("ideal") > 0) & weighs).with_columns(lost)
        return scored.sort("score", "lost", "user_id", descending=[False, True, False])

    @cached_property
    def summary(self) -> str:
        """What to do first, in a sentence."""
        heading, shares = self.evaluation.heading, self.shares
        if math.isnan(shares["score"]):
            return "No page was scored, so there is nothing to explain."
        losses = sorted(((value, name) for name, value in shares.items() if name in _WORDS), reverse=True)
        parts = [f"{_WORDS[name]} would win back {_points(value)}" for value, name in losses if value >= 5e-4]
        earned = (
            f"{heading} " * bool(heading)
            + f"These pages earn {_points(shares['score'])} of the 100 points that ideal pages would"
        )
        if not parts:
            return f"{earned}: there is nothing left to win."
        several = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        return f"{earned}; {several}.{self._hint()}"

    def _hint(self) -> str:
        by_row = self.cells.group_by("row").agg(pl.col("loss").sum()).sort("loss", descending=True)
        if by_row.is_empty() or by_row["loss"][0] < 5e-4:
            return ""
        return f" Row {by_row['row'][0]} is furthest from what ideal pages show there."

    @property
    def heading(self) -> str:
        """The sentence."""
        return self.summary

    def page(self, user_id: Any, page_id: Any = None) -> PageView:
        """One page beside its ideal: what stands where, and what should."""
        if self.view is None:
            raise ParameterError("an explanation that was loaded has no tables to read pages from; explain anew.")
        return self.view(user_id, page_id)

    def to_frame(self) -> pl.DataFrame:
        """Shares, overall and per segment."""
        lines = [dict.fromkeys(self.by, "(all)") | self.shares]
        return (
            pl.concat([pl.DataFrame(lines), self.segments], how="diagonal_relaxed") if self.by else pl.DataFrame(lines)
        )

    def to_dict(self) -> dict[str, Any]:
        """Shares, rows and cells as plain values."""
        content = {
            "metric": self.metric,
            "summary": self.summary,
            "shares": self.shares,
            "segments": self.segments.to_dicts(),
            "rows": self.rows.to_dicts(),
            "cells": self.cells.to_dicts(),
            "counts": self.evaluation.counts,
            "config": self.evaluation.config,
        }
        return plain(content)


def _shares(pages: pl.DataFrame) -> dict[str, float]:
    """The shares of some pages; they sum to 1."""
    scored = pages.filter(pl.col("score").is_not_null())
    weight = scored["weight"].to_numpy() if "weight" in scored.columns else None
    share = pl.Series(page_shares(scored["user_id"].to_numpy(), weight))
    normal = (scored["ideal"] > 0).fill_null(False)
    found = {
        name: math.fsum((share * scored[column] / scored["ideal"]).filter(normal).to_list())
        for name, column in (("score", "dcg"), *((name, name) for name in LOSSES))
    }
    missing = scored["status"] == MISSING
    for name, holds in (("missing", missing), ("nothing_to_show", ~normal & ~missing)):
        if holds.any():
            found[name] = math.fsum(share.filter(holds).to_list())
    return found if scored.height and share.sum() > 0 else dict.fromkeys(found, math.nan)


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
