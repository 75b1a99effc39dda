"""Gains: what an item of a given relevance is worth."""

from collections.abc import Callable
from typing import TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from carouseval import _native
from carouseval.errors import DataError
from carouseval.messages import function, setting
from carouseval.metrics.gain_names import GainName
from carouseval.metrics.grid import Array
from carouseval.validation import require_choice

GainFunction: TypeAlias = Callable[[Array], ArrayLike]
"""A gain of your own: maps a float64 array of relevances to gains of the same shape, finite and 0 or more."""

Gain: TypeAlias = GainName | GainFunction
"""A gain: ``"exp2"`` (2^relevance - 1, as in the paper), ``"linear"`` (the relevance itself), or a function."""

GAIN_NAMES: tuple[GainName, ...] = get_args(GainName)
KERNEL_GAINS: dict[GainName, _native.Gain] = {"exp2": _native.Gain.EXP2, "linear": _native.Gain.LINEAR}

LARGEST_GRADE = 10  # a larger relevance is hardly a grade, and 2^relevance - 1 makes it outweigh all others


def check_gain(gain: Gain) -> Gain:
    """The gain, if it is a name or a function."""
    return gain if callable(gain) else require_choice("gain", gain, GAIN_NAMES, "a function of an array")


def gain_name(gain: Gain) -> str:
    """The name of a gain, or of its function."""
    return gain if isinstance(gain, str) else getattr(gain, "__name__", type(gain).__name__)


def large_gain(relevance: float) -> str:
    """What a relevance above ``LARGEST_GRADE`` means with gains of 2^relevance - 1, and what to do."""
    gain = 2.0**relevance - 1
    return (
        f"with {setting('gain', 'exp2')} one such item has a gain of 2^{relevance:g} - 1 = {gain:.3g}, as much as "
        f"{gain / (2.0**LARGEST_GRADE - 1):.3g} items of relevance {LARGEST_GRADE}, and decides the score alone. Use "
        f"{setting('gain', 'linear')}, or make grades of minutes or plays with {function('judgments_from_events')}."
    )


def apply_function(gain: GainFunction, relevance: Array) -> Array:
    """Gains by a user's function; empty cells stay NaN, whatever the function returns for them."""
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
        cell = tuple(np.argwhere(bad)[0])
        raise DataError(
            f"gain function {name!r} returned {gains[cell]:g} for relevance {relevance[cell]:g}; "
            "gains must be finite and 0 or more."
        )
    gains[empty] = np.nan
    return gains
