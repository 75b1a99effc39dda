"""Scores of pages in columns: what batches give, and what they add up to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.reading.ids import Codes
from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import ratio

_SEVERAL_EPSILONS = 1e-12  # a bound this close to the page found is that page, seen through rounding


@dataclass(frozen=True, eq=False)
class MetricScores:
    """One metric: per page its value, the best page found and the proven bound on it; NaN where there is no ideal."""

    value: Array
    best: Array
    bound: Array

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """Where the ideal is not proven."""
        return np.asarray(self.bound > self.best * (1 + _SEVERAL_EPSILONS))

    @cached_property
    def ideal(self) -> Array:
        """What values are divided by: the best page where it is proven, else the bound."""
        return np.where(self.bounded, self.bound, self.best)

    @cached_property
    def above(self) -> NDArray[np.bool_]:
        """Where a page is better than its ideal: it does what no ideal page may, such as repeats and gaps in a row."""
        return np.asarray((self.ideal > 0) & (self.value > self.ideal * (1 + _SEVERAL_EPSILONS)))

    @cached_property
    def score(self) -> Array:
        """The value over the ideal, 0 where that is 0; the value itself where there is none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(self.above, self.value / self.ideal, ratio(self.value, self.ideal))
        return np.where(np.isnan(self.ideal), self.value, np.where(self.ideal > 0, shares, 0.0))


@dataclass(frozen=True, eq=False)
class PageScores:
    """Some pages, scored by every metric of a plan."""

    page: NDArray[np.int64]  # their codes
    duplicates: NDArray[np.int64]
    unjudged: NDArray[np.int64]
    defects: NDArray[np.uint8]  # bits of _native.Defect
    metrics: Mapping[str, MetricScores]
    items: Mapping[str, Codes]  # for each figure of the system: the items in view on any page
    shown: Codes  # all items on any page, where there are such figures

    @classmethod
    def merge(cls, parts: Iterable["PageScores"]) -> "PageScores":
        """Several batches as one, in order of pages; each page must be in one of them, and one there must be."""
        some = list(parts)
        order = np.argsort(np.concatenate([part.page for part in some]), kind="stable")

        def joined(column: Callable[[PageScores], Any]) -> Any:
            return np.concatenate([column(part) for part in some])[order]

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
            metrics={name: of_metric(name) for name in some[0].metrics},
            items={name: np.unique(np.concatenate([part.items[name] for part in some])) for name in some[0].items},
            shown=np.unique(np.concatenate([part.shown for part in some])),
        )
