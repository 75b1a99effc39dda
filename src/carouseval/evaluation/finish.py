"""From the sum of all parts to an evaluation, wherever users were scored."""

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl

from carouseval.evaluation.notices import notify_of
from carouseval.evaluation.page_table import ScoredPages, Table
from carouseval.evaluation.part import Part, SystemItems
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.results import Evaluation
from carouseval.tables.table import Table as GivenTable


def finish_evaluation(
    part: Part,
    pages: ScoredPages[Table],
    plan: ScoringPlan,
    tables: Mapping[str, GivenTable],
    notify: Callable[[str], None],
) -> Evaluation[Table]:
    """Make an evaluation of the sum of all parts; ``notify`` is called with what needs attention.

    ``tables`` are those that were given, for the names of their columns.
    """
    counts = part.tally.all_counts()
    notify_of(part, counts, plan, tables, notify)
    return Evaluation(
        pages=pages,
        counts=counts,
        config=plan.config() | part.tables.config(),
        figures=_figures(part.items, plan),
        page_match=part.tally.match.page_share,
    )


def _figures(items: SystemItems, plan: ScoringPlan) -> dict[str, float]:
    """The metrics of the whole system; items have codes for them."""
    if not plan.figures:
        return {}
    known = pl.concat([items.catalogue, *items.in_view.values()]).unique().sort()

    def codes(of_items: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        return known.search_sorted(of_items.sort()).to_numpy().astype(np.uint32)

    catalogue = codes(items.catalogue)
    return {name: metric.aggregate(codes(items.in_view[name]), catalogue) for name, metric in plan.figures.items()}
