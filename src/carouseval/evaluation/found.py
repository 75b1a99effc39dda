"""What is found page by page, gathered into one result."""

import sys
import warnings

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError, DataWarning
from carouseval.evaluation import page_defects as flaws
from carouseval.evaluation.ids import NONE
from carouseval.evaluation.layouts import ShownPages
from carouseval.evaluation.opened import Opened
from carouseval.evaluation.results import COUNTS, Evaluation
from carouseval.metrics.grid import Array
from carouseval.metrics.score import ratio

_SEVERAL_EPSILONS = 1e-12  # a bound this close to the page found is that page, seen through rounding


class Found:
    """Scores and counts of all pages of a system, filled in batch by batch."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        count = len(opened.layouts)
        self._metrics = opened.evaluator.metrics
        self._bounded: set[int] = set()  # pages whose ideal is not proven by some metric
        self._above: set[int] = set()  # pages better than their ideal
        self._dcg, self._best, self._bound = (
            {name: np.full(count, np.nan) for name in self._metrics} for _ in range(3)
        )
        self._duplicates, self._unjudged = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._flaws, self._present = np.zeros(count, np.uint8), opened.layouts.present
        self._grids, self._grid_of = opened.grid_of()
        self._truths, self._users = opened.layouts.truths(), opened.layouts.user()

    def add(self, shown: ShownPages) -> None:
        """Score some pages."""
        pages = shown.pages
        self._duplicates[pages], self._unjudged[pages] = shown.duplicates, shown.unjudged
        self._flaws[pages] = shown.flaws
        for at, grid in enumerate(self._grids):
            mine = np.flatnonzero(self._grid_of[pages] == at)
            some = shown if len(mine) == len(shown) else shown.take(mine)
            for name in self._metrics:
                scorer = self._opened.evaluator.scorer(name, grid, self._opened.membership)
                scores = scorer.score(some, self._truths[some.pages], self._users[some.pages])
                self._dcg[name][some.pages] = scores.dcg
                self._best[name][some.pages], self._bound[name][some.pages] = scores.best, scores.bound

    def evaluation(self) -> Evaluation:
        """The result; what the policies refuse is raised."""
        opened, policies = self._opened, self._opened.evaluator.policies
        pages = np.flatnonzero(self._present)
        missing = self._missing()
        relevant = opened.relevant()
        has_relevant = relevant[self._truths[pages]]
        status = np.where(has_relevant, "scored", "no_relevant")
        absent = np.where(relevant[missing], "missing", "no_relevant")
        self._refuse(pages[~has_relevant], missing, missing[~relevant[missing]])
        frame = pl.concat(
            [
                self._names(pages).with_columns(self._attributes(pages), status=pl.Series(status, dtype=pl.String)),
                self._missing_names(missing).with_columns(
                    self._missing_attributes(missing), status=pl.Series(absent, dtype=pl.String)
                ),
            ],
            how="diagonal_relaxed",
        )
        lost = np.ones(len(missing), bool) if policies.missing_pages == "skip" else ~relevant[missing]
        keeps_zero = policies.no_relevant == "zero"
        drop = np.concatenate([~has_relevant, lost])
        if keeps_zero:
            drop = np.concatenate([np.zeros(len(pages), bool), lost & (policies.missing_pages == "skip")])
        scores = [column for name in self._metrics for column in self._scores(name, pages, missing, drop)]
        more = {"duplicates": self._duplicates, "unjudged": self._unjudged}
        invalid = np.concatenate([(self._flaws[pages] & flaws.INVALID) > 0, np.zeros(len(missing), bool)])
        found = [pl.Series(k, np.concatenate([v[pages], np.zeros(len(missing), np.int64)])) for k, v in more.items()]
        frame = frame.with_columns(*scores, *found, pl.Series("invalid", invalid))
        self._check_weights(frame, drop)
        keys = [key for key in ("user_id", "page_id") if key in frame.columns]
        frame = frame.sort(keys, nulls_last=True)
        counts = self._counts(pages, missing, int((status == "no_relevant").sum() + (absent == "no_relevant").sum()))
        evaluator = opened.evaluator
        return Evaluation(tuple(self._metrics), frame, counts, evaluator.config(opened.membership), evaluator.by)

    def _missing(self) -> NDArray[np.int64]:
        """Truths with judgments of which no page is shown."""
        truth = self._opened.evaluator.truth
        seen = np.zeros(max(len(truth), int(self._truths.max(initial=0)) + 1), bool)
        seen[self._truths[self._present]] = True
        return np.flatnonzero(truth.judged & ~seen[: len(truth)])

    def _refuse(self, bare: NDArray[np.int64], missing: NDArray[np.int64], bare_missing: NDArray[np.int64]) -> None:
        policies, opened = self._opened.evaluator.policies, self._opened
        if policies.missing_pages == "error" and len(missing):
            first = self._missing_names(missing).sort(pl.all()).row(0, named=True)
            who = " ".join(f"{key}={value!r}" for key, value in first.items() if value is not None)
            raise DataError(
                f"layouts: {_number(len(missing), self._whom())} with judgments but no page, first {who}. Add the "
                "pages, or use missing_pages='zero' or 'skip'."
            )
        if policies.no_relevant == "error":
            names = opened.names(bare)
            if policies.missing_pages != "skip":
                names = pl.concat([names, self._missing_names(bare_missing)], how="diagonal_relaxed")
            if names.height:
                first = names.sort(pl.all()).row(0, named=True)
                who = " ".join(f"{key}={value!r}" for key, value in first.items() if value is not None)
                raise DataError(
                    f"judgments: {_number(names.height, 'page')} without any judged item that gains, first {who}. "
                    "Judge some, or use no_relevant='skip' or 'zero'."
                )

    def _whom(self) -> str:
        return "page" if self._opened.evaluator.truth.per_page else "user"

    def _names(self, pages: NDArray[np.int64]) -> pl.DataFrame:
        return self._opened.names(pages)

    def _missing_names(self, truths: NDArray[np.int64]) -> pl.DataFrame:
        truth = self._opened.evaluator.truth
        users = truth.users.values().gather(truth.user_of(truths)).alias("user_id")
        if truth.pages is None or truth.page_ids is None:
            return pl.DataFrame([users])
        return pl.DataFrame([users, truth.page_ids.values().gather(truth.pages.pairs()[1][truths]).alias("page_id")])

    def _attributes(self, pages: NDArray[np.int64]) -> list[pl.Series]:
        opened = self._opened
        columns = [opened.segment_values(name, opened.segment(name)[pages]) for name in opened.evaluator.by]
        weights = opened.weights()
        return columns + ([] if weights is None else [pl.Series("weight", weights[pages])])

    def _missing_attributes(self, truths: NDArray[np.int64]) -> list[pl.Series]:
        opened, truth = self._opened, self._opened.evaluator.truth
        nothing = np.full(len(truths), NONE, np.uint32)
        columns = [
            opened.segment_values(name, truth.segments[name][truths] if name in truth.segments else nothing)
            for name in opened.evaluator.by
        ]
        if opened.weights() is None:
            return columns
        return [
            *columns,
            pl.Series("weight", np.full(len(truths), np.nan) if truth.weights is None else truth.weights[truths]),
        ]

    def _scores(
        self, name: str, pages: NDArray[np.int64], missing: NDArray[np.int64], drop: NDArray[np.bool_]
    ) -> list[pl.Series]:
        def column(label: str, values: Array, absent: float) -> pl.Series:
            whole = np.concatenate([values, np.full(len(missing), absent)])
            return pl.Series(label, whole).set(pl.Series(drop), None)

        dcg = self._dcg[name][pages]
        if self._metrics[name].ideal == "none":
            return [column(name, dcg, 0.0)]
        best, bound = self._best[name][pages], self._bound[name][pages]
        bounded = bound > best * (1 + _SEVERAL_EPSILONS)
        bound = np.where(bounded, bound, best)
        # what an ideal page may not do (gaps, repeats inside a row) can make a page better than ideal: that is shown
        above = (bound > 0) & (dcg > bound * (1 + _SEVERAL_EPSILONS))
        with np.errstate(divide="ignore", invalid="ignore"):
            score = np.where(bound > 0, np.where(above, dcg / bound, ratio(dcg, bound)), 0.0)
        self._above |= set(pages[above].tolist())
        columns = [column(name, score, 0.0), column(f"{name}.dcg", dcg, 0.0), column(f"{name}.ideal", bound, np.nan)]
        if bounded.any():
            columns.append(column(f"{name}.ideal_found", best, np.nan))
            columns.append(pl.Series(f"{name}.bounded", np.concatenate([bounded, np.zeros(len(missing), bool)])))
        self._bounded |= set(pages[bounded].tolist())
        return columns

    def _check_weights(self, frame: pl.DataFrame, drop: NDArray[np.bool_]) -> None:
        if "weight" not in frame.columns:
            return
        unknown = frame.filter(pl.Series(~drop) & pl.col("weight").is_nan())
        if unknown.height:
            evaluator = self._opened.evaluator
            raise DataError(
                f"judgments: {_number(unknown.height, 'page')} without {evaluator.weight}, first "
                f"user_id={unknown['user_id'].sort()[0]!r}. Add the column to judgments, or use missing_pages='skip'."
            )

    def _counts(self, pages: NDArray[np.int64], missing: NDArray[np.int64], no_relevant: int) -> dict[str, int]:
        opened = self._opened
        found = (
            len(np.unique(self._users[pages])),
            len(pages),
            opened.layouts.lines,
            len(missing),
            no_relevant,
            int(self._duplicates.sum()),
            int(self._unjudged.sum()),
            opened.uncategorised(),
            int(((self._flaws & flaws.INVALID) > 0).sum()),
            int(((self._flaws & flaws.GAP.bit) > 0).sum()),
            len(self._bounded),
            len(self._above),
        )
        counts = dict(zip(COUNTS, found, strict=True))
        self._warn_of(counts)
        return counts

    def _warn_of(self, counts: dict[str, int]) -> None:
        opened = self._opened
        if counts["gaps"]:
            marked = np.flatnonzero((self._flaws & flaws.GAP.bit) > 0)
            grids, grid_of = self._grids, self._grid_of
            told = flaws.describe(
                flaws.GAP, opened.layouts, marked, opened.membership, lambda page: grids[grid_of[page]]
            )
            warn(str(told))
        for mismatch in opened.mismatches(counts["unjudged"], counts["missing"]):
            warn(str(mismatch))
        if counts["uncategorised"] and opened.evaluator.needs_categories:
            warn(opened.no_category(counts["uncategorised"]))
        if counts["above_ideal"]:
            warn(
                f"layouts: {_number(counts['above_ideal'], 'page')} above a score of 1, for doing what no ideal page "
                "may: showing an item outside its category, twice in a row, or after a gap."
            )
        if counts["bounded"]:
            warn(
                f"{_number(counts['bounded'], 'ideal page')} not proven best: there the score is 2DCG over a proven "
                "upper bound."
            )


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def warn(message: str) -> None:
    """Warn at the line of whoever called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("carouseval."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)
