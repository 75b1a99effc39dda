"""Compact forms of browsing models: which parameters are free, and how the others follow from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from carouseval.attention.parameters import discount_class, is_share, weights_of_many
from carouseval.metrics.discounts import Discount, Mixture
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.validation import require_choice

MOST_PARAMETERS = 8  # of a form that may be chosen

EVERYONE = None  # in place of a share: all people look in one way

Values = Mapping[str, Array]
Part = tuple[Any, dict[str, Array]]  # a share of people, and the parameters by which they look


class RowPageTies(NamedTuple):
    """What the kernels are told of a form that is d_rpb itself; w and fade are free or 0."""

    w_free: bool
    top: int  # how sigma1_top follows: one of the three below
    fade_free: bool


_SIGMA1, _FREE, _NOVELTY = range(3)  # it is sigma1, free, or sigma1 + (1 - sigma1) fade


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
    ties: RowPageTies | None = None  # the same as ``parts``, where a kernel can fit the form
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


def _six(values: Values) -> list[Part]:
    return [(EVERYONE, {**values, "w": np.zeros(1), "sigma1_top": values["sigma1"], "fade": np.zeros(1)})]


def _edges(values: Values) -> list[Part]:
    return [(EVERYONE, {**values, "sigma1_top": values["sigma1"], "fade": np.zeros(1)})]


def _top(values: Values) -> list[Part]:
    return [(EVERYONE, {**values, "w": np.zeros(1), "fade": np.zeros(1)})]


def _eight(values: Values) -> list[Part]:
    return [(EVERYONE, {**values, "fade": np.zeros(1)})]


def _novelty(values: Values) -> list[Part]:
    """A share fade of people tries the arrow for its own sake in row 1, fade^2 still in row 2, and so on."""
    top = values["sigma1"] + (1 - values["sigma1"]) * values["fade"]
    return [(EVERYONE, {"w": np.zeros(1), **values, "sigma1_top": top})]


def _two_kinds(values: Values) -> list[Part]:
    """Some go further down than others."""
    shared = {name: values[name] for name in _SIX if name != "kappa"}
    (_, one), (_, two) = (_six({**shared, "kappa": values[name]})[0] for name in ("kappa", "kappa_others"))
    return [(values["share"], one), (1 - values["share"], two)]


_SIX = ("e", "kappa", "beta", "sigma1", "sigma2", "rho")


def _itself(
    name: str,
    more: tuple[str, ...],
    meaning: str,
    parts: Callable[[Values], list[Part]],
    sigma1_top: int,
    *contains: str,
) -> Form:
    """A form that is d_rpb with some parameters tied, its first six and ``more`` being free."""
    ties = RowPageTies("w" in more, sigma1_top, "fade" in more)
    return Form(name, "d_rpb", _SIX + more, meaning, parts, ties, contains)


FORMS = (
    Form("rows and columns", "d_rcb", ("e", "kappa", "beta"), "no swipe pages at all"),
    _itself("six", (), "rows, swipe pages, slots", _six, _SIGMA1),
    Form("two kinds", "d_rpb", (*_SIX, "share", "kappa_others"), "six, and two kinds of people go down", _two_kinds),
    _itself("edges", ("w",), "six, and eyes start from both edges of page 1", _edges, _SIGMA1, "six"),
    _itself("first row", ("sigma1_top",), "six, and row 1 is swiped more", _top, _FREE, "six"),
    _itself("novelty", ("fade",), "six, and swiping more wears off row by row", _novelty, _NOVELTY, "six"),
    _itself(
        "edges, first row", ("w", "sigma1_top"), "both edges; row 1 is swiped more", _eight, _FREE, "edges", "first row"
    ),
    _itself(
        "edges, novelty", ("w", "fade"), "both edges; swiping more wears off", _novelty, _NOVELTY, "edges", "novelty"
    ),
    _itself(
        "all nine",
        ("w", "sigma1_top", "fade"),
        "both edges; row 1 and its wearing off apart",
        _everyone,
        _FREE,
        "edges, first row",
        "edges, novelty",
    ),
)
"""Every form tried for d_rpb, from the fewest ideas to the most."""

OF_ROWS_AND_PAGES = tuple(form for form in FORMS if form.ties is not None)
"""Those that are d_rpb themselves."""


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
