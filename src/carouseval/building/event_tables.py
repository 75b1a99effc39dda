"""How many judgments made of events fell where, and the lines that were excluded, as tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from carouseval.text_tables import TextTable

_MOST_RELEVANCES = 20  # that are listed one by one
_RANGES = (0.0, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)  # of more relevances than that: where each begins


def fell_where(pairs: pl.DataFrame, thresholds: Sequence[float] | None) -> pl.DataFrame:
    """The numbers of pairs by relevance, with the values that get each grade; or by ranges of relevance.

    ``by_event`` says of a pair, and counts in the table, whether a named event gave the relevance.
    """
    relevance, by = pl.col("relevance"), "relevance"
    starts = [] if thresholds is None else [0.0, *thresholds]
    grades: list[float | None] = [float(grade) for grade in range(len(starts))]
    if thresholds is None and pairs["relevance"].n_unique() > _MOST_RELEVANCES:
        starts, grades, by = list(_RANGES), [None] * len(_RANGES), "from"
        relevance = pl.max_horizontal(pl.when(relevance >= start).then(start) for start in starts)
    ends = [*starts[1:], None][: len(starts)]
    floats = dict.fromkeys(("relevance", "from", "to"), pl.Float64())
    ranges = pl.DataFrame({"relevance": grades, "from": starts, "to": ends}, schema=floats)
    numbers = pairs.group_by(relevance.alias(by)).agg(
        pl.col("by_event").sum(), pairs=pl.len(), users=pl.col("user_id").n_unique()
    )
    joined = ranges.join(numbers, on=by, how="full", coalesce=True).sort(by)
    count, by_event, users = (pl.col(name).fill_null(0).cast(pl.Int64) for name in ("pairs", "by_event", "users"))
    return joined.select("relevance", "from", "to", count, by_event, (count / pairs.height).alias("share"), users)


def grade_table(table: pl.DataFrame, config: Mapping[str, Any]) -> TextTable:
    """The table of ``fell_where`` as printed, without columns that say nothing."""
    value = "relevance" if config["thresholds"] is None else config["value"] or "events"
    titles = {"relevance": "relevance", "from": f"{value} from", "to": "to below", "pairs": "judgments"}
    has_relevances = any(relevance is not None for relevance in config["event_relevance"].values())
    titles |= {"by_event": "by event"} if has_relevances else {}
    titles |= {"share": "share", "users": "users"}
    columns = [name for name in titles if table[name].is_not_null().any()]
    rows = [
        [f"{row[name]:.1%}" if name == "share" else _number(row[name]) for name in columns]
        for row in table.iter_rows(named=True)
    ]
    return TextTable([titles[name] for name in columns], rows, [True] * len(columns))


def excluded_table(excluded: pl.DataFrame) -> TextTable:
    """The excluded lines as printed."""
    rows = [[reason, _number(lines), first, _number(value)] for reason, lines, first, value in excluded.iter_rows()]
    return TextTable(["excluded", "lines", "first", "value"], rows, [False, True, False, True])


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"
