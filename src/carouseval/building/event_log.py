"""Logs of events, read batch by batch: one value per user and item, and the lines that were excluded, by name."""

from dataclasses import dataclass, replace

import polars as pl

from carouseval.building.settings import EventSettings
from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation import schema
from carouseval.messages import setting
from carouseval.progress import Progress
from carouseval.tables.columns import Column
from carouseval.tables.opening import open_table
from carouseval.tables.table import RECORD, Table, TableLike, in_memory
from carouseval.validation import did_you_mean

_NANOS, _MICROS = 1e9, 1e6
_MERGE_FROM = 1 << 23  # lines: about 400 MB
_LEFT_OUT = "event left out"  # by the caller
_MISSING = "missing"
_MOST_NAMES = 1000  # a column of more is not one of names
_MOST_LISTED = 10
_EXAMPLES = {"user_id": "customer", "page_id": "visit", "event": "action", "time": "timestamp"}  # of others' names

# any value is read, and those that cannot be used are excluded by name
_NUMBERS = f"Name a column of numbers in {setting('value')}."
_VALUE = Column("value", "number", required=False, remedy=_NUMBERS, nullable=True, where=pl.lit(False))

# names that are only counted
_EVENT = Column("event", "text", required=False, remedy="Rename it, if it holds no names of events.", nullable=True)


@dataclass(frozen=True, kw_only=True)
class EventRules(EventSettings):
    """What a line of a log counts for, and how the lines of a user and an item are combined."""

    @property
    def keys(self) -> list[str]:
        """The columns that identify a judgment."""
        return ["user_id", *(["page_id"] if self.per_page else []), "item_id"]

    def open(self, events: TableLike) -> Table:
        """The log, with the columns that are needed."""
        needed = {*self.keys, *(["event"] if self.event_relevance else []), *(["time"] * (self.combine == "last"))}
        used = [replace(column, required=True) for column in schema.EVENTS if column.name in needed]
        names = schema.names_of(self.columns, "events")
        if self.value is not None:
            used, names = [*used, _VALUE], names | {"value": self.value}
        if names.get("event", "event") not in [names.get(column.name, column.name) for column in used]:
            used.append(_EVENT)
        reason = "The last line of a user and an item is found by its time. " * (self.combine == "last")
        examples = {column: header for column, header in _EXAMPLES.items() if column in needed}
        hint = f"{reason}If yours have other names, use {setting('columns', {**examples, ...: ...})}."
        table = open_table(in_memory(events, "events"), "events", used, names, hint=hint)
        if table.lists:
            raise DataError("events: found lists of items. Write one line per event.")
        if self.value is not None and table.names.get("value") != self.value:
            known = f"{did_you_mean(self.value, table.header)} Columns: {', '.join(table.header)}."
            raise ParameterError(f"{setting('value')}: there is no column {self.value!r} in events.{known}")
        return table

    def lines(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The keys, time, value and relevance (of named events) of lines, and why a line is excluded."""
        is_named, relevance = pl.lit(False), pl.lit(None, pl.Float64)
        if self.event_relevance:
            is_named = pl.col("event").is_in(list(self.event_relevance))
            known = {name: value for name, value in self.event_relevance.items() if value is not None}
            relevance = pl.col("event").replace_strict(known, default=None, return_dtype=pl.Float64)
        value = pl.lit(1.0) if self.value is None else pl.col("value")
        return batch.select(
            RECORD,
            *self.keys,
            *(["time"] if self.combine == "last" else []),
            pl.when(~is_named).then(value).alias("value"),
            relevance.alias("least"),
            relevance.alias("most"),
            pl.when(is_named & relevance.is_null())
            .then(pl.lit(_LEFT_OUT))
            .when(~is_named)
            .then(self._reason)
            .alias("reason"),
        )

    @property
    def _reason(self) -> pl.Expr:
        """Why a value cannot be used; null if it can."""
        if self.value is None:
            return pl.lit(None, pl.String)
        value = pl.col("value")
        conditions = {
            _MISSING: ~pl.col(_VALUE.presence),
            "not a number": value.is_null(),
            "not finite": ~value.is_finite(),
            "negative": value < 0,
            "below at_least": value < self.at_least,
            "above at_most": value > self.at_most,
        }
        return pl.coalesce(pl.when(condition).then(pl.lit(reason)) for reason, condition in conditions.items())


@dataclass(frozen=True, eq=False)
class EventLog:
    """What a log holds about each user and item."""

    pairs: pl.DataFrame  # the keys; the combined value, null if no line has one; least and most relevance of events
    excluded: pl.DataFrame  # reason, lines, first, value
    height: int

    @classmethod
    def read(cls, table: Table, rules: EventRules, progress: Progress | None) -> "EventLog":
        """Read the log once; its lines may be more than fit into memory, its users and items must fit."""
        total = 0 if progress is None else table.height()
        pairs, parts, height = _Pairs(rules), [], 0
        names = _EventNames(rules)
        for batch in table.batches(with_record=True):
            lines = rules.lines(batch)
            is_excluded = lines["reason"].is_not_null()
            parts.append(lines.filter(is_excluded).group_by("reason").agg(pl.len(), pl.col(RECORD, "value").first()))
            pairs.add(lines.filter(~is_excluded))
            names.add(batch, lines["reason"])
            height += batch.height
            if progress is not None:
                progress("reading", height, total)
        if not height:
            raise DataError(schema.EMPTY["events"])
        names.warn(table)
        log = cls(pairs.collect(), _excluded(parts, table), height)
        log.check(table, f"Correct them.{names.without_value()}")
        return log

    def check(self, table: Table, remedy: str) -> None:
        """Warn of excluded values, and refuse a log of nothing else."""
        if not self.pairs.height:
            raise DataError(f"events: all lines are excluded: {_listed(self.excluded)}. {remedy}")
        unusable = self.excluded.filter(pl.col("reason") != _LEFT_OUT)
        if unusable.height:
            lines = int(unusable["lines"].sum())
            what = f"{lines:,} of {self.height:,} lines {'is' if lines == 1 else 'are'} excluded"
            warn(f"events: column {table.names['value']}: {what}: {_listed(unusable)}. {remedy}")


class _Pairs:
    """Lines combined by user and item as they are read, so that memory grows with the pairs and not with the lines."""

    def __init__(self, rules: EventRules) -> None:
        self._rules = rules
        self._parts: list[pl.DataFrame] = []

    def add(self, lines: pl.DataFrame) -> None:
        """Add lines, in the order of the log."""
        if self._rules.combine == "sum":  # in fixed point: sums then do not depend on the order of lines
            lines = lines.with_columns((pl.col("value") * _NANOS).round().cast(pl.Int128))
        self._parts.append(self._combined(lines.drop(RECORD, "reason")))
        if sum(part.height for part in self._parts[1:]) > max(self._parts[0].height, _MERGE_FROM):
            self._parts = [self._combined(pl.concat(self._parts))]

    def collect(self) -> pl.DataFrame:
        """All pairs, sorted."""
        pairs = self._combined(pl.concat(self._parts)).sort(self._rules.keys)
        if self._rules.combine == "sum":  # to the nearest millionth: twelve times 1/12 is 1
            micros = pairs.select(((pl.col("value") + 500) // 1000).cast(pl.Float64)).to_series().to_numpy()
            # by NumPy: Polars multiplies by 1e-6 instead, which rounds 0.1 down
            pairs = pairs.with_columns(pl.Series("value", micros / _MICROS, nan_to_null=True))
        return pairs.select(*self._rules.keys, "value", "least", "most")

    def _combined(self, lines: pl.DataFrame) -> pl.DataFrame:
        keys, value = self._rules.keys, pl.col("value")
        if self._rules.combine == "last":  # of equal times, the last line
            return lines.sort("time", maintain_order=True).unique(keys, keep="last")
        combined = pl.when(value.count() > 0).then(value.sum()) if self._rules.combine == "sum" else value.max()
        pairs = lines.lazy().group_by(keys).agg(combined, pl.col("least").min(), pl.col("most").max())
        return pairs.collect(engine="streaming")


class _EventNames:
    """The names of events, how many lines each has, and how many of them lack a value."""

    def __init__(self, rules: EventRules) -> None:
        self._rules = rules
        self._unused = list(rules.event_relevance or {})
        self._counts = pl.DataFrame(schema={"event": pl.String, "lines": pl.Int64, "missing": pl.Int64})
        self._are_names = True  # rather than ids, of which there may be as many as lines

    def add(self, batch: pl.DataFrame, reason: pl.Series) -> None:
        """Count the names of a batch; ``reason`` says why lines are excluded."""
        if "event" not in batch.columns:
            return
        named = batch.select("event", lines=pl.lit(1), missing=reason == _MISSING).drop_nulls("event")
        new = named.group_by("event").agg(pl.col("lines", "missing").sum().cast(pl.Int64))
        counts = pl.concat([self._counts, new]).group_by("event").agg(pl.col("lines", "missing").sum())
        self._unused = [name for name in self._unused if name not in new["event"]]
        self._are_names &= counts.height <= _MOST_NAMES
        self._counts = counts.sort("lines", "event", descending=[True, False]).head(_MOST_NAMES)

    def warn(self, table: Table) -> None:
        """Warn of names that no line has, which are probably misspelt, and of several names that count alike."""
        for name in self._unused:
            hint = did_you_mean(name, self._counts["event"].to_list())
            warn(f"events: no event is called {name!r}, as {setting('event_relevance')} has it.{hint}")
        alike = self._rules.value is None and not self._rules.event_relevance
        if alike and self._are_names and self._counts.height > 1:
            lines = [f"{lines:,} {name!r}" for name, lines, _ in self._counts.iter_rows()]
            warn(
                f"events: every line counts 1, but column {table.names['event']} has several names: {_first(lines)}. "
                "Give dislikes and other events a relevance of their own: "
                f"{setting('event_relevance', {'thumbs_down': 0})}."
            )

    def without_value(self) -> str:
        """Which events have lines without a value, and what to do; empty if there are none."""
        missing = self._counts.filter(pl.col("missing") > 0).sort("missing", descending=True, maintain_order=True)
        if not (missing.height and self._are_names):
            return ""
        lines = [f"{without:,} of {lines:,} {name!r}" for name, lines, without in missing.iter_rows()]
        return (
            f" Without a value: {_first(lines)}; give events that have none a relevance in "
            f"{setting('event_relevance')}."
        )


def _first(texts: list[str]) -> str:
    """Texts separated by commas, the first few of many."""
    more = len(texts) - _MOST_LISTED
    return ", ".join(texts[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _listed(excluded: pl.DataFrame) -> str:
    """``2 negative (first: line 7, found -3)``, and so on."""
    texts = []
    for row in excluded.iter_rows(named=True):
        value = "" if row["value"] is None else f", found {row['value']:g}"
        texts.append(f"{row['lines']:,} {row['reason']} (first: {row['first']}{value})")
    return ", ".join(texts)


def _excluded(parts: list[pl.DataFrame], table: Table) -> pl.DataFrame:
    """Reasons with their numbers of lines, most frequent first, and where each occurs first."""
    counts = pl.concat(parts).group_by("reason").agg(pl.col("len").sum(), pl.col(RECORD, "value").first())
    counts = counts.sort("len", "reason", descending=[True, False])
    return counts.select(
        "reason",
        pl.col("len").cast(pl.Int64).alias("lines"),
        pl.Series("first", [table.where(record) for record in counts[RECORD]], pl.String),
        "value",
    )
