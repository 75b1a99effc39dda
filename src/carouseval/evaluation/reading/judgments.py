"""Judgments as arrays, grouped by *judgment set*: those of a user or, where judgments name pages, of a page."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError
from carouseval.evaluation import schema
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Attribute, Codebook, Codes, PageIds
from carouseval.messages import Message, function, setting
from carouseval.metrics.gains import KERNEL_GAINS, Gain, apply_function
from carouseval.metrics.grid import Array
from carouseval.tables.added_errors import AddedError, CountedLines, such_lines
from carouseval.tables.table import RECORD, Table


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments as arrays; users and items by their codes."""

    offsets: NDArray[np.int64]  # where each judgment set begins; sets are numbered as users or pages are
    item: Codes
    relevance: Array
    user: Codes  # of each judgment set
    per_page: bool  # whether sets are of pages rather than users
    segments: dict[str, Codes]  # per judgment set, where the judgments have such columns
    weights: Array | None  # per judgment set

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Which judgment sets are not empty: users may come from other tables."""
        return np.diff(self.offsets) > 0

    def of_set(self, judgment_set: int) -> slice:
        """The judgments of a set; none for a code past the last."""
        is_known = judgment_set < len(self)
        return slice(*self.offsets[judgment_set : judgment_set + 2].tolist()) if is_known else slice(0, 0)


def read_judgments(table: Table, codebook: Codebook, plan: ScoringPlan, *, needed: bool = True) -> Judgments:
    """Read and check judgments; an item judged twice is refused, and none at all where they are ``needed``."""
    settings = plan.settings
    if "page_id" in table.names:
        codebook.pages = PageIds(plan.threads, table.id_types["page_id"])
    parts: list[tuple[Codes, Codes, Array]] = []
    segments = [name for name in settings.by_columns if name in table.names]
    weight = settings.weight if settings.weight is not None and settings.weight in table.names else None
    attributes = {name: Attribute(table, name, "user") for name in (*segments, *([weight] if weight else []))}
    for batch in table.batches():
        user, item = codebook.users.add(batch["user_id"]), codebook.items.add(batch["item_id"])
        judgment_set = user if codebook.pages is None else codebook.pages.add(user, batch["page_id"])
        parts.append((judgment_set, item, batch["relevance"].to_numpy()))
        for name, attribute in attributes.items():
            values = codebook.segments[name].add(batch[name]) if name in segments else batch[name].to_numpy()
            attribute.add(judgment_set, values)
    nothing = (np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0))
    judgment_set, item, relevance = (np.concatenate(part) for part in zip(nothing, *parts, strict=True))
    if len(judgment_set) == 0 and needed:
        raise DataError(schema.EMPTY["judgments"])
    if (judgment_set[1:] < judgment_set[:-1]).any():
        order = np.argsort(judgment_set, kind="stable")
        judgment_set, item, relevance = judgment_set[order], item[order], relevance[order]
    count = len(codebook.users) if codebook.pages is None else len(codebook.pages)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(judgment_set, minlength=count))]).astype(np.int64)
    order = _native.order_within(offsets, item, codebook.items.ranks(), plan.threads)
    item, relevance = item[order], relevance[order]
    if len(_native.judged_twice(offsets, item)):
        raise AddedError(_judged_twice(table))
    return Judgments(
        offsets=offsets,
        item=item,
        relevance=np.ascontiguousarray(relevance, dtype=np.float64),
        user=np.arange(count, dtype=np.uint32) if codebook.pages is None else codebook.pages.user(),
        per_page=codebook.pages is not None,
        segments={name: attributes[name].codes(count) for name in segments},
        weights=attributes[weight].padded(count) if weight else None,
    )


def gains_of(judgments: Judgments, gain: Gain, table: Table, threads: int) -> Array:
    """The gain of every judgment; one too large for a float is refused with its line."""
    if callable(gain):
        return apply_function(gain, judgments.relevance)
    gains, bad = _native.gains(judgments.relevance, KERNEL_GAINS[gain], threads)
    if bad >= 0:
        column = table.names["relevance"]
        record, total, row = table.find(pl.col("relevance") >= 1024)
        head = (
            f"judgments: column {column}, {table.where(record)}: found {row['relevance']:g}, and 2^"
            f"{row['relevance']:g} is too large for a float"
        )
        remedy = f"Rescale it, or use {setting('gain', 'linear')}."
        raise AddedError(such_lines("judgments: gains", total, head, remedy))
    return gains


def _judged_twice(table: Table) -> CountedLines:
    keys = [key for key in ("user_id", "page_id", "item_id") if key in table]
    (lines,) = table.query(lambda frame: frame.filter(pl.col(RECORD) > pl.col(RECORD).min().over(keys)).sort(RECORD))
    row = lines.row(0, named=True)
    first = " ".join(f"{table.names[key]}={row[key]!r}" for key in keys)
    is_log = {*table.header} != {*table.names.values()}  # perhaps: it has other columns, or no relevance
    remedy = f"make judgments of them with {function('judgments_from_events')}"
    events = f" If these are events, such as plays, {remedy}." * is_log
    where = f" judged twice, first {first}{table.in_brackets(row[RECORD])}. "
    tail = Message(f"{where}Keep one judgment per item, the latest or the largest.{events}")
    number = ("1 item is", "{} items are")
    return CountedLines("judgments: twice", lines.height, "judgments: ", number, tail, of_users=True)
