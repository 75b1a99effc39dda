"""The tables of an evaluation or comparison on Spark: what stays there, and what is known of them here."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.comparison.comparison_sums import Run
from carouseval.comparison.systems import naming
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.parts import open_part
from carouseval.evaluation.per_page import page_columns
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, OtherUsers
from carouseval.evaluation.result_columns import PER_PAGE
from carouseval.evaluation.settings import Settings
from carouseval.extras import require_pyspark
from carouseval.metrics.validation import require_int
from carouseval.spark.failures import ONE
from carouseval.spark.read_lines import ReadLines, Reads, refuse_changes
from carouseval.spark.user_lines import LINES_AT_ONCE, column_in_query, require_comparable_users, user_hash
from carouseval.spark_sources import is_spark
from carouseval.tables import Table, TableLike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TELLING = threading.Lock()
_MERGE_CACHED = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


@dataclass(frozen=True)
class SparkTables:
    """Tables, checked by their columns; lines of items and carousels that hold for everyone are read."""

    settings: Settings  # with carousels as a frame
    plan: ScoringPlan
    sketches: Mapping[str, pl.DataFrame]  # layouts of the first run and judgments, without their lines
    layouts: Mapping[str, Table]  # of each run, without lines
    tables: Mapping[str, Table]  # the others
    streamed: Mapping[str, tuple[DataFrame, str]]  # tables whose lines stay with their users, and the column of these
    items: pl.DataFrame | None
    runs: Mapping[str, Run]  # that each of the layouts is of
    shared: Mapping[str, tuple[DataFrame, ReadLines]]  # lines for everyone beside those of single users, and their sum

    @classmethod
    def of(
        cls,
        layouts: Mapping[str, DataFrame],
        judgments: DataFrame,
        items: DataFrame | TableLike | None,
        settings: Settings,
        runs: Mapping[str, Run] | None = None,
    ) -> SparkTables:
        """Check the columns of all tables, as one machine would; ``runs`` tells that of each of the layouts."""
        runs = dict.fromkeys(layouts, ONE) if runs is None else runs
        for name, frame in (*(("layouts", frame) for frame in layouts.values()), ("judgments", judgments)):
            require_spark(name, frame)
        for name, other in (("items", items), ("carousels", settings.carousels)):
            if is_spark(other):
                require_spark(name, other)
        own: dict[str, DataFrame | None] = {}
        own["items"], items = _own_lines(items, "items", settings)
        own["carousels"], carousels = _own_lines(settings.carousels, "carousels", settings)
        split = {"items": items, "carousels": carousels}
        shared = {name: (split[name], ReadLines.of(split[name])) for name, lines in own.items() if lines is not None}
        given: dict[str, Any] = {"judgments": sketch(judgments)}
        for name, table in (("items", items), ("carousels", carousels)):
            if table is not None:
                given[name] = local_frame(table) if is_spark(table) else table
        checked: dict[str, Table] = {}
        settled: dict[str, pl.DataType] = {}
        for run, frame in layouts.items():
            with naming(*runs[run]):
                tables = schema.open_tables({"layouts": sketch(frame)} | given, settings, settled=settled)
            checked[run] = tables["layouts"]
            settled |= {name: kind for table in tables.values() for name, kind in table.id_types.items()}
        first = next(iter(layouts.values()))
        with naming(*next(iter(runs.values()))):  # one machine reads all other tables with the first layouts
            local = {name: _lines(tables[name], given[name], own[name]) for name in given if name != "judgments"}
        settings = replace(settings, carousels=local.get("carousels"))
        streamed = {"judgments": _used(judgments, tables["judgments"])}
        for name, lines in own.items():
            if lines is not None:
                streamed[name] = lines, tables[name].names[Columns.USER]
        streamed |= {run: _used(frame, checked[run]) for run, frame in layouts.items()}
        require_comparable_users(streamed)
        return cls(
            settings=settings,
            plan=ScoringPlan.of(settings),
            sketches={"layouts": sketch(first), "judgments": given["judgments"]},
            layouts=checked,
            tables={name: table for name, table in tables.items() if name != "layouts"},
            streamed=streamed,
            items=local.get("items"),
            runs=runs,
            shared=shared,
        )

    @property
    def executor_plan(self) -> ScoringPlan:
        """How pages are scored there: metrics are parsed here, where their files are, and Spark has a task per core."""
        return replace(self.plan, threads=1)

    @property
    def from_layouts(self) -> bool:
        """Whether the categories of items come from layouts."""
        return "items" not in self.tables

    @contextmanager
    def open_sketches(self, others: OtherUsers) -> Iterator[Inputs]:
        """What is known of all tables here, for use in a ``with`` block."""
        with ExitStack() as stack:
            with naming(*next(iter(self.runs.values()))):
                inputs = stack.enter_context(open_part(self.sketches, self.items, self.plan, others))
            yield inputs

    def empty(self) -> dict[str, list[Run]]:
        """The runs whose layouts have no line, and the first one if judgments have none."""
        no_lines = [name for name in ("judgments", *self.layouts) if self.streamed[name][0].isEmpty()]
        judgments = [next(iter(self.runs.values()))] if "judgments" in no_lines else []
        return {"judgments": judgments, "layouts": [self.runs[run] for run in self.layouts if run in no_lines]}

    def require_same(self, before: Reads, read: Reads) -> Reads:
        """Refuse tables of which other lines were read ``before`` than in a pass, and return what that pass read."""
        now = dict.fromkeys(self.streamed, ReadLines()) | dict(read)
        refuse_changes(before, now, self.runs)
        for name, (lines, first) in self.shared.items():
            refuse_changes({name: first}, {name: ReadLines.of(lines)}, self.runs)
        return now

    def lines_at_once(self, given: int | None) -> int:
        """How many lines a task reads before it scores their users; the items of everyone are read each time."""
        if given is None:
            return max(LINES_AT_ONCE, 0 if self.items is None else self.items.height)
        return require_int("lines_at_once", given, 1)

    @property
    def with_categories(self) -> dict[str, Table]:
        """The tables whose lines stay with their users and may have a category."""
        return dict(self.layouts) | ({"items": self.tables["items"]} if "items" in self.streamed else {})

    def category_lines(self) -> DataFrame | None:
        """Hashes of users, and categories that are on their pages or among their items; null for items of everyone.

        None where it takes more than a line to tell categories.
        """
        from pyspark.sql import functions as F  # noqa: N812
        from pyspark.sql.types import IntegralType, StringType

        tables = self.with_categories
        if any("category" not in table or table.nested or table.many for table in tables.values()):
            return None
        lines = []
        for name, table in tables.items():
            frame, user = self.streamed[name]
            lines.append(
                frame.select(user_hash(frame, user).alias("user"), F.col(column_in_query(table.names["category"])))
            )
        if not all(isinstance(one.schema[1].dataType, IntegralType | StringType) for one in lines):
            return None  # the same category may be of another type in another table
        if self.items is not None:
            names = self.items.select(self.tables["items"].names["category"]).unique()
            of_all = lines[0].sparkSession.createDataFrame(names.to_arrow())
            lines.append(of_all.select(F.lit(None).cast("long").alias("user"), "*"))
        return reduce(lambda left, right: left.union(right), lines).toDF("user", "category").distinct()

    def has(self, column: str) -> bool:
        """Whether layouts of any run have a column."""
        return any(column in table for table in self.layouts.values())

    @property
    def id_types(self) -> dict[str, pl.DataType]:
        """The type of each id in all tables."""
        tables = (*self.layouts.values(), *self.tables.values())
        return {name: kind for table in tables for name, kind in table.id_types.items()}

    def page_types(self) -> dict[str, Any]:
        """The columns of the table of pages, as one machine has them, and their types."""
        present = page_columns(
            self.plan,
            page_ids=self.has(Columns.PAGE),
            weighted=self.settings.weight is not None,
            unproven=self.plan.metrics,
        )
        return PER_PAGE.types(present, self.id_types)


def require_spark(name: str, frame: Any) -> None:
    """Refuse what is not a Spark DataFrame."""
    if not is_spark(frame):
        raise ParameterError(f"{name} must be a Spark DataFrame, found {type(frame).__name__}.")
    require_pyspark("carouseval.spark", frame.sparkSession.version)
    _require_distinct_columns(name, frame)


def _require_distinct_columns(name: str, frame: DataFrame) -> None:
    """Refuse columns that Spark does not tell apart, as a join leaves them."""
    by_case = str(frame.sparkSession.conf.get("spark.sql.caseSensitive")) == "true"
    seen: dict[str, str] = {}
    for column in frame.columns:
        before = seen.setdefault(column if by_case else column.lower(), column)
        if before != column:
            raise DataError(
                f"{name}: Spark does not tell the columns {before} and {column} apart. Rename or drop one, or set "
                "spark.sql.caseSensitive."
            )
        if frame.columns.count(column) > 1:
            raise DataError(f"{name}: there are two columns {column}. Rename or drop one.")


def local_frame(frame: Any) -> pl.DataFrame:
    """All lines of a Spark DataFrame, on this machine."""
    return pl.DataFrame(frame.toArrow())


def cached(frame: DataFrame) -> DataFrame:
    """Keep a frame in Spark's cache, in as few partitions as its size allows.

    Spark does not merge small partitions of cached frames unless it is told to, and each costs a task. The session is
    told so only while the frame is planned; other threads may be about to tell it the same.
    """
    conf = frame.sparkSession.conf
    with _TELLING:
        before = conf.get(_MERGE_CACHED, None)
        conf.set(_MERGE_CACHED, "true")
        try:
            return frame.persist()
        finally:
            if before is None:
                conf.unset(_MERGE_CACHED)
            else:
                conf.set(_MERGE_CACHED, before)


def sketch(frame: DataFrame) -> pl.DataFrame:
    """The columns of a table without its lines."""
    return local_frame(frame.limit(0))


def _used(frame: DataFrame, table: Table) -> tuple[DataFrame, str]:
    """The columns in use, and the one with users."""
    return used_columns(frame, table), table.names[Columns.USER]


def used_columns(frame: DataFrame, table: Table) -> DataFrame:
    """A DataFrame with only the columns that its table uses."""
    wanted = set(table.names.values()) if not table.nested else set(frame.columns)
    return frame.select(*(column_in_query(name) for name in frame.columns if name in wanted))


def _own_lines(table: Any, name: str, settings: Settings) -> tuple[DataFrame | None, Any]:
    """The lines of a table that single users have, if it is in Spark, where they stay; and the other lines."""
    user = schema.names_of(settings.columns, name).get(Columns.USER, Columns.USER)
    if not is_spark(table) or user not in table.columns:
        return None, table
    return table.where(f"{column_in_query(user)} IS NOT NULL"), table.where(f"{column_in_query(user)} IS NULL")


def _lines(table: Table, given: Any, own: DataFrame | None) -> pl.DataFrame:
    """The lines of a table on this machine, checked, with ids of the types of all tables.

    Where single users have lines of their ``own`` in Spark, they are left as they were ``given``, like those.
    """
    lines = table.collect()
    if lines.is_empty() and (own is None or own.isEmpty()):
        raise DataError(schema.EMPTY[table.name])
    if own is not None:
        return pl.DataFrame(given)
    return lines.rename({ours: own for ours, own in table.names.items() if ours != own})
