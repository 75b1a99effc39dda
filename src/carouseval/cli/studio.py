"""``carouseval studio``: a local page on which a layout can be rearranged while its score is watched."""

from typing import Annotated, Any

import typer

from carouseval.cli import options
from carouseval.cli.output import progress_bar
from carouseval.cli.settings_options import with_settings
from carouseval.cli.wording import with_options
from carouseval.errors import CarousevalError, ParameterError
from carouseval.evaluation.settings import Settings
from carouseval.extras import require_extra
from carouseval.settings import only

EXAMPLES = """
carouseval studio
carouseval studio layouts.parquet judgments.parquet --items items.parquet
carouseval studio new.parquet judgments.parquet --items items.parquet --other prod.parquet
carouseval studio layouts.csv judgments.csv --by device --grid tv=8x12/1,5 --grid phone=phone:6x10/1,3 --no-browser
"""
_METRIC = "Metric shown at first, such as 'N2DCG_cat(d_rpb)@3x5'; the page can choose others."


@with_settings(settings=only(Settings, metrics=_METRIC))
def studio(
    layouts: Annotated[
        str | None, typer.Argument(help="Layouts, as for carouseval evaluate. Default: sample data.")
    ] = None,
    judgments: Annotated[str | None, typer.Argument(help="Judgments, as for carouseval evaluate.")] = None,
    items: options.ItemsOption = None,
    other: Annotated[
        str | None, typer.Option(help="Layouts of a second system, to compare page by page.", metavar="<layouts>")
    ] = None,
    *,
    settings: dict[str, Any],
    port: Annotated[
        int | None,
        typer.Option(help="Port of the page. Default: 8737, or a free one where that is taken.", min=1, max=65535),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open the page in a browser.")] = False,
) -> None:
    """Open a local web page to rearrange layouts and see what it does to their scores.

    The page is served to this machine only, and loads nothing from elsewhere. Ctrl-C stops it.
    """
    require_extra("show", "the studio")
    if layouts is None and (items is not None or other is not None):
        raise ParameterError("--items and --other need LAYOUTS and JUDGMENTS.")
    if layouts is not None and judgments is None:
        raise ParameterError("studio needs judgments beside the layouts: carouseval studio LAYOUTS JUDGMENTS.")
    from carouseval.show.studio.server import bind, serve
    from carouseval.show.studio.workspace import StudioTables, Workspace, system_names

    chosen = Settings(**settings)
    if layouts is None or judgments is None:
        tables = StudioTables.sample(chosen)
    else:
        paths = [layouts] if other is None else [layouts, other]
        systems = dict(zip(system_names(*paths), paths, strict=True))
        tables = StudioTables(systems, judgments, items, chosen, ", ".join(paths), has_posters=True)
    with bind(port) as listener:
        with progress_bar() as bar:
            workspace = Workspace(tables, chosen, bar)
        serve(workspace, listener, browser=not no_browser, announce=_announce, message_of=message_of)


def message_of(error: CarousevalError) -> str:
    """What the page says is wrong with tables: it has no options, so where they are given is said, too."""
    message = str(error)
    text = with_options(message, "studio")
    return text if text == message else f"{text} Options are given when the studio is started."


def _announce(address: str) -> None:
    print(f"studio: {address} (Ctrl-C stops it)", flush=True)
