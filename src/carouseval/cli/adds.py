"""``carouseval adds``: what each candidate carousel would add to a page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.building.settings import CANDIDATE_SETTINGS
from carouseval.cli.output import note_assumptions, progress_bar
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import with_settings
from carouseval.errors import ParameterError
from carouseval.show.charts.kinds import KINDS
from carouseval.validation import require_choice

EXAMPLES = """
carouseval adds candidates.parquet judgments.parquet --layouts layouts.parquet --items items.parquet
carouseval adds candidates.parquet judgments.parquet --layouts layouts.parquet --row 2 --out adds.csv --format json
carouseval adds candidates.csv judgments.csv --columns carousel=shelf --grid tv --metrics "N2DCG_cat(d_rpb)"
carouseval adds candidates.parquet judgments.parquet --items items.parquet --greedy --rows 6 --chart rows.svg
"""


@with_output("MarginalGains", "BuiltPages", saves=True)
@with_settings(settings=CANDIDATE_SETTINGS)
def adds(
    candidates: Annotated[
        str,
        typer.Argument(
            help="Candidates: user_id, carousel, col, item_id (and category), or one line per carousel with a list of "
            "items. A .parquet, .csv, .tsv or .ndjson file, a folder, or a pattern in quotes."
        ),
    ],
    judgments: Annotated[str, typer.Argument(help="Judgments: user_id, item_id, relevance.")],
    layouts: Annotated[
        str | None,
        typer.Option(
            help="Layouts, the pages to add to, one per user: user_id, row, col, item_id (and category, pinned). "
            "Default: empty pages."
        ),
    ] = None,
    items: Annotated[
        str | None,
        typer.Option(
            help="Items: item_id, category (and user_id). Default: the pairs that appear in layouts and candidates."
        ),
    ] = None,
    row: Annotated[
        int | None,
        typer.Option(
            help="Row that a candidate takes; the rows from there on move down. Default: the one below the page.", min=1
        ),
    ] = None,
    greedy: Annotated[
        bool,
        typer.Option(
            "--greedy",
            help="Build a page from the candidates instead, the same for all users: row by row from the one that adds "
            "most, then improved by local search.",
        ),
    ] = False,
    rows: Annotated[
        int | None, typer.Option(help="Rows that --greedy fills. Default: all candidates that fit.", min=1)
    ] = None,
    pages: Annotated[
        Path | None,
        typer.Option(help="Write what --greedy builds, layouts for evaluate, to this .parquet, .csv or .ndjson file."),
    ] = None,
    *,
    settings: dict[str, Any],
    per_user: Annotated[
        Path | None, typer.Option(help="Write what every user gains to this .parquet, .csv or .ndjson file.")
    ] = None,
    output: Output,
) -> None:
    """Show what each candidate carousel would add to the score.

    Each candidate is added alone to every page, below its last row or on --row. An item counts once, so one that the
    page shows already adds only what it gains by a better place. Users without the candidate gain nothing.
    """
    from carouseval.building.greedy_page import BuiltPages, build_pages
    from carouseval.building.marginal_gain import MarginalGains, marginal_gains

    for option, value in {"--layouts": layouts, "--row": row, "--per-user": per_user}.items():
        if greedy and value is not None:
            raise ParameterError(f"--greedy builds a page from the candidates alone; leave out {option}.")
    for option, value in {"--rows": rows, "--pages": pages}.items():
        if not greedy and value is not None:
            raise ParameterError(f"{option} needs --greedy.")
    if output.chart_kind is not None:
        require_choice("--chart-kind", output.chart_kind, tuple(KINDS["BuiltPages" if greedy else "MarginalGains"]))
    output.check(candidates, judgments, layouts, items, per_user=per_user, layouts=pages)
    result: MarginalGains | BuiltPages
    with progress_bar() as bar:
        if greedy:
            result = build_pages(candidates, judgments, items, rows=rows, progress=bar, **settings)
        else:
            result = marginal_gains(layouts, candidates, judgments, items, row=row, progress=bar, **settings)
    note_assumptions(result.config)
    output.write(result)
