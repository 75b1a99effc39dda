"""How long-running work reports its progress."""

from collections.abc import Callable
from functools import partial
from typing import Protocol


class Progress(Protocol):
    """A function that is called with the name of a step, the units of work done, and their total."""

    def __call__(self, what: str, done: int, total: int, /) -> None:
        """Report progress."""


def step(progress: Progress | None, what: str) -> Callable[[int, int], None] | None:
    """A function of (done, total) that reports the progress of one step; None if nobody listens."""
    return None if progress is None else partial(progress, what)
