"""Judgments made of events in the terminal."""

from rich.text import Text

from carouseval.building.event_judgments import EventJudgments
from carouseval.show.terminal import small_table


def event_judgments(result: EventJudgments) -> Text:
    """How many judgments fell where, and the lines that were excluded."""
    value = "relevance" if result.config["thresholds"] is None else result.config["value"] or "events"
    titles = {"relevance": "relevance", "from": f"{value} from", "to": "to below"}
    bounds = [name for name in titles if result.table[name].is_not_null().any()]
    header = [*(titles[name] for name in bounds), "judgments", "share", "users"]
    rows = [
        [*(_number(row[name]) for name in bounds), f"{row['pairs']:,}", f"{row['share']:.1%}", f"{row['users']:,}"]
        for row in result.table.iter_rows(named=True)
    ]
    lines = [small_table(result.heading, header, rows)]
    if result.excluded.height:
        excluded = [
            [row["reason"], f"{row['lines']:,}", row["first"], _number(row["value"])]
            for row in result.excluded.iter_rows(named=True)
        ]
        lines += [Text(), small_table("Excluded", ["reason", "lines", "first", "value"], excluded)]
    return Text("\n").join(lines)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
