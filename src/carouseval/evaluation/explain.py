"""Where the score was lost: to the order of items, to the order of rows, or to what was chosen.

For every page S is its 2DCG, S1 the best with items free inside their rows, S2 the best with rows free too (the
displayed ideal), S3 the best of what is judged (the judged ideal): S <= S1 <= S2 <= S3, unless a page does what no
ideal page may (``loss_steps.py``).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.evaluation.evaluate import evaluation_of, score_pages, verdicts_of
from carouseval.evaluation.explanation import LOSSES, Explanation, PageView
from carouseval.evaluation.outcomes import SCORE, Outcomes
from carouseval.evaluation.page_view import page_view
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.ideals import IdealCells
from carouseval.evaluation.scoring.loss_steps import loss_steps
from carouseval.evaluation.scoring.page_batch import PageBatch
from carouseval.evaluation.settings import Settings, SettingsDict, takes_settings
from carouseval.metrics.grid import Array
from carouseval.progress import Progress
from carouseval.tables import TableLike, in_memory

_BITS, _MOST = 56, 2.0**120  # of a share of the mean, and what 128 bits hold: pages may be far above a tiny ideal


@takes_settings
def explain(
    layouts: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Explanation:
    """Say what a system's pages lost, and where, by one metric: ``N2DCG_cat``, with any discount and cutoff.

    Parameters
    ----------
    layouts, judgments, items, progress
        As in :func:`carouseval.evaluate`.

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
    name, *others = plan.asked
    if others or name not in plan.metrics or plan.metrics[name].ideal != "category":
        found = ", ".join(plan.asked)
        raise ParameterError(f"metrics: explain works with one N2DCG_cat, of any discount and cutoff, found {found}.")
    layouts = in_memory(layouts, "layouts")
    sources = JudgedSources(judgments, items, plan)
    with sources.open(layouts, progress, items_from_layouts=True) as inputs:
        verdicts = verdicts_of(inputs)
        losses = _Losses(inputs, verdicts.by_metric[name], name)
        evaluation = evaluation_of(inputs, verdicts, score_pages(inputs, progress, look=losses.add))
        return losses.explanation(evaluation, partial(page_view, sources, inputs.judged, layouts, name))


class _Losses:
    """Losses of all pages of a system, added up batch by batch."""

    def __init__(self, inputs: Inputs, outcomes: Outcomes, name: str) -> None:
        self._inputs, self._name = inputs, name
        pages = outcomes.entries.pages
        self._scored, self._shares = np.zeros(len(inputs.layouts), bool), np.zeros(len(inputs.layouts))
        self._scored[pages] = outcomes.decision[: len(pages)] == SCORE
        self._shares[pages] = outcomes.shares[: len(pages)]
        self._values = np.full((len(inputs.layouts), 4), np.nan)
        self._losses = np.full((len(inputs.layouts), 3), np.nan)
        self._top = float(inputs.judged.gains[name].max(initial=0.0)) or 1.0
        self._cells: list[pl.DataFrame] = []
        self._rows: list[pl.DataFrame] = []

    def add(self, pages: PageBatch) -> None:
        """What some pages lost."""
        for grid in range(len(self._inputs.plan.grids)):
            scored = np.flatnonzero((pages.grid == grid) & self._scored[pages.pages])
            if len(scored):
                self._add(grid, pages if len(scored) == len(pages) else pages.take(scored))

    def _add(self, grid: int, pages: PageBatch) -> None:
        inputs = self._inputs
        codes, gains, weights = pages.pages, inputs.judged.gains[self._name], inputs.plan.weights(self._name, grid)
        steps = loss_steps(self._name, grid, pages, inputs.judged, inputs.plan)
        self._values[codes], self._losses[codes] = steps.values, steps.losses
        top = steps.values[:, 3]
        share = self._shares[codes]
        worth = np.where(top > 0, share / np.where(top > 0, top, 1.0), 0.0)
        by = inputs.plan.settings.by_columns
        segment = {name: inputs.codebook.segment_values(name, inputs.layouts.segments[name][codes]) for name in by}
        counts = steps.hit_weights > 0
        row, col = (places[counts] for places in pages.hit_cells())
        page, gain = pages.hit_page[counts], gains[pages.hit_judgment[counts]]
        weighed = weights[row, col] * worth[page] * gain
        ideal, inside = steps.ideal, steps.inside
        nothing, none = np.zeros(len(ideal.row)), np.zeros(len(row))
        cells = _places(segment, np.concatenate([page, ideal.problem]), np.concatenate([row, ideal.row])).with_columns(
            pl.Series("col", np.concatenate([col, ideal.col]) + 1),
            _fixed("gain", np.concatenate([gain * share[page], nothing]) / self._top),
            _fixed("ideal_gain", np.concatenate([none, ideal.gain * share[ideal.problem]]) / self._top),
            _fixed("loss", np.concatenate([-weighed, _weighed(ideal, weights, worth)])),
        )
        weighs = pl.Series(share > 0)  # pages of weight 0 are part of no mean
        self._cells.append(cells.filter(weighs.gather(np.concatenate([page, ideal.problem]))))
        rows = _places(segment, np.concatenate([page, inside.problem]), np.concatenate([row, inside.row]))
        rows = rows.with_columns(_fixed("item_order", np.concatenate([-weighed, _weighed(inside, weights, worth)])))
        self._rows.append(rows.filter(weighs.gather(np.concatenate([page, inside.problem]))))
        self._cells = [_summed(self._cells, [*by, "row", "col"])]
        self._rows = [_summed(self._rows, [*by, "row"])]

    def explanation(self, evaluation: Evaluation, view: Callable[[Any, Any], PageView]) -> Explanation:
        """What all pages lost, beside their scores."""
        by = self._inputs.plan.settings.by_columns
        pages = np.flatnonzero(~np.isnan(self._values[:, 0]))
        lost = dict(zip(LOSSES, self._losses[pages].T, strict=True))
        found = page_names(self._inputs, pages).with_columns(
            pl.Series("dcg", self._values[pages, 0]),
            *(pl.Series(name, values) for name, values in lost.items()),
            pl.Series("ideal", self._values[pages, 3]),
        )
        keys = [key for key in ("user_id", "page_id") if key in found.columns]
        kept = [name for name in (*keys, *by, "weight", "status") if name in evaluation.per_page.columns]
        frame = evaluation.per_page.select(*kept, pl.col(self._name).alias("score")).join(found, on=keys, how="left")
        return Explanation(
            metric=self._name,
            per_page=frame,
            cells=_told(self._cells, [*by, "row", "col"], {"loss": 1.0, "gain": self._top, "ideal_gain": self._top}),
            rows=_told(self._rows, [*by, "row"], {"item_order": 1.0}),
            by=by,
            evaluation=evaluation,
            grid=self._inputs.plan.grids[0],
            view=view,
        )


def _places(segment: dict[str, pl.Series], page: NDArray[np.int64], row: NDArray[np.int64]) -> pl.DataFrame:
    return pl.DataFrame({name: values.gather(page) for name, values in segment.items()} | {"row": row + 1})


def _weighed(cells: IdealCells, weights: Array, worth: Array) -> Array:
    weighed: Array = cells.gain * weights[cells.row, cells.col] * worth[cells.problem]
    return weighed


def _fixed(name: str, values: Array) -> pl.Series:
    """Shares of a mean as whole numbers, whose sums do not depend on any order."""
    return pl.Series(name, np.clip(np.rint(np.ldexp(values, _BITS)), -_MOST, _MOST)).cast(pl.Int128)


def _told(parts: list[pl.DataFrame], keys: list[str], scales: dict[str, float]) -> pl.DataFrame:
    """Sums as numbers again."""
    kinds = {key: pl.Int64() if key in ("row", "col") else pl.String() for key in keys}
    whole = parts[0] if parts else pl.DataFrame(schema=kinds | dict.fromkeys(scales, pl.Int128()))
    sums = (pl.col(name).cast(pl.Float64) * (scale * 2.0**-_BITS) for name, scale in scales.items())
    return whole.select(*keys, *sums).sort(keys)


def _summed(parts: list[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    return pl.concat(parts).group_by(keys).sum()
