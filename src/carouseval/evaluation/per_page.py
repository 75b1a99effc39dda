"""The table of all pages: their ids, segments, weights, status and scores."""

from collections.abc import Collection

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.defects import page_defects
from carouseval.evaluation.outcomes import SCORE, Entries, MetricOutcomes, PageOutcomes
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.result_columns import PER_PAGE
from carouseval.evaluation.result_table import Present, When
from carouseval.evaluation.scoring.page_scores import MetricScores, PageScores
from carouseval.metrics.grid import Array


def per_page(inputs: Inputs, outcomes: PageOutcomes, scores: PageScores, *, all_columns: bool = False) -> pl.DataFrame:
    """One line for each entry, sorted by ids, with the columns of ``PER_PAGE``.

    Whether ideals are proven is left out where all are, unless ``all_columns`` are wanted.
    """
    entries = outcomes.entries
    absent = len(entries.missing_sets)
    present = page_columns(
        inputs.plan,
        page_ids=inputs.layouts.page_ids is not None,
        weighted=entries.weights is not None,
        unproven=[name for name, metric in scores.metrics.items() if all_columns or metric.bounded.any()],
    )

    def counts(values: NDArray[np.generic]) -> NDArray[np.generic]:
        return np.concatenate([values, np.zeros(absent, values.dtype)])

    frame = entry_names(inputs, entries).with_columns(
        *_attributes(inputs, entries),
        pl.Series(Columns.STATUS, outcomes.by_any.status, dtype=pl.String),
        *(
            column
            for name, metric in scores.metrics.items()
            for column in _score_columns(name, metric, outcomes.by_metric[name], present.metrics[name])
        ),
        pl.Series(Columns.DUPLICATES, counts(scores.duplicates)),
        pl.Series(Columns.UNJUDGED, counts(scores.unjudged)),
        pl.Series(Columns.INVALID, counts((scores.defects & page_defects.INVALID) > 0)),
    )
    keys = [key for key in (Columns.USER, Columns.PAGE) if key in frame.columns]
    return PER_PAGE.arranged(frame.sort(keys, nulls_last=True), present)


def page_columns(plan: ScoringPlan, *, page_ids: bool, weighted: bool, unproven: Collection[str]) -> Present:
    """Which columns the table of pages has; ``unproven`` are the metrics with ideals that are only bounded."""
    metrics = {
        name: [] if metric.ideal == "none" else [When.IDEAL, *([When.UNPROVEN] if name in unproven else [])]
        for name, metric in plan.metrics.items()
    }
    holds = [*([When.PAGE_IDS] if page_ids else []), *([When.WEIGHT] if weighted else [])]
    return Present(segments=plan.settings.by_columns, metrics=metrics, holds=holds)


def entry_names(inputs: Inputs, entries: Entries) -> pl.DataFrame:
    """The ids of entries; missing pages have a page_id only where judgments name pages."""
    names = [page_names(inputs, entries.pages), _judgment_set_names(inputs, entries.missing_sets)]
    return pl.concat(names, how="diagonal_relaxed")


def page_names(inputs: Inputs, pages: NDArray[np.int64]) -> pl.DataFrame:
    """The ids of pages."""
    users = inputs.codebook.users.values().gather(inputs.layouts.user[pages]).alias(Columns.USER)
    if inputs.layouts.page_ids is None:
        return pl.DataFrame([users])
    return pl.DataFrame([users, inputs.layouts.page_ids.values().gather(pages).alias(Columns.PAGE)])


def _judgment_set_names(inputs: Inputs, judgment_sets: NDArray[np.int64]) -> pl.DataFrame:
    users = inputs.codebook.users.values().gather(inputs.judged.judgments.user[judgment_sets]).alias(Columns.USER)
    if inputs.codebook.pages is None:
        return pl.DataFrame([users])
    return pl.DataFrame([users, inputs.codebook.pages.values().gather(judgment_sets).alias(Columns.PAGE)])


def _attributes(inputs: Inputs, entries: Entries) -> list[pl.Series]:
    """Segments and weights; those of missing pages come from judgments."""
    judgments = inputs.judged.judgments
    nothing = np.full(len(entries.missing_sets), NONE, np.uint32)
    columns = []
    for name, codes in inputs.layouts.segments.items():
        of_missing = judgments.segments[name][entries.missing_sets] if name in judgments.segments else nothing
        columns.append(inputs.codebook.segment_values(name, np.concatenate([codes[entries.pages], of_missing])))
    return columns if entries.weights is None else [*columns, pl.Series(Columns.WEIGHT, entries.weights)]


def _score_columns(
    name: str, scores: MetricScores, outcomes: MetricOutcomes, holds: Collection[When]
) -> list[pl.Series]:
    absent = len(outcomes.decision) - len(scores.value)
    left_out = pl.Series(~outcomes.counted)

    def column(label: str, values: Array, of_missing: float = np.nan) -> pl.Series:
        all_values = np.concatenate([values, np.full(absent, of_missing)])
        return pl.Series(of_metric(label, name), all_values).set(left_out, None)

    scored = outcomes.decision[: len(scores.value)] == SCORE
    if When.IDEAL not in holds:
        return [column(Columns.METRIC_SCORE, np.where(scored, scores.value, 0.0), 0.0)]
    columns = [
        column(Columns.METRIC_SCORE, np.where(scored, scores.score, 0.0), 0.0),
        column(Columns.METRIC_DCG, scores.value, 0.0),
        column(Columns.METRIC_IDEAL, scores.ideal),
    ]
    if When.UNPROVEN in holds:
        bounded = np.concatenate([scores.bounded, np.zeros(absent, bool)])
        columns += [column(Columns.METRIC_IDEAL_FOUND, scores.best)]
        columns += [pl.Series(of_metric(Columns.METRIC_BOUNDED, name), bounded)]
    return columns
