"""Forms of browsing models: which parameters are free, and how the others follow from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from carouseval.attention.parameters import discount_class, is_share, weights_of_many
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.discounts import Discount, Mixture
from carouseval.metrics.grid import Array, Grid
from carouseval.validation import require_choice

MAX_PARAMETERS = 8  # of a form that may be selected

ALL_USERS = None  # in place of a share of users

ParameterColumns: TypeAlias = Mapping[str, Array]
"""Parameters by name, each with a value for every set of parameters, or one for all."""

UserGroup: TypeAlias = tuple[Any, dict[str, Array]]
"""A share of users and the parameters of their browsing."""


def _one_group(values: ParameterColumns) -> list[UserGroup]:
    return [(ALL_USERS, dict(values))]


@dataclass(frozen=True)
class Form:
    """A discount, or a mixture of it, with some parameters free and the others fixed or tied to those."""

    name: str
    symbol: str
    free: tuple[str, ...]
    meaning: str
    groups: Callable[[ParameterColumns], list[UserGroup]] = _one_group
    contains: tuple[str, ...] = ()  # the next smaller forms that it contains

    def weights(self, values: Array, grid: Grid) -> Array:
        """Weights (sets, rows, cols) of many sets of free parameters (sets, free)."""
        cls = discount_class(self.symbol)
        total: Any = 0.0
        for share, columns in self.groups(dict(zip(self.free, values.T, strict=True))):
            weights = weights_of_many(cls, columns, grid, len(values))
            total = weights if share is ALL_USERS else total + np.reshape(share, (-1, 1, 1)) * weights
        return np.asarray(total, dtype=np.float64)

    def discount(self, values: Sequence[float]) -> Discount:
        """The discount with these values of the free parameters."""
        cls = discount_class(self.symbol)
        columns = {name: np.array([float(value)]) for name, value in zip(self.free, values, strict=True)}
        parts = [
            (1.0 if share is ALL_USERS else share.item(), cls(**{name: value.item() for name, value in group.items()}))
            for share, group in self.groups(columns)
        ]
        return parts[0][1] if len(parts) == 1 else Mixture(parts)

    def extend(self, smaller: "Form", values: Array, minimum: float) -> Array:
        """Parameters of a smaller form (sets, free) as parameters of this one, each at least ``minimum``."""
        ((_, columns),) = smaller.groups(dict(zip(smaller.free, values.T, strict=True)))
        full = {name: np.broadcast_to(column, len(values)) for name, column in columns.items()}
        return np.column_stack([np.maximum(full[name], minimum) for name in self.free])

    @cached_property
    def is_share(self) -> tuple[bool, ...]:
        """Which free parameters lie between 0 and 1; the others are 0 or more."""
        cls = discount_class(self.symbol)
        own = {f.name for f in fields(cls)}
        return tuple(name not in own or is_share(cls, name) for name in self.free)


def _without_extras(values: ParameterColumns) -> list[UserGroup]:
    """d_rpb without both edges and without a difference between rows, except for the parameters that are free."""
    return [(ALL_USERS, {"w": np.zeros(1), "sigma1_top": values["sigma1"], "fade": np.zeros(1), **values})]


def _novelty(values: ParameterColumns) -> list[UserGroup]:
    """A share ``fade`` of users swipes out of curiosity in row 1, a share fade^2 in row 2, and so on."""
    top = values["sigma1"] + (1 - values["sigma1"]) * values["fade"]
    return _without_extras({**values, "sigma1_top": top})


def _two_kinds(values: ParameterColumns) -> list[UserGroup]:
    """Two groups of users that differ in how far down they go."""
    shared = {name: values[name] for name in _SIX if name != "kappa"}
    groups = [_without_extras({**shared, "kappa": values[name]})[0][1] for name in ("kappa", "kappa_others")]
    return [(values["share"], groups[0]), (1 - values["share"], groups[1])]


_SIX = ("e", "kappa", "beta", "sigma1", "sigma2", "rho")


def _row_page_form(
    name: str,
    extras: tuple[str, ...],
    meaning: str,
    groups: Callable[[ParameterColumns], list[UserGroup]] = _without_extras,
    contains: tuple[str, ...] = ("six",),
) -> Form:
    """A form of d_rpb whose first six parameters and ``extras`` are free."""
    return Form(name, "d_rpb", _SIX + extras, meaning, groups, contains)


FORMS = (
    Form("rows and columns", "d_rcb", ("e", "kappa", "beta"), "no swipe pages"),
    _row_page_form("six", (), "rows, swipe pages, slots", contains=()),
    _row_page_form(
        "two kinds", ("share", "kappa_others"), "six; two groups differ in how far down they go", _two_kinds, ()
    ),
    _row_page_form("edges", ("w",), "six; users also start at the right edge of page 1"),
    _row_page_form("first row", ("sigma1_top",), "six; more swipes in row 1"),
    _row_page_form("novelty", ("fade",), "six; more swipes at the top, fading by row", _novelty),
    _row_page_form(
        "edges, first row",
        ("w", "sigma1_top"),
        "both edges; more swipes in row 1",
        contains=("edges", "first row"),
    ),
    _row_page_form(
        "edges, novelty",
        ("w", "fade"),
        "both edges; more swipes at the top, fading by row",
        _novelty,
        contains=("edges", "novelty"),
    ),
    _row_page_form(
        "all nine",
        ("w", "sigma1_top", "fade"),
        "both edges; row 1 and fading are separate",
        contains=("edges, first row", "edges, novelty"),
    ),
)
"""Every form compared for d_rpb, from the simplest to the richest."""

ROW_PAGE_FORMS = tuple(form for form in FORMS if form.symbol == "d_rpb" and form.name != "two kinds")
"""The forms that are d_rpb itself, not a mixture of it."""


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
    if discount == "d_rpb":
        return FORMS[-1]
    if not discount.startswith("d_"):
        forms = {form.name: form for form in FORMS}
        return forms[require_choice("form", form_name(discount), list(forms))]
    return Form(discount, discount, tuple(f.name for f in fields(discount_class(discount))), "all parameters free")
