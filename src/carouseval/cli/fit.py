"""``carouseval fit``: a discount from examination counts, frequencies or paths of looks."""

from pathlib import Path
from typing import Annotated

import typer

from carouseval.cli.options import GridName, OutputFormat, PageSize, VisibleRows
from carouseval.cli.output import Format

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
        str | None,
        typer.Option(help="spearman, pearson, mse or likelihood. Default: spearman, for browsing models likelihood."),
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
    from carouseval.attention.fit import OBJECTIVES
    from carouseval.attention.parameters import discount_class
    from carouseval.cli.fit_likelihood import check_form, fit_by_likelihood
    from carouseval.cli.fit_search import fit_by_search
    from carouseval.cli.inputs import FitInput
    from carouseval.errors import ParameterError
    from carouseval.metrics.validation import did_you_mean
    from carouseval.whole_files import check_outputs

    browses = discount_class(model)().is_probability
    chosen = ("likelihood" if browses else "spearman") if objective is None else objective
    if chosen not in OBJECTIVES:
        hint = did_you_mean(chosen, OBJECTIVES)
        raise ParameterError(f"objective must be one of {', '.join(OBJECTIVES)}, found {chosen!r}.{hint}")
    by_likelihood = browses and chosen == "likelihood" and not values
    if form is not None:
        check_form(form, model if by_likelihood else "")
    if by_likelihood and refine:
        raise ParameterError(f"{model} is fitted over real numbers already; leave out --refine.")
    check_outputs(chart, kinds=CHARTS, inputs=[frequencies, test])
    if out:  # under any name
        check_outputs(chart, out, kinds=(*CHARTS, out.suffix.lower()), inputs=[frequencies, test])
    data = FitInput.read(frequencies, test, screens, grid, page_size, visible_rows, paths=model == "d_scan")
    if by_likelihood:
        fit_by_likelihood(data, model, form, bootstrap, chart, out, format)
    else:
        fit_by_search(data, model, chosen, values, refine, bootstrap, top, chart, out, format)
