"""Mappings whose values add up."""

from collections.abc import Mapping
from typing import Any, TypeVar

K = TypeVar("K")


def added(ours: Mapping[K, Any], theirs: Mapping[K, Any]) -> dict[K, Any]:
    """The values of both, added up where both have one, in the order in which they come.

    >>> added({"a": 1, "b": 2}, {"b": 3, "c": 4})
    {'a': 1, 'b': 5, 'c': 4}
    """
    total = dict(ours)
    for key, value in theirs.items():
        total[key] = total[key] + value if key in total else value
    return total
