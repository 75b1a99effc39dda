"""What a comparison needs to know of a run's pages beside their scores: what they show, and what is unjudged."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.page_table import PageTable
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.page_batch import PageBatch, read_batch
from carouseval.evaluation.scoring.scoring_step import table_pages
from carouseval.evaluation.scoring.shown_items import ShownItems
from carouseval.metrics.grid import Array

_PAGES_AT_ONCE = 20_000  # whose cells are read again, to save memory


def linear_metrics(plan: ScoringPlan) -> list[str]:
    """The metrics for which the gain of unjudged items can be computed: linear, with the same ideal for all systems."""
    judged = plan.settings.candidates == "judged"
    return [name for name, metric in plan.metrics.items() if metric.linear and judged]


class RunPages:
    """The pages of one run: the judged items they show, and what their scores would gain by unjudged items.

    The latter is for unjudged items that gain as much as relevant items do on average, by the rule for repeats and with
    the ideal unchanged; 0 where a user has no relevant item. That average counts as 1: it is known once all judgments
    are. The weight of unjudged items is that of all items minus that of judged ones: pages are read again with each of
    the two as judgments.
    """

    shown: ShownItems

    def watch(self, inputs: Inputs, _: PageOutcomes) -> Callable[[PageBatch], None]:
        """A function to be called with every batch of the run's pages. The run's lines are not kept."""
        self.shown = ShownItems(inputs.judged)
        self._pages = np.flatnonzero(inputs.layouts.present)
        self._names = page_names(inputs, self._pages)
        self._gain = {name: np.zeros(len(inputs.layouts)) for name in linear_metrics(inputs.plan)}
        all_judged, all_items = _all_judged(inputs.judged), _all_items(inputs.judged, len(inputs.codebook.items))
        return partial(self._add, inputs, all_judged, all_items)

    def _add(self, inputs: Inputs, all_judged: JudgedData, all_items: JudgedData, batch: PageBatch) -> None:
        judged, layouts, plan = inputs.judged, inputs.layouts, inputs.plan
        same_set = replace(layouts, judgment_set=np.zeros_like(layouts.judgment_set))
        for begin in range(0, batch.pages.size, _PAGES_AT_ONCE):
            lines = batch.own_lines(begin, begin + _PAGES_AT_ONCE)
            judged_cells = read_batch(lines, layouts, all_judged, plan)
            self.shown.add(judged_cells)
            if self._gain:
                cells = read_batch(lines, same_set, all_items, plan)
                for name, gain in self._gain.items():
                    unjudged = _weights(name, cells, all_items, plan) - _weights(name, judged_cells, all_judged, plan)
                    gain[cells.pages] = np.where(_has_relevant(name, judged_cells, judged), unjudged, 0.0)

    def with_unjudged_gain(self, table: PageTable) -> PageTable:
        """The pages with a further column for each linear metric, which users' means are taken of."""
        names = {name: of_metric(Columns.METRIC_UNJUDGED_GAIN, name) for name in self._gain}
        columns = [pl.Series(names[name], gain[self._pages]) for name, gain in self._gain.items()]
        keys = self._names.columns
        pages = table.frame.join(self._names.with_columns(columns), on=keys, how="left", maintain_order="left")
        gains = []
        for name in self._gain:
            gain = pl.col(names[name]).fill_null(0.0)
            if (ideal := of_metric(Columns.METRIC_IDEAL, name)) in pages.columns:
                has_ideal = (pl.col(ideal) > 0) & pl.col(ideal).is_not_nan()  # missing pages have none
                gain = pl.when(has_ideal).then(gain / pl.col(ideal)).otherwise(0.0)
            gains.append(pl.when(pl.col(name).is_not_null()).then(gain).alias(names[name]))
        return PageTable((*table.metrics, *names.values()), table.by, pages.with_columns(gains))


def _has_relevant(name: str, pages: PageBatch, judged: JudgedData) -> NDArray[np.bool_]:
    """On which pages the user has a relevant item."""
    relevant = np.append(judged.relevant_items(name) > 0, False)  # pages may have no judgment set
    return np.asarray(relevant[np.minimum(pages.judgment_set, len(relevant) - 1)])


def _all_judged(judged: JudgedData) -> JudgedData:
    """The same judgments, all of gain 1."""
    ones = np.ones(len(judged.judgments.item))
    return replace(judged, gains=dict.fromkeys(judged.gains, ones), membership=None)


def _all_items(judged: JudgedData, items: int) -> JudgedData:
    """One set of judgments in which every item has a gain of 1."""
    offsets, item = np.array([0, items]), np.arange(items, dtype=np.uint32)
    gains = dict.fromkeys(judged.gains, np.ones(items))
    return replace(
        judged, judgments=replace(judged.judgments, offsets=offsets, item=item), gains=gains, membership=None
    )


def _weights(name: str, pages: PageBatch, judged: JudgedData, plan: ScoringPlan) -> Array:
    """A metric's value of every page."""
    values = np.zeros(pages.grid.shape)
    for grid in range(len(plan.grids)):
        chosen, some = pages.on_grid(grid)
        if len(chosen):
            seen = table_pages(name, grid, some, judged, plan)
            values[chosen] = plan.metrics[name].values(seen, plan.weights(name, grid))
    return values
