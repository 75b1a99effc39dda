"""How long work says how far it has come."""

from collections.abc import Callable
from functools import partial
from typing import Protocol


class Progress(Protocol):
    """Called with (what, done, of)."""

    def __call__(self, what: str, done: int, of: int) -> None: ...


def step(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    """What one piece of work calls with (done, of), where somebody is told of (what, done, of)."""
    return None if progress is None else partial(progress, what)
