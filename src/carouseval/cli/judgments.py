"""``carouseval judgments``: a log of events becomes a table of judgments."""

from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.building.settings import EventSettings
from carouseval.cli.output import progress_bar
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import with_settings

EXAMPLES = """
carouseval judgments events.parquet --value minutes --grades 1,10,45 --out judgments.parquet
carouseval judgments 'log/*.csv.gz' --value minutes --grades 1,10,45 --at-most 1440 --columns user_id=customer
carouseval judgments events.parquet --value minutes --quantiles 0,0.5,0.9 --event-relevance thumbs_down=0
carouseval judgments ratings.csv --value rating --combine last --columns time=timestamp --out judgments.csv
carouseval judgments plays.parquet --grades 1,3,10 --event-relevance impression=none --format json
"""


@with_output("EventJudgments")
@with_settings(settings=EventSettings)
def judgments(
    events: Annotated[
        str,
        typer.Argument(
            help="Events: user_id, item_id and a column of values (and event, time, page_id), one line per event. A "
            ".parquet, .csv, .tsv or .ndjson file, a folder, or a pattern in quotes."
        ),
    ],
    *,
    settings: dict[str, Any],
    out: Annotated[
        Path | None, typer.Option(help="Write the judgments to this .parquet, .csv or .ndjson file.")
    ] = None,
    output: Output,
) -> None:
    """Turn a log of plays, minutes, ratings or thumbs into judgments.

    Makes one relevance per user and item, and prints how many fell where. Values that are missing, negative or
    otherwise impossible are excluded, and counted by name.
    """
    from carouseval.building.event_judgments import judgments_from_events as run
    from carouseval.evaluation.notices import number
    from carouseval.show.terminal.evaluation import event_judgments as draw

    output.check(events, judgments=out)
    with progress_bar() as bar:
        result = run(events, progress=bar, **settings)
    output.write(result, lambda _: draw(result))
    done = f"Wrote {number(result.judgments.height, 'judgment')} to {out}."
    typer.echo("Not written: give --out." if out is None else done, err=True)
