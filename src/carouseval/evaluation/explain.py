"""Where the score was lost: to the order of items, to the order of rows, or to the choice of items.

For every page S is its 2DCG, S1 the best with items free inside their rows, S2 the best with rows free too (the
displayed ideal), S3 the best of all judged items (the judged ideal): S <= S1 <= S2 <= S3, unless the page shows what no
ideal page may, such as a repeated item (``loss_steps.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import SupportsIndex, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import ParameterError, warn
from carouseval.evaluation import result_columns
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.evaluate import evaluate_inputs
from carouseval.evaluation.explanation import LOSSES, Explanation, pages_to_show
from carouseval.evaluation.notices import rows_not_proven
from carouseval.evaluation.outcomes import SCORE, PageOutcomes
from carouseval.evaluation.page_lookup import look_up_page
from carouseval.evaluation.page_view import PageView
from carouseval.evaluation.page_views import page_views
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.reading.page_batch import PageBatch, read_again
from carouseval.evaluation.result_table import Present, When
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.ideal_problems import IdealCells
from carouseval.evaluation.scoring.loss_steps import loss_steps
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.settings import Settings, SettingsDict, takes_settings
from carouseval.metrics.grid import Array
from carouseval.progress import Progress
from carouseval.tables import TableLike, in_memory

_BITS, _LARGEST = 56, 2.0**120  # of a share of the mean, and what 128 bits hold: a score may be far above 1


@takes_settings
def explain(
    layouts: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Explanation:
    """Split what a system's pages lose into item order, row order and the choice of items.

    Takes one metric with a category ideal: ``N2DCG_cat``, with any discount and cutoff.

    Parameters
    ----------
    layouts : table
        The pages, as in :func:`carouseval.evaluate`.
    judgments : table
        Lines of ``user_id, item_id, relevance``, as in :func:`carouseval.evaluate`.
    items : table, optional
        Lines of ``item_id, category``. By default, the (item, category) pairs in layouts.
    progress : callable, optional
        Called with (what, done, total) while tables are read and scored.

    Returns
    -------
    Explanation
        The losses overall, by segment, cell and page.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [10, 11, 12],
    ...            "category": ["new", "new", "drama"]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> {name: round(share, 4) for name, share in cv.explain(layouts, judgments).shares.items()}
    {'score': 0.8715, 'item_order': 0.0217, 'row_order': 0.1068, 'choice': 0.0}
    """
    plan = ScoringPlan.of(Settings.named("explain", settings))
    name, *others = plan.names
    if others or name not in plan.metrics or plan.metrics[name].ideal != "category":
        raise ParameterError(
            f"metrics: explain takes one N2DCG_cat, with any discount and cutoff, found {', '.join(plan.names)}."
        )
    layouts = in_memory(layouts, "layouts")
    with JudgedSources(judgments, items, plan).open(layouts, progress) as inputs:
        ideals = PageIdeals(inputs.judged, plan, inputs.shown, keeps_cells=True, progress=progress)
        losses = Losses(inputs, name, ideals)
        evaluation = evaluate_inputs(inputs, ideals, progress, [losses.begin])
        losses.notify_of_gaps(warn)
        return losses.explanation(evaluation, partial(look_up_page, inputs.judged_tables, ideals, layouts, name))


class Losses:
    """The losses of a system's pages by one metric, summed batch by batch; ``ideals`` must keep their cells."""

    def __init__(self, inputs: Inputs, name: str, ideals: PageIdeals) -> None:
        self._inputs, self._name, self.ideals = inputs, name, ideals
        self._scored, self._shares = np.zeros(len(inputs.layouts), bool), np.zeros(len(inputs.layouts))
        self._values = np.full((len(inputs.layouts), 4), np.nan)
        self._losses = np.full((len(inputs.layouts), 3), np.nan)
        self._row_gaps = np.zeros(len(inputs.layouts))
        self._largest_gain = float(inputs.judged.gains[name].max(initial=0.0)) or 1.0
        self._cells: list[pl.DataFrame] = []
        self._rows: list[pl.DataFrame] = []

    def begin(self, outcomes: PageOutcomes) -> Callable[[PageBatch], None]:
        """Take the outcomes of all pages; returns what adds their losses."""
        of_metric, pages = outcomes.by_metric[self._name], outcomes.entries.pages
        self._scored[pages] = of_metric.decision[: len(pages)] == SCORE
        self._shares[pages] = of_metric.shares[: len(pages)]
        return self.add

    def add(self, pages: PageBatch) -> None:
        """Add the losses of some pages."""
        for grid in range(len(self._inputs.plan.grids)):
            scored = np.flatnonzero((pages.grid == grid) & self._scored[pages.pages])
            if len(scored):
                self._add(grid, pages if len(scored) == len(pages) else pages.take(scored))

    def _add(self, grid: int, pages: PageBatch) -> None:
        inputs = self._inputs
        codes, gains, weights = pages.pages, inputs.judged.gains[self._name], inputs.plan.weights(self._name, grid)
        steps = loss_steps(self._name, grid, pages, self.ideals)
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
        ideal, inside, top = steps.ideal, steps.inside, self._largest_gain
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

    def notify_of_gaps(self, notify: Callable[[str], None]) -> None:
        """Say where losses are not told apart exactly."""
        if count := int((self._row_gaps > 0).sum()):
            notify(rows_not_proven(count, float(self._row_gaps.max()), self._inputs.plan.settings))

    def explanation(
        self, evaluation: Evaluation, view: Callable[[SupportsIndex | str, SupportsIndex | str | None], PageView]
    ) -> Explanation:
        """The losses of all pages, beside their scores."""
        by = self._inputs.plan.settings.by_columns
        pages = np.flatnonzero(~np.isnan(self._values[:, 0]))
        losses = dict(zip(LOSSES, self._losses[pages].T, strict=True))
        steps = page_names(self._inputs, pages).with_columns(
            pl.Series(Columns.DCG, self._values[pages, 0]),
            *(pl.Series(name, values) for name, values in losses.items()),
            pl.Series(Columns.IDEAL, self._values[pages, 3]),
        )
        keys = [key for key in (Columns.USER, Columns.PAGE) if key in steps.columns]
        kept = [*keys, *by, Columns.WEIGHT, Columns.STATUS]
        scored = evaluation.per_page.select(
            *(name for name in kept if name in evaluation.per_page.columns),
            pl.col(self._name).alias(Columns.SCORE),
        )
        holds = {When.PAGE_IDS: Columns.PAGE, When.WEIGHT: Columns.WEIGHT}
        present = Present(by, holds=[when for when, name in holds.items() if name in scored.columns])
        frame = result_columns.LOSSES.arranged(scored.join(steps, on=keys, how="left"), present)
        named = steps.select(*keys, pl.Series("code", pages))
        shown = pages_to_show(frame).select(keys).join(named, on=keys, how="left", maintain_order="left")
        return Explanation(
            metric=self._name,
            per_page=frame,
            cells=result_columns.CELLS.arranged(
                _as_floats(
                    self._cells,
                    [*by, Columns.ROW, Columns.COL],
                    {Columns.LOSS: 1.0, Columns.GAIN: self._largest_gain, Columns.IDEAL_GAIN: self._largest_gain},
                ),
                present,
            ),
            rows=result_columns.ROWS.arranged(
                _as_floats(self._rows, [*by, Columns.ROW], {Columns.ITEM_ORDER: 1.0}), present
            ),
            by=by,
            evaluation=evaluation,
            grid=self._inputs.plan.grid_by_segment or self._inputs.plan.grids[0],
            pages=tuple(self._views(shown["code"].to_numpy())),
            view=view,
        )

    def _views(self, codes: NDArray[np.int64]) -> list[PageView]:
        """Some pages beside their ideals."""
        inputs = self._inputs
        pages = read_again(codes, inputs.layouts, inputs.judged, inputs.plan)
        return page_views(inputs, self._name, pages, self._values[codes], self.ideals.uncounted())


def _places(segment: dict[str, pl.Series], page: NDArray[np.int64], row: NDArray[np.int64]) -> pl.DataFrame:
    return pl.DataFrame({name: values.gather(page) for name, values in segment.items()} | {"row": row + 1})


def _worth(cells: IdealCells, weights: Array, scale: Array) -> Array:
    """Gain times weight of every cell, scaled by its page."""
    worth: Array = cells.gain * weights[cells.row, cells.col] * scale[cells.problem]
    return worth


def _fixed_point(name: str, values: Array) -> pl.Series:
    """Shares of a mean as fixed-point numbers, whose sums do not depend on their order."""
    return pl.Series(name, np.clip(np.rint(np.ldexp(values, _BITS)), -_LARGEST, _LARGEST)).cast(pl.Int128)


def _as_floats(parts: list[pl.DataFrame], keys: list[str], scales: dict[str, float]) -> pl.DataFrame:
    """Sums of fixed-point numbers as floats."""
    kinds = {key: pl.Int64() if key in ("row", "col") else pl.String() for key in keys}
    total = parts[0] if parts else pl.DataFrame(schema=kinds | dict.fromkeys(scales, pl.Int128()))
    sums = (pl.col(name).cast(pl.Float64) * (scale * 2.0**-_BITS) for name, scale in scales.items())
    return total.select(*keys, *sums).sort(keys)


def _summed(parts: list[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    return pl.concat(parts).group_by(keys).sum()
