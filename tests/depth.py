"""How far tests go: the gate (``make test``) runs some cases, the deep layer (``make test-deep``) all of them and more.

The gate's cases are fixed. The deep layer has them too, then the other fixed ones, then as many that follow from the
hash of the commit under test: every commit meets cases that no other has met, and anyone can repeat them.
"""

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import pytest

T = TypeVar("T")

COMMIT: str = os.environ.get("CAROUSEVAL_DEEP", "")
DEEP: bool = bool(COMMIT)


def fresh_seed(commit: str) -> int:
    """The first of the seeds that follow from a commit's hash, past all fixed ones."""
    if not re.match("[0-9a-f]{7}", commit):
        raise ValueError(f"CAROUSEVAL_DEEP must be the hash of a commit, as git rev-parse prints it, found {commit!r}.")
    return 1_000_000 + int(commit[:7], 16)


FRESH: int = fresh_seed(COMMIT) if DEEP else 0


def seeds(gate: int, deep: int, start: int = 0) -> Sequence[int]:
    """The seeds of generated cases: ``gate`` of them or, in the deep layer, ``deep`` fixed and as many fresh ones."""
    return [*range(start, start + deep), *range(FRESH, FRESH + deep)] if DEEP else range(start, start + gate)


def gate_or_deep(gate: T, deep: T) -> T:
    """Whatever else differs: numbers of trials, kinds of cases."""
    return deep if DEEP else gate


def pairs(first: Iterable[Any], second: Sequence[Any]) -> list[Any]:
    """All pairs of two lists as parameters of a test; in the gate each of the first with one of the second, in turn."""
    return [
        pytest.param(one, other, marks=[] if number % len(second) == place else [pytest.mark.deep])
        for number, one in enumerate(first)
        for place, other in enumerate(second)
    ]


def some(parameters: Iterable[Any], every: int) -> list[Any]:
    """Parameters of a test: in the gate the first of so many each time, in the deep layer all."""
    return [
        one
        if number % every == 0
        else pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.deep)
        for number, one in enumerate(parameters)
    ]
