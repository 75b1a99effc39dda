"""``carouseval evaluate``: a system's score."""

from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.cli import table_options as on
from carouseval.cli.options import OutputFormat, PageSize, VisibleRows
from carouseval.cli.output import Format, progress_bar, write_json, write_rows

DEFAULT_METRICS = ["N2DCG_cat"]

EXAMPLES = """
carouseval evaluate layouts.parquet judgments.parquet --items items.parquet
carouseval evaluate 'layouts/*.csv.gz' judgments.csv --items items.csv -m N2DCG_cat -m N2DCG_cat@3x5 -m NDCG@10
carouseval evaluate layouts.parquet judgments.parquet --by device --grid tv=tv --grid phone=phone --grid web=10x15
carouseval evaluate layouts.parquet judgments.parquet -m "N2DCG_cat(d_rpb)" -m "N2DCG_cat(@fitted.json)"
carouseval evaluate layouts.parquet judgments.parquet --per-page scores.parquet --fail-if "N2DCG_cat < 0.42"
carouseval evaluate pages.ndjson clicks.ndjson --column user_id=customer --column relevance=clicked --format json
"""


def evaluate(
    layouts: on.Layouts,
    judgments: on.Judgments,
    items: on.Items = None,
    metric: Annotated[
        list[str],
        typer.Option("--metric", "-m", help="A metric's name, such as 'N2DCG_cat(d_a)@3x5'. Repeat for more."),
    ] = DEFAULT_METRICS,
    grid: on.Screens = on.DEFAULT_GRID,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    gain: on.Gain = "exp2",
    candidates: on.Candidates = "judged",
    duplicates: on.Duplicates = "best",
    missing_pages: on.MissingPages = "zero",
    no_relevant: on.NoRelevant = "skip",
    unjudged: on.Unjudged = "zero",
    invalid: on.Invalid = "error",
    by: on.By = on.NOTHING,
    weight: on.Weight = None,
    column: on.Columns = on.NOTHING,
    memory: on.Memory = 4.0,
    per_page: on.PerPage = None,
    per_user: Annotated[
        Path | None, typer.Option(help="Write every user's means to this .parquet, .csv or .ndjson file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the result to this .json, .md, .tex, .csv or .parquet file too.")
    ] = None,
    fail_if: Annotated[
        list[str],
        typer.Option(
            help="End with status 3 if this holds of an overall mean or a count: 'N2DCG_cat < 0.42', 'missing > 0'. "
            "Repeat for more."
        ),
    ] = on.NOTHING,
    format: OutputFormat = Format.table,
) -> None:
    """Score a system's pages against judgments.

    The score is the mean over users of the mean over their pages, each page against the best page that its user's
    judgments allow.
    """
    from carouseval.cli.conditions import parse_conditions
    from carouseval.cli.inputs import note_swipe_pages
    from carouseval.evaluation.evaluate import evaluate as run
    from carouseval.whole_files import RESULTS, TABLES, check_outputs, write_frame

    conditions = parse_conditions(fail_if, metric)
    inputs = (layouts, judgments, items)
    check_outputs(per_page, per_user, out, kinds=(*TABLES, *RESULTS), inputs=inputs)
    check_outputs(per_page, per_user)
    check_outputs(out, kinds=RESULTS)
    grids = on.grids(grid, page_size, visible_rows)
    note_swipe_pages(metric, grids)
    with progress_bar() as bar:
        result = run(
            layouts,
            judgments,
            items,
            metric,
            grids,
            gain,
            candidates,
            duplicates,
            missing_pages,
            no_relevant,
            unjudged,
            invalid,
            by,
            on.columns(column),
            weight=weight,
            memory=memory,
            progress=bar,
        )
    if per_page is not None:
        write_frame(per_page, result.per_page)
    if per_user is not None:
        write_frame(per_user, result.per_user)
    if out is not None:
        result.save(out)
    _print(result, format)
    failures = [told for condition in conditions if (told := condition.failure(result))]
    for failure in failures:
        typer.echo(f"carouseval: failed: {failure}", err=True)
    if failures:
        raise typer.Exit(3)


def _print(result: Any, format: Format) -> None:
    if format is Format.json:
        write_json(result.to_dict())
    elif format is Format.table:
        from rich.console import Console

        from carouseval.show.evaluation import evaluation

        Console(highlight=False).print(evaluation(result), soft_wrap=True)
    elif format is Format.csv:
        frame = result.to_frame()
        write_rows(format, frame.columns, frame.iter_rows())
    else:
        typer.echo(result.to_markdown() if format is Format.markdown else result.to_latex(), nl=False)
