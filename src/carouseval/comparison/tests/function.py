"""A user's function as a test."""

import math
from collections.abc import Callable

from carouseval.comparison.tests import known_test
from carouseval.comparison.tests.contract import ColumnTest
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.grid import Array


class FunctionTest(ColumnTest):
    """A function from the array of differences to a p-value; of a result, its name alone is known."""

    def __init__(self, name: str, function: Callable[[Array], float] | None = None) -> None:
        self.name, self.words, self.function = name, f"{name} paired by user", function

    @classmethod
    def of(cls, function: Callable[[Array], float]) -> "FunctionTest":
        """A test that is named as the function is; never as one of our tests."""
        name = getattr(function, "__name__", "function")
        return cls(f"function {name}" if known_test(name) else name, function)

    def p_value(self, differences: Array) -> float:
        """Call the function with its own copy of the differences, and check what it returns."""
        assert self.function is not None
        p = self.function(differences.copy())
        try:
            value = float(p)
        except (TypeError, ValueError):
            value = math.inf
        if value < 0 or value > 1:
            raise ParameterError(
                f"{setting('test')}: the function must return a p-value from 0 to 1 or NaN, found {p!r:.60}."
            )
        return value
