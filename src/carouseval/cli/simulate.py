"""``carouseval simulate``: which of two layouts each discount prefers, against the truth."""

from typing import Annotated

import typer

from carouseval.cli.options import GridName, OutputFormat, PageSize, VisibleRows
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.study.choices import THRESHOLDS, Mode, Stream

DEFAULT_DISCOUNTS = ["d_a", "d_rpd"]
DEFAULT_THRESHOLDS = list(THRESHOLDS)

EXAMPLES = """
carouseval simulate --mode graded --stream paper
carouseval simulate --trials 10000000
carouseval simulate -d d_a -d d_rpd -d "d_rpd(mu=0.5)" --truth bratislava --at-least 0 --at-least 0.05
carouseval simulate --truth d_rpd --grid 8x12 --format csv
"""


def simulate(
    discount: Annotated[
        list[str], typer.Option("--discount", "-d", help="A discount to judge; the others are compared with the first.")
    ] = DEFAULT_DISCOUNTS,
    truth: Annotated[
        str,
        typer.Option(help="bratislava, amsterdam, all, a file of counts, or a discount such as d_rpd or @fitted.json."),
    ] = "amsterdam",
    mode: Annotated[Mode, typer.Option(help="Relevant items count 1 (binary) or 1 to 5 (graded).")] = "binary",
    trials: Annotated[int, typer.Option(help="Pairs of layouts to draw.")] = 20_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same pairs.")] = 42,
    stream: Annotated[Stream, typer.Option(help="Our own draws (fast), or the authors', one by one (paper).")] = "fast",
    categories: Annotated[int | None, typer.Option(help="Carousels drawn. Default: one for each row.")] = None,
    grid: GridName = None,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    at_least: Annotated[
        list[str], typer.Option(help="Also report pairs whose truth scores differ by at least so much.")
    ] = DEFAULT_THRESHOLDS,
    share: Annotated[float, typer.Option(help="The share of relevant items.")] = 0.15,
    format: OutputFormat = Format.table,
) -> None:
    """Run the paper's paired-layout study.

    Every trial draws carousels and two layouts of them. A discount agrees when it prefers the layout that the truth
    prefers; pairs on which anything ties are left out.
    """
    from carouseval.cli.screen import screen
    from carouseval.progress import step
    from carouseval.study.simulation import simulate as run
    from carouseval.study.truth import own_grid, read_truth

    named = screen(grid, page_size, visible_rows, ()) if grid else None
    reference = read_truth(truth, named)
    chosen = named or screen(None, page_size, visible_rows, own_grid(reference).shape)
    with progress_bar() as bar:
        study = run(
            discount,
            reference,
            mode,
            trials,
            seed,
            stream,
            chosen,
            at_least,
            share,
            categories,
            progress=step(bar, "pairs"),
        )
    emit(study, format)
