"""The table of all pages: their ids, segments and weights, what became of them, and their scores."""

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation import page_defects
from carouseval.evaluation.outcomes import Entries, Outcomes
from carouseval.evaluation.reading.ids import NONE
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring.page_scores import MetricScores, PageScores
from carouseval.metrics.grid import Array


def per_page(
    inputs: Inputs, entries: Entries, by_any: Outcomes, by_metric: Mapping[str, Outcomes], scores: PageScores
) -> pl.DataFrame:
    """One line for each entry, sorted by its ids; scores are null where they do not go into the mean."""
    absent = len(entries.missing)

    def counts(values: NDArray[np.generic]) -> NDArray[np.generic]:
        return np.concatenate([values, np.zeros(absent, values.dtype)])

    frame = entry_names(inputs, entries).with_columns(
        *_attributes(inputs, entries),
        pl.Series("status", by_any.status, dtype=pl.String),
        *(
            column
            for name, found in scores.metrics.items()
            for column in _score_columns(name, found, by_metric[name].counted, inputs.plan.metrics[name].ideal)
        ),
        pl.Series("duplicates", counts(scores.duplicates)),
        pl.Series("unjudged", counts(scores.unjudged)),
        pl.Series("invalid", counts((scores.defects & page_defects.INVALID) > 0)),
    )
    _check_weights(frame, by_any.counted, str(inputs.plan.settings.weight))
    return frame.sort([key for key in ("user_id", "page_id") if key in frame.columns], nulls_last=True)


def entry_names(inputs: Inputs, entries: Entries) -> pl.DataFrame:
    """The ids of entries; pages that are missing have a page_id only where judgments name pages."""
    names = [page_names(inputs, entries.pages), _truth_names(inputs, entries.missing)]
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
    nothing = np.full(len(entries.missing), NONE, np.uint32)
    columns = []
    for name, codes in inputs.layouts.segments.items():
        of_missing = judgments.segments[name][entries.missing] if name in judgments.segments else nothing
        columns.append(inputs.codebook.segment_values(name, np.concatenate([codes[entries.pages], of_missing])))
    return columns if entries.weights is None else [*columns, pl.Series("weight", entries.weights)]


def _score_columns(name: str, found: MetricScores, counted: NDArray[np.bool_], ideal: str) -> list[pl.Series]:
    absent = len(counted) - len(found.value)

    def column(label: str, values: Array, of_missing: float) -> pl.Series:
        whole = np.concatenate([values, np.full(absent, of_missing)])
        return pl.Series(label, whole).set(pl.Series(~counted), None)

    if ideal == "none":
        return [column(name, found.value, 0.0)]
    columns = [
        column(name, found.score, 0.0),
        column(f"{name}.dcg", found.value, 0.0),
        column(f"{name}.ideal", found.ideal, np.nan),
    ]
    if found.bounded.any():
        columns.append(column(f"{name}.ideal_found", found.best, np.nan))
        columns.append(pl.Series(f"{name}.bounded", np.concatenate([found.bounded, np.zeros(absent, bool)])))
    return columns


def _check_weights(frame: pl.DataFrame, counted: NDArray[np.bool_], weight: str) -> None:
    if "weight" not in frame.columns:
        return
    unknown = frame.filter(pl.Series(counted) & pl.col("weight").is_nan())
    if unknown.height:
        raise DataError(
            f"judgments: {unknown.height:,} page{'s' * (unknown.height > 1)} without {weight}, first "
            f"user_id={unknown['user_id'].sort()[0]!r}. Add the column to judgments, or use missing_pages='skip'."
        )
