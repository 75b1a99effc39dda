"""Which items belong to which category, for everyone or for single users."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation import schema
from carouseval.evaluation.reading.ids import Codebook, Codes, Ids, PairIds
from carouseval.tables import Table


class MembershipArrays(NamedTuple):
    """As native/membership.h reads them."""

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
    def items(self) -> Codes:
        """All items that have a category, for everyone or for any user."""
        arrays = self.arrays
        return np.union1d(np.flatnonzero(np.diff(arrays.offsets)), arrays.own >> np.uint64(32)).astype(np.uint32)


def from_table(table: Table, codebook: Codebook) -> Membership:
    """Membership by the items table; a line without a user applies to everyone."""
    item_parts, category_parts, user_parts = [], [], []
    none = np.iinfo(np.int64).max
    batches = list(table.batches())
    if not sum(batch.height for batch in batches):
        raise DataError(schema.EMPTY["items"])
    categories = codebook.categories
    categories.add(pl.concat([batch["category"].unique() for batch in batches]).unique().sort())  # codes in order
    for batch in batches:
        item_parts.append(codebook.items.add(batch["item_id"]))
        category_parts.append(categories.add(batch["category"]))
        if "user_id" in table:
            owner = np.full(batch.height, none, np.int64)
            personal = batch["user_id"].is_not_null()
            owner[personal.to_numpy()] = codebook.users.add(batch["user_id"].filter(personal))
            user_parts.append(owner)
    item, category = np.concatenate(item_parts), np.concatenate(category_parts)
    owner = np.concatenate(user_parts) if user_parts else np.full(len(item), none)
    everyone = owner == none
    keys = item.astype(np.uint64) << np.uint64(32) | category
    return _packed(np.unique(keys[everyone]), keys[~everyone], owner[~everyone], categories, "items")


def from_layouts(pairs: PairIds, codebook: Codebook) -> Membership:
    """Membership by the (item, category) pairs of the layouts."""
    item, category = pairs.pairs()
    keys = np.sort(item.astype(np.uint64) << np.uint64(32) | category)
    nothing = np.empty(0, np.uint64)
    return _packed(keys, nothing, nothing.astype(np.int64), codebook.categories, "layouts")


def _packed(
    everyone: NDArray[np.uint64],
    own: NDArray[np.uint64],
    owner: NDArray[np.int64],
    categories: Ids,
    source: str,
) -> Membership:
    item = (everyone >> np.uint64(32)).astype(np.int64)
    category = (everyone & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    category = category[np.lexsort((categories.ranks()[category], item))]  # whatever the order of lines
    new = ~np.isin(own, everyone)  # what applies to everyone is not repeated
    own, owner = own[new], owner[new]
    order = np.lexsort((own, owner))
    own, owner = own[order], owner[order]
    fresh = np.ones(len(own), bool)
    fresh[1:] = (own[1:] != own[:-1]) | (owner[1:] != owner[:-1])
    own, owner = own[fresh], owner[fresh]
    arrays = MembershipArrays(_offsets(item), category, _offsets(owner), np.ascontiguousarray(own))
    sizes = np.bincount(category, minlength=len(categories)).astype(np.uint32)
    return Membership(arrays, sizes, source, personal=len(own) > 0)


def _offsets(sorted_codes: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.bincount(sorted_codes) if len(sorted_codes) else np.empty(0, np.int64)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
