"""Discounts: the weight of a cell by its position, as formulas, browsing models, tables and mixtures."""

from carouseval.metrics.discounts import *  # noqa: F403
from carouseval.metrics.discounts import __all__ as __all__
