"""Discounts: what a cell's position is worth. They live in :mod:`carouseval.metrics`."""

from carouseval.metrics.discounts import *  # noqa: F403
from carouseval.metrics.discounts import __all__ as __all__
