"""Results on standard output, in the chosen format."""

import csv
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from carouseval.progress import Progress
from carouseval.results import Result, plain
from carouseval.text_tables import csv_text


class Format(StrEnum):
    """The formats of printed results."""

    table = "table"
    json = "json"
    csv = "csv"
    markdown = "markdown"
    latex = "latex"


def emit(
    result: Result,
    format: Format,
    terminal: Callable[[int | None], Any] | None = None,
    more: Mapping[str, Any] | None = None,
) -> None:
    """Print a result in the chosen format.

    ``terminal`` draws it as a table for the terminal's width (None if stdout is not a terminal); by default the
    result's own table is printed. ``more`` is added to its JSON.
    """
    if format is Format.json:
        write_json(result.to_dict() | dict(more or {}))
    elif format is Format.table:
        from rich.console import Console

        from carouseval.show.terminal.text_blocks import frame_table, with_escapes

        console = Console(highlight=False)
        width = console.width if console.is_terminal else None
        drawn = frame_table(result) if terminal is None else terminal(width)
        console.print(with_escapes(drawn, console), soft_wrap=True)
    elif format is Format.csv:
        frame = result.to_frame()
        write_csv(frame.columns, frame.iter_rows())
    else:
        print(result.to_markdown() if format is Format.markdown else result.to_latex(), end="")


def note_assumptions(config: Mapping[str, Any]) -> None:
    """Say on standard error what was assumed about the tables."""
    from carouseval.evaluation.schema import RELEVANCE_1

    if config["relevance"] == RELEVANCE_1:
        print("carouseval: note: judgments have no column relevance; each counts as relevance 1.", file=sys.stderr)


def write_json(content: Any) -> None:
    """Print standard JSON: NaN and infinity become null, and each row of numbers is on one line."""
    text = json.dumps(plain(content), indent=1, allow_nan=False)
    # only arrays contain line breaks: in strings they are escaped
    print(re.sub(r"\[\n[^][{}\"]*\]", lambda row: f"[{' '.join(row[0][1:-1].split())}]", text))


def write_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table as CSV, floats in full, text so that no spreadsheet takes it for a formula."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(csv_text, header))
    writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return "" if value is None else csv_text(value) if isinstance(value, str) else str(value)


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """A progress bar on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    words, count = (
        progress.TextColumn("{task.description}"),
        progress.TextColumn("{task.completed:,} of {task.total:,}"),
    )
    columns = (words, progress.BarColumn(), count, progress.TimeRemainingColumn())
    tasks: dict[str, progress.TaskID] = {}
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def update(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield update
