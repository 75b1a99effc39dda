"""``carouseval adds``: what each candidate carousel would add to a page."""

from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.cli import chart_options, options
from carouseval.cli.output import Format, emit, note_assumptions, progress_bar
from carouseval.cli.settings_options import ColumnsOption, SplitOption, ToleranceOption, WorkOption, parse_columns
from carouseval.errors import ParameterError
from carouseval.evaluation.settings import Invalid, Settings

EXAMPLES = """
carouseval adds candidates.parquet judgments.parquet --layouts layouts.parquet --items items.parquet
carouseval adds candidates.parquet judgments.parquet --layouts layouts.parquet --row 2 --out adds.csv --format json
carouseval adds candidates.csv judgments.csv --columns carousel=shelf --grid tv --metrics "N2DCG_cat(d_rpb)"
carouseval adds candidates.parquet judgments.parquet --items items.parquet --greedy --rows 6 --chart rows.svg
"""


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
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics",
            "--metric",
            "-m",
            metavar="<name>",
            help="Metric: N2DCG_cat, N2DCG or 2DCG, with any discount and cutoff, such as 'N2DCG_cat(d_rpb)@3x5'.",
        ),
    ] = "N2DCG_cat",
    grid: Annotated[str, typer.Option(help=options.GRID)] = "recgaze",
    page_size: options.PageSize = None,
    visible_rows: options.VisibleRows = None,
    gain: Annotated[
        options.GainName, typer.Option(parser=options.choice_parser(options.GainName), help=options.GAIN)
    ] = "exp2",
    invalid: Annotated[
        Invalid,
        typer.Option(
            parser=options.choice_parser(Invalid),
            help="An invalid page, or a candidate with items outside its category, is an error, or is counted and "
            "scored as it is.",
        ),
    ] = "error",
    columns: ColumnsOption = options.NOTHING,
    split: SplitOption = None,
    tolerance: ToleranceOption = Settings.tolerance,
    work: WorkOption = Settings.work,
    per_user: Annotated[
        Path | None, typer.Option(help="Write what every user gains to this .parquet, .csv or .ndjson file.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help=options.OUT)] = None,
    chart: chart_options.ChartOption = None,
    chart_theme: chart_options.ThemeOption = "light",
    format: options.OutputFormat = Format.table,
) -> None:
    """Show what each candidate carousel would add to the score.

    Each candidate is added alone to every page, below its last row or on --row. An item counts once, so one that the
    page shows already adds only what it gains by a better place. Users without the candidate gain nothing.
    """
    from carouseval.building.greedy_page import BuiltPages, build_pages
    from carouseval.building.marginal_gain import MarginalGains, marginal_gains
    from carouseval.cli.grid_options import parse_grid
    from carouseval.tables.writing import RESULTS, TABLES, check_outputs, write_frame

    for option, value in {"--layouts": layouts, "--row": row, "--per-user": per_user}.items():
        if greedy and value is not None:
            raise ParameterError(f"--greedy builds a page from the candidates alone; leave out {option}.")
    for option, value in {"--rows": rows, "--pages": pages}.items():
        if not greedy and value is not None:
            raise ParameterError(f"{option} needs --greedy.")
    check_outputs(per_user, pages)
    check_outputs(out, kinds=RESULTS)
    inputs = (candidates, judgments, layouts, items)
    check_outputs(per_user, pages, out, kinds=(*TABLES, *RESULTS), inputs=inputs)
    chart_options.check_chart(chart, inputs)
    settings: dict[str, Any] = {
        "metrics": metrics,
        "grid": parse_grid(grid, page_size, visible_rows, ()),
        "gain": gain,
        "invalid": invalid,
        "columns": parse_columns(columns),
        "split": split,
        "tolerance": tolerance,
        "work": work,
    }
    result: MarginalGains | BuiltPages
    with progress_bar() as bar:
        if greedy:
            result = build_pages(candidates, judgments, items, rows=rows, progress=bar, **settings)
        else:
            result = marginal_gains(layouts, candidates, judgments, items, row=row, progress=bar, **settings)
    note_assumptions(result.config)
    if isinstance(result, BuiltPages) and pages is not None:
        write_frame(pages, result.layouts)
    if isinstance(result, MarginalGains) and per_user is not None:
        write_frame(per_user, result.per_user)
    if out is not None:
        result.save(out)
    chart_options.save_chart(result, chart, chart_theme)
    emit(result, format)
