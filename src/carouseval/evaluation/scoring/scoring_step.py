"""The scoring step: a plain function of arrays and settings. A thread, a process or an executor calls the same one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.scoring.ideal_problems import too_large
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import MetricScores, PageScores, distinct
from carouseval.evaluation.settings import Duplicates
from carouseval.messages import setting
from carouseval.metrics.grid import Array, Grid

_PAGES_AT_ONCE = 1_000  # whose gains are arrays of all cells
_REPEATS = {
    "best": _native.Repeats.BEST,
    "first": _native.Repeats.FIRST,
    "every": _native.Repeats.EVERY,
    "error": _native.Repeats.BEST,  # refused before pages are scored
}


@dataclass(frozen=True, eq=False)
class TablePages:
    """Some pages of one grid; see :class:`carouseval.metrics.pages.Pages`."""

    batch: PageBatch
    grid: Grid
    gain: Array  # of every judgment, as the metric counts it
    duplicates: Duplicates
    judged_relevant: NDArray[np.int64] | None  # relevant items per judgment set; None: of displayed items alone
    threads: int

    def __len__(self) -> int:
        return len(self.batch.pages)

    def gain_sum(self, weights: Array, *, by_rank: bool = False, once: bool = False) -> Array:
        return self._sum_and_weights(weights, by_rank, once)[0]

    def hit_weights(self, weights: Array) -> Array:
        """The weight of every hit, 0 where it does not count."""
        return self._sum_and_weights(weights, by_rank=False, once=False)[1]

    def _sum_and_weights(self, weights: Array, by_rank: bool, once: bool) -> tuple[Array, Array]:
        rule = _native.Repeats.BEST if once else _REPEATS[self.duplicates]
        batch = self.batch
        return _native.score_hits(batch.offsets, batch.hits, self.gain, weights, by_rank, rule, self.threads)

    def gains(self, weights: Array) -> Iterator[Array]:
        batch = self.batch
        (rows, cols), counted = batch.hit_cells(), self._counted(weights)
        for begin in range(0, len(batch), _PAGES_AT_ONCE):
            end = min(begin + _PAGES_AT_ONCE, len(batch))
            hits = slice(batch.offsets[begin], batch.offsets[end])
            page = batch.hit_page[hits] - begin
            gains = np.zeros((end - begin, *self.grid.shape))
            gains[page, rows[hits], cols[hits]] = self.gain[batch.hit_judgment[hits]] * counted[hits]
            yield from gains

    def _counted(self, weights: Array) -> NDArray[np.bool_]:
        """Which hits count, also where their weight is 0: one of each item's repeats, by the rule."""
        page, judgment, rank = self.batch.hit_page, self.batch.hit_judgment, self.batch.hits[:, 2]
        if self.duplicates == "every":
            return np.ones(len(page), bool)
        weight = np.zeros(len(page)) if self.duplicates == "first" else weights[self.batch.hit_cells()]
        order = np.lexsort((rank, -weight, judgment, page))
        page, judgment = page[order], judgment[order]
        first = np.ones(len(order), bool)
        first[1:] = (page[1:] != page[:-1]) | (judgment[1:] != judgment[:-1])
        counted = np.zeros(len(order), bool)
        counted[order[first]] = True
        return counted

    def hits(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        gaining = self.gain[self.batch.hit_judgment] > 0
        rows, cols = self.batch.hit_cells()
        return self.batch.hit_page[gaining], rows[gaining], cols[gaining]

    def relevant(self) -> NDArray[np.int64]:
        if self.judged_relevant is not None:
            counts = np.append(self.judged_relevant, 0)  # pages may have no judgment set
            return np.asarray(counts[np.minimum(self.batch.judgment_set, len(self.judged_relevant))])
        gaining = self.gain[self.batch.hit_judgment] > 0
        pairs = np.unique(np.stack([self.batch.hit_page[gaining], self.batch.hit_judgment[gaining]]), axis=1)
        return np.bincount(pairs[0], minlength=len(self))

    def occupied_before(self, order: NDArray[np.int64], limit: NDArray[np.int64]) -> NDArray[np.int64]:
        counts = np.zeros(len(self), np.int64)
        for cells in self.batch.cells():
            before = order[cells.row, cells.col] < limit[cells.page]
            counts += np.bincount(cells.page[before], minlength=len(self))
        return counts


def score(judged: JudgedData, pages: PageBatch, plan: ScoringPlan, ideals: PageIdeals | None = None) -> PageScores:
    """Score some pages by every metric of a plan.

    ``ideals`` holds what was computed for other pages of the same data and plan; results do not depend on it.
    """
    ideals = PageIdeals(judged, plan) if ideals is None else ideals
    if ideals.judged is not judged or ideals.plan is not plan:
        raise ValueError("these ideals were made for other judged data or another plan.")
    columns = {name: np.full((3, len(pages)), np.nan) for name in plan.metrics}
    items: dict[str, list[Codes]] = {name: [] for name in plan.figures}
    shown_items: list[Codes] = []
    for grid in range(len(plan.grids)):
        chosen, some = pages.on_grid(grid)
        for name in plan.metrics if len(chosen) else ():
            columns[name][0, chosen] = _values(name, grid, some, judged, plan)
            if plan.metrics[name].ideal != "none":
                first = ideals.alike[name]  # of which the ideals are known, unless it is the metric itself
                bounds = ideals.of_pages(name, grid, some) if first == name else columns[first][1:, chosen]
                columns[name][1:, chosen] = bounds
        for name in plan.figures:
            items[name].append(some.items_in(plan.weights(name, grid) > 0))
        if plan.figures:
            shown_items.append(some.items_in(np.ones(plan.grids[grid].shape, bool)))
    return PageScores(
        page=pages.pages,
        duplicates=pages.duplicates.astype(np.int64),
        unjudged=pages.unjudged.astype(np.int64),
        defects=pages.defects,
        metrics={name: MetricScores(*values) for name, values in columns.items()},
        items={name: distinct(parts) for name, parts in items.items()},
        shown=distinct(shown_items),
    )


def _values(name: str, grid: int, pages: PageBatch, judged: JudgedData, plan: ScoringPlan) -> Array:
    """The values of pages that have one grid, before they are divided by ideals."""
    metric = plan.metrics[name]
    values = metric.values(table_pages(name, grid, pages, judged, plan), plan.weights(name, grid))
    if not np.isfinite(values).all():
        if metric.linear:
            raise too_large(judged.gains[name])
        first = values[~np.isfinite(values)][0]
        raise DataError(f"{setting('metrics')}: {metric} must return a finite number for every page, found {first}.")
    return values


def table_pages(name: str, grid: int, pages: PageBatch, judged: JudgedData, plan: ScoringPlan) -> TablePages:
    """Pages of one grid, as metrics take them."""
    relevant = judged.relevant_items(name) if plan.settings.candidates == "judged" else None
    duplicates = plan.settings.duplicates
    return TablePages(pages, plan.grids[grid], judged.gains[name], duplicates, relevant, plan.threads)
