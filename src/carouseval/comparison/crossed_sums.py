"""Users' scores under the runs of one or two systems, summed up without rounding: parts of the users add up."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from carouseval.comparison.crossed_effects import PAIR_LOADINGS, TIE, CrossedMeans, RunVariance, combined_runs
from carouseval.evaluation.exact_sums import Exact, Product, added, exact_sums
from carouseval.evaluation.user_sums import UserSums
from carouseval.metrics.grid import Array

_ONE = (np.ones(1),)  # the loading of one system


@dataclass(frozen=True)
class RunSums:
    """Sums over users of v, their scores under each run minus their mean over runs, times powers of weights."""

    runs: int
    columns: int
    weighted: bool
    sums: Mapping[Product, Exact]  # of the columns of every run, run by run, then of weights
    spread: float  # how far apart the runs of a user with weight are at most

    @classmethod
    def of(cls, scores: Array, weights: Array | None) -> "RunSums":
        """From scores (users, runs, columns)."""
        users, runs, columns = scores.shape
        if runs == 1:
            return cls(runs, columns, weights is not None, {}, 0.0)
        table = (scores - scores.mean(axis=1, keepdims=True)).reshape(users, runs * columns)
        if weights is not None:
            table = np.column_stack([table, weights])
        weighted, cells = weights is not None, range(runs * columns)
        w = (runs * columns,) * weighted
        products = [
            *((*w * power, cell) for power in (1, 2) for cell in cells),
            *((*w * 2, i, j) for i in cells for j in cells if i <= j and i // columns == j // columns),
        ]
        counted = scores if weights is None else scores[weights > 0]
        spread = float(np.ptp(counted, axis=1).max(initial=0.0))
        return cls(runs, columns, weighted, exact_sums(np.ascontiguousarray(table), products), spread)

    def __add__(self, other: "RunSums") -> "RunSums":
        sums, spread = added(self.sums, other.sums), max(self.spread, other.spread)
        return RunSums(self.runs, self.columns, self.weighted, sums, spread)

    def _sum_of(self, power: int, *cells: int) -> Exact:
        return self.sums[(self.runs * self.columns,) * (power * self.weighted) + cells]

    def variance(self, users: UserSums, exponent: int) -> RunVariance:
        """The variance of the mean over runs, in squares of 2^exponent."""
        columns, total = range(self.columns), users.total_weight
        twice = total * total
        first = [[self._sum_of(1, run * self.columns + c) for c in columns] for run in range(self.runs)]
        squares = [[self._sum_of(2, run * self.columns + c) for c in columns] for run in range(self.runs)]
        cells = np.empty((self.columns, self.columns))
        for i in columns:
            for j in range(i, self.columns):
                product = mixed = means = Exact()
                for run, (of_run, square) in enumerate(zip(first, squares, strict=True)):
                    product += self._sum_of(2, run * self.columns + i, run * self.columns + j)
                    mixed += of_run[i] * square[j] + of_run[j] * square[i]
                    means += of_run[i] * of_run[j]
                exact = (product * total - mixed) * total + users.sum_of(2) * means
                cells[i, j] = cells[j, i] = exact.scaled(-2 * exponent) / (twice * twice)
        off = np.array([[value.scaled(-exponent) / total for value in of_run] for of_run in first])
        return RunVariance.of_runs(off, users.factors.second * cells)


@dataclass(frozen=True)
class CrossedSums:
    """Users' scores, averaged over runs, and how runs differ; the columns are those of :class:`CrossedMeans`."""

    users: UserSums
    runs: tuple[RunSums, ...]  # of each system, or one of all columns if runs are paired
    counts: tuple[int, ...]  # of the runs of each system
    paired: bool
    largest: float  # of the scores, in absolute value

    @classmethod
    def of(
        cls, scores: Sequence[Array], loadings: Sequence[Array], weights: Array | None, *, paired: bool
    ) -> "CrossedSums":
        """From the scores (users, runs) of each system; ``loadings`` say how much of each column is its mean."""
        means = [table.mean(axis=1) for table in scores]
        loading = np.array(loadings)  # (systems, columns)
        columns = np.stack([_combined(means, of_column) for of_column in loading.T], axis=1)
        tables = [table[:, :, None] for table in scores]
        if paired:
            tables = [np.stack([_combined(scores, of_column) for of_column in loading.T], axis=2)]
        return cls(
            users=UserSums.of(columns, weights),
            runs=tuple(RunSums.of(table, weights) for table in tables),
            counts=tuple(table.shape[1] for table in scores),
            paired=paired,
            largest=max(float(np.abs(table).max(initial=0.0)) for table in scores),
        )

    @classmethod
    def of_system(cls, scores: Array, weights: Array | None = None) -> "CrossedSums":
        """The mean of a system, from scores (users, runs)."""
        return cls.of([scores], _ONE, weights, paired=False)

    @classmethod
    def of_pair(
        cls, baseline: Array, system: Array, weights: Array | None = None, *, paired: bool = False
    ) -> "CrossedSums":
        """The difference between two systems and the baseline's mean, from scores (users, runs).

        >>> pair = CrossedSums.of_pair(np.array([[0.1], [0.4], [0.3]]), np.array([[0.3], [0.5], [0.3]]))
        >>> estimate = pair.means.estimate(1, 0)
        >>> round(estimate.mean, 3), round(estimate.error, 4), estimate.df
        (0.1, 0.0577, 2.0)
        """
        return cls.of([system, baseline], PAIR_LOADINGS, weights, paired=paired)

    def __add__(self, other: "CrossedSums") -> "CrossedSums":
        return CrossedSums(
            users=self.users + other.users,
            runs=tuple(run + more for run, more in zip(self.runs, other.runs, strict=True)),
            counts=self.counts,
            paired=self.paired,
            largest=max(self.largest, other.largest),
        )

    @cached_property
    def means(self) -> CrossedMeans:
        """The means of the columns and how they vary."""
        moments = self.users.moments()
        by_run: tuple[RunVariance, ...] = ()
        if not self.users.rest_on_one_user:
            exponent = math.frexp(moments.scale)[1] - 1
            rounding = math.ldexp(TIE, math.frexp(self.largest)[1]) if self.largest > 0 else TIE
            vary = [run.variance(self.users, exponent) if run.spread > rounding else None for run in self.runs]
            loadings = PAIR_LOADINGS if len(self.counts) > 1 else _ONE
            by_run = combined_runs(vary, self.counts, loadings, self.paired)
        return CrossedMeans(moments.means, moments.squares, moments.cubes, moments.df, by_run, moments.scale)


def _combined(values: Sequence[Array], loading: Array) -> Array:
    parts = [value * by for value, by in zip(values, loading.tolist(), strict=True) if by]
    return np.asarray(sum(parts[1:], start=parts[0]))
