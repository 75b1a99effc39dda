"""An explanation: what was lost, where, on which pages; and one page beside its ideal."""

import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.metric.grid import Array, Grid
from carouseval.text_tables import frame_texts, latex, markdown
from carouseval.whole_files import write_frame, write_whole

if TYPE_CHECKING:
    from carouseval.evaluation.evaluate import Evaluator

LOSSES = ("item_order", "row_order", "choice")
_WORDS = {
    "item_order": "reordering items inside their carousels",
    "row_order": "reordering the carousels",
    "choice": "showing other items and carousels",
    "missing": "making the pages that are missing",
}


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Explanation:
    """Where the score was lost.

    ``shares`` sum to 1: the score, then what item order, row order and the choice of items and categories cost; and,
    where the policies let them score 0, pages that are missing or whose users have nothing relevant to be shown.
    ``per_page`` holds the same for single pages, in 2DCG; ``cells`` what each cell lost, (ideal gain - gain) x weight
    over the page's ideal; ``rows`` what item order cost in each row (less than 0 where a repeated item had better count
    in another row). Both are means as the score is, so that
    cells sum to what is lost.
    """

    metric: str
    per_page: pl.DataFrame
    cells: pl.DataFrame
    rows: pl.DataFrame
    missing: float  # the share of users' scores that missing pages make 0
    by: tuple[str, ...]
    config: dict[str, Any]
    grid: Grid
    source: "tuple[Evaluator, Any]" = field(repr=False)

    @cached_property
    def shares(self) -> dict[str, float]:
        """Of what the ideal pages are worth: what was earned, and what each step lost."""
        return self._shares(self.per_page) | ({"missing": self.missing} if self.missing else {})

    def _shares(self, pages: pl.DataFrame) -> dict[str, float]:
        total = math.fsum(pages["share"].to_list()) + (self.missing if pages is self.per_page else 0.0)
        of_ideal = pages.filter(pl.col("ideal") > 0)
        found = {"score": math.fsum((of_ideal["share"] * of_ideal["dcg"] / of_ideal["ideal"]).to_list())}
        for name in LOSSES:
            found[name] = math.fsum((of_ideal["share"] * of_ideal[name] / of_ideal["ideal"]).to_list())
        barren = math.fsum(pages.filter(~(pl.col("ideal") > 0))["share"].to_list())
        found |= {"nothing_to_show": barren} if barren > 0 else {}
        return {name: value / total if total > 0 else math.nan for name, value in found.items()}

    @cached_property
    def segments(self) -> pl.DataFrame:
        """The shares of each segment; empty unless ``by`` was given."""
        if not self.by:
            return pl.DataFrame()
        known = self.per_page.filter(pl.col(self.by[0]).is_not_null())
        parts = sorted(known.partition_by(self.by, as_dict=True).items(), key=lambda part: str(part[0]))
        return pl.DataFrame([dict(zip(self.by, key, strict=True)) | self._shares(pages) for key, pages in parts])

    @property
    def worst(self) -> pl.DataFrame:
        """Pages by score, the lowest first; of equal ones, what lost most."""
        lost = (pl.col("ideal") - pl.col("dcg")).alias("lost")
        return self.per_page.with_columns(lost).sort("score", "lost", "user_id", descending=[False, True, False])

    @cached_property
    def summary(self) -> str:
        """What to do first, in a sentence."""
        shares = self.shares
        if math.isnan(shares["score"]):
            return "No page was scored."
        losses = sorted(((value, name) for name, value in shares.items() if name in _WORDS), reverse=True)
        parts = [f"{_WORDS[name]} would win back {_points(value)}" for value, name in losses if value >= 5e-4]
        earned = f"These pages earn {_points(shares['score'])} of the 100 points that ideal pages would"
        if not parts:
            return f"{earned}: there is nothing left to win."
        several = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        return f"{earned}; {several}.{self._hint()}"

    def _hint(self) -> str:
        by_row = self.cells.group_by("row").agg(pl.col("loss").sum()).sort("loss", descending=True)
        if by_row.is_empty() or by_row["loss"][0] < 5e-4:
            return ""
        return f" Most is lost on row {by_row['row'][0]} ({_points(by_row['loss'][0])})."

    def page(self, user_id: Any, page_id: Any = None) -> PageView:
        """One page beside its ideal: what stands where, and what should."""
        from carouseval.evaluation.explain import page_view

        return page_view(self, user_id, page_id)

    def to_frame(self) -> pl.DataFrame:
        """Shares, overall and per segment."""
        lines = [dict.fromkeys(self.by, "(all)") | self.shares]
        return (
            pl.concat([pl.DataFrame(lines), self.segments], how="diagonal_relaxed") if self.by else pl.DataFrame(lines)
        )

    def to_dict(self) -> dict[str, Any]:
        """Shares, rows and cells as plain values."""
        return {
            "metric": self.metric,
            "summary": self.summary,
            "shares": {name: None if math.isnan(value) else value for name, value in self.shares.items()},
            "segments": self.segments.to_dicts(),
            "rows": self.rows.to_dicts(),
            "cells": self.cells.to_dicts(),
            "config": self.config,
        }

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def to_markdown(self) -> str:
        """The table of :meth:`to_frame` in Markdown."""
        return markdown(*frame_texts(self.to_frame()))

    def to_latex(self) -> str:
        """The table of :meth:`to_frame` in LaTeX, with booktabs."""
        return latex(*frame_texts(self.to_frame()))

    def save(self, path: str | Path) -> Path:
        """Write ``.json``, ``.md``, ``.tex``, ``.csv`` or ``.parquet``, whole or not at all."""
        path = Path(path)
        texts = {".json": self.to_json, ".md": self.to_markdown, ".tex": self.to_latex}
        suffix = path.suffix.lower()
        if suffix in texts:
            return write_whole(path, texts[suffix]() + "\n" * (suffix == ".json"))
        return write_frame(path, self.to_frame())


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
