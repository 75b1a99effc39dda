"""Discounts: what a cell's position is worth. They live in :mod:`carouseval.metric.discounts`."""

from typing import TYPE_CHECKING, Any

from carouseval.metric.discounts import *  # noqa: F403
from carouseval.metric.discounts import __all__ as __all__

if TYPE_CHECKING:
    from carouseval.attention.scan import MarkovScan as MarkovScan
else:

    def __getattr__(name: str) -> Any:
        """The scan stands above the metric; it is imported when first used."""
        if name == "MarkovScan":
            from carouseval.attention.scan import MarkovScan

            return MarkovScan
        raise AttributeError(f"module 'carouseval.discounts' has no attribute {name!r}")
