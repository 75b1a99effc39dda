"""Grids, discounts, gains, ideals and the metrics built from them.

The names here are for writing a metric of your own: subclass ``Metric`` and register it with ``register_metric``.
"""

from carouseval.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
