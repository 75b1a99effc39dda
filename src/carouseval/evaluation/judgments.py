"""What the judges say: judgments packed by the user, or the page, that they hold for."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation.ids import NONE, Codes, Ids, PairIds
from carouseval.metrics.gains import Gain, apply_function
from carouseval.metrics.grid import Array
from carouseval.metrics.pages import thread_count
from carouseval.tables import RECORD, Table


@dataclass
class Truth:
    """Judgments by truth: all those of a user, or of a page where judgments name the page.

    Codes of users, items, categories and pages are shared with the layouts judged by them, which may add new ones.
    """

    table: Table
    users: Ids
    items: Ids
    categories: Ids
    page_ids: Ids | None  # None: judgments hold for all pages of a user
    pages: PairIds | None  # (user, page)
    offsets: NDArray[np.int64]  # where each truth's judgments begin; truths count as users or pages do
    item: Codes
    relevance: Array
    segments: dict[str, Codes]  # per truth, where the judgments have such columns
    weights: Array | None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def per_page(self) -> bool:
        """Whether judgments hold for single pages."""
        return self.pages is not None

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Which truths have any judgment: users may have come in through other tables."""
        return np.diff(self.offsets) > 0

    def user_of(self, truths: NDArray[np.int64]) -> Codes:
        """The user of each truth."""
        if self.pages is None:
            return truths.astype(np.uint32)
        return self.pages.pairs()[0][truths]

    def gains(self, gain: Gain) -> Array:
        """The gain of every judgment."""
        if callable(gain):
            return apply_function(gain, self.relevance)
        gains, bad = _native.gains(self.relevance, gain, thread_count(None))
        if bad >= 0:
            column = self.table.names["relevance"]
            record, total, row = self.table.find(pl.col("relevance") >= 1024)
            more = f" ({total:,} such lines)" if total > 1 else ""
            raise DataError(
                f"judgments: column {column}, {self.table.where(record)}: found {row['relevance']:g}, and 2^"
                f"{row['relevance']:g} is too large for a float{more}. Rescale it, or use gain='linear'."
            )
        return gains


def read_truth(
    table: Table, by: tuple[str, ...], weight: str | None, segment_ids: dict[str, Ids], *, needed: bool = True
) -> Truth:
    """Read and check judgments; an item judged twice is refused, and none at all where they are ``needed``."""
    users, items = Ids(), Ids()
    page_ids, pages = (Ids(), PairIds()) if "page_id" in table else (None, None)
    parts: list[tuple[Codes, Codes, Array]] = []
    own = [name for name in by if name in table]
    weight = weight if weight is not None and weight in table else None
    attributes = {name: PerTruth("judgments", name, table) for name in (*own, *([weight] if weight else []))}
    for batch in table.batches():
        user, item = users.add(batch["user_id"]), items.add(batch["item_id"])
        truth = user if pages is None or page_ids is None else pages.add(user, page_ids.add(batch["page_id"]))
        parts.append((truth, item, batch["relevance"].to_numpy()))
        for name, attribute in attributes.items():
            values = segment_ids[name].add(batch[name]) if name in own else batch[name].to_numpy()
            attribute.add(truth, values)
    nothing = (np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0))
    truth, item, relevance = (np.concatenate(part) for part in zip(nothing, *parts, strict=True))
    if len(truth) == 0 and needed:
        raise DataError("judgments: the table is empty. Give at least one line of user_id, item_id, relevance.")
    if (truth[1:] < truth[:-1]).any():
        order = np.argsort(truth, kind="stable")
        truth, item, relevance = truth[order], item[order], relevance[order]
    count = len(users) if pages is None else len(pages)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(truth, minlength=count))]).astype(np.int64)
    order = _native.order_within(offsets, item, items.ranks(), thread_count(None))
    item, relevance = item[order], relevance[order]
    twice = _native.judged_twice(offsets, item)
    if len(twice):
        raise DataError(_judged_twice(table))
    return Truth(
        table=table,
        users=users,
        items=items,
        categories=Ids(),
        page_ids=page_ids,
        pages=pages,
        offsets=offsets,
        item=item,
        relevance=np.ascontiguousarray(relevance, dtype=np.float64),
        segments={name: attributes[name].codes(count) for name in own},
        weights=attributes[weight].padded(count) if weight else None,
    )


class PerTruth:
    """A column that must say the same on all lines of a page, or of a truth."""

    def __init__(self, table: str, column: str, source: Table, of: str = "user") -> None:
        self._table, self._column, self._source, self._of = table, column, source, of
        self.values: Array = np.empty(0)

    def add(self, codes: Codes, values: NDArray[np.generic]) -> None:
        """Note the values of some lines."""
        most = int(codes.max(initial=0)) + 1
        if most > len(self.values):
            grown = np.full(max(most, 2 * len(self.values)), np.nan)
            grown[: len(self.values)] = self.values
            self.values = grown
        fresh = np.isnan(self.values[codes])
        self.values[codes[fresh]] = values[fresh]
        if (self.values[codes] != values).any():
            self._refuse()

    def padded(self, count: int) -> Array:
        """One value for each of ``count`` codes, NaN where there is none."""
        known = self.values[:count]
        return np.concatenate([known, np.full(count - len(known), np.nan)])

    def codes(self, count: int) -> Codes:
        """The same where values are codes; NONE where there is none."""
        return np.nan_to_num(self.padded(count), nan=NONE).astype(np.uint32)

    def _refuse(self) -> None:
        keys = [key for key in ("user_id", "page_id") if key in self._source]
        first = pl.col(self._column).first().over(keys)
        lines = self._source.frame(with_record=True).filter(pl.col(self._column) != first)
        row = lines.sort(RECORD).head(1).collect(engine="streaming").row(0, named=True)
        raise DataError(
            f"{self._table}: column {self._source.names[self._column]}, {self._source.where(row[RECORD])}: "
            f"found {row[self._column]!r}, and another value before for user_id={row['user_id']!r}. "
            f"It must be the same on all lines of a {self._of}."
        )


def _judged_twice(table: Table) -> str:
    keys = [key for key in ("user_id", "page_id", "item_id") if key in table]
    repeats = table.frame(with_record=True).filter(pl.col(RECORD) > pl.col(RECORD).min().over(keys))
    with table.readable():
        lines = repeats.sort(RECORD).collect(engine="streaming")
    row = lines.row(0, named=True)
    found = " ".join(f"{table.names[key]}={row[key]!r}" for key in keys)
    what = "1 item is" if lines.height == 1 else f"{lines.height:,} items are"
    return (
        f"judgments: {what} judged twice, first {found} ({table.where(row[RECORD])}). "
        "Keep one judgment of an item, the latest or the largest."
    )
