"""Which items belong to which category, for everyone or for single users."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation import schema
from carouseval.evaluation.reading.ids import Codebook, Codes, Ids
from carouseval.evaluation.reading.layouts import Layouts
from carouseval.tables.table import Table


class MembershipArrays(NamedTuple):
    """As native/tables/membership.h reads them."""

    offsets: NDArray[np.int64]  # where each item's categories begin
    category: Codes
    own_offsets: NDArray[np.int64]  # where each user's own memberships begin
    own: NDArray[np.uint64]  # item << 32 | category


@dataclass(frozen=True)
class Membership:
    """Memberships packed for the kernels: for everyone, and those of single users."""

    arrays: MembershipArrays
    sizes: Codes  # per category: its items, for everyone
    source: str  # where it comes from: "items" or "layouts"
    personal: bool = False

    @property
    def personal_categories(self) -> Codes:
        """The categories that only hold items of single users."""
        category = np.unique(self.arrays.own & np.uint64(0xFFFFFFFF)).astype(np.uint32)
        return np.asarray(category[self.sizes[category] == 0])

    @property
    def items(self) -> Codes:
        """All items that have a category, for everyone or for any user."""
        return np.union1d(np.flatnonzero(np.diff(self.arrays.offsets)), self.own_items).astype(np.uint32)

    @property
    def own_items(self) -> Codes:
        """The items that have a category for single users."""
        return np.unique(self.arrays.own >> np.uint64(32)).astype(np.uint32)

    def members(self, user: int, category: int) -> Codes:
        """The items of a category, as a user has it."""
        arrays = self.arrays
        shared = np.searchsorted(arrays.offsets, np.flatnonzero(arrays.category == category), side="right") - 1
        users_pairs = self._own(user)
        users_pairs = users_pairs[users_pairs & np.uint64(0xFFFFFFFF) == category] >> np.uint64(32)
        return np.union1d(shared, users_pairs).astype(np.uint32)

    def _own(self, user: int) -> NDArray[np.uint64]:
        """A user's own memberships."""
        offsets = self.arrays.own_offsets
        return self.arrays.own[slice(*offsets[user : user + 2])] if user < len(offsets) - 1 else self.arrays.own[:0]


def from_table(table: Table, codebook: Codebook) -> Membership:
    """Membership by the items table; a line without a user applies to everyone."""
    item_parts, category_parts, user_parts = [], [], []
    none = np.iinfo(np.int64).max
    batches = list(table.batches()) or [table.collect()]
    if not sum(batch.height for batch in batches) and not table.part:
        raise DataError(schema.EMPTY["items"])
    categories = codebook.categories
    categories.add(pl.concat([batch["category"].unique() for batch in batches]).unique().sort())  # codes in order
    for batch in batches:
        item_parts.append(codebook.items.add(batch["item_id"]))
        category_parts.append(categories.add(batch["category"]))
        if "user_id" in table.names:
            owner = np.full(batch.height, none, np.int64)
            personal = batch["user_id"].is_not_null()
            owner[personal.to_numpy()] = codebook.users.add(batch["user_id"].filter(personal))
            user_parts.append(owner)
    item, category = np.concatenate(item_parts), np.concatenate(category_parts)
    owner = np.concatenate(user_parts) if user_parts else np.full(len(item), none)
    everyone = owner == none
    keys = _keys(item, category)
    return _packed(np.unique(keys[everyone]), keys[~everyone], owner[~everyone], categories, "items")


def from_layouts(
    all_layouts: Sequence[Layouts],
    personal: NDArray[np.bool_],
    codebook: Codebook,
    more: pl.DataFrame | None = None,
) -> Membership:
    """Membership by what layouts show: pairs of item and category, of ``personal`` categories for each user.

    ``more`` pairs come from layouts of other users.
    """
    pairs = [layouts.pairs.pairs() for layouts in all_layouts if layouts.pairs is not None]
    if more is not None:
        pairs.append((codebook.items.add(more["item_id"]), codebook.categories.add(more["category"])))
    item, category = (np.concatenate([np.empty(0, np.uint32), *side]) for side in zip(*pairs, strict=True))
    shared = ~personal[category]
    users_pairs, owner = _personal_pairs(all_layouts, personal)
    return _packed(np.unique(_keys(item[shared], category[shared])), users_pairs, owner, codebook.categories, "layouts")


def with_personal(
    membership: Membership, all_layouts: Sequence[Layouts], personal: NDArray[np.bool_], codebook: Codebook
) -> Membership:
    """Membership by the items table, and in ``personal`` categories that it leaves out by what layouts show."""
    arrays = membership.arrays
    listed = np.zeros(len(personal), bool)
    for categories in (arrays.category, arrays.own & np.uint64(0xFFFFFFFF)):
        listed[categories.astype(np.int64)] = True
    users_pairs, owner = _personal_pairs(all_layouts, personal & ~listed)
    if not len(users_pairs):
        return membership
    item = np.repeat(np.arange(len(arrays.offsets) - 1), np.diff(arrays.offsets)).astype(np.uint32)
    users = np.repeat(np.arange(len(arrays.own_offsets) - 1), np.diff(arrays.own_offsets))
    users_pairs, owner = np.concatenate([arrays.own, users_pairs]), np.concatenate([users, owner])
    return _packed(np.sort(_keys(item, arrays.category)), users_pairs, owner, codebook.categories, membership.source)


def _personal_pairs(
    all_layouts: Sequence[Layouts], personal: NDArray[np.bool_]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The pairs of item and category that each user is shown in personal categories, and the users."""
    users_pairs, owner = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    if personal.any():
        known = np.append(personal, False)  # lines may have no label
        for layouts in all_layouts:
            for lines in layouts.lines_by_part() if layouts.labelled else ():
                some = lines[known[np.minimum(lines[:, 2], len(personal))]]
                users_pairs.append(_keys(some[:, 1], some[:, 2]))
                owner.append(layouts.user[some[:, 0]].astype(np.int64))
    return np.concatenate(users_pairs), np.concatenate(owner)


def _keys(item: Codes, category: Codes) -> NDArray[np.uint64]:
    return item.astype(np.uint64) << np.uint64(32) | category


def _packed(
    everyone: NDArray[np.uint64],
    users_pairs: NDArray[np.uint64],
    owner: NDArray[np.int64],
    categories: Ids,
    source: str,
) -> Membership:
    item = (everyone >> np.uint64(32)).astype(np.int64)
    category = (everyone & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    ranks = categories.ranks()
    category = category[np.lexsort((ranks[category], item))]  # whatever the order of lines
    new = ~np.isin(users_pairs, everyone)  # what applies to everyone is not repeated
    users_pairs, owner = users_pairs[new], owner[new]
    rank = ranks[(users_pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)]
    order = np.lexsort((rank, users_pairs >> np.uint64(32), owner))
    users_pairs, owner = users_pairs[order], owner[order]
    fresh = np.ones(len(users_pairs), bool)
    fresh[1:] = (users_pairs[1:] != users_pairs[:-1]) | (owner[1:] != owner[:-1])
    users_pairs, owner = users_pairs[fresh], owner[fresh]
    arrays = MembershipArrays(_offsets(item), category, _offsets(owner), np.ascontiguousarray(users_pairs))
    sizes = np.bincount(category, minlength=len(categories)).astype(np.uint32)
    return Membership(arrays, sizes, source, personal=len(users_pairs) > 0)


def _offsets(sorted_codes: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.bincount(sorted_codes) if len(sorted_codes) else np.empty(0, np.int64)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
