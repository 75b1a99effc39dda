"""``carouseval explain``: where pages lose score."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carouseval.cli import options
from carouseval.cli.output import Format, note_assumptions, progress_bar
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import with_settings
from carouseval.cli.typed_ids import parse_id
from carouseval.cli.wording import with_options
from carouseval.evaluation.settings import Settings
from carouseval.settings import only

if TYPE_CHECKING:
    from carouseval.evaluation.explanation import Explanation
    from carouseval.evaluation.page_view import PageView

EXAMPLES = """
carouseval explain layouts.parquet judgments.parquet --items items.parquet
carouseval explain layouts.parquet judgments.parquet --items items.parquet --user u000017
carouseval explain layouts.parquet judgments.parquet --items items.parquet --by device --format markdown
carouseval explain layouts.parquet judgments.parquet --user u000017 --chart page.html --chart-kind page
carouseval explain layouts.parquet judgments.parquet --per-page losses.parquet --worst 20
"""
_METRIC = "Metric to explain: N2DCG_cat, with any discount and cutoff, such as 'N2DCG_cat(d_rpb)@3x5'."


@with_output("Explanation")
@with_settings(settings=only(Settings, metrics=_METRIC))
def explain(
    layouts: options.LayoutsArgument,
    judgments: options.JudgmentsArgument,
    items: options.ItemsOption = None,
    user: Annotated[
        str | None,
        typer.Option(
            help="User whose page is shown beside its ideal. Default: that of the lowest score among pages that show a "
            "relevant item."
        ),
    ] = None,
    page: Annotated[
        str | None, typer.Option(help="Id of the page, where the user has several. Default: the first.")
    ] = None,
    worst: Annotated[int, typer.Option(help="Number of worst pages to list.", min=0)] = 5,
    *,
    settings: dict[str, Any],
    per_page: options.PerPage = None,
    output: Output,
) -> None:
    """Show where a system's pages lose score.

    Splits the loss into the order of items, the order of rows and the choice of items; then shows the loss by cell,
    the worst pages, and one page beside its ideal.
    """
    from carouseval.errors import ParameterError
    from carouseval.evaluation.explain import explain as run
    from carouseval.show.terminal.explanation import explanation as draw

    if page is not None and user is None:
        raise ParameterError("--page needs --user.")
    output.check(layouts, judgments, items, per_page=per_page)
    with progress_bar() as bar:
        result = run(layouts, judgments, items, progress=bar, **settings)
    note_assumptions(result.evaluation.config)
    draws_page = output.chart is not None and output.chart_kind == "page"
    view = _page_view(result, user, page, output.format is Format.table or draws_page)
    if view is not None:
        view = replace(view, reason=with_options(view.reason))
    more = {"worst": result.worst.head(worst).to_dicts()} | ({} if view is None else {"page": view.to_dict()})
    output.write(result, lambda width: draw(result, worst, view, width), more, charted=view if draws_page else None)


def _page_view(result: "Explanation", user: str | None, page: str | None, default: bool) -> "PageView | None":
    """The page of a user; without a user, if ``default``, the one that the explanation chooses."""
    from carouseval.errors import ParameterError

    if user is None:
        return None if not default or result.worst.is_empty() else result.page()
    ids = result.per_page
    if page is not None and "page_id" not in ids.columns:
        raise ParameterError(f"--page {page}: the layouts have no column page_id.")
    key = parse_id("--user", user, "user_id", ids["user_id"].dtype)
    return result.page(key, None if page is None else parse_id("--page", page, "page_id", ids["page_id"].dtype))
