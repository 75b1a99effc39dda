"""``carouseval explain``: where pages lose score."""

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
        str | None,
        typer.Option(
            help="User whose page is shown beside its ideal. Default: that of the worst page with a relevant item."
        ),
    ] = None,
    page: Annotated[
        str | None, typer.Option(help="Id of the page, where the user has several. Default: the first.")
    ] = None,
    worst: Annotated[int, typer.Option(help="Number of worst pages to list.", min=0)] = 5,
    *,
    settings: dict[str, Any],
    per_page: options.PerPage = None,
    format: options.OutputFormat = Format.table,
) -> None:
    """Show where a system's pages lose score.

    Splits the loss into the order of items, the order of rows and the choice of items; then shows the loss by cell,
    the worst pages, and one page beside its ideal. Takes one metric: N2DCG_cat, with any discount and cutoff.
    """
    from carouseval.atomic_files import check_outputs, write_frame
    from carouseval.errors import ParameterError
    from carouseval.evaluation.explain import explain as run
    from carouseval.show.explanation import explanation as draw

    if page is not None and user is None:
        raise ParameterError("--page needs --user.")
    check_outputs(per_page, inputs=(layouts, judgments, items))
    with progress_bar() as bar:
        result = run(layouts, judgments, items, progress=bar, **settings)
    if per_page is not None:
        write_frame(per_page, result.per_page)
    view = _page_view(result, user, page, format is Format.table)
    more = {"worst": result.worst.head(worst).to_dicts()} | ({} if view is None else {"page": view.to_dict()})
    emit(result, format, lambda _: draw(result, worst, view), more)


def _page_view(result: Any, user: str | None, page: str | None, default: bool) -> Any:
    """The page of a user; without a user the worst page if ``default``, else None."""
    from carouseval.errors import ParameterError

    if user is None:
        if not default or result.per_page.is_empty():
            return None
        worst = result.worst
        if worst.is_empty():
            return None
        above_zero = worst.filter(worst["dcg"] > 0)  # a page with some relevant item is more instructive
        first = (worst if above_zero.is_empty() else above_zero).row(0, named=True)
        return result.page(first["user_id"], first.get("page_id"))
    ids = result.per_page
    if page is not None and "page_id" not in ids.columns:
        raise ParameterError(f"--page {page}: the layouts have no column page_id.")
    key = _parse_id("--user", user, ids["user_id"])
    return result.page(key, None if page is None else _parse_id("--page", page, ids["page_id"]))


def _parse_id(option: str, text: str, ids: Any) -> Any:
    """An id in the type of its column."""
    from carouseval.errors import ParameterError

    if not ids.dtype.is_integer():
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{option} must be an integer, as {ids.name} is, found {text!r}.") from None
