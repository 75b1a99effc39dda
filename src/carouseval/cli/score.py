"""``carouseval score``: one page in detail."""

from typing import Annotated

import typer

from carouseval.cli.options import GridName, PageSize, VisibleRows, choice_parser
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import option_help
from carouseval.evaluation.settings import Settings
from carouseval.metrics.gain_names import GainName
from carouseval.settings import settings_of

HELP = {setting.name: option_help(setting) for setting in settings_of(Settings)}
DEFAULT_METRICS = ["N2DCG_cat", "N2DCG", "2DCG"]

EXAMPLES = """
carouseval score page.csv
carouseval score page.json -m "N2DCG_cat(d_rpd(mu=0.5))@3x5" -m NDCG@10
carouseval score page.csv --grid tv --gain linear --format json
printf '1,0,0\\n0,1' | carouseval score - --discount d_a
"""


@with_output("PageScore")
def score(
    page: Annotated[
        str, typer.Argument(help="CSV or JSON, one line of relevances per carousel; - reads standard input.")
    ],
    metrics: Annotated[
        list[str], typer.Option("--metrics", "--metric", "-m", metavar="<name>", help=HELP["metrics"])
    ] = DEFAULT_METRICS,
    discount: Annotated[
        str | None,
        typer.Option(help="Discount for the metrics that take one: d_a, 'd_rpd(mu=0.5)' or @fitted.json."),
    ] = None,
    grid: GridName = None,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    gain: Annotated[
        GainName | None, typer.Option(parser=choice_parser(GainName), help=f"{HELP['gain']} Default: the metric's own.")
    ] = None,
    *,
    output: Output,
) -> None:
    """Score one page of carousels, and show it with its weights and its ideal page.

    Every line of the file is a carousel, every cell the relevance of an item; an empty cell has no item, a blank line
    is an empty carousel. In JSON: [[1, 0, null], [2]], or {"relevance": [[1, 0, null], [2]]}.
    """
    from carouseval.cli.grid_options import parse_grid
    from carouseval.metrics.names import metric as parse
    from carouseval.metrics.page_file import read_page
    from carouseval.metrics.page_score import score_page
    from carouseval.show.terminal.text_blocks import page_score as draw

    output.check(page)
    parsed = [parse(name, discount if parse(name).has_discount else None, gain=gain) for name in metrics]
    relevance = read_page(page)
    page_grid = parse_grid(grid, page_size, visible_rows, relevance.shape)
    result = score_page(relevance, parsed, page_grid)
    output.write(result, lambda width: draw(result, width))
