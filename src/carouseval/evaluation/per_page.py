"""The table of all pages: their ids, segments and weights, what became of them, and their scores."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation import page_defects
from carouseval.evaluation.outcomes import SCORE, Entries, Outcomes, Verdicts
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring.page_scores import MetricScores, PageScores
from carouseval.metrics.grid import Array


def per_page(inputs: Inputs, verdicts: Verdicts, scores: PageScores) -> pl.DataFrame:
    """One line for each entry, sorted by its ids; scores are null where they do not go into the mean."""
    entries = verdicts.entries
    absent = len(entries.missing_truths)

    def counts(values: NDArray[np.generic]) -> NDArray[np.generic]:
        return np.concatenate([values, np.zeros(absent, values.dtype)])

    frame = entry_names(inputs, entries).with_columns(
        *_attributes(inputs, entries),
        pl.Series("status", verdicts.by_any.status, dtype=pl.String),
        *(
            column
            for name, found in scores.metrics.items()
            for column in _score_columns(name, found, verdicts.by_metric[name], inputs.plan.metrics[name].ideal)
        ),
        pl.Series("duplicates", counts(scores.duplicates)),
        pl.Series("unjudged", counts(scores.unjudged)),
        pl.Series("invalid", counts((scores.defects & page_defects.INVALID) > 0)),
    )
    return frame.sort([key for key in ("user_id", "page_id") if key in frame.columns], nulls_last=True)


def entry_names(inputs: Inputs, entries: Entries) -> pl.DataFrame:
    """The ids of entries; pages that are missing have a page_id only where judgments name pages."""
    names = [page_names(inputs, entries.pages), _truth_names(inputs, entries.missing_truths)]
    return pl.concat(names, how="diagonal_relaxed")


def page_names(inputs: Inputs, pages: NDArray[np.int64]) -> pl.DataFrame:
    """The ids of pages."""
    users = inputs.codebook.users.values().gather(inputs.layouts.user[pages]).alias("user_id")
    if inputs.layouts.page_ids is None:
        return pl.DataFrame([users])
    return pl.DataFrame([users, inputs.layouts.page_ids.values().gather(pages).alias("page_id")])


def _truth_names(inputs: Inputs, truths: NDArray[np.int64]) -> pl.DataFrame:
    users = inputs.codebook.users.values().gather(inputs.judged.judgments.user[truths]).alias("user_id")
    if inputs.codebook.pages is None:
        return pl.DataFrame([users])
    return pl.DataFrame([users, inputs.codebook.pages.values().gather(truths).alias("page_id")])


def _attributes(inputs: Inputs, entries: Entries) -> list[pl.Series]:
    """Segments and weights; of pages that are missing, as judgments have them."""
    judgments = inputs.judged.judgments
    nothing = np.full(len(entries.missing_truths), NONE, np.uint32)
    columns = []
    for name, codes in inputs.layouts.segments.items():
        of_missing = judgments.segments[name][entries.missing_truths] if name in judgments.segments else nothing
        columns.append(inputs.codebook.segment_values(name, np.concatenate([codes[entries.pages], of_missing])))
    return columns if entries.weights is None else [*columns, pl.Series("weight", entries.weights)]


def _score_columns(name: str, found: MetricScores, outcomes: Outcomes, ideal: str) -> list[pl.Series]:
    absent = len(outcomes.decision) - len(found.value)

    def column(label: str, values: Array, of_missing: float = np.nan) -> pl.Series:
        whole = np.concatenate([values, np.full(absent, of_missing)])
        return pl.Series(label, whole).set(pl.Series(~outcomes.counted), None)

    scored = outcomes.decision[: len(found.value)] == SCORE
    if ideal == "none":
        return [column(name, np.where(scored, found.value, 0.0), 0.0)]
    columns = [
        column(name, np.where(scored, found.score, 0.0), 0.0),
        column(f"{name}.dcg", found.value, 0.0),
        column(f"{name}.ideal", found.ideal),
    ]
    if found.bounded.any():
        columns.append(column(f"{name}.ideal_found", found.best))
        columns.append(pl.Series(f"{name}.bounded", np.concatenate([found.bounded, np.zeros(absent, bool)])))
    return columns
