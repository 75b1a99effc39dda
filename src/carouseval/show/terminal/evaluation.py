"""Evaluations, checks, and judgments made of events in the terminal."""

import math
from typing import Any

from rich.text import Text

from carouseval.building.event_judgments import EventJudgments
from carouseval.building.event_tables import excluded_table, grade_table
from carouseval.evaluation.check_result import Check
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.tally import COUNTS
from carouseval.show.terminal.text_blocks import sentences, small_table

_MOST_SEGMENTS = 40
_SIZES = ("users", "pages", "lines")  # shown as columns


def evaluation(result: Evaluation, width: int | None = None) -> Text:
    """Means with their intervals, segments, the caption, counts and settings."""
    frame = result.to_frame()
    lines = []
    if result.heading:
        lines.append(sentences(result.heading, width, "bold"))
    header = [*result.by, "metric", "mean", "95% interval", "users", "pages"]
    rows = [
        [
            *(row[name] for name in result.by),
            row[Columns.METRIC],
            _score(row[Columns.MEAN]),
            f"{_score(row[Columns.LOW])} - {_score(row[Columns.HIGH])}" if not math.isnan(row[Columns.LOW]) else "",
            f"{row[Columns.USERS]:,}",
            f"{row[Columns.PAGES]:,}",
        ]
        for row in frame.head(_MOST_SEGMENTS * len(result.mean)).iter_rows(named=True)
    ]
    lines.append(small_table("", header, rows))
    if result.by and frame.height > len(rows):
        lines.append(Text(f"and {frame.height - len(rows):,} more lines; --format csv shows all", "dim"))
    counts = [
        f"{count:,} {COUNTS[name][count > 1]}" for name, count in result.counts.items() if count and name not in _SIZES
    ]
    notes = [result.caption, f"Counted: {', '.join(counts)}." if counts else "", _settings(result.config)]
    notes.append(result.few_users_note)
    lines += [sentences(note, width, "dim") for note in notes if note]
    return Text("\n").join(lines)


def _settings(config: dict[str, Any]) -> str:
    settings = ", ".join(f"{name}={config[name]}" for name in ("gain", *Settings.choices()))
    source = f"Categories from {config['items']}. " if config["items"] != "none" else ""
    return f"Intervals: 95% confidence, over users. {source}Settings: {settings}."


def _score(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.4f}"


def check_table(result: Check) -> Text:
    """Defects, then the summary of each table."""
    styles = {"error": "bold red", "warning": "bold yellow", "note": "dim"}
    lines = [
        Text.assemble((f"{defect.severity}: ", styles[defect.severity]), defect.message) for defect in result.defects
    ]
    if not lines:
        lines = [Text(result.heading, "bold green")]
    for name, facts in result.summary.items():
        content = ", ".join(f"{key.replace('_', ' ')} {_fact(value)}" for key, value in facts.items())
        lines.append(Text.assemble((f"{name}  ", "bold"), (content, "dim")))
    return Text("\n").join(lines)


def _fact(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def event_judgments(result: EventJudgments) -> Text:
    """How many judgments fell where, and the lines that were excluded."""
    grades = grade_table(result.table, result.config)
    lines = [small_table(result.heading, grades.header, grades.rows)]
    if result.excluded.height:
        excluded = excluded_table(result.excluded)
        lines += [Text(), small_table("", excluded.header, excluded.rows)]
    return Text("\n").join(lines)
