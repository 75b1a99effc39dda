"""Parameters of a class of discounts: defaults, which are shares, and the weights of many sets of them at once."""

import contextlib
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.metrics.browsing.contract import BrowsingModel
from carouseval.metrics.discount_base import Formula
from carouseval.metrics.grid import Array, Grid


def is_probability(cls: Any) -> bool:
    """Whether the weights of a class are probabilities; its parameters need not have defaults."""
    return cast(bool, object.__new__(cls).is_probability)


def defaults(cls: Any) -> dict[str, float]:
    """The default values of those parameters that have one; parameters of a user's discount need not."""
    return {f.name: float(f.default) for f in fields(cls) if f.default is not MISSING}


def is_share(cls: Any, name: str) -> bool:
    """Whether a parameter lies between 0 and 1: as the class declares, or as the default of a user's discount does."""
    default = next(f.default for f in fields(cls) if f.name == name)
    inferred = not issubclass(cls, Formula) and isinstance(default, float) and 0 < default < 1
    return name in cls.decays + cls.shares or inferred


def weights_of_many(cls: Any, columns: Mapping[str, NDArray[Any]], grid: Grid, sets: int) -> Array:
    """Weights of many parameter sets, (sets, rows, cols): the formula itself, on arrays in place of numbers.

    A column holds a value for each set, or one for all.
    """
    if cls.weights is not BrowsingModel.weights:  # a chain is that of one set
        discounts = object.__new__(cls)  # not validated: its parameters are arrays
        for name, column in columns.items():
            object.__setattr__(discounts, name, column[:, None, None])
        with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError):  # a formula that takes no arrays
            weights = cls.weights.__wrapped__(discounts, grid)
            return np.ascontiguousarray(np.broadcast_to(weights, (sets, *grid.shape)), dtype=np.float64)
    rows = zip(*(np.broadcast_to(column, sets).tolist() for column in columns.values()), strict=True)
    return np.array([_weights_or_nan(cls, dict(zip(columns, row, strict=True)), grid) for row in rows])


def _weights_or_nan(cls: Any, values: Mapping[str, float], grid: Grid) -> Array:
    try:
        return cast(Array, cls(**values).weights(grid))
    except ParameterError:
        return np.full(grid.shape, np.nan)
