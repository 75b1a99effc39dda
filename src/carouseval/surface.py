"""The metric's names in ``import carouseval as cv``, which loads them; the command line waits until it needs one."""

from typing import TYPE_CHECKING

from carouseval import discounts
from carouseval.errors import CarousevalError, DataError, DataWarning, ParameterError, ParseError
from carouseval.metric.grid import DESKTOP, PHONE, RECGAZE, TV, Grid
from carouseval.metric.ideal import ideal_dcg2d, ideal_layout
from carouseval.metric.score import dcg2d, n2dcg, n2dcg_cat

if TYPE_CHECKING:
    from carouseval.metric.names import metric
else:
    from carouseval import metric  # the package, which can be called

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
