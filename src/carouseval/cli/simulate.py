"""``carouseval simulate``: how often discounts prefer the better of two layouts."""

from typing import Annotated, Any

import typer

from carouseval.cli.options import GRID, PageSize, VisibleRows
from carouseval.cli.output import progress_bar
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import with_settings
from carouseval.paper.simulation_settings import SimulationSettings
from carouseval.settings import only

EXAMPLES = """
carouseval simulate --mode graded --stream paper
carouseval simulate --trials 10000000
carouseval simulate -d d_a -d d_rpd -d "d_rpd(mu=0.5)" --truth bratislava --thresholds 0 --thresholds 0.05
carouseval simulate -d d_a -d d_rpd --trials 100000 --chart agreement.png
carouseval simulate --truth d_rpd --grid 8x12 --format csv
"""


# a table of counts has a grid of its own, which is the default
@with_output("Study")
@with_settings(settings=only(SimulationSettings, without=("grid", "threads")))
def simulate(
    *,
    settings: dict[str, Any],
    grid: Annotated[
        str | None, typer.Option(help=f"{GRID} Default: that of the counts in --truth, or 10x15 for a discount.")
    ] = None,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    output: Output,
) -> None:
    """Run the paper's simulation of paired layouts.

    Each trial draws carousels and two layouts of them. A discount agrees if it prefers the layout that true attention
    prefers; pairs with any tie are left out.
    """
    from carouseval.cli.grid_options import parse_grid
    from carouseval.paper.simulation import simulate as run
    from carouseval.paper.truth import grid_of_truth, read_truth
    from carouseval.progress import step

    output.check()
    named_grid = parse_grid(grid, page_size, visible_rows, ()) if grid else None
    truth = read_truth(settings["truth"], named_grid)
    screen = named_grid or parse_grid(None, page_size, visible_rows, grid_of_truth(truth).shape)
    with progress_bar() as bar:
        study = run(**settings | {"truth": truth, "grid": screen}, progress=step(bar, "pairs"))
    output.write(study)
