"""Offline evaluation of pages of carousels: the metric of "Revisiting N2DCG" (CIKM '26), exact and fast.

>>> import carouseval as cv
>>> page = [[3, 0, 1], [0, 2]]  # relevance; a row is a carousel, and carousels may differ in length
>>> round(cv.n2dcg_cat(page), 4)
0.9597
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from carouseval.errors import CarousevalError, DataError, DataWarning, ParameterError, ParseError
from carouseval.metric import discounts as discounts
from carouseval.metric.grid import DESKTOP, PHONE, RECGAZE, TV, Grid
from carouseval.metric.ideal import ideal_dcg2d, ideal_layout
from carouseval.metric.score import dcg2d, n2dcg, n2dcg_cat

if TYPE_CHECKING:  # at run time it is the package of that name, which can be called
    from carouseval.metric.names import metric as metric

__version__ = "0.1.0"

sys.modules["carouseval.discounts"] = discounts  # so that it can be imported from, as it is written

__all__ = [
    "DESKTOP",
    "PHONE",
    "RECGAZE",
    "TV",
    "CarousevalError",
    "DataError",
    "DataWarning",
    "Grid",
    "ParameterError",
    "ParseError",
    "dcg2d",
    "discounts",
    "ideal_dcg2d",
    "ideal_layout",
    "metric",
    "n2dcg",
    "n2dcg_cat",
]


def __getattr__(name: str) -> ModuleType:
    """``cv.attention`` and ``cv.study`` are imported when first used, so that starting up stays light."""
    if name in ("attention", "study"):
        return importlib.import_module(f"carouseval.{name}")
    raise AttributeError(f"module 'carouseval' has no attribute {name!r}")


# A page is scored here and now (half a millisecond), so that the first call is about as fast as the tenth.
for _score in (n2dcg_cat, n2dcg, dcg2d):
    _score([[1.0]], grid=RECGAZE, threads=1)
