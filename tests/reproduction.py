"""The paper's reproduction, computed once for all tests of a process: it takes seconds."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from unittest import mock

import carouseval as cv


@cache
def reproduction() -> cv.Reproduction:
    return cv.reproduce()


@contextmanager
def reproduced_once() -> Iterator[None]:
    """Commands that reproduce the paper take that one."""
    with mock.patch("carouseval.paper.reproduce.reproduce", return_value=reproduction()):
        yield
