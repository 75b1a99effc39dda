"""``carouseval explain``: where the score was lost."""

from typing import Annotated, Any

import typer

from carouseval.cli import options
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.cli.settings_options import with_settings

EXAMPLES = """
carouseval explain layouts.parquet judgments.parquet --items items.parquet
carouseval explain layouts.parquet judgments.parquet --items items.parquet --user u000017
carouseval explain layouts.parquet judgments.parquet --items items.parquet --by device --format markdown
carouseval explain layouts.parquet judgments.parquet --per-page losses.parquet --worst 20
"""


@with_settings
def explain(
    layouts: options.LayoutsArgument,
    judgments: options.JudgmentsArgument,
    items: options.ItemsOption = None,
    user: Annotated[
        str | None, typer.Option(help="Show this user's page beside its ideal. Default: the worst page.")
    ] = None,
    page: Annotated[str | None, typer.Option(help="Which of the user's pages. Default: the first.")] = None,
    worst: Annotated[int, typer.Option(help="How many of the worst pages to list.", min=0)] = 5,
    *,
    settings: dict[str, Any],
    per_page: options.PerPage = None,
    format: options.OutputFormat = Format.table,
) -> None:
    """Say what a system's pages lost: to the order of items, to the order of rows, to the choice of items.

    Then where on the screen, on which pages, and how the worst page (or --user's) looks beside its ideal. Takes one
    metric: N2DCG_cat, with any discount and cutoff.
    """
    from carouseval.atomic_files import check_outputs, write_frame
    from carouseval.cli.swipe_pages import note_swipe_pages
    from carouseval.errors import ParameterError
    from carouseval.evaluation.explain import explain as run
    from carouseval.show.explanation import explanation as draw

    if page is not None and user is None:
        raise ParameterError("--page goes with --user.")
    check_outputs(per_page, inputs=(layouts, judgments, items))
    note_swipe_pages(settings["metrics"], settings["grid"])
    with progress_bar() as bar:
        result = run(layouts, judgments, items, progress=bar, **settings)
    if per_page is not None:
        write_frame(per_page, result.per_page)
    view = _view(result, user, page, format is Format.table)
    shown = {} if view is None else {"page": view.to_dict()}
    more = {"worst": result.worst.head(worst).to_dicts()} | shown
    emit(result, format, lambda _: draw(result, worst, view), more)


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
    key = _typed("--user", user, ids["user_id"])
    return result.page(key, None if page is None else _typed("--page", page, ids["page_id"]))


def _typed(option: str, text: str, ids: Any) -> Any:
    from carouseval.errors import ParameterError

    if not ids.dtype.is_integer():
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{option} {text}: {ids.name} holds integers.") from None
