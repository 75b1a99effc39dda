"""How much the carousel of each category holds, and whom it is for, as tables and settings declare it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.reading.ids import Codebook, Codes
from carouseval.evaluation.reading.shown_carousels import Capacities, ShownCarousels
from carouseval.messages import setting
from carouseval.metrics.grid import IntArray
from carouseval.tables.table import RECORD, Table

UNLIMITED: int = _native.UNLIMITED
_UNSAID, _SHARED, _PERSONAL = -1, 0, 1
_BOTH_KINDS = "is called personal on one line and not on another"
_ONE_KIND = "A category is personal for everyone or for nobody."
KernelCarousels = tuple[Capacities, NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint64]]


@dataclass(frozen=True, eq=False)
class Carousels:
    """Capacities and users of carousels as arrays by category; of categories past their end, nothing is declared."""

    given: bool  # whether there is a table of carousels
    named: Codes  # the categories of that table
    named_by_setting: Codes  # those of the setting ``capacity``
    by_line: Capacities  # the capacity that a line for everyone declares
    declared: Capacities  # the same, else what the setting ``capacity`` declares
    limits: Capacities  # (grids, categories): what ideal rows hold
    restricted: NDArray[np.bool_]  # whether only users with a line of their own have it
    personal: NDArray[np.int8]  # whether every user has items of its own there: _PERSONAL, _SHARED or _UNSAID
    own_keys: NDArray[np.uint64]  # user << 32 | category of lines of single users, sorted
    own_capacity: Capacities
    limited_elsewhere: Codes  # categories of which lines of users who are not at hand declare a capacity
    known_to_all: Codes  # named categories but for those of lines that concern one user, where others are not at hand
    pinned: Capacities | None = None  # (grids, categories): the longest pinned row; None: no row is pinned

    def with_shown(self, shown_carousels: ShownCarousels, setting: Any) -> "Carousels":
        """The same, with the capacities that only pages tell."""
        grids, categories = shown_carousels.longest.shape
        wide = self._padded(categories)
        limits = np.broadcast_to(wide.declared, (grids, categories))
        if setting == "shown":
            limits = np.where((limits == UNLIMITED) & (shown_carousels.longest > 0), shown_carousels.longest, limits)
        pinned = shown_carousels.longest_pinned if shown_carousels.longest_pinned.any() else None
        return replace(wide, limits=np.ascontiguousarray(limits), pinned=pinned)

    def _padded(self, categories: int) -> "Carousels":
        more = max(0, categories - len(self.declared))
        return replace(
            self,
            by_line=np.pad(self.by_line, (0, more), constant_values=UNLIMITED),
            declared=np.pad(self.declared, (0, more), constant_values=UNLIMITED),
            restricted=np.pad(self.restricted, (0, more)),
            personal=np.pad(self.personal, (0, more), constant_values=_UNSAID),
        )

    def personal_categories(self, shown_carousels: ShownCarousels) -> NDArray[np.bool_]:
        """Which categories hold every user's own items: declared so, or shown to one user and not declared shared."""
        declared = self._padded(len(shown_carousels.owner)).personal
        return np.asarray((declared == _PERSONAL) | ((declared == _UNSAID) & shown_carousels.has_one_user))

    def declared_personal(self, categories: int) -> NDArray[np.bool_]:
        """Which categories a line calls personal."""
        return np.asarray(self._padded(categories).personal == _PERSONAL)

    def declared_shared(self, categories: int) -> NDArray[np.bool_]:
        """Which categories a line calls everyone's."""
        return np.asarray(self._padded(categories).personal == _SHARED)

    def declared_arrays(self) -> KernelCarousels | None:
        """What pages must obey, for the kernels; None where nothing is declared."""
        if not (self.restricted.any() or len(self.own_keys) or (self.declared < UNLIMITED).any()):
            return None
        return self._arrays(self.declared)

    def ideal_arrays(self, grid: int) -> KernelCarousels | None:
        """What ideal pages of a grid obey, for the kernels; None where nothing is limited."""
        if not (self.restricted.any() or len(self.own_keys) or (self.limits[grid] < UNLIMITED).any()):
            return None
        return self._arrays(self.limits[grid])

    def _arrays(self, capacity: Capacities) -> KernelCarousels:
        user, category = self.own_keys >> np.uint64(32), self.own_keys & np.uint64(0xFFFFFFFF)
        counts = np.bincount(user.astype(np.int64)) if len(user) else np.empty(0, np.int64)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        users_lines = category << np.uint64(32) | self.own_capacity.astype(np.uint64)
        return np.ascontiguousarray(capacity), self.restricted.astype(np.uint8), offsets, users_lines

    def pinned_capacity(self, user: Codes, grid: NDArray[np.uint8], category: Codes) -> NDArray[np.uint16]:
        """How much pinned rows hold: what a line declares, else what the longest pinned row of the category shows."""
        assert self.pinned is not None
        known = category < self.pinned.shape[1]
        index = np.where(known, category, 0)
        capacity = np.where(known, self.pinned[grid, index], UNLIMITED)
        if self.given:
            capacity = np.where(known & (self.by_line[index] < UNLIMITED), self.by_line[index], capacity)
            keys = user.astype(np.uint64) << np.uint64(32) | category
            place = np.minimum(np.searchsorted(self.own_keys, keys), max(0, len(self.own_keys) - 1))
            users_capacity = (
                np.where(self.own_keys[place] == keys, self.own_capacity[place], UNLIMITED)
                if len(self.own_keys)
                else np.full(len(keys), UNLIMITED)
            )
            capacity = np.where(users_capacity < UNLIMITED, users_capacity, capacity)
        return np.clip(capacity, 1, np.iinfo(np.uint16).max).astype(np.uint16)

    def with_capacity(self) -> IntArray:
        """The categories whose capacity is declared, for everyone or for some user."""
        users_categories = (self.own_keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        users_categories = np.union1d(users_categories[self.own_capacity < UNLIMITED], self.limited_elsewhere)
        return np.union1d(np.flatnonzero(self.declared < UNLIMITED), users_categories)

    def is_open(self, user: int, category: int) -> bool:
        """Whether a user has a category."""
        restricted = category < len(self.restricted) and bool(self.restricted[category])
        return not restricted or self._own_line(user, category) is not None

    def declared_capacity(self, user: int, category: int) -> int:
        """What is declared of a category, for a user."""
        line = self._own_line(user, category)
        users_capacity = UNLIMITED if line is None else int(self.own_capacity[line])
        shared = int(self.declared[category]) if category < len(self.declared) else UNLIMITED
        return users_capacity if users_capacity < UNLIMITED else shared

    def _own_line(self, user: int, category: int) -> int | None:
        key = np.uint64(user << 32 | category)
        index = int(np.searchsorted(self.own_keys, key))
        return index if index < len(self.own_keys) and self.own_keys[index] == key else None

    def limited(self, widths: IntArray) -> NDArray[np.bool_]:
        """Which categories hold fewer items than a grid has columns, on any of the grids ``widths`` has columns of.

        A width of 0 leaves a grid out.
        """
        limited: NDArray[np.bool_] = np.any(self.limits < widths[:, None], axis=0)
        if self.pinned is not None:
            pinned = (self.pinned > 0) & (self.pinned < widths[:, None])
            limited |= pinned.any(axis=0) & (self.by_line == UNLIMITED)
        users_categories = (self.own_keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
        holds_its_own = self.restricted.copy()  # nobody has what is not declared for single users
        holds_its_own[users_categories[self.own_capacity == UNLIMITED]] = False
        limited &= ~holds_its_own
        limited[users_categories[self.own_capacity < widths.max(initial=0)]] = True
        return limited


def read_carousels(
    table: Table | None,
    capacity: Any,
    codebook: Codebook,
    category_type: pl.DataType | None,
    grids: int,
    elsewhere: pl.DataFrame | None = None,
) -> Carousels:
    """What the table of carousels and the setting ``capacity`` declare.

    ``elsewhere`` has the categories of lines for single users, where the table has those of some users only, with
    whether they are called ``personal`` and, if any of these declares one, a ``capacity``.
    """
    lines = None if table is None else _checked_lines(table)
    if table is not None and lines is not None and elsewhere is not None:
        _require_one_kind(table, lines, elsewhere)
    for part in (lines, elsewhere):
        if part is not None:
            codebook.categories.add(part["category"])
    by_setting = _setting_capacities(capacity, codebook, category_type)
    count = len(codebook.categories)
    by_line, restricted = np.full(count, UNLIMITED, np.int32), np.zeros(count, bool)
    personal = np.full(count, _UNSAID, np.int8)
    own_keys, own_capacity = np.empty(0, np.uint64), np.empty(0, np.int32)
    category: IntArray = np.empty(0, np.int64)
    limited_elsewhere = np.empty(0, np.uint32)
    known_to_all: IntArray = category
    if lines is not None:
        category = codebook.categories.add(lines["category"]).astype(np.int64)
        room = _column(lines, "capacity", UNLIMITED, np.int32)
        has_user = _has_value(lines, "user_id")
        everyone = np.zeros(count, bool)
        everyone[category[~has_user]] = True
        by_line[category[~has_user]] = room[~has_user]
        restricted[category[has_user]] = True
        restricted &= ~everyone
        if "user_id" in lines.columns:  # a category whose users are named, or are everyone, is no single user's
            personal[category] = _SHARED
        user = codebook.users.add(lines["user_id"].drop_nulls()) if has_user.any() else np.empty(0, np.uint32)
        own_keys = user.astype(np.uint64) << np.uint64(32) | category[has_user].astype(np.uint64)
        order = np.argsort(own_keys)
        own_keys, own_capacity = own_keys[order], room[has_user][order]
        known_to_all = category
        if elsewhere is not None:
            of_others = codebook.categories.add(elsewhere["category"])
            known_to_all = np.concatenate([category[~has_user], of_others])
            category = np.concatenate([category, of_others])
            restricted[of_others[~everyone[of_others]]] = True
            personal[of_others] = _SHARED
            limited_elsewhere = of_others[_has_value(elsewhere, "capacity")]
        for part in (lines, elsewhere):
            if part is not None:
                declaring = part.filter(_has_value(part, "personal"))
                personal[codebook.categories.add(declaring["category"])] = _column(
                    declaring, "personal", _UNSAID, np.int8
                )
    declared = np.where(by_line < UNLIMITED, by_line, by_setting)
    named_by_setting = np.flatnonzero(by_setting < UNLIMITED).astype(np.uint32)
    limits = np.ascontiguousarray(np.broadcast_to(declared, (grids, count)))
    return Carousels(
        given=table is not None,
        named=np.unique(category).astype(np.uint32),
        named_by_setting=named_by_setting,
        by_line=by_line,
        declared=declared,
        limits=limits,
        restricted=restricted,
        personal=personal,
        own_keys=own_keys,
        own_capacity=own_capacity,
        limited_elsewhere=limited_elsewhere,
        known_to_all=np.union1d(known_to_all, named_by_setting).astype(np.uint32),
    )


def _checked_lines(table: Table) -> pl.DataFrame:
    """All lines; a category that has two lines for the same users, or is called personal and not, is refused."""
    lines = table.collect()
    if lines.is_empty() and not table.part:
        raise DataError(schema.EMPTY["carousels"])
    keys = [key for key in ("category", "user_id") if key in table]
    repeats = ~lines.select(pl.struct(keys).is_first_distinct()).to_series()
    if repeats.any():
        _refuse(table, repeats, keys, "has a second line", "Keep one line for each category (and user).")
    if "personal" in table:
        first = pl.col("personal").drop_nulls().first().over("category")
        differs = lines.select((pl.col("personal") != first).fill_null(False)).to_series()
        if differs.any():
            _refuse(table, differs, ["category"], _BOTH_KINDS, _ONE_KIND)
    return lines


def _require_one_kind(table: Table, lines: pl.DataFrame, elsewhere: pl.DataFrame) -> None:
    """Refuse a category that lines elsewhere call personal and others do not."""
    parts = [part.select("category", "personal") for part in (lines, elsewhere) if "personal" in part.columns]
    declared = pl.concat(parts).drop_nulls().unique() if parts else elsewhere.head(0)
    twice = declared["category"].filter(declared["category"].is_duplicated())
    if len(twice):
        raise DataError(f"carousels: {table.names['category']}={twice.sort()[0]!r} {_BOTH_KINDS}. {_ONE_KIND}")


def _refuse(table: Table, which: pl.Series, keys: list[str], what: str, remedy: str) -> None:
    (records,) = table.query(lambda frame: frame.sort(RECORD))
    row = records.filter(which).row(0, named=True)
    subject = " ".join(f"{table.names[key]}={row[key]!r}" for key in keys if row[key] is not None)
    raise DataError(f"carousels: {subject} {what}{table.in_brackets(row[RECORD])}. {remedy}")


def _has_value(lines: pl.DataFrame, column: str) -> NDArray[np.bool_]:
    if column not in lines.columns:
        return np.zeros(lines.height, bool)
    return lines[column].is_not_null().to_numpy()


def _column(lines: pl.DataFrame, column: str, otherwise: int, kind: Any) -> NDArray[Any]:
    if column not in lines.columns:
        return np.full(lines.height, otherwise, kind)
    return lines[column].cast(pl.Int64).fill_null(otherwise).clip(upper_bound=UNLIMITED).to_numpy().astype(kind)


def _setting_capacities(capacity: Any, codebook: Codebook, category_type: pl.DataType | None) -> Capacities:
    """The capacities that a dict declares, by category."""
    if not isinstance(capacity, Mapping) or not capacity or category_type is None:
        return np.full(len(codebook.categories), UNLIMITED, np.int32)
    names = pl.Series([str(name) for name in capacity]).cast(category_type, strict=False)
    if names.null_count():
        unreadable = next(name for name, code in zip(capacity, names, strict=True) if code is None)
        raise ParameterError(f"{setting('capacity')}: the categories of the tables are integers, found {unreadable!r}.")
    codes = codebook.categories.add(names)
    by_setting = np.full(len(codebook.categories), UNLIMITED, np.int32)
    by_setting[codes] = [min(int(room), UNLIMITED) for room in capacity.values()]
    return by_setting
