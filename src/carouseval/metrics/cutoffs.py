"""Cutoffs, beyond which cells have weight 0: ``3x5`` for a page, ``10`` for a list."""

import functools
from typing import TypeAlias

import numpy as np

from carouseval.errors import ParameterError, ParseError
from carouseval.messages import setting
from carouseval.metrics.discount_base import Discount, check_weights
from carouseval.metrics.discount_files import warn_of_other_screen
from carouseval.metrics.grid import Array, Grid
from carouseval.validation import LARGEST_SIZE, parse_size, quoted, require_int

PageCutoff: TypeAlias = tuple[int, int] | str | None
"""The cutoff of a page as an argument: ``(rows, cols)``, text such as ``"3x5"``, or None for the whole page."""


def parse_cutoff(cutoff: PageCutoff) -> tuple[int, int] | None:
    """``(3, 5)`` from itself or from ``"3x5"``: the first 3 rows and 5 columns."""
    if cutoff is None:
        return None
    if isinstance(cutoff, str):
        rows, cols = map(parse_size, cutoff.partition("x")[::2])
        if rows is None or cols is None:
            raise ParseError(
                f"cutoff {quoted(cutoff)} cannot be parsed; write ROWSxCOLS, each from 1 to {LARGEST_SIZE:,}, such as "
                "3x5."
            )
        return rows, cols
    if not isinstance(cutoff, tuple | list) or len(cutoff) != 2:
        raise ParameterError(f"{setting('cutoff')} must be (rows, cols) or text such as '3x5', found {quoted(cutoff)}.")
    sizes = zip(("rows", "cols"), cutoff, strict=True)
    rows, cols = (require_int(f"cutoff: {name}", size, 1, LARGEST_SIZE) for name, size in sizes)
    return rows, cols


def page_weights(discount: Discount, grid: Grid, cutoff: tuple[int, int] | None = None) -> Array:
    """A discount's weights on a grid, 0 beyond the cutoff; checked again, since the kernels do not check them."""
    warn_of_other_screen(discount, grid)
    try:
        return _cached_weights(discount, grid, cutoff)
    except TypeError:  # a parameter that cannot be hashed
        return _weights(discount, grid, cutoff)


def _weights(discount: Discount, grid: Grid, cutoff: tuple[int, int] | None) -> Array:
    weights = np.array(check_weights(discount, grid, discount.weights(grid)), order="C")
    if cutoff is not None:
        weights[cutoff[0] :] = 0.0
        weights[:, cutoff[1] :] = 0.0
    weights.flags.writeable = False
    return weights


_cached_weights = functools.lru_cache(maxsize=128)(_weights)


@functools.lru_cache(maxsize=128)
def list_weights(cells: int, cutoff: int | None = None) -> Array:
    """1 / log2(rank + 1) for ranks 1..cells, 0 beyond the cutoff; one row."""
    weights: Array = 1 / np.log2(np.arange(2.0, cells + 2.0))
    weights[cutoff if cutoff is not None else cells :] = 0.0
    weights.flags.writeable = False
    return weights[None, :]
