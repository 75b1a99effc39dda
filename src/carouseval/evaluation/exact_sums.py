"""Sums without rounding, so that users may be summed up in any parts and any order: the bits are the same."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
        exponent = self.exponent - other.exponent
        above, below = max(exponent, 0), max(-exponent, 0)
        try:
            return (self.integer << above) / (other.integer << below)
        except OverflowError:
            return math.copysign(math.inf, self.integer) * math.copysign(1, other.integer)

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


def exact_sums(columns: Array, products: Sequence[Product]) -> dict[Product, Exact]:
    """The sums over lines of products of columns, (lines, columns); ``()`` is the number of lines.

    >>> sums = exact_sums(np.array([[0.1, 2.0], [0.3, 3.0]]), [(0,), (0, 1)])
    >>> float(sums[0, 1])
    1.1
    """
    terms = dict.fromkeys(one[:length] for one in products for length in range(1, len(one) + 1))
    places = {one: place for place, one in enumerate(terms)}
    before = np.array([places.get(one[:-1], -1) for one in terms], np.int32)
    column = np.array([one[-1] for one in terms], np.int32)
    digits, exponents = _native.exact_sums(columns, before, column)
    sums: dict[Product, Exact] = {(): Exact(len(columns))}
    for one, place in places.items():
        integer = int.from_bytes(digits[place].tobytes(), "little", signed=True)
        sums[one] = Exact(integer, int(exponents[place]))._shortened()
    return {one: sums[one] for one in products}


def exact_sum(values: Array) -> Exact:
    """The sum of some values."""
    return exact_sums(np.ascontiguousarray(values, np.float64)[:, None], [(0,)])[0,]


def added(ours: Mapping[Product, Exact], theirs: Mapping[Product, Exact]) -> dict[Product, Exact]:
    """The sums over the users of both."""
    return {product: value + theirs[product] for product, value in ours.items()}
