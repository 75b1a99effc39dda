"""Compact forms of browsing models: which parameters are free, and how the others follow from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from carouseval.attention.parameters import discount_class, is_share, weights_of_many
from carouseval.metrics.discounts import Discount, Mixture
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.validation import require_choice

MOST_PARAMETERS = 8  # of a form that may be chosen

EVERYONE = None  # in place of a share: all people look in one way

Values = Mapping[str, Array]
Part = tuple[Any, dict[str, Array]]  # a share of people, and the parameters by which they look


def _everyone(values: Values) -> list[Part]:
    return [(EVERYONE, dict(values))]


@dataclass(frozen=True)
class Form:
    """A discount, or a mixture of it, with some parameters free and the others fixed or tied to those."""

    name: str
    symbol: str
    free: tuple[str, ...]
    meaning: str
    parts: Callable[[Values], list[Part]] = _everyone
    contains: tuple[str, ...] = ()  # the next smaller forms that it contains

    def weights(self, values: Array, grid: Grid) -> Array:
        """Of many parameter sets (sets, free), the weights (sets, rows, cols)."""
        cls = discount_class(self.symbol)
        given = dict(zip(self.free, values.T, strict=True))
        total: Any = 0.0
        for share, columns in self.parts(given):
            weights = weights_of_many(cls, columns, grid, len(values))
            total = weights if share is EVERYONE else total + np.reshape(share, (-1, 1, 1)) * weights
        return np.asarray(total, dtype=np.float64)

    def discount(self, values: Sequence[float]) -> Discount:
        """The discount with these values of the free parameters."""
        cls = discount_class(self.symbol)
        given = {name: np.array([float(value)]) for name, value in zip(self.free, values, strict=True)}
        parts = [
            (1.0 if share is EVERYONE else share.item(), cls(**{name: value.item() for name, value in columns.items()}))
            for share, columns in self.parts(given)
        ]
        return parts[0][1] if len(parts) == 1 else Mixture(parts)

    def extended(self, smaller: "Form", values: Array, more: float) -> Array:
        """Parameters of a smaller form (sets, free) as this form's, and ``more`` of what the smaller one leaves out."""
        ((_, columns),) = smaller.parts(dict(zip(smaller.free, values.T, strict=True)))
        known = {name: np.broadcast_to(column, len(values)) for name, column in columns.items()}
        return np.column_stack([np.maximum(known[name], more) for name in self.free])

    @cached_property
    def units(self) -> tuple[bool, ...]:
        """Which free parameters lie between 0 and 1; the others are 0 or more."""
        cls = discount_class(self.symbol)
        own = {f.name for f in fields(cls)}
        return tuple(name not in own or is_share(cls, name) for name in self.free)


def _six_and_free(values: Values) -> list[Part]:
    """Of what is more than six parameters, only what is free; the rest as if it were not there."""
    return [(EVERYONE, {"w": np.zeros(1), "sigma1_top": values["sigma1"], "fade": np.zeros(1), **values})]


def _novelty(values: Values) -> list[Part]:
    """A share fade of people tries the arrow for its own sake in row 1, fade^2 still in row 2, and so on."""
    top = values["sigma1"] + (1 - values["sigma1"]) * values["fade"]
    return _six_and_free({**values, "sigma1_top": top})


def _two_kinds(values: Values) -> list[Part]:
    """Some go further down than others."""
    shared = {name: values[name] for name in _SIX if name != "kappa"}
    (_, one), (_, two) = (_six_and_free({**shared, "kappa": values[name]})[0] for name in ("kappa", "kappa_others"))
    return [(values["share"], one), (1 - values["share"], two)]


_SIX = ("e", "kappa", "beta", "sigma1", "sigma2", "rho")


def _rpb(
    name: str,
    more: tuple[str, ...],
    meaning: str,
    parts: Callable[[Values], list[Part]] = _six_and_free,
    contains: tuple[str, ...] = ("six",),
) -> Form:
    """A form of d_rpb, its first six parameters and ``more`` being free."""
    return Form(name, "d_rpb", _SIX + more, meaning, parts, contains)


FORMS = (
    Form("rows and columns", "d_rcb", ("e", "kappa", "beta"), "no swipe pages at all"),
    _rpb("six", (), "rows, swipe pages, slots", contains=()),
    _rpb("two kinds", ("share", "kappa_others"), "six, and two kinds of people go down", _two_kinds, contains=()),
    _rpb("edges", ("w",), "six, and eyes start from both edges of page 1"),
    _rpb("first row", ("sigma1_top",), "six, and row 1 is swiped more"),
    _rpb("novelty", ("fade",), "six, and swiping more wears off row by row", _novelty),
    _rpb(
        "edges, first row",
        ("w", "sigma1_top"),
        "both edges; row 1 is swiped more",
        contains=("edges", "first row"),
    ),
    _rpb(
        "edges, novelty",
        ("w", "fade"),
        "both edges; swiping more wears off",
        _novelty,
        contains=("edges", "novelty"),
    ),
    _rpb(
        "all nine",
        ("w", "sigma1_top", "fade"),
        "both edges; row 1 and its wearing off apart",
        contains=("edges, first row", "edges, novelty"),
    ),
)
"""Every form tried for d_rpb, from the fewest ideas to the most."""

OF_ROWS_AND_PAGES = tuple(form for form in FORMS if form.symbol == "d_rpb" and form.name != "two kinds")
"""Those that are d_rpb itself, not a mixture of it."""


def spelled(name: str) -> str:
    """A form's name as it is written here: "edges,novelty" will do."""
    return ", ".join(part.strip() for part in str(name).split(","))


def form_of(model: str | Form) -> Form:
    """A form by its name, or a discount with all its parameters free by its symbol."""
    if isinstance(model, Form):
        return model
    named = {form.name: form for form in FORMS}
    if model == "d_rpb":
        return FORMS[-1]
    if not str(model).startswith("d_"):
        return named[require_choice("form", spelled(model), list(named))]
    cls = discount_class(model)
    return Form(model, model, tuple(f.name for f in fields(cls)), "all parameters free")
