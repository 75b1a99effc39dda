"""From tables to scores: ``evaluate`` for one system, ``Evaluator`` for many systems judged by the same data.

The whole way: settings make a plan, tables become arrays (``reading/``), what becomes of each page is decided
(``outcomes.py``), pages are scored part by part (``scoring/``), and all of it is told (``per_page.py``, ``notices.py``,
``results.py``).
"""

from collections.abc import Callable
from typing import Unpack

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.defect_lines import refuse_defects
from carouseval.evaluation.notices import counts_of, refusals, warn_of
from carouseval.evaluation.outcomes import Verdicts
from carouseval.evaluation.per_page import per_page
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.page_batch import PageBatch, page_batches
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import PageScores
from carouseval.evaluation.scoring.scoring_step import score
from carouseval.evaluation.settings import ColumnNames, Settings, SettingsDict, takes_settings
from carouseval.progress import Progress
from carouseval.tables import TableLike, agree_on_ids, in_memory


@takes_settings
def evaluate(
    layouts: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Evaluation:
    """Score a system's pages.

    Parameters
    ----------
    layouts
        Lines of ``user_id, row, col, item_id`` (+ ``page_id, category, pinned``), or one line per carousel with a list
        ``items`` in place of ``col, item_id``. Polars, pandas, PyArrow, DuckDB, a dict of columns, or a path or pattern
        (``.parquet .csv .tsv .ndjson``).
    judgments
        Lines of ``user_id, item_id, relevance`` (+ ``page_id``).
    items
        Lines of ``item_id, category``, one per membership (+ ``user_id``, null for everyone). Left out: the pairs
        seen in layouts.
    progress
        Called with (what, done, of) while tables are read and scored.

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
    plan = ScoringPlan.of(Settings.named("evaluate", settings))
    with JudgedSources(judgments, items, plan).open(layouts, progress, items_from_layouts=True) as inputs:
        return evaluation_of(inputs, verdicts_of(inputs), score_pages(inputs, progress))


@takes_settings
class Evaluator:
    """Judges many layouts by the same judgments; ideals are computed once.

    Takes what :func:`evaluate` takes, except the layouts. ``items`` is needed for category ideals of judged items: the
    denominator must not depend on which system comes first; :func:`items_of` collects it from several layouts.

    Parameters
    ----------
    judgments, items
        As in :func:`evaluate`.
    """

    def __init__(self, judgments: TableLike, items: TableLike | None = None, **settings: Unpack[SettingsDict]) -> None:
        self.settings = Settings.named("Evaluator", settings)
        self._sources = JudgedSources(judgments, items, ScoringPlan.of(self.settings))
        self._ideals: PageIdeals | None = None

    def evaluate(self, layouts: TableLike, progress: Progress | None = None) -> Evaluation:
        """Score one system's pages."""
        with self._sources.open(layouts, progress) as inputs:
            if self._ideals is None:
                self._ideals = PageIdeals(inputs.judged, inputs.plan)
            return evaluation_of(inputs, verdicts_of(inputs), score_pages(inputs, progress, self._ideals))


def verdicts_of(inputs: Inputs) -> Verdicts:
    """What becomes of every page; what the settings refuse is raised, before any work is done."""
    verdicts = Verdicts.of(inputs.judged, inputs.layouts, inputs.plan)
    for defect in refusals(inputs, verdicts):
        raise DataError(str(defect))
    return verdicts


def score_pages(
    inputs: Inputs,
    progress: Progress | None = None,
    ideals: PageIdeals | None = None,
    look: Callable[[PageBatch], None] | None = None,
) -> PageScores:
    """Score all pages; defects that the settings refuse are raised. ``look`` is shown every batch that was scored."""
    ideals = PageIdeals(inputs.judged, inputs.plan) if ideals is None else ideals
    parts = []
    for batch in page_batches(inputs.layouts, inputs.judged, inputs.plan, progress):
        refuse_defects(batch, inputs)
        parts.append(score(inputs.judged, batch, inputs.plan, ideals))
        if look is not None:
            look(batch)
    return PageScores.merge(parts)


def evaluation_of(inputs: Inputs, verdicts: Verdicts, scores: PageScores) -> Evaluation:
    """What was found, as a result; warnings are given on the way."""
    plan, judged = inputs.plan, inputs.judged
    table = per_page(inputs, verdicts, scores)
    counts = counts_of(inputs, verdicts, scores)
    warn_of(inputs, counts, scores)
    source = "none" if judged.membership is None else judged.membership.source
    config = plan.config() | {
        "items": source,
        "judgments": "per page" if judged.judgments.per_page else "per user",
    }
    catalogue = scores.shown if judged.membership is None else judged.membership.items
    figures = {name: one.figure(scores.items[name], catalogue) for name, one in plan.figures.items()}
    return Evaluation(tuple(plan.metrics), table, counts, config, plan.settings.by_columns, figures)


def items_of(*layouts: TableLike, columns: ColumnNames = None) -> pl.DataFrame:
    """The (item, category) pairs that layouts show, as an items table for an :class:`Evaluator`.

    >>> items_of({"user_id": [1, 2], "row": [1, 1], "col": [1, 1], "item_id": [7, 7], "category": ["a", "a"]}).rows()
    [(7, 'a')]
    """
    if not layouts:
        raise ParameterError("items_of needs at least one table of layouts.")
    settings = Settings(columns=columns)
    opened = []
    for one in layouts:
        table = schema.open_tables({"layouts": in_memory(one, "layouts")}, settings)["layouts"]
        if "category" not in table:
            raise DataError(
                "layouts: missing column category, which items_of collects. Add it, or give items (item_id, category)."
            )
        opened.append(table)
    agreed = agree_on_ids(opened)
    pairs = [batch.select("item_id", "category").unique() for table in agreed for batch in table.batches()]
    if not pairs:
        raise DataError("layouts: the tables are empty, and show no item.")
    return pl.concat(pairs).unique().sort("item_id", "category")
