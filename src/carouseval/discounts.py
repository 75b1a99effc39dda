"""Discounts: what a cell's position is worth. They live in :mod:`carouseval.metric.discounts`."""

from carouseval.metric.discounts import *  # noqa: F403
from carouseval.metric.discounts import __all__ as __all__
