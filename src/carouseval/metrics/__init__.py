"""What a page is worth: grids, discounts, gains, ideals and the metrics built from them.

``Metric`` and ``register_metric`` are what a metric of your own needs.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from carouseval.metrics.metric_base import Metric, Pages, SystemMetric, register_metric

__all__ = ["Metric", "Pages", "SystemMetric", "register_metric"]


def __getattr__(name: str) -> Any:
    """They bring in NumPy, which the command line reads names without."""
    if name in __all__:
        return getattr(importlib.import_module("carouseval.metrics.metric_base"), name)
    raise AttributeError(f"module 'carouseval.metrics' has no attribute {name!r}")
