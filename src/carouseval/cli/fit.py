"""``carouseval fit``: a discount from examination counts, frequencies or paths of looks."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from carouseval.attention.choices import Objective
from carouseval.cli.options import GridName, OutputFormat, PageSize, VisibleRows
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.errors import ParseError

CHARTS = (".svg", ".png", ".pdf", ".html")

EXAMPLES = """
carouseval fit bratislava --test amsterdam
carouseval fit bratislava --test amsterdam --model d_rpb --chart fit.png
carouseval fit counts.csv --screens 1200 --model d_rpb --form six --out fitted.json
carouseval fit screens.csv --grid 8x18 --page-size 6 --model d_scan
carouseval fit screens.csv --grid 8x12 --bootstrap 1000
carouseval fit counts.csv --screens 1200 --model d_mul --objective likelihood --refine
carouseval score page.csv --discount @fitted.json
"""


def fit(
    frequencies: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="bratislava, amsterdam, all, or a file (CSV, Parquet, JSON): a line of counts or frequencies for each "
            "row of the grid; or row, col, count; or single screens, a line for each look: screen, row, col (and "
            "participant, time).",
        ),
    ],
    model: Annotated[str, typer.Option(help="The discount to fit, by its symbol: d_rpd, d_rpb, d_scan, ...")] = "d_rpd",
    test: Annotated[str | None, typer.Option(help="Other data to score the fitted discount on.")] = None,
    screens: Annotated[
        int | None,
        typer.Option(help="The number of screens behind the data, those on which nothing was looked at included."),
    ] = None,
    objective: Annotated[
        Objective | None,
        typer.Option(help="What the fit maximises. Default: spearman, for browsing models likelihood."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            help="A form of d_rpb, such as six or 'edges, first row'. Default: the lowest BIC of at most 8 parameters."
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(help="A parameter's values in place of the paper's grid: 'mu=0.1,0.2'. Repeat for more."),
    ] = None,
    refine: Annotated[bool, typer.Option("--refine", help="Go on from the best over real numbers.")] = False,
    bootstrap: Annotated[int, typer.Option(help="Fit again to so many resampled studies, for intervals.")] = 0,
    top: Annotated[int, typer.Option(help="How many runners-up to show.")] = 5,
    grid: GridName = None,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    chart: Annotated[
        Path | None, typer.Option(help="Draw data against model by cell and by row: .svg, .png, .pdf or .html.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the fitted discount here, for --discount @FILE.")] = None,
    format: OutputFormat = Format.table,
) -> None:
    """Fit a discount to where people looked.

    Browsing models (d_rpb, d_rcb, d_scan) give probabilities and are fitted by likelihood, with intervals: d_rpb in the
    form that the data support, d_scan to paths where single screens are given. Others order cells: every combination of
    their parameters is tried and the best kept, ties by Pearson's r, then by order, as the paper does.
    """
    from carouseval.atomic_files import check_outputs, write_atomically
    from carouseval.attention.discount_fit import fit_discount
    from carouseval.attention.fit_data import FitData
    from carouseval.cli.screen import screen
    from carouseval.metrics.grid import PRESETS
    from carouseval.show.fit_terminal import fit_report

    check_outputs(chart, kinds=CHARTS, inputs=[frequencies, test])
    if out:  # under any name
        check_outputs(chart, out, kinds=(*CHARTS, out.suffix.lower()), inputs=[frequencies, test])
    data = FitData.read(
        frequencies,
        test,
        screens=screens,
        grid=screen(grid, page_size, visible_rows, ()) if grid else None,
        page_size=page_size,
        visible_rows=visible_rows,
        page_size_assumed=page_size is None and (grid or "").lower() not in PRESETS,
        in_order=model == "d_scan",
    )
    with progress_bar() as bar:
        report = fit_discount(
            data,
            model,
            objective=objective,
            form=form,
            values=_values(values or []),
            refine=refine,
            bootstrap=bootstrap,
            top=top,
            progress=bar,
        )
    if out:
        write_atomically(out, report.to_json() + "\n")
    if chart:
        from carouseval.show.drawing import save_as
        from carouseval.show.fit_chart import fit_chart

        save_as(fit_chart(report), chart)
    emit(report, format, partial(fit_report, report))


def _values(texts: list[str]) -> dict[str, list[float]]:
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
                f"--values {text!r} does not read; write each parameter once, for example mu=0.1,0.2,0.3."
            ) from None
    return values
