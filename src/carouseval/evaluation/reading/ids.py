"""Ids of any kind as dense codes 0, 1, 2, ..., in order of first appearance; and columns with a value for each code."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.metrics.grid import Array
from carouseval.tables.table import RECORD, Table

NONE: int = _native.NONE
Codes = NDArray[np.uint32]


class Ids:
    """Codes for the ids of one kind in all tables, and the ids of those codes.

    >>> users = Ids(threads=1)
    >>> users.add(pl.Series(["ann", "bob", "ann"])).tolist(), users.values().to_list()
    ([0, 1, 0], ['ann', 'bob'])
    """

    def __init__(self, threads: int, kind: pl.DataType | None = None) -> None:
        self._codes, self._threads = _native.Ids(), threads
        self._kind = pl.String() if kind is None else kind  # of the ids, even where there are none
        self._firsts: list[pl.Series] = []

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, ids: pl.Series) -> Codes:
        """The codes of some ids, all integers or all text, none null; new ids get new codes."""
        if ids.dtype == pl.String:
            codes, fresh = self._codes.add_texts(ids.__arrow_c_stream__(), self._threads)
        else:
            codes, fresh = self._codes.add_ints(np.ascontiguousarray(ids.to_numpy()), self._threads)
        if len(fresh):
            self._firsts.append(ids.gather(fresh))
        return codes

    def values(self) -> pl.Series:
        """The id of every code."""
        return pl.concat(self._firsts) if self._firsts else pl.Series(dtype=self._kind)

    def ranks(self) -> Codes:
        """The rank of each id among all, sorted: unlike codes, it does not depend on the order of lines."""
        ranks = np.empty(len(self), np.uint32)
        ranks[self.values().arg_sort().to_numpy()] = np.arange(len(self), dtype=np.uint32)
        return ranks


class PairIds:
    """Codes for pairs of codes, such as (user, page) or (item, category)."""

    def __init__(self, threads: int) -> None:
        self._codes, self._threads = _native.Ids(), threads
        self._firsts: list[NDArray[np.int64]] = []

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, left: Codes, right: Codes) -> Codes:
        """The codes of some pairs."""
        keys = left.astype(np.int64) << 32 | right
        codes, fresh = self._codes.add_ints(keys, self._threads)
        if len(fresh):
            self._firsts.append(keys[fresh])
        return codes

    def pairs(self) -> tuple[Codes, Codes]:
        """Both sides of every pair."""
        keys = np.concatenate(self._firsts) if self._firsts else np.empty(0, np.int64)
        return (keys >> 32).astype(np.uint32), (keys & 0xFFFFFFFF).astype(np.uint32)


class PageIds:
    """Codes for pages by (user, page_id)."""

    def __init__(self, threads: int, kind: pl.DataType | None = None) -> None:
        self.names: Ids = Ids(threads, kind)
        self.pairs: PairIds = PairIds(threads)

    def __len__(self) -> int:
        return len(self.pairs)

    def add(self, users: Codes, names: pl.Series) -> Codes:
        """The codes of some pages."""
        return self.pairs.add(users, self.names.add(names))

    def user(self) -> Codes:
        """The user of every page."""
        return self.pairs.pairs()[0]

    def values(self) -> pl.Series:
        """The page_id of every page."""
        return self.names.values().gather(self.pairs.pairs()[1])


class Codebook:
    """The codes that judgments, items and layouts share; layouts may add new ids to those of judgments."""

    def __init__(self, segments: Sequence[str], threads: int, kinds: Mapping[str, pl.DataType]) -> None:
        self.users: Ids = Ids(threads, kinds.get("user_id"))
        self.items: Ids = Ids(threads, kinds.get("item_id"))
        self.categories: Ids = Ids(threads, kinds.get("category"))
        self.segments: dict[str, Ids] = {name: Ids(threads) for name in segments}
        self.pages: PageIds | None = None  # where judgments name pages

    def segment_values(self, name: str, codes: Codes) -> pl.Series:
        """A segment's values by their codes; null where there is none."""
        return self.segments[name].values().gather(pl.Series(codes).set(pl.Series(codes == NONE), None)).alias(name)


class Attribute:
    """One such column, read batch by batch; ``owner`` is "page" or "user"."""

    def __init__(self, table: Table, column: str, owner: str) -> None:
        self._table, self._column, self._owner = table, column, owner
        self._values: Array = np.empty(0)

    def add(self, codes: Codes, values: NDArray[np.generic]) -> None:
        """Add the values of some lines, given the page or user of each."""
        most = int(codes.max(initial=0)) + 1
        if most > len(self._values):
            grown = np.full(max(most, 2 * len(self._values)), np.nan)
            grown[: len(self._values)] = self._values
            self._values = grown
        fresh = np.isnan(self._values[codes])
        self._values[codes[fresh]] = values[fresh]
        if (self._values[codes] != values).any():
            self._refuse()

    def padded(self, count: int) -> Array:
        """One value for each of ``count`` codes, NaN where there is none."""
        values = self._values[:count]
        return np.concatenate([values, np.full(count - len(values), np.nan)])

    def codes(self, count: int) -> Codes:
        """The same where values are codes; NONE where there is none."""
        return np.nan_to_num(self.padded(count), nan=NONE).astype(np.uint32)

    def _refuse(self) -> None:
        table = self._table
        keys = [key for key in ("user_id", "page_id") if key in table]
        first = pl.col(self._column).first().over(keys)
        (lines,) = table.query(lambda frame: frame.filter(pl.col(self._column) != first).bottom_k(1, by=RECORD))
        row = lines.row(0, named=True)
        raise DataError(
            f"{table.name}: column {table.names[self._column]}, {table.where(row[RECORD])}: "
            f"found {row[self._column]!r} for user_id={row['user_id']!r}, but another value on an earlier line. "
            f"It must be the same on all lines of a {self._owner}."
        )
