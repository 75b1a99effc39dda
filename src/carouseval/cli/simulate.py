"""``carouseval simulate``: how often discounts prefer the better of two layouts."""

from typing import Annotated

import typer

from carouseval.cli.chart_options import ChartOption, ThemeOption, check_chart, save_chart
from carouseval.cli.options import GRID, OutputFormat, PageSize, VisibleRows, choice_parser
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.paper.simulation_options import DISCOUNTS, THRESHOLDS, TRUTH, Mode, Stream

DEFAULT_DISCOUNTS = list(DISCOUNTS)
DEFAULT_THRESHOLDS = list(THRESHOLDS)

EXAMPLES = """
carouseval simulate --mode graded --stream paper
carouseval simulate --trials 10000000
carouseval simulate -d d_a -d d_rpd -d "d_rpd(mu=0.5)" --truth bratislava --thresholds 0 --thresholds 0.05
carouseval simulate -d d_a -d d_rpd --trials 100000 --chart agreement.png
carouseval simulate --truth d_rpd --grid 8x12 --format csv
"""


def simulate(
    discounts: Annotated[
        list[str],
        typer.Option(
            "--discounts",
            "--discount",
            "-d",
            metavar="<discount>",
            help="Discount to study; the others are compared with the first. Repeat for several.",
        ),
    ] = DEFAULT_DISCOUNTS,
    truth: Annotated[
        str,
        typer.Option(
            help="True attention: bratislava, amsterdam or all (RecGaze), a file of counts, or a discount such as "
            "d_rpd or @fitted.json."
        ),
    ] = TRUTH,
    mode: Annotated[
        Mode,
        typer.Option(parser=choice_parser(Mode), help="Relevance of relevant items: 1 (binary) or 1 to 5 (graded)."),
    ] = "binary",
    trials: Annotated[int, typer.Option(help="Number of pairs of layouts to draw.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same pairs.")] = 42,
    stream: Annotated[
        Stream,
        typer.Option(
            parser=choice_parser(Stream),
            help="Random numbers: drawn in parallel (fast), or as the authors drew them (paper).",
        ),
    ] = "fast",
    categories: Annotated[int | None, typer.Option(help="Number of carousels drawn. Default: one per row.")] = None,
    grid: Annotated[
        str | None, typer.Option(help=f"{GRID} Default: that of the counts in --truth, or 10x15 for a discount.")
    ] = None,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    thresholds: Annotated[
        list[str],
        typer.Option(
            "--thresholds",
            "--at-least",
            metavar="<number>",
            help="Also report pairs whose true scores differ by at least this much. Repeat for several.",
        ),
    ] = DEFAULT_THRESHOLDS,
    share: Annotated[float, typer.Option(help="Share of relevant items.")] = 0.15,
    chart: ChartOption = None,
    chart_theme: ThemeOption = "light",
    format: OutputFormat = Format.table,
) -> None:
    """Run the paper's simulation of paired layouts.

    Each trial draws carousels and two layouts of them. A discount agrees if it prefers the layout that true attention
    prefers; pairs with any tie are left out.
    """
    from carouseval.cli.grid_options import parse_grid
    from carouseval.paper.simulation import simulate as run
    from carouseval.paper.truth import grid_of_truth, read_truth
    from carouseval.progress import step

    check_chart(chart)
    named_grid = parse_grid(grid, page_size, visible_rows, ()) if grid else None
    attention = read_truth(truth, named_grid)
    with progress_bar() as bar:
        study = run(
            discounts,
            attention,
            mode,
            trials,
            seed,
            stream,
            named_grid or parse_grid(None, page_size, visible_rows, grid_of_truth(attention).shape),
            thresholds,
            share,
            categories,
            progress=step(bar, "pairs"),
        )
    save_chart(study, chart, chart_theme)
    emit(study, format)
