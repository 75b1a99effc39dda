"""Judgments out of their table, packed by *truth*: all those of a user, or of a page where judgments name the page."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation.reading.attributes import Attribute
from carouseval.evaluation.reading.ids import Codebook, Codes, PageIds
from carouseval.evaluation.settings import Settings
from carouseval.metrics.gains import KERNEL_GAINS, Gain, apply_function
from carouseval.metrics.grid import Array
from carouseval.metrics.pages import thread_count
from carouseval.tables import RECORD, Table


@dataclass(frozen=True, eq=False)
class Judgments:
    """What the judges say, as arrays; users and items by their codes."""

    offsets: NDArray[np.int64]  # where each truth's judgments begin; truths count as users or pages do
    item: Codes
    relevance: Array
    user: Codes  # of each truth
    per_page: bool  # whether they hold for single pages
    segments: dict[str, Codes]  # per truth, where the judgments have such columns
    weights: Array | None  # per truth

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Which truths have any judgment: users may have come in through other tables."""
        return np.diff(self.offsets) > 0


def read_judgments(table: Table, codebook: Codebook, settings: Settings, *, needed: bool = True) -> Judgments:
    """Read and check judgments; an item judged twice is refused, and none at all where they are ``needed``."""
    if "page_id" in table:
        codebook.pages = PageIds(settings.threads)
    parts: list[tuple[Codes, Codes, Array]] = []
    own = [name for name in settings.by_columns if name in table]
    weight = settings.weight if settings.weight is not None and settings.weight in table else None
    attributes = {name: Attribute(table, name, "user") for name in (*own, *([weight] if weight else []))}
    for batch in table.batches():
        user, item = codebook.users.add(batch["user_id"]), codebook.items.add(batch["item_id"])
        truth = user if codebook.pages is None else codebook.pages.add(user, batch["page_id"])
        parts.append((truth, item, batch["relevance"].to_numpy()))
        for name, attribute in attributes.items():
            attribute.add(truth, codebook.segments[name].add(batch[name]) if name in own else batch[name].to_numpy())
    nothing = (np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0))
    truth, item, relevance = (np.concatenate(part) for part in zip(nothing, *parts, strict=True))
    if len(truth) == 0 and needed:
        raise DataError("judgments: the table is empty. Give at least one line of user_id, item_id, relevance.")
    if (truth[1:] < truth[:-1]).any():
        order = np.argsort(truth, kind="stable")
        truth, item, relevance = truth[order], item[order], relevance[order]
    count = len(codebook.users) if codebook.pages is None else len(codebook.pages)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(truth, minlength=count))]).astype(np.int64)
    order = _native.order_within(offsets, item, codebook.items.ranks(), thread_count(settings.threads))
    item, relevance = item[order], relevance[order]
    if len(_native.judged_twice(offsets, item)):
        raise DataError(_judged_twice(table))
    return Judgments(
        offsets=offsets,
        item=item,
        relevance=np.ascontiguousarray(relevance, dtype=np.float64),
        user=np.arange(count, dtype=np.uint32) if codebook.pages is None else codebook.pages.user(),
        per_page=codebook.pages is not None,
        segments={name: attributes[name].codes(count) for name in own},
        weights=attributes[weight].padded(count) if weight else None,
    )


def gains_of(judgments: Judgments, gain: Gain, table: Table, threads: int | None = None) -> Array:
    """The gain of every judgment; one too large is refused with its line."""
    if callable(gain):
        return apply_function(gain, judgments.relevance)
    gains, bad = _native.gains(judgments.relevance, KERNEL_GAINS[gain], thread_count(threads))
    if bad >= 0:
        column = table.names["relevance"]
        record, total, row = table.find(pl.col("relevance") >= 1024)
        more = f" ({total:,} such lines)" if total > 1 else ""
        raise DataError(
            f"judgments: column {column}, {table.where(record)}: found {row['relevance']:g}, and 2^"
            f"{row['relevance']:g} is too large for a float{more}. Rescale it, or use gain='linear'."
        )
    return gains


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
