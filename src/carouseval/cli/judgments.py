"""``carouseval judgments``: a log of events becomes a table of judgments."""

from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.building.category_orders import Combine
from carouseval.cli import chart_options, options
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.cli.settings_options import parse_columns
from carouseval.errors import ParseError
from carouseval.validation import quoted

EXAMPLES = """
carouseval judgments events.parquet --value minutes --grades 1,10,45 --out judgments.parquet
carouseval judgments 'log/*.csv.gz' --value minutes --grades 1,10,45 --at-most 1440 --columns user_id=customer
carouseval judgments events.parquet --value minutes --quantiles 0,0.5,0.9 --event-relevance thumbs_down=0
carouseval judgments ratings.csv --value rating --combine last --columns time=timestamp --out judgments.csv
carouseval judgments plays.parquet --grades 1,3,10 --event-relevance impression=none --format json
"""


def judgments(
    events: Annotated[
        str,
        typer.Argument(
            help="Events: user_id, item_id and a column of values (and event, time, page_id), one line per event. A "
            ".parquet, .csv, .tsv or .ndjson file, a folder, or a pattern in quotes."
        ),
    ],
    value: Annotated[
        str | None, typer.Option(help="Column of values, such as minutes or rating. Default: every line counts 1.")
    ] = None,
    combine: Annotated[
        Combine,
        typer.Option(
            parser=options.choice_parser(Combine),
            help="What becomes of several lines of a user and an item: their sum, the largest, or the last by time.",
        ),
    ] = "sum",
    grades: Annotated[
        str | None,
        typer.Option(
            metavar="<numbers>",
            help="Thresholds: 1,10,45 gives relevance 0 below 1, 1 from 1, 2 from 10, 3 from 45. Default: the value "
            "itself is the relevance.",
        ),
    ] = None,
    quantiles: Annotated[
        str | None,
        typer.Option(
            metavar="<numbers>",
            help="Thresholds by quantiles of the positive values: 0,0.5,0.9 gives relevance 3 to the top tenth.",
        ),
    ] = None,
    event_relevance: Annotated[
        list[str],
        typer.Option(
            metavar="<event=relevance>",
            help="Relevance of an event whatever its value: add_to_list=2. An event of relevance 0, such as a thumbs "
            "down, overrides all others, unless --combine is last; none leaves an event out. Repeat for several.",
        ),
    ] = options.NOTHING,
    at_least: Annotated[float, typer.Option(help="Exclude lines with a smaller value.")] = 0,
    at_most: Annotated[float | None, typer.Option(help="Exclude lines with a larger value. Default: 1e16.")] = None,
    per_page: Annotated[bool, typer.Option("--per-page", help="Make one judgment per user, page_id and item.")] = False,
    columns: Annotated[
        list[str],
        typer.Option(
            "--columns",
            "--column",
            metavar="<ours=yours>",
            help="Your name for a column: user_id=customer. Repeat for several.",
        ),
    ] = options.NOTHING,
    out: Annotated[
        Path | None, typer.Option(help="Write the judgments to this .parquet, .csv or .ndjson file.")
    ] = None,
    chart: chart_options.ChartOption = None,
    chart_theme: chart_options.ThemeOption = "light",
    format: options.OutputFormat = Format.table,
) -> None:
    """Turn a log of plays, minutes, ratings or thumbs into judgments.

    Makes one relevance per user and item, and prints how many fell where. Values that are missing, negative or
    otherwise impossible are excluded, and counted by name.
    """
    from carouseval.building.event_judgments import judgments_from_events as run
    from carouseval.evaluation.notices import number
    from carouseval.show.terminal.evaluation import event_judgments as draw
    from carouseval.tables.writing import check_outputs, write_frame

    chosen: dict[str, Any] = {
        "combine": combine,
        "grades": _parse_numbers("--grades", grades, "1,10,45"),
        "quantiles": _parse_numbers("--quantiles", quantiles, "0,0.5,0.9"),
        "event_relevance": _parse_relevances(event_relevance),
        "at_least": at_least,
        "at_most": at_most,
        "per_page": per_page,
        "columns": parse_columns(columns),
    }
    check_outputs(out, inputs=[events])
    chart_options.check_chart(chart, [events])
    with progress_bar() as bar:
        result = run(events, value, progress=bar, **chosen)
    if out is not None:
        write_frame(out, result.judgments)
    chart_options.save_chart(result, chart, chart_theme)
    emit(result, format, lambda _: draw(result))
    done = f"Wrote {number(result.judgments.height, 'judgment')} to {out}."
    typer.echo("Not written: give --out." if out is None else done, err=True)


def _parse_numbers(option: str, text: str | None, example: str) -> list[float] | None:
    """``"1,10,45"`` as numbers."""
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise ParseError(
            f"{option} {quoted(text)} cannot be parsed; write numbers separated by commas, such as {example}."
        ) from None


def _parse_relevances(texts: list[str]) -> dict[str, float | None]:
    """``["thumbs_down=0", "impression=none"]`` as events and their relevances."""
    relevances: dict[str, float | None] = {}
    for text in texts:
        name, _, relevance = text.rpartition("=")
        try:
            if not name or name in relevances:
                raise ValueError
            relevances[name] = None if relevance.strip().lower() == "none" else float(relevance)
        except ValueError:
            raise ParseError(
                f"--event-relevance {quoted(text)} cannot be parsed; write each event once, such as thumbs_down=0."
            ) from None
    return relevances
