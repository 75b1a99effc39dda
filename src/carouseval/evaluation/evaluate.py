"""From tables to scores: ``evaluate`` for one system, ``Evaluator`` for many systems judged by the same data.

Settings make a plan, tables become arrays (``reading/``), all users are scored as one part (``score_part``), and the
result is made of the sum of all parts (``finish_evaluation``). Engines score users in many parts by the same functions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Unpack

import numpy as np
import polars as pl

from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation.defects.defect_lines import refuse_defects
from carouseval.evaluation.notices import RefusalError, notify_of, notify_of_over_capacity, refusals
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.page_table import PageTable, ScoredPages, Table
from carouseval.evaluation.part import Part, SystemItems
from carouseval.evaluation.per_page import per_page
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources, JudgedTables
from carouseval.evaluation.reading.page_batch import PageBatch, no_pages, page_batches
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import PageScores
from carouseval.evaluation.scoring.scoring_step import score
from carouseval.evaluation.settings import Settings, SettingsDict
from carouseval.forks import refuse_fork
from carouseval.messages import Expression, setting
from carouseval.progress import Progress
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import Table as GivenTable
from carouseval.tables.table import TableLike


@takes(Settings)
def evaluate(
    layouts: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Evaluation:
    """Score a system's pages against judgments.

    A page's score is its value over that of the ideal page; the result's ``mean`` is the mean over users of their mean
    over pages.

    Parameters
    ----------
    layouts : table
        The pages: lines of ``user_id, row, col, item_id`` (optionally ``page_id, category, pinned``), or one line per
        carousel with a list ``items`` in place of ``col, item_id``, or one per page with a list ``rows`` of objects:
        ``{"title": "Top 10", "items": [...], "pinned": true}``. Rows and columns count from 1. A frame of Polars,
        pandas, PyArrow or DuckDB, a dict of columns, or a path or pattern (``.parquet``, ``.csv``, ``.tsv``,
        ``.ndjson``, ``.json``, ``.arrow``), also in cloud storage (``s3://``, ``gs://``, ``az://``).
    judgments : table
        What is relevant to whom: lines of ``user_id, item_id, relevance`` (optionally ``page_id``). Relevances are
        finite and at least 0; without the column, all are 1.
    items : table, optional
        The categories of items: lines of ``item_id, category``, one per membership, or a list of categories
        (optionally ``user_id``, null for everyone). By default, the (item, category) pairs in layouts.
    progress : callable, optional
        Called with (what, done, total) while tables are read and scored.

    Returns
    -------
    Evaluation
        Means, intervals, scores of users and pages, counts and the settings in force.

    Notes
    -----
    Ids are integers or text, of the same type in all tables. UUIDs become text in lower case with hyphens, and dates
    and times become ``2026-01-31`` and ``2026-01-31T12:00:00`` (in UTC with a ``Z`` if they have a time zone). JSON
    files and Arrow streams are read into memory as a whole; for large tables use another format.

    See Also
    --------
    Evaluator : Score many layouts against the same judgments.
    compare : Compare systems and test their differences.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [10, 11, 12],
    ...            "category": ["new", "new", "drama"]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> result = cv.evaluate(layouts, judgments)
    >>> round(result.mean["N2DCG_cat"], 4)
    0.8715
    """
    plan = ScoringPlan.of(checked_settings("evaluate", settings, Settings))
    with JudgedSources(judgments, items, plan).open(layouts, progress) as inputs:
        return evaluate_inputs(inputs, PageIdeals(inputs.judged, plan, inputs.shown, progress=progress), progress)


@takes(Settings)
class Evaluator:
    """Scores many layouts against the same judgments; ideals are computed once.

    Takes what :func:`carouseval.evaluate` takes, except the layouts. Metrics with a category ideal of judged items need
    ``items``, so that the ideal does not depend on which system comes first;
    :func:`carouseval.items_from_layouts` collects them from the layouts of all systems.

    Parameters
    ----------
    judgments : table
        Lines of ``user_id, item_id, relevance`` (optionally ``page_id``).
    items : table, optional
        Lines of ``item_id, category``, one per membership (optionally ``user_id``, null for everyone).

    Notes
    -----
    Threads may share an Evaluator: their calls take turns, and each uses as many cores as ``threads`` allows. When it
    is pickled for another process, the tables or their paths go along; what was computed from them does not.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(users=20, systems=["new", "random"])
    >>> evaluator = cv.Evaluator(data.judgments, data.items, metrics=["N2DCG_cat", "Hit@3x5"])
    >>> evaluator
    Evaluator(metrics=['N2DCG_cat', 'Hit@3x5'])
    >>> for name, layouts in data.layouts.items():
    ...     print(name, round(evaluator.evaluate(layouts).mean["N2DCG_cat"], 4))
    new 0.4961
    random 0.0399
    """

    settings: Settings

    def __init__(self, judgments: TableLike, items: TableLike | None = None, **settings: Unpack[SettingsDict]) -> None:
        self.settings = checked_settings("Evaluator", settings, Settings)
        self._given: dict[str, Any] = {"metrics": self.settings.metrics, **settings}
        if self.settings.capacity == "shown":
            raise ParameterError(
                f"{setting('capacity', 'shown')} needs the layouts of all systems; use "
                f"{setting('carousels', Expression('carousels_from_layouts(layouts, ...)'))}, which collects what "
                "they show."
            )
        self._sources = JudgedSources(judgments, items, ScoringPlan.of(self.settings), from_layouts=False)
        self._judged: JudgedTables | None = None  # read with the first layouts
        self._ideals: PageIdeals | None = None
        self._lock = threading.RLock()  # reading layouts adds ids to those of the judgments, scoring adds ideals

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings, "_given": self._given, "_sources": self._sources}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _judged=None, _ideals=None, _lock=threading.RLock())

    def __repr__(self) -> str:
        return f"Evaluator({', '.join(f'{name}={value!r}' for name, value in self._given.items())})"

    def evaluate(self, layouts: TableLike, progress: Progress | None = None) -> Evaluation:
        """Score a system's pages.

        Parameters
        ----------
        layouts : table
            As in :func:`carouseval.evaluate`.
        progress : callable, optional
            Called with (what, done, total) while tables are read and scored.

        Returns
        -------
        Evaluation
            The same as :func:`carouseval.evaluate` gives.
        """
        refuse_fork()  # before the lock: a thread that is not in this process may hold it
        with self._lock:
            try:
                with self._sources.open(layouts, progress, judged=self._judged) as inputs:
                    self._judged = inputs.judged_tables
                    if self._ideals is None:
                        self._ideals = PageIdeals(inputs.judged, inputs.plan)
                    ideals = self._ideals.for_layouts(inputs.judged, inputs.shown, progress)
                    return evaluate_inputs(inputs, ideals, progress)
            except DataError:
                raise
            except BaseException:  # an interrupt may leave ids with a code but no value: judgments are read again
                self._judged = self._ideals = None
                raise


def evaluate_inputs(
    inputs: Inputs, ideals: PageIdeals, progress: Progress | None = None, watchers: Sequence[Watcher] = ()
) -> Evaluation:
    """Score all pages, and warn of what needs attention."""
    pages, part = score_part(inputs, ideals, progress, watchers)
    evaluation = finish_evaluation(part, pages, inputs.plan, inputs.tables, warn)
    notify_of_over_capacity(part.rows, part.tables, warn)
    return evaluation


Watcher: TypeAlias = Callable[[PageOutcomes], Callable[[PageBatch], None]]
"""What is told the outcomes of all pages, and returns what is told of every batch that was scored."""


def score_part(
    inputs: Inputs, ideals: PageIdeals, progress: Progress | None = None, watchers: Sequence[Watcher] = ()
) -> tuple[PageTable, Part]:
    """Score pages; what the settings refuse is raised. Systems that are compared share ``ideals``."""
    plan = inputs.plan
    outcomes = _outcomes(inputs)
    scores = _score_pages(inputs, ideals, progress, [watch(outcomes) for watch in watchers])
    frame = per_page(inputs, outcomes, scores, all_columns=inputs.is_part)
    pages = PageTable(tuple(plan.metrics), plan.settings.by_columns, frame)
    return pages, Part.of(inputs, outcomes, scores, pages, ideals)


def _outcomes(inputs: Inputs) -> PageOutcomes:
    """Decide which pages are scored, count as zero or are skipped; what the settings refuse is raised first."""
    outcomes = PageOutcomes.of(inputs.judged, inputs.layouts, inputs.plan)
    for refusal in refusals(inputs, outcomes):
        raise RefusalError(refusal, inputs.plan.settings)
    return outcomes


def _score_pages(
    inputs: Inputs, ideals: PageIdeals, progress: Progress | None, on_batch: Sequence[Callable[[PageBatch], None]]
) -> PageScores:
    """Score all pages, batch by batch; defects that the settings refuse are raised."""
    parts = []
    batches = page_batches(inputs.layouts, inputs.judged, inputs.plan, progress)
    for batch in batches:
        refuse_defects(batch, inputs, batches)
        parts.append(score(inputs.judged, batch, inputs.plan, ideals))
        for tell in on_batch:
            tell(batch)
    return PageScores.merge(
        parts or [score(inputs.judged, no_pages(inputs.layouts, inputs.judged, inputs.plan), inputs.plan, ideals)]
    )


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
