"""What tests that count random draws share: users' hashes, the scale of sums, and p = (b + 1) / (m + 1).

Sums over parts of the users add up to the sums over all of them without rounding, so that p-values are the same to the
bit however users are divided, on one machine or on many. Differences are rounded once, to integers on a scale that
depends on all users: the largest values and the number of users must be known before any part is summed up.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.metrics.grid import Array

Exponents = NDArray[np.int32]
"""By column of values, the power of two that they are multiplied by before they are rounded."""


def user_hashes(users: pl.Series) -> NDArray[np.uint64]:
    """FNV-1a, 64 bits, of the UTF-8 text of each id; integers in decimal.

    >>> [hex(value) for value in user_hashes(pl.Series(["a", "7"])).tolist()], hex(user_hashes(pl.Series([7]))[0])
    (['0xaf63dc4c8601ec8c', '0xaf63aa4c86019796'], '0xaf63aa4c86019796')
    """
    return _native.text_hashes(users.cast(pl.String).__arrow_c_stream__())


def sum_exponents(largest: Array, users: int, bits: int) -> Exponents:
    """The largest powers of two with which the sum of so many values stays below 2^bits."""
    _, exponent = np.frexp(largest)
    return np.asarray(bits - exponent - (users - 1).bit_length(), dtype=np.int32)


def counted_p_values(reached: NDArray[np.bool_], users: int) -> Array:
    """p = (b + 1) / (m + 1), by column of what m draws have reached; the values observed count as one more draw."""
    p = (np.count_nonzero(reached, axis=0) + 1) / (len(reached) + 1)
    return np.asarray(p if users >= 2 else np.full_like(p, np.nan))
