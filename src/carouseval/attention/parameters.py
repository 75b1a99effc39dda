"""What can be fitted, discounts and their forms by name, and the parameter sets of a grid search."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.browsing.forms import Form, forms_of
from carouseval.metrics.discount_base import class_of, classes
from carouseval.metrics.discount_parameters import is_probability, is_share, weights_of_many
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
            remedy = ", or fit it by likelihood" if is_probability(self.cls) else ""
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


def discount_class(discount: str) -> Any:
    """The class of a discount by its symbol, if it is a formula that can be fitted."""
    if discount == "d_emp":
        raise ParameterError("d_emp cannot be fitted: it is a table of measured frequencies.")
    if discount == "d_mix":
        raise ParameterError("d_mix cannot be fitted: fit its parts, or d_rpb in the form 'two kinds'.")
    symbols = classes()
    return symbols[require_choice("discount", discount, sorted(set(symbols) - {"d_emp", "d_mix"}))]


def form_name(name: str) -> str:
    """The name of a form as it is listed: "edges,novelty" is accepted too."""
    return ", ".join(part.strip() for part in str(name).split(","))


def as_form(discount: str | Form) -> Form:
    """A form by its name, or a discount with all its parameters free by its symbol."""
    if isinstance(discount, Form):
        return discount
    if not isinstance(discount, str):
        raise ParameterError(
            f"{setting('discount')} must be the symbol of a discount, such as 'd_rpb', or the name of a form, such "
            f"as 'six', found {type(discount).__name__}."
        )
    if not discount.startswith("d_") and class_of(discount) is None:
        forms: dict[str, Form] = {}
        for form in (form for cls in classes().values() for form in forms_of(cls)):
            forms.setdefault(form.name, form)
        return forms[require_choice("form", form_name(discount), list(forms))]
    cls = discount_class(discount)
    if forms_of(cls):
        return forms_of(cls)[-1]
    return Form(discount, discount, tuple(f.name for f in fields(cls)), "all parameters free")


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
