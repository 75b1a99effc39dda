"""Grids, discounts, gains, ideals and the metrics built from them.

The names here are for writing a metric of your own: subclass ``Metric`` and register it with ``register_metric``.
"""

from typing import TYPE_CHECKING

from carouseval.lazy_names import lazy_names

if TYPE_CHECKING:
    from carouseval.metrics.metric_base import Metric as Metric
    from carouseval.metrics.metric_base import SystemMetric as SystemMetric
    from carouseval.metrics.metric_base import register_metric as register_metric
    from carouseval.metrics.pages import Pages as Pages
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__, {"metric_base": ("Metric", "SystemMetric", "register_metric"), "pages": ("Pages",)}
    )
