"""A user's own function of (gains, weights) as a metric."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, SupportsFloat, TypeAlias

import numpy as np

from carouseval.errors import DataError
from carouseval.metrics.grid import Array
from carouseval.metrics.metric_base import Metric
from carouseval.metrics.pages import Pages

PageFunction: TypeAlias = Callable[[Array, Array], SupportsFloat]
"""A metric as a function of (gains, weights) of one page, both of shape (rows, cols), that returns a number; empty
cells have gain 0."""


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """A function of (gains, weights), called once per page; normalising is up to the function."""

    default_discount: ClassVar[str | None] = "d_rpd"

    name: str = "function"
    function: PageFunction | None = None

    def __str__(self) -> str:
        return self.name

    def value(self, pages: Pages, weights: Array) -> Array:
        return np.array([self._page_value(gains, weights) for gains in pages.gains(weights)], dtype=np.float64)

    def _page_value(self, gains: Array, weights: Array) -> float:
        assert self.function is not None
        value = self.function(gains, weights)
        if not isinstance(value, Real | np.generic) and not (isinstance(value, np.ndarray) and value.ndim == 0):
            kind = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
            raise DataError(f"metric {self.name!r} must return one number for a page, found {kind}.")
        return float(value)
