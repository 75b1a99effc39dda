"""Scores of pages in columns; those of batches merge into one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.evaluation.reading.ids import Codes
from carouseval.metrics.grid import Array

_SEVERAL_EPSILONS = 1e-12  # a bound this close to the best page differs by rounding alone


def distinct(parts: Iterable[Codes]) -> Codes:
    """The codes of all parts, each once."""
    return np.unique(np.concatenate([np.empty(0, np.uint32), *parts]))


def divisor(best: Array, bound: Array) -> Array:
    """What scores are divided by: the best value where it is proven optimal, else the bound."""
    return np.where(_is_bounded(best, bound), bound, best)


def gaps(best: Array, bound: Array) -> Array:
    """By what share at most scores are too low, since they are divided by the bound; 0 where the ideal is proven."""
    bounded = _is_bounded(best, bound)
    return np.where(bounded, 1 - best / np.where(bounded, bound, 1.0), 0.0)


def _is_bounded(best: Array, bound: Array) -> NDArray[np.bool_]:
    return np.asarray(bound > best * (1 + _SEVERAL_EPSILONS))


@dataclass(frozen=True, eq=False)
class MetricScores:
    """One metric: per page its value, its ideal's best known value and the upper bound on it; NaN without an ideal."""

    value: Array
    best: Array
    bound: Array

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """Where the ideal is not proven optimal."""
        return _is_bounded(self.best, self.bound)

    @cached_property
    def ideal(self) -> Array:
        """The divisor: the best value where it is proven optimal, else the bound."""
        return divisor(self.best, self.bound)

    @cached_property
    def above(self) -> NDArray[np.bool_]:
        """Where a page is above its ideal, by showing what no ideal page may, such as repeats in a row."""
        return np.asarray(self.value > self.ideal * (1 + _SEVERAL_EPSILONS))

    @cached_property
    def score(self) -> Array:
        """The value over the ideal, 0 where that is 0; the value itself where there is none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(self.above, self.value / self.ideal, _native.ratio(self.value, self.ideal))
        return np.where(np.isnan(self.ideal), self.value, np.where(self.ideal > 0, shares, 0.0))


@dataclass(frozen=True, eq=False)
class PageScores:
    """Some pages, scored by every metric of a plan."""

    page: NDArray[np.int64]  # their codes
    duplicates: NDArray[np.int64]
    unjudged: NDArray[np.int64]
    defects: NDArray[np.uint16]  # bits of _native.Defect
    metrics: Mapping[str, MetricScores]
    items: Mapping[str, Codes]  # for each figure of the system: the items in view on any page
    shown: Codes  # all items on any page, where there are such figures

    @classmethod
    def merge(cls, parts: Iterable["PageScores"]) -> "PageScores":
        """At least one batch, merged in order of pages; no page may be in two."""
        batches = list(parts)
        order = np.argsort(np.concatenate([part.page for part in batches]), kind="stable")

        def joined(column: Callable[[PageScores], Any]) -> Any:
            return np.concatenate([column(part) for part in batches])[order]

        def of_metric(name: str) -> MetricScores:
            return MetricScores(
                joined(lambda part: part.metrics[name].value),
                joined(lambda part: part.metrics[name].best),
                joined(lambda part: part.metrics[name].bound),
            )

        return cls(
            page=joined(lambda part: part.page),
            duplicates=joined(lambda part: part.duplicates),
            unjudged=joined(lambda part: part.unjudged),
            defects=joined(lambda part: part.defects),
            metrics={name: of_metric(name) for name in batches[0].metrics},
            items={name: distinct([part.items[name] for part in batches]) for name in batches[0].items},
            shown=distinct([part.shown for part in batches]),
        )
