"""Judgments made of events in the terminal."""

from rich.text import Text

from carouseval.building.event_judgments import EventJudgments
from carouseval.building.event_tables import excluded_table, grade_table
from carouseval.show.terminal.text_blocks import small_table


def event_judgments(result: EventJudgments) -> Text:
    """How many judgments fell where, and the lines that were excluded."""
    grades = grade_table(result.table, result.config)
    lines = [small_table(result.heading, grades.header, grades.rows)]
    if result.excluded.height:
        excluded = excluded_table(result.excluded)
        lines += [Text(), small_table("", excluded.header, excluded.rows)]
    return Text("\n").join(lines)
