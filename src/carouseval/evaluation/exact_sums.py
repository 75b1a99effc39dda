"""Sums without rounding, so that users may be summed up in any parts and any order: the bits are the same.

Also what all sums over parts of the users share: they add up field by field (``AddsUp``).
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, TypeVar

import numpy as np

from carouseval import _native
from carouseval.metrics.grid import Array

Product = tuple[int, ...]
"""The columns that are multiplied, a column as often as its power: ``(0, 0, 1)`` is x0^2 x1."""


@dataclass(frozen=True)
class Exact:
    """An integer times a power of two: what floats, and sums and products of floats, are.

    >>> (Exact.of(1e100) + Exact.of(1.0) - Exact.of(1e100)) / Exact.of(3.0)
    0.3333333333333333
    """

    integer: int = 0
    exponent: int = 0

    @classmethod
    def of(cls, value: float) -> "Exact":
        """A finite float as it is."""
        numerator, denominator = value.as_integer_ratio()
        return cls(numerator, 1 - denominator.bit_length())._shortened()

    def __add__(self, other: "Exact") -> "Exact":
        exponent = min(self.exponent, other.exponent)
        return Exact(self._at(exponent) + other._at(exponent), exponent)._shortened()

    def __sub__(self, other: "Exact") -> "Exact":
        return self + Exact(-other.integer, other.exponent)

    def __mul__(self, other: "Exact") -> "Exact":
        return Exact(self.integer * other.integer, self.exponent + other.exponent)

    def __truediv__(self, other: "Exact") -> float:
        """The float next to the quotient; infinite beyond all floats."""
        return _quotient(self.integer, other.integer, self.exponent - other.exponent)

    def __float__(self) -> float:
        return self / Exact(1)

    def __bool__(self) -> bool:
        return self.integer != 0

    def scaled(self, power: int) -> "Exact":
        """The same times 2^power."""
        return Exact(self.integer, self.exponent + power)

    def _at(self, exponent: int) -> int:
        return self.integer << (self.exponent - exponent)

    def _shortened(self) -> "Exact":
        """Without zeros at the end of the integer: sums stay as short as they can be."""
        if not self.integer:
            return Exact()
        zeros = (self.integer & -self.integer).bit_length() - 1
        return Exact(self.integer >> zeros, self.exponent + zeros)


def _quotient(above: int, below: int, exponent: int) -> float:
    """The float next to a quotient times a power of two; infinite beyond all floats."""
    try:
        return (above << max(exponent, 0)) / (below << max(-exponent, 0))
    except OverflowError:
        return math.copysign(math.inf, above) * math.copysign(1, below)


def exact_sums(columns: Array, products: Sequence[Product]) -> dict[Product, Exact]:
    """The sums over lines of products of columns, (lines, columns); ``()`` is the number of lines.

    >>> sums = exact_sums(np.array([[0.1, 2.0], [0.3, 3.0]]), [(0,), (0, 1)])
    >>> float(sums[0, 1])
    1.1
    """
    terms = dict.fromkeys(product[:length] for product in products for length in range(1, len(product) + 1))
    places = {product: place for place, product in enumerate(terms)}
    before = np.array([places.get(product[:-1], -1) for product in terms], np.int32)
    column = np.array([product[-1] for product in terms], np.int32)
    digits, exponents = _native.exact_sums(columns, before, column)
    sums: dict[Product, Exact] = {(): Exact(len(columns))}
    for product, place in places.items():
        integer = int.from_bytes(digits[place].tobytes(), "little", signed=True)
        sums[product] = Exact(integer, int(exponents[place]))._shortened()
    return {product: sums[product] for product in products}


def exact_sum(values: Array) -> Exact:
    """The sum of some values."""
    return exact_sums(np.ascontiguousarray(values, np.float64)[:, None], [(0,)])[0,]


def mean_of_sums(total: Exact, weight: Exact) -> float:
    """A sum over the weight: both are rounded first, as with floats, unless the sum is beyond these."""
    rounded = float(total)
    return rounded / float(weight) if math.isfinite(rounded) else total / weight


def central_square(weight: Exact, first: Exact, square: Exact, exponent: int) -> float:
    """The mean square of x minus its mean, from sums of weights, x and x^2, in powers of 2^exponent; rounded once."""
    return (square * weight - first * first).scaled(-2 * exponent) / (weight * weight)


def central_moments(
    sums: Mapping[Product, Exact], columns: int, *, weighted: bool, exponent: int
) -> tuple[Array, Array]:
    """The sums of p^2 (x - mean x) (y - mean y) and p^3 (x - mean x) (y - mean y) (z - mean z), each rounded once.

    They are over lines, for all of some columns, in powers of 2^exponent; p is a line's share of the weight. The column
    of weights comes after the others; without it all lines weigh the same.

    >>> sums = exact_sums(np.array([[1.0], [2.0], [6.0]]), [(0,) * power for power in range(4)])
    >>> squares, cubes = central_moments(sums, 1, weighted=False, exponent=1)
    >>> (squares * 2**2).round(4).tolist(), (cubes * 2**3).round(4).tolist()  # 14 / 3^2 and 18 / 3^3
    ([[1.5556]], [[[0.6667]]])
    """
    integers, unit = _integers(sums, columns)

    def sum_of(power: int, *product: int) -> int:  # of this power of weights, times columns
        return integers[(columns,) * (power * weighted) + product]

    total, of_column = sum_of(1), [sum_of(1, column) for column in range(columns)]
    squares, cubes = np.empty((columns, columns)), np.empty((columns, columns, columns))
    for i, j in itertools.combinations_with_replacement(range(columns), 2):
        x, y = of_column[i], of_column[j]
        mixed = x * sum_of(2, j) + y * sum_of(2, i)
        square = (sum_of(2, i, j) * total - mixed) * total + x * y * sum_of(2)
        squares[i, j] = squares[j, i] = _quotient(square, total**4, 2 * (unit - exponent))
    for i, j, k in itertools.combinations_with_replacement(range(columns), 3):
        x, y, z = of_column[i], of_column[j], of_column[k]
        pairs = x * sum_of(3, j, k) + y * sum_of(3, i, k) + z * sum_of(3, i, j)
        single = x * y * sum_of(3, k) + x * z * sum_of(3, j) + y * z * sum_of(3, i)
        cube = ((sum_of(3, i, j, k) * total - pairs) * total + single) * total - x * y * z * sum_of(3)
        rounded = _quotient(cube, total**6, 3 * (unit - exponent))
        for indices in itertools.permutations((i, j, k)):
            cubes[indices] = rounded
    return squares, cubes


def _integers(sums: Mapping[Product, Exact], columns: int) -> tuple[dict[Product, int], int]:
    """The same sums with columns and weights in units that make all of them integers, and the exponent of columns'."""
    powers = {
        product: product.count(columns) for product in sums if all(column <= columns for column in product)
    }  # of weights
    of_weights = [
        sums[product].exponent // power
        for product, power in powers.items()
        if power == len(product) > 0 and sums[product]
    ]
    unit_of_weights = min(of_weights, default=0)
    of_columns = [
        (sums[product].exponent - power * unit_of_weights) // (len(product) - power)
        for product, power in powers.items()
        if len(product) > power and sums[product]
    ]
    unit = min(of_columns, default=0)
    integers = {}
    for product, power in powers.items():
        value = sums[product]
        shift = value.exponent - power * unit_of_weights - (len(product) - power) * unit
        integers[product] = value.integer << shift if value.integer else 0
    return integers, unit


K = TypeVar("K")


class AddsUp:
    """A dataclass of which parts add up, field by field: mappings value by value."""

    def __add__(self, other: Self) -> Self:
        pairs = ((getattr(self, column.name), getattr(other, column.name)) for column in fields(self))  # type: ignore[arg-type]
        return type(self)(*(added(*pair) if isinstance(pair[0], Mapping) else pair[0] + pair[1] for pair in pairs))


def added(first: Mapping[K, Any], second: Mapping[K, Any]) -> dict[K, Any]:
    """The values of both, added up where both have one, in the order in which they come.

    >>> added({"a": 1, "b": 2}, {"b": 3, "c": 4})
    {'a': 1, 'b': 5, 'c': 4}
    """
    total = dict(first)
    for key, value in second.items():
        total[key] = total[key] + value if key in total else value
    return total
