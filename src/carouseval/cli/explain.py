"""``carouseval explain``: where the score was lost."""

from typing import Annotated, Any

import typer

from carouseval.cli import table_options as on
from carouseval.cli.options import OutputFormat, PageSize, VisibleRows
from carouseval.cli.output import Format, progress_bar, write_json, write_rows

EXAMPLES = """
carouseval explain layouts.parquet judgments.parquet --items items.parquet
carouseval explain layouts.parquet judgments.parquet --items items.parquet --user u000017
carouseval explain layouts.parquet judgments.parquet --items items.parquet --by device --format markdown
carouseval explain layouts.parquet judgments.parquet --per-page losses.parquet --worst 20
"""


def explain(
    layouts: on.Layouts,
    judgments: on.Judgments,
    items: on.Items = None,
    metric: Annotated[str, typer.Option("--metric", "-m", help="N2DCG_cat, with a discount or cutoff.")] = "N2DCG_cat",
    user: Annotated[
        str | None, typer.Option(help="Show this user's page beside its ideal. Default: the worst.")
    ] = None,
    page: Annotated[str | None, typer.Option(help="Which of the user's pages. Default: the first.")] = None,
    worst: Annotated[int, typer.Option(help="How many of the worst pages to list.", min=0)] = 5,
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
    format: OutputFormat = Format.table,
) -> None:
    """Say what a system's pages lost: to the order of items, to the order of rows, to the choice of items.

    Then where on the screen, on which pages, and how the worst page (or --user's) looks beside its ideal.
    """
    from carouseval.errors import ParameterError
    from carouseval.evaluation.explain import explain as run
    from carouseval.whole_files import check_outputs, write_frame

    if page is not None and user is None:
        raise ParameterError("--page goes with --user.")
    check_outputs(per_page, inputs=(layouts, judgments, items))
    with progress_bar() as bar:
        result = run(
            layouts,
            judgments,
            items,
            metric,
            on.grids(grid, page_size, visible_rows),
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
    view = _view(result, user, page, format is Format.table)
    if format is Format.json:
        shown = {} if view is None else {"page": view.to_dict()}
        write_json(result.to_dict() | {"worst": result.worst.head(worst).to_dicts()} | shown)
    elif format is Format.table:
        from rich.console import Console

        from carouseval.show.explanation import explanation

        Console(highlight=False).print(explanation(result, worst, view), soft_wrap=True)
    elif format is Format.csv:
        frame = result.to_frame()
        write_rows(format, frame.columns, frame.iter_rows())
    else:
        typer.echo(result.to_markdown() if format is Format.markdown else result.to_latex(), nl=False)


def _view(result: Any, user: str | None, page: str | None, default: bool) -> Any:
    """The page asked for by text, read as the table's own type; else the worst, where a page is shown anyway."""
    from carouseval.errors import ParameterError

    if user is None:
        if not default or result.per_page.is_empty():
            return None
        # of the worst, one that shows something says more than one that shows nothing
        worst = result.worst
        telling = worst.filter(worst["dcg"] > 0)
        if worst.is_empty():
            return None
        first = (worst if telling.is_empty() else telling).row(0, named=True)
        return result.page(first["user_id"], first.get("page_id"))
    ids = result.per_page
    if page is not None and "page_id" not in ids.columns:
        raise ParameterError(f"--page {page}: layouts have no column page_id.")
    key = _typed(user, ids["user_id"])
    return result.page(key, None if page is None else _typed(page, ids["page_id"]))


def _typed(text: str, ids: Any) -> Any:
    from carouseval.errors import ParameterError

    if not ids.dtype.is_integer():
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{ids.name} holds integers, found {text!r}.") from None
