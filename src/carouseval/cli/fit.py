"""``carouseval fit``: fit a discount to examination counts, frequencies or scan paths."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from carouseval.attention.objectives import Objective
from carouseval.cli.chart_options import ChartOption, FitKind, ThemeOption, check_chart, save_chart
from carouseval.cli.options import GridName, OutputFormat, PageSize, VisibleRows, choice_parser
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.errors import ParseError
from carouseval.validation import quoted

EXAMPLES = """
carouseval fit bratislava --test amsterdam
carouseval fit bratislava --test amsterdam --discount d_rpb --chart fit.png
carouseval fit counts.csv --screens 1200 --discount d_rpb --form six --out fitted.json
carouseval fit screens.csv --grid 8x18 --page-size 6 --discount d_scan
carouseval fit screens.csv --grid 8x12 --bootstrap 1000
carouseval fit counts.csv --screens 1200 --discount d_mul --objective likelihood --refine
carouseval score page.csv --discount @fitted.json
"""


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
    discount: Annotated[
        str, typer.Option("--discount", "--model", help="Discount to fit, such as d_rpd, d_rpb or d_scan.")
    ] = "d_rpd",
    test: Annotated[str | None, typer.Option(help="Held-out data to score the fitted discount on.")] = None,
    screens: Annotated[
        int | None,
        typer.Option(help="Number of screens behind the data, including those without any fixation."),
    ] = None,
    objective: Annotated[
        Objective | None,
        typer.Option(
            parser=choice_parser(Objective),
            help="Objective of the fit. Default: likelihood for browsing models, spearman for others.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            help="Form of d_rpb, such as six or 'edges, first row'. Default: selected by held-out participants or, "
            "where they are unknown, by quasi-BIC, among those with at most 8 parameters."
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            metavar="<name=values>",
            help="Values of a parameter to try in place of the paper's: 'mu=0.1,0.2'. Repeat for several.",
        ),
    ] = None,
    refine: Annotated[
        bool, typer.Option("--refine", help="Refine the best parameters of the grid search over real numbers.")
    ] = False,
    bootstrap: Annotated[int, typer.Option(help="Number of bootstrap resamples for confidence intervals.")] = 0,
    top: Annotated[int, typer.Option(help="Number of runners-up to list.")] = 5,
    grid: GridName = None,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    chart: ChartOption = None,
    chart_kind: FitKind = "fit",
    chart_theme: ThemeOption = "light",
    out: Annotated[
        Path | None, typer.Option(help="Write the fitted discount to this JSON file, for --discount @FILE.")
    ] = None,
    format: OutputFormat = Format.table,
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

    check_chart(chart, [frequencies, test])
    if out:  # may have any suffix
        check_outputs(chart, out, kinds=(*CHARTS, out.suffix.lower()), inputs=[frequencies, test])
    data = FitData.read(
        frequencies,
        test,
        screens=screens,
        grid=parse_grid(grid, page_size, visible_rows, ()) if grid else None,
        page_size_assumed=page_size is None and (grid or "").lower() not in PRESETS,
        in_order=discount == "d_scan",
    )
    if not grid:
        data = replace(data, grid=parse_grid(None, page_size, visible_rows, data.grid.shape))
    with progress_bar() as bar:
        report = fit_discount(
            data,
            discount,
            objective=objective,
            form=form,
            values=_parse_values(values or []),
            refine=refine,
            bootstrap=bootstrap,
            top=top,
            progress=bar,
        )
    if out:
        write_atomically(out, report.to_json() + "\n")
    save_chart(report, chart, chart_theme, chart_kind)
    emit(report, format, partial(fit_report, report))


def _parse_values(texts: list[str]) -> dict[str, list[float]]:
    """``["mu=0.1,0.2"]`` as parameters and their values."""
    values: dict[str, list[float]] = {}
    for text in texts:
        name, equals, numbers = text.partition("=")
        try:
            if not equals or name.strip() in values:
                raise ValueError
            values[name.strip()] = [
                float(part) if set(part.lower()) & set(".e") else int(part) for part in numbers.split(",")
            ]
        except ValueError:
            raise ParseError(
                f"--values {quoted(text)} cannot be parsed; write each parameter once, such as mu=0.1,0.2,0.3."
            ) from None
    return values
