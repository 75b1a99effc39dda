"""The table of all pages: their ids, segments, weights, status and scores."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.defects import page_defects
from carouseval.evaluation.outcomes import SCORE, Entries, MetricOutcomes, PageOutcomes
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring.page_scores import MetricScores, PageScores
from carouseval.metrics.grid import Array


def per_page(inputs: Inputs, outcomes: PageOutcomes, scores: PageScores, *, all_columns: bool = False) -> pl.DataFrame:
    """One line for each entry, sorted by ids; scores are null where they are not part of the mean.

    Whether ideals are proven is left out where all are, unless ``all_columns`` are wanted.
    """
    entries = outcomes.entries
    absent = len(entries.missing_sets)

    def counts(values: NDArray[np.generic]) -> NDArray[np.generic]:
        return np.concatenate([values, np.zeros(absent, values.dtype)])

    frame = entry_names(inputs, entries).with_columns(
        *_attributes(inputs, entries),
        pl.Series("status", outcomes.by_any.status, dtype=pl.String),
        *(
            column
            for name, metric in scores.metrics.items()
            for column in _score_columns(
                name, metric, outcomes.by_metric[name], inputs.plan.metrics[name].ideal, all_columns=all_columns
            )
        ),
        pl.Series("duplicates", counts(scores.duplicates)),
        pl.Series("unjudged", counts(scores.unjudged)),
        pl.Series("invalid", counts((scores.defects & page_defects.INVALID) > 0)),
    )
    return frame.sort([key for key in ("user_id", "page_id") if key in frame.columns], nulls_last=True)


def entry_names(inputs: Inputs, entries: Entries) -> pl.DataFrame:
    """The ids of entries; missing pages have a page_id only where judgments name pages."""
    names = [page_names(inputs, entries.pages), _judgment_set_names(inputs, entries.missing_sets)]
    return pl.concat(names, how="diagonal_relaxed")


def page_names(inputs: Inputs, pages: NDArray[np.int64]) -> pl.DataFrame:
    """The ids of pages."""
    users = inputs.codebook.users.values().gather(inputs.layouts.user[pages]).alias("user_id")
    if inputs.layouts.page_ids is None:
        return pl.DataFrame([users])
    return pl.DataFrame([users, inputs.layouts.page_ids.values().gather(pages).alias("page_id")])


def _judgment_set_names(inputs: Inputs, judgment_sets: NDArray[np.int64]) -> pl.DataFrame:
    users = inputs.codebook.users.values().gather(inputs.judged.judgments.user[judgment_sets]).alias("user_id")
    if inputs.codebook.pages is None:
        return pl.DataFrame([users])
    return pl.DataFrame([users, inputs.codebook.pages.values().gather(judgment_sets).alias("page_id")])


def _attributes(inputs: Inputs, entries: Entries) -> list[pl.Series]:
    """Segments and weights; those of missing pages come from judgments."""
    judgments = inputs.judged.judgments
    nothing = np.full(len(entries.missing_sets), NONE, np.uint32)
    columns = []
    for name, codes in inputs.layouts.segments.items():
        of_missing = judgments.segments[name][entries.missing_sets] if name in judgments.segments else nothing
        columns.append(inputs.codebook.segment_values(name, np.concatenate([codes[entries.pages], of_missing])))
    return columns if entries.weights is None else [*columns, pl.Series("weight", entries.weights)]


def _score_columns(
    name: str, scores: MetricScores, outcomes: MetricOutcomes, ideal: str, *, all_columns: bool
) -> list[pl.Series]:
    absent = len(outcomes.decision) - len(scores.value)

    def column(label: str, values: Array, of_missing: float = np.nan) -> pl.Series:
        all_values = np.concatenate([values, np.full(absent, of_missing)])
        return pl.Series(label, all_values).set(pl.Series(~outcomes.counted), None)

    scored = outcomes.decision[: len(scores.value)] == SCORE
    if ideal == "none":
        return [column(name, np.where(scored, scores.value, 0.0), 0.0)]
    columns = [
        column(name, np.where(scored, scores.score, 0.0), 0.0),
        column(f"{name}.dcg", scores.value, 0.0),
        column(f"{name}.ideal", scores.ideal),
    ]
    if all_columns or scores.bounded.any():
        columns.append(column(f"{name}.ideal_found", scores.best))
        columns.append(pl.Series(f"{name}.bounded", np.concatenate([scores.bounded, np.zeros(absent, bool)])))
    return columns
