"""Gains: what an item of a given relevance is worth."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from carouseval import _native
from carouseval.errors import DataError
from carouseval.metrics.grid import Array
from carouseval.metrics.validation import require_choice

Gain: TypeAlias = str | Callable[[Array], Any]
"""``"exp2"``: 2^relevance - 1, the paper's. ``"linear"``: the relevance itself. Or a function from an array of
relevances to an array of gains, finite and 0 or more."""

KERNEL_GAINS = {"exp2": _native.Gain.EXP2, "linear": _native.Gain.LINEAR}
NAMED = tuple(KERNEL_GAINS)


def check_gain(gain: Gain) -> Gain:
    """The gain, if it is one."""
    return gain if callable(gain) else require_choice("gain", gain, NAMED, "a function of an array")


def gain_name(gain: Gain) -> str:
    """How a gain is printed: its name, or its function's."""
    return gain if isinstance(gain, str) else getattr(gain, "__name__", type(gain).__name__)


def apply_function(gain: Callable[[Array], Any], relevance: Array) -> Array:
    """Gains by a user's function; empty cells stay NaN, and what the function says of them does not matter."""
    empty = np.isnan(relevance)
    name = gain_name(gain)
    try:
        gains = np.array(gain(np.where(empty, 0.0, relevance)), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"gain function {name!r} failed on an array ({error}). It must map an array of relevances to gains; "
            "np.vectorize wraps one that takes a single number."
        ) from error
    if gains.shape != relevance.shape:
        raise DataError(
            f"gain function {name!r} returned shape {gains.shape} for relevances of shape {relevance.shape}."
        )
    bad = ~empty & ~(np.isfinite(gains) & (gains >= 0))
    if bad.any():
        at = tuple(np.argwhere(bad)[0])
        raise DataError(
            f"gain function {name!r} gave {gains[at]:g} for relevance {relevance[at]:g}; "
            "gains must be finite and 0 or more."
        )
    gains[empty] = np.nan
    return gains
