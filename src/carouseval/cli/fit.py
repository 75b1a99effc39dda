"""``carouseval fit``: fit a discount to examination counts, frequencies or scan paths."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.attention.fit_settings import FitSettings
from carouseval.cli.options import GridName, PageSize, VisibleRows
from carouseval.cli.output import progress_bar
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import with_settings

EXAMPLES = """
carouseval fit bratislava --test amsterdam
carouseval fit bratislava --test amsterdam --discount d_rpb --chart fit.png
carouseval fit counts.csv --screens 1200 --discount d_rpb --form six --out fitted.json
carouseval fit screens.csv --grid 8x18 --page-size 6 --discount d_scan
carouseval fit screens.csv --grid 8x12 --bootstrap 1000
carouseval fit counts.csv --screens 1200 --discount d_mul --objective likelihood --refine
carouseval score page.csv --discount @fitted.json
"""


@with_output("FitReport")
@with_settings(settings=FitSettings)
def fit(
    frequencies: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="bratislava, amsterdam or all (RecGaze), or a CSV, Parquet or JSON file: one line of counts or "
            "frequencies per row of the grid; or row, col, count; or one line per fixation: screen, row, col (and "
            "participant, time).",
        ),
    ],
    test: Annotated[str | None, typer.Option(help="Held-out data to score the fitted discount on.")] = None,
    screens: Annotated[
        int | None,
        typer.Option(help="Number of screens behind the data, including those without any fixation."),
    ] = None,
    *,
    settings: dict[str, Any],
    grid: GridName = None,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the fitted discount to this JSON file, for --discount @FILE.")
    ] = None,
    output: Output,
) -> None:
    """Fit a discount to eye-tracking data.

    Browsing models (d_rpb, d_rcb, d_scan) give probabilities and are fitted by likelihood, with confidence intervals:
    d_rpb in the form that the data support, d_scan to scan paths where single screens are given. Other discounts are
    fitted by grid search, as in the paper: ties are broken by Pearson's r, then by order.
    """
    from carouseval.attention.discount_fit import fit_discount
    from carouseval.attention.fit_data import FitData
    from carouseval.cli.grid_options import parse_grid
    from carouseval.metrics.grid import PRESETS
    from carouseval.show.terminal.fit import fit_report
    from carouseval.tables.writing import CHARTS, check_outputs, write_atomically

    output.check(frequencies, test)
    if out:  # may have any suffix
        check_outputs(output.chart, out, kinds=(*CHARTS, out.suffix.lower()), inputs=[frequencies, test])
    data = FitData.read(
        frequencies,
        test,
        screens=screens,
        grid=parse_grid(grid, page_size, visible_rows, ()) if grid else None,
        page_size_assumed=page_size is None and (grid or "").lower() not in PRESETS,
        in_order=settings["discount"] == "d_scan",
    )
    if not grid:
        data = replace(data, grid=parse_grid(None, page_size, visible_rows, data.grid.shape))
    with progress_bar() as bar:
        report = fit_discount(data, progress=bar, **settings)
    if out:
        write_atomically(out, report.to_json() + "\n")
    output.write(report, partial(fit_report, report))
