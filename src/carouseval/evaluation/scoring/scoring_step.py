"""The scoring step: a plain function of arrays and settings. A thread, a process or an executor calls the same one."""

import numpy as np

from carouseval.errors import DataError
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.scoring.ideal_problems import too_large
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import MetricScores, PageScores, distinct
from carouseval.evaluation.scoring.table_pages import TablePages
from carouseval.messages import setting
from carouseval.metrics.grid import Array


def score(judged: JudgedData, pages: PageBatch, plan: ScoringPlan, ideals: PageIdeals | None = None) -> PageScores:
    """Score some pages by every metric of a plan.

    ``ideals`` holds what was computed for other pages of the same data and plan; results do not depend on it.
    """
    ideals = PageIdeals(judged, plan) if ideals is None else ideals
    if ideals.judged is not judged or ideals.plan is not plan:
        raise ValueError("these ideals were made for other judged data or another plan.")
    columns = {name: np.full((3, len(pages)), np.nan) for name in plan.metrics}
    items: dict[str, list[Codes]] = {name: [] for name in plan.figures}
    shown: list[Codes] = []
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
            shown.append(some.items_in(np.ones(plan.grids[grid].shape, bool)))
    return PageScores(
        page=pages.pages,
        duplicates=pages.duplicates.astype(np.int64),
        unjudged=pages.unjudged.astype(np.int64),
        defects=pages.defects,
        metrics={name: MetricScores(*values) for name, values in columns.items()},
        items={name: distinct(parts) for name, parts in items.items()},
        shown=distinct(shown),
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
