"""Parameter grids of discounts, and the weights of many parameter sets at once."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carouseval.errors import ParameterError
from carouseval.metrics.discount_base import Formula, classes
from carouseval.metrics.discounts import Discount
from carouseval.metrics.grid import Array, Grid
from carouseval.validation import require_choice

FACTORS = np.arange(1, 11)  # the paper's grid for alpha, beta, gamma and lambda
DECAYS = np.round(np.arange(1, 20) * 0.05, 2)  # 0.05, 0.10, ..., 0.95, without accumulated rounding

_MAX_SETS = 10_000_000  # more would take hours


class ParameterSets:
    """Every combination of parameters of a discount, the first parameter slowest, in the order given."""

    def __init__(self, discount: str, grid: Grid, parameters: Mapping[str, ArrayLike] | None = None) -> None:
        self.cls: Any = discount_class(discount)
        self.grid: Grid = grid
        axes = _axes(self.cls, parameters)
        sets = math.prod(map(len, axes.values()))
        if sets > _MAX_SETS:
            remedy = ", or fit it by likelihood" if self.cls().is_probability else ""
            problem = f"{discount}: {sets:,} combinations of parameters are too many to try."
            raise ParameterError(f"{problem} Give fewer values to try{remedy}.")
        columns = [column.ravel() for column in np.meshgrid(*axes.values(), indexing="ij")]
        self.columns: dict[str, NDArray[Any]] = dict(zip(axes, columns, strict=True))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, number: int) -> Discount:
        return cast(Discount, self.cls(**{name: column[number].item() for name, column in self.columns.items()}))

    def weights(self, begin: int, end: int) -> tuple[NDArray[np.int64], Array]:
        """Numbers and weights of those of the sets begin..end-1 whose weights are finite and positive."""
        part = {name: column[begin:end] for name, column in self.columns.items()}
        weights = weights_of_many(self.cls, part, self.grid, end - begin)
        usable = np.flatnonzero((np.isfinite(weights) & (weights > 0)).all(axis=(1, 2)))
        return usable + begin, np.ascontiguousarray(weights[usable])


def weights_of_many(cls: Any, columns: Mapping[str, NDArray[Any]], grid: Grid, sets: int) -> Array:
    """Weights of many parameter sets, (sets, rows, cols): the formula itself, on arrays in place of numbers.

    A column holds a value for each set, or one for all.
    """
    discounts = object.__new__(cls)  # not validated: its parameters are arrays
    for name, column in columns.items():
        object.__setattr__(discounts, name, column[:, None, None])
    shape = (sets, *grid.shape)
    with np.errstate(all="ignore"):
        try:
            weights = cls.weights.__wrapped__(discounts, grid)
            return np.ascontiguousarray(np.broadcast_to(weights, shape), dtype=np.float64)
        except (TypeError, ValueError):  # a formula that does not take arrays
            rows = zip(*(np.broadcast_to(column, sets).tolist() for column in columns.values()), strict=True)
            return np.array([_weights_or_nan(cls, dict(zip(columns, row, strict=True)), grid) for row in rows])


def _weights_or_nan(cls: Any, values: Mapping[str, float], grid: Grid) -> Array:
    try:
        return cast(Array, cls(**values).weights(grid))
    except ParameterError:
        return np.full(grid.shape, np.nan)


def discount_class(discount: str) -> Any:
    """The class of a discount by its symbol, if it is a formula that can be fitted."""
    if discount == "d_emp":
        raise ParameterError("d_emp cannot be fitted: it is a table of measured frequencies.")
    if discount == "d_mix":
        raise ParameterError("d_mix cannot be fitted: fit its parts, or d_rpb in the form 'two kinds'.")
    symbols = classes()
    return symbols[require_choice("discount", discount, sorted(set(symbols) - {"d_emp", "d_mix"}))]


def defaults(cls: Any) -> dict[str, float]:
    """The default values of those parameters that have one; parameters of a user's discount need not."""
    return {f.name: float(f.default) for f in fields(cls) if f.default is not MISSING}


def is_share(cls: Any, name: str) -> bool:
    """Whether a parameter lies between 0 and 1: as the class declares, or as the default of a user's discount does."""
    default = next(f.default for f in fields(cls) if f.name == name)
    inferred = not issubclass(cls, Formula) and isinstance(default, float) and 0 < default < 1
    return name in cls.decays + cls.shares or inferred


def _axes(cls: Any, parameters: Mapping[str, ArrayLike] | None) -> dict[str, NDArray[Any]]:
    names = [f.name for f in fields(cls)]
    given = dict(parameters or {})
    for name in given:
        require_choice(f"a parameter of {cls.symbol}", name, names)
    axes = {}
    for name in names:
        default = DECAYS if is_share(cls, name) else FACTORS
        axis = np.atleast_1d(np.asarray(given.get(name, default)))
        if axis.ndim != 1 or axis.size == 0 or axis.dtype.kind not in "iuf" or not np.isfinite(axis).all():
            raise ParameterError(f"{cls.symbol}: the values of {name} must be a list of finite numbers.")
        axes[name] = axis
    for name, axis in axes.items():
        for value in axis.tolist():
            _check_range(cls, name, value)
    return axes


def _check_range(cls: Any, name: str, value: float) -> None:
    try:
        cls(**{name: value})
    except TypeError:  # other parameters have no default: only the weights of a set can be checked
        return
