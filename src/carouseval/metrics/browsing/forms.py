"""Forms in which discounts are fitted: which parameters are free, and how the others follow from them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from carouseval.metrics.composite_discounts import Mixture
from carouseval.metrics.discount_base import Discount, class_of
from carouseval.metrics.discount_parameters import is_share, weights_of_many
from carouseval.metrics.grid import Array, Grid

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
    contains: tuple[str, ...] = ()  # names of the next smaller forms that it contains

    def weights(self, values: Array, grid: Grid) -> Array:
        """Weights (sets, rows, cols) of many sets of free parameters (sets, free)."""
        total: Any = 0.0
        for share, columns in self.groups(dict(zip(self.free, values.T, strict=True))):
            weights = weights_of_many(self._class, columns, grid, len(values))
            total = weights if share is ALL_USERS else total + np.reshape(share, (-1, 1, 1)) * weights
        return np.asarray(total, dtype=np.float64)

    def discount(self, values: Sequence[float]) -> Discount:
        """The discount with these values of the free parameters."""
        columns = {name: np.array([float(value)]) for name, value in zip(self.free, values, strict=True)}
        parts = [
            (
                1.0 if share is ALL_USERS else share.item(),
                self._class(**{name: value.item() for name, value in group.items()}),
            )
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
        parameters = {f.name for f in fields(self._class)}
        return tuple(name not in parameters or is_share(self._class, name) for name in self.free)

    @cached_property
    def is_mixture(self) -> bool:
        """Whether it is a mixture of several groups of users, rather than the discount itself."""
        return len(self.groups({name: np.full(1, 0.5) for name in self.free})) > 1

    @property
    def contained(self) -> list["Form"]:
        """The next smaller forms that it contains."""
        forms = {form.name: form for form in forms_of(self._class)}
        return [forms[name] for name in self.contains]

    @property
    def _class(self) -> Any:
        return class_of(self.symbol)


def forms_of(cls: Any) -> tuple[Form, ...]:
    """The named forms of a class of discounts, which browsing models may have."""
    forms: tuple[Form, ...] = getattr(cls, "forms", ())
    return forms
