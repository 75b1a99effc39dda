"""One metric on one grid: 2DCG of pages and the ideals they are measured by."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation import ideals
from carouseval.evaluation.first_occurrence import first_shown_ideals
from carouseval.evaluation.ids import Codes
from carouseval.evaluation.judgments import Truth
from carouseval.evaluation.layouts import ShownPages
from carouseval.evaluation.membership import Membership
from carouseval.evaluation.policies import Policies
from carouseval.metrics.cutoffs import list_weights, page_weights
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.names import AnyMetric, FunctionMetric
from carouseval.metrics.pages import thread_count


@dataclass(frozen=True)
class Scores:
    """Per page: 2DCG, the best page found and the proven bound on it, which is what 2DCG is divided by."""

    dcg: Array
    best: Array
    bound: Array


class Scorer:
    """Scores pages by one metric on one grid; judged ideals are computed once per truth and kept."""

    def __init__(
        self,
        metric: AnyMetric,
        grid: Grid,
        truth: Truth,
        membership: Membership | None,
        policies: Policies,
        gain: Array,
    ) -> None:
        self.metric, self.grid, self.gain = metric, grid, gain
        self._truth, self._membership, self._policies = truth, membership, policies
        self.as_list = metric.discount is None
        if metric.discount is None:
            assert not isinstance(metric.cutoff, tuple)
            self.weights = list_weights(grid.rows * grid.cols, metric.cutoff)
        else:
            assert not isinstance(metric.cutoff, int)
            self.weights = page_weights(metric.discount, grid, metric.cutoff)
        self._best, self._bound = np.full(len(truth), np.nan), np.full(len(truth), np.nan)

    def score(self, shown: ShownPages, truths: Codes, users: Codes) -> Scores:
        """Scores of pages, given the truth and the user of each."""
        of_function = isinstance(self.metric, FunctionMetric)
        dcg = self.page_dcg(shown) if of_function else self.counted(shown)[0]
        if of_function and not np.isfinite(dcg).all():
            found = dcg[~np.isfinite(dcg)][0]
            raise DataError(f"metrics: {self.metric} must return a finite number for every page, found {found}.")
        if not np.isfinite(dcg).all():
            raise DataError("judgments: gains times weights add up to more than a float holds. Rescale the relevances.")
        if self.metric.ideal == "none":
            nothing = np.full(len(shown), np.nan)
            return Scores(dcg, nothing, nothing)
        if self._policies.candidates == "displayed":
            return Scores(dcg, *self._displayed(shown))
        return Scores(dcg, *self._judged(shown, truths, users))

    def counted(self, shown: ShownPages) -> tuple[Array, Array]:
        """2DCG of every page, and what every hit weighs: 0 where it does not count."""
        rule = {"error": "best"}.get(self._policies.duplicates, self._policies.duplicates)
        return _native.score_hits(
            shown.offsets, shown.hits, self.gain, self.weights, self.as_list, rule, thread_count(None)
        )

    def page_dcg(self, shown: ShownPages) -> Array:
        """What a user's function says of every page's gains."""
        assert isinstance(self.metric, FunctionMetric)
        rows, cols = shown.cells()
        gains = np.zeros((len(shown), *self.grid.shape))
        gains[shown.hit_page, rows, cols] = self.gain[shown.hits[:, 0]] * self._counts(shown)
        return np.array([self.metric.of_gains(page, self.weights) for page in gains], dtype=np.float64)

    def _counts(self, shown: ShownPages) -> NDArray[np.bool_]:
        """Which hits count at all, also where they weigh nothing."""
        if self._policies.duplicates == "every":
            return np.ones(len(shown.hits), bool)
        rows, cols = shown.cells()
        weight = self.weights[rows, cols] if self._policies.duplicates != "first" else np.zeros(len(rows))
        order = np.lexsort((shown.hits[:, 2], -weight, shown.hits[:, 0], shown.hit_page))
        page, judgment = shown.hit_page[order], shown.hits[order, 0]
        first = np.ones(len(order), bool)
        first[1:] = (page[1:] != page[:-1]) | (judgment[1:] != judgment[:-1])
        counts = np.zeros(len(order), bool)
        counts[order[first]] = True
        return counts

    def _displayed(self, shown: ShownPages) -> tuple[Array, Array]:
        if self.metric.ideal == "unconstrained":
            once = ideals.displayed_problems(shown, self.gain, self._policies.duplicates)
            best = ideals.unconstrained(once.item_offsets, once.gain, self.weights)
            return best, best
        problems = self.displayed_problems(shown)
        solution = problems.solve(self.weights, self._policies.once)
        if self._policies.duplicates == "first" and shown.duplicates.any():
            first = first_shown_ideals(shown, self.gain, self.weights, problems, solution)
            return first.best, first.bound
        return solution.best, solution.bound

    def displayed_problems(self, shown: ShownPages) -> ideals.Problems:
        """Every page's own items, to be rearranged."""
        return ideals.displayed_problems(shown, self.gain, self._policies.duplicates)

    def _judged(self, shown: ShownPages, truths: Codes, users: Codes) -> tuple[Array, Array]:
        known = truths < len(self._truth)
        fixed = shown.pinned.any(axis=1) & known & (self.metric.ideal == "category")
        shared = known & ~fixed
        best, bound = np.zeros(len(shown)), np.zeros(len(shown))
        best[shared], bound[shared] = self.judged_ideals(truths[shared])
        pinned = np.flatnonzero(fixed)
        if len(pinned):
            solution = self.judged_problems(shown.take(pinned), truths[pinned], users[pinned]).solve(
                self.weights, self._policies.once
            )
            best[pinned], bound[pinned] = solution.best, solution.bound
        return best, bound

    def judged_ideals(self, truths: Codes) -> tuple[Array, Array]:
        """The best page found and the proven bound for each truth, where no row is pinned."""
        wanted = np.unique(truths).astype(np.int64)
        self._solve(wanted[np.isnan(self._best[wanted])])
        return self._best[truths], self._bound[truths]

    def judged_problems(self, shown: ShownPages | None, truths: Codes, users: Codes) -> ideals.Problems:
        """What may be shown to each user; rows that a page pins stay where they are."""
        assert self._membership is not None
        pins = None if shown is None else ideals.pins_of(shown)
        return ideals.judged_problems(self._truth, truths, users, self.gain, self._membership, self.grid, pins)

    def _solve(self, truths: NDArray[np.int64]) -> None:
        """Judged ideals of truths that were not asked for before."""
        if not len(truths):
            return
        if self.metric.ideal == "category":
            codes = truths.astype(np.uint32)
            solution = self.judged_problems(None, codes, self._truth.user_of(truths)).solve(
                self.weights, self._policies.once
            )
            self._best[truths], self._bound[truths] = solution.best, solution.bound
        else:
            best = ideals.unconstrained(self._truth.offsets, self.gain, self.weights, self._copies())
            self._best[:] = self._bound[:] = best

    def _copies(self) -> NDArray[np.int32] | None:
        """How often an item may stand on a page, where every time counts: once in each of its categories."""
        if self._policies.once or self._membership is None:
            return None
        all_truths = np.arange(len(self._truth))
        problems = self.judged_problems(None, all_truths.astype(np.uint32), self._truth.user_of(all_truths))
        copies = np.ones(len(self.gain), np.int32)
        copies[problems.judgment] = np.diff(problems.home_offsets)
        return copies
