"""What pages lose by one metric: summed batch by batch, and added up over parts of the users."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.exact_sums import Exact, exact_sum
from carouseval.evaluation.explained_pages import ChosenPages, page_views
from carouseval.evaluation.explanation import LOSSES
from carouseval.evaluation.outcomes import SCORE, PageOutcomes
from carouseval.evaluation.page_table import PageTable
from carouseval.evaluation.page_view import PageView
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.page_batch import PageBatch, read_again
from carouseval.evaluation.result_columns import LOSSES as LOSS_COLUMNS
from carouseval.evaluation.result_table import Present, When
from carouseval.evaluation.scoring.ideal_problems import IdealCells
from carouseval.evaluation.scoring.loss_steps import loss_steps
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.messages import setting
from carouseval.metrics.grid import Array

_BITS, _LARGEST = 56, 2.0**120  # of a share of the mean, and what 128 bits hold: a score may be far above 1


@dataclass(frozen=True)
class LossScale:
    """What the losses of all users are parts of: known before any of them is summed up."""

    share: Exact  # the sum of what pages are of their users, times the weights of these
    largest_gain: float  # of any judgment

    @classmethod
    def of(cls, inputs: Inputs, name: str, outcomes: PageOutcomes) -> LossScale:
        """Of the users at hand."""
        share = exact_sum(outcomes.by_metric[name].shares_of_users)
        return cls(share, float(inputs.judged.gains[name].max(initial=0.0)))

    def __add__(self, other: LossScale) -> LossScale:
        return LossScale(self.share + other.share, max(self.largest_gain, other.largest_gain))

    @property
    def top(self) -> float:
        """What gains are divided by."""
        return self.largest_gain or 1.0


@dataclass(frozen=True)
class LossPart:
    """What some users add to an explanation."""

    cells: pl.DataFrame  # fixed-point sums, by segment, row and col
    rows: pl.DataFrame  # by segment and row
    unproven: int  # pages whose best order of rows is not proven
    largest_gap: float
    shown: tuple[PageView, ...]  # of the pages that are held

    def __add__(self, other: LossPart) -> LossPart:
        return LossPart(
            cells=_summed([self.cells, other.cells], _keys(self.cells, Columns.COL)),
            rows=_summed([self.rows, other.rows], _keys(self.rows, Columns.ROW)),
            unproven=self.unproven + other.unproven,
            largest_gap=max(self.largest_gap, other.largest_gap),
            shown=(*self.shown, *other.shown),
        )


class Losses:
    """The losses of a system's pages by one metric, summed batch by batch; ``ideals`` must keep their cells."""

    def __init__(self, inputs: Inputs, name: str, ideals: PageIdeals, scale: LossScale | None = None) -> None:
        self._inputs, self.metric, self.ideals = inputs, name, ideals
        self._scale = scale  # of all users, if others are elsewhere
        self._scored, self._shares = np.zeros(len(inputs.layouts), bool), np.zeros(len(inputs.layouts))
        self._values = np.full((len(inputs.layouts), 4), np.nan)
        self._losses = np.full((len(inputs.layouts), 3), np.nan)
        self._row_gaps = np.zeros(len(inputs.layouts))
        self._cells: list[pl.DataFrame] = []
        self._rows: list[pl.DataFrame] = []

    @property
    def scale(self) -> LossScale:
        """What losses are parts of."""
        assert self._scale is not None
        return self._scale

    def begin(self, outcomes: PageOutcomes) -> Callable[[PageBatch], None]:
        """Take the outcomes of all pages; returns what adds their losses."""
        of_metric, pages = outcomes.by_metric[self.metric], outcomes.entries.pages
        self._scored[pages] = of_metric.decision[: len(pages)] == SCORE
        if self._scale is None:
            self._scale = LossScale.of(self._inputs, self.metric, outcomes)
        total = float(self._scale.share)
        shares = of_metric.shares_of_users[: len(pages)]
        self._shares[pages] = shares / total if total > 0 else shares
        return self.add

    def add(self, pages: PageBatch) -> None:
        """Add the losses of some pages."""
        for grid in range(len(self._inputs.plan.grids)):
            scored = np.flatnonzero((pages.grid == grid) & self._scored[pages.pages])
            if len(scored):
                self._add(grid, pages if len(scored) == len(pages) else pages.take(scored))

    def _add(self, grid: int, pages: PageBatch) -> None:
        inputs = self._inputs
        codes, gains, weights = pages.pages, inputs.judged.gains[self.metric], inputs.plan.weights(self.metric, grid)
        steps = loss_steps(self.metric, grid, pages, self.ideals)
        self._values[codes], self._losses[codes], self._row_gaps[codes] = steps.values, steps.losses, steps.row_gaps
        best = steps.values[:, 3]
        share = self._shares[codes]
        scale = np.where(best > 0, share / np.where(best > 0, best, 1.0), 0.0)  # of 2DCG in the mean score
        by = inputs.plan.settings.by_columns
        segment = {name: inputs.codebook.segment_values(name, inputs.layouts.segments[name][codes]) for name in by}
        counts = steps.hit_weights > 0
        row, col = (places[counts] for places in pages.hit_cells())
        page, gain = pages.hit_page[counts], gains[pages.hit_judgment[counts]]
        worth = weights[row, col] * scale[page] * gain
        ideal, inside, top = steps.ideal, steps.inside, self.scale.top
        no_gain, no_ideal = np.zeros(len(ideal.row)), np.zeros(len(row))
        cells = _places(segment, np.concatenate([page, ideal.problem]), np.concatenate([row, ideal.row])).with_columns(
            pl.Series("col", np.concatenate([col, ideal.col]) + 1),
            _fixed_point("gain", np.concatenate([gain * share[page], no_gain]) / top),
            _fixed_point("ideal_gain", np.concatenate([no_ideal, ideal.gain * share[ideal.problem]]) / top),
            _fixed_point("loss", np.concatenate([-worth, _worth(ideal, weights, scale)])),
        )
        has_share = pl.Series(share > 0)  # pages of weight 0 are part of no mean
        self._cells.append(cells.filter(has_share.gather(np.concatenate([page, ideal.problem]))))
        rows = _places(segment, np.concatenate([page, inside.problem]), np.concatenate([row, inside.row]))
        rows = rows.with_columns(_fixed_point("item_order", np.concatenate([-worth, _worth(inside, weights, scale)])))
        self._rows.append(rows.filter(has_share.gather(np.concatenate([page, inside.problem]))))
        self._cells = [_summed(self._cells, [*by, "row", "col"])]
        self._rows = [_summed(self._rows, [*by, "row"])]

    def part(self, pages: PageTable, chosen: ChosenPages) -> tuple[pl.DataFrame, LossPart]:
        """The losses of all pages beside their scores, and what adds up, with the pages that were chosen."""
        by = self._inputs.plan.settings.by_columns
        codes = np.flatnonzero(~np.isnan(self._values[:, 0]))
        losses = dict(zip(LOSSES, self._losses[codes].T, strict=True))
        steps = page_names(self._inputs, codes).with_columns(
            pl.Series(Columns.DCG, self._values[codes, 0]),
            *(pl.Series(name, values) for name, values in losses.items()),
            pl.Series(Columns.IDEAL, self._values[codes, 3]),
        )
        keys = [key for key in (Columns.USER, Columns.PAGE) if key in steps.columns]
        kept = [*keys, *by, Columns.WEIGHT, Columns.STATUS]
        scored = pages.frame.select(
            *(name for name in kept if name in pages.frame.columns),
            pl.col(self.metric).alias(Columns.SCORE),
        )
        frame = LOSS_COLUMNS.arranged(scored.join(steps, on=keys, how="left"), loss_columns(scored.columns, by))
        wanted = pl.DataFrame([*chosen], schema=steps.select(keys).schema, orient="row")
        held = wanted.join(steps.select(*keys, pl.Series("code", codes)), on=keys, maintain_order="left")
        unproven = self._row_gaps > 0
        return frame, LossPart(
            cells=self._cells[0] if self._cells else _nothing([*by, Columns.ROW, Columns.COL], CELL_SUMS),
            rows=self._rows[0] if self._rows else _nothing([*by, Columns.ROW], ROW_SUMS),
            unproven=int(unproven.sum()),
            largest_gap=float(self._row_gaps.max(initial=0.0)),
            shown=tuple(self._views(held["code"].to_numpy())),
        )

    def _views(self, codes: NDArray[np.int64]) -> list[PageView]:
        """Some pages beside their ideals."""
        inputs = self._inputs
        pages = read_again(codes, inputs.layouts, inputs.judged, inputs.plan)
        return page_views(inputs, self.metric, pages, self._values[codes], self.ideals.uncounted())


CELL_SUMS = (Columns.GAIN, Columns.IDEAL_GAIN, Columns.LOSS)
ROW_SUMS = (Columns.ITEM_ORDER,)


def loss_columns(columns: list[str], by: tuple[str, ...]) -> Present:
    """Which columns tables of losses have, by those that the table of pages has."""
    holds = {When.PAGE_IDS: Columns.PAGE, When.WEIGHT: Columns.WEIGHT}
    return Present(by, holds=[when for when, name in holds.items() if name in columns])


def as_floats(sums: pl.DataFrame, scales: dict[str, float]) -> pl.DataFrame:
    """Sums of fixed-point numbers as floats, in order."""
    keys = [name for name in sums.columns if name not in scales]
    floats = (pl.col(name).cast(pl.Float64) * (scale * 2.0**-_BITS) for name, scale in scales.items())
    return sums.select(*keys, *floats).sort(keys)


def explained_metric(plan: ScoringPlan) -> str:
    """The metric that is explained."""
    name, *others = plan.names
    if others or name not in plan.metrics or plan.metrics[name].ideal != "category":
        raise ParameterError(
            f"{setting('metrics')}: explain takes one N2DCG_cat, with any discount and cutoff, found "
            f"{', '.join(plan.names)}."
        )
    return name


def _nothing(keys: list[str], sums: tuple[str, ...]) -> pl.DataFrame:
    kinds = {key: pl.Int64() if key in (Columns.ROW, Columns.COL) else pl.String() for key in keys}
    return pl.DataFrame(schema=kinds | dict.fromkeys(sums, pl.Int128()))


def _keys(sums: pl.DataFrame, last: str) -> list[str]:
    return sums.columns[: sums.columns.index(last) + 1]


def _places(segment: dict[str, pl.Series], page: NDArray[np.int64], row: NDArray[np.int64]) -> pl.DataFrame:
    return pl.DataFrame({name: values.gather(page) for name, values in segment.items()} | {"row": row + 1})


def _worth(cells: IdealCells, weights: Array, scale: Array) -> Array:
    """Gain times weight of every cell, scaled by its page."""
    worth: Array = cells.gain * weights[cells.row, cells.col] * scale[cells.problem]
    return worth


def _fixed_point(name: str, values: Array) -> pl.Series:
    """Shares of a mean as fixed-point numbers, whose sums do not depend on their order."""
    return pl.Series(name, np.clip(np.rint(np.ldexp(values, _BITS)), -_LARGEST, _LARGEST)).cast(pl.Int128)


def _summed(parts: list[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    return pl.concat(parts).group_by(keys).sum()
