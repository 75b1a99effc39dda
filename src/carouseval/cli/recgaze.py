"""``carouseval recgaze``: examination counts from RecGaze's raw logs."""

from pathlib import Path
from typing import Annotated

import typer

from carouseval.cli.output import Format
from carouseval.cli.output_options import Output, with_output

EXAMPLES = """
carouseval recgaze summary_feedback.csv click_summary_dataset.csv
carouseval recgaze summary_feedback.csv click_feedback.csv --out counts --format json
carouseval recgaze summary_feedback.csv click_feedback.csv --dropped-labels "I don't remember"
"""


@with_output("RecgazeLogs")
def recgaze(
    events: Annotated[Path, typer.Argument(help="RecGaze's summary_feedback.csv, one event per line.")],
    clicks: Annotated[Path, typer.Argument(help="RecGaze's click_summary_dataset.csv or click_feedback.csv.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write bratislava.json, amsterdam.json, all.json, audit.json and looks.parquet (fixations in order) "
            "to this folder."
        ),
    ] = None,
    dropped_labels: Annotated[
        list[str] | None,
        typer.Option(
            "--dropped-labels",
            "--drop-label",
            metavar="<label>",
            help="Drop screens with this familiarity label, in place of 'I did not select a movie' and "
            "'I selected a movie by accident'. Repeat for several; 'none' keeps all screens.",
        ),
    ] = None,
    *,
    output: Output,
) -> None:
    """Count examined cells in RecGaze's raw logs.

    Also reports which screens were dropped and why. The files are those of the RecGaze data set (SIGIR '25), Zenodo
    record 15270518.
    """
    from rich.console import Console
    from rich.text import Text

    from carouseval.paper.recgaze_logs import DROPPED_LABELS, read_recgaze
    from carouseval.paper.terminal import recgaze_logs as draw

    output.check(events, clicks)
    labels = tuple(DROPPED_LABELS if not dropped_labels else () if dropped_labels == ["none"] else dropped_labels)
    with Console(stderr=True).status(Text(f"Reading {events}")):  # shown where stderr is a terminal
        logs = read_recgaze(events, clicks, dropped_labels=labels)
    if out is not None:
        logs.save(out)
    if output.format is not Format.table:  # the table includes them
        for note in logs.audit["all"].notes:
            typer.echo(f"carouseval: {note}", err=True)
    output.write(logs, lambda _: draw(logs))
