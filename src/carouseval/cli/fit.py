"""``carouseval fit``: a discount from examination counts or frequencies."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.cli.options import GridName, OutputFormat, PageSize, VisibleRows
from carouseval.cli.output import Format, progress_bar, step, write_json, write_rows

EXAMPLES = """
carouseval fit bratislava --test amsterdam
carouseval fit screens.csv --grid 8x12 --bootstrap 1000
carouseval fit counts.csv --screens 1200 --model d_mul --objective likelihood --refine
carouseval fit frequencies.parquet --page-size 4 --out fitted.json
carouseval score page.csv --discount @fitted.json
"""


def fit(
    frequencies: Annotated[
        str, typer.Argument(help="bratislava, amsterdam, all, or a file of counts or frequencies (CSV, Parquet, JSON).")
    ],
    model: Annotated[str, typer.Option(help="The discount to fit, by its symbol.")] = "d_rpd",
    test: Annotated[str | None, typer.Option(help="Other frequencies to score the fitted discount on.")] = None,
    screens: Annotated[int | None, typer.Option(help="The number of screens behind counts in a file.")] = None,
    objective: Annotated[str, typer.Option(help="spearman, pearson, mse or likelihood.")] = "spearman",
    values: Annotated[
        list[str] | None,
        typer.Option(help="A parameter's values in place of the paper's grid: 'mu=0.1,0.2'. Repeat for more."),
    ] = None,
    refine: Annotated[bool, typer.Option("--refine", help="Go on from the best over real numbers.")] = False,
    bootstrap: Annotated[
        int, typer.Option(help="Repeat the search by rho on so many resampled studies, for intervals.")
    ] = 0,
    top: Annotated[int, typer.Option(help="How many runners-up to show.")] = 5,
    grid: GridName = None,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    out: Annotated[Path | None, typer.Option(help="Write the fitted discount here, for --discount @FILE.")] = None,
    format: OutputFormat = Format.table,
) -> None:
    """Fit a discount to where people looked.

    Tries every combination of parameters and keeps the best, ties by Pearson's r, then by order, as the paper does.
    """
    from carouseval.attention import fit as fitting
    from carouseval.attention.bootstrap import bootstrap as intervals
    from carouseval.attention.examination import Examination
    from carouseval.attention.examination import write_json as write_file
    from carouseval.cli.inputs import frequencies as read
    from carouseval.cli.screen import screen
    from carouseval.errors import ParameterError

    if bootstrap and (objective != "spearman" or refine):
        raise ParameterError("--bootstrap repeats the search by spearman; leave out --objective and --refine.")
    named = screen(grid, page_size, visible_rows, ()) if grid else None
    train = read(frequencies, screens, named)
    held_out = read(test, None, named) if test else None
    shape = train.counts.shape if isinstance(train, Examination) else train.shape
    chosen = named or screen(None, page_size, visible_rows, shape)
    with progress_bar() as bar:
        found = fitting.grid_search(
            model, train, chosen, _axes(values), objective, top, progress=step(bar, f"fit {model}")
        )
        trust = bootstrap and intervals(model, train, chosen, _axes(values), bootstrap, progress=step(bar, "bootstrap"))
    if refine:
        found = fitting.refine(found, train, chosen)
    result: dict[str, Any] = {
        "discount": found.discount.symbol,
        "parameters": found.discount.parameters,
        "objective": found.objective,
        "fitted_to": frequencies,
        "tried": found.tried,
        "skipped": found.skipped,
        "train": vars(found.train),
        **({"test": vars(fitting.scores(found.discount, held_out, chosen))} if held_out is not None else {}),
    }
    if trust:
        result["bootstrap"] = asdict(trust)
    if out:
        write_file(out, result)
    if format is Format.json:
        write_json(
            {**result, "top": [{"discount": str(one.discount), "objective": one.objective} for one in found.top]}
        )
        return
    scores = [["train", *vars(found.train).values()]]
    if "test" in result:
        scores.append(["test", *result["test"].values()])
    if format is not Format.table:
        write_rows(
            format, ["discount", "scored on", "rho", "r", "MSE"], [[str(found.discount), *row] for row in scores]
        )
        return
    write_rows(format, ["scored on", "rho", "r", "MSE"], scores, f"{found.discount}\n")
    runners = [[str(one.discount), one.objective, one.spearman, one.pearson] for one in found.top]
    if trust:
        rows = [[name, interval.low, interval.high] for name, interval in trust.parameters.items()]
        heading = f"\n{trust.level:.0%} bootstrap intervals, {trust.samples:,} samples: {trust.what}"
        write_rows(format, ["", "low", "high"], rows, heading)
    title = f"\nBest of {found.tried:,} by {objective}" + (f", {found.skipped:,} unusable" if found.skipped else "")
    write_rows(format, ["discount", objective, "rho", "r"], runners, title)


def _axes(values: list[str] | None) -> dict[str, list[float]] | None:
    from carouseval.errors import ParseError

    axes = {}
    for text in values or []:
        name, equals, numbers = text.partition("=")
        try:
            if not equals or name.strip() in axes:
                raise ValueError
            axes[name.strip()] = [
                float(part) if set(part.lower()) & set(".e") else int(part) for part in numbers.split(",")
            ]
        except ValueError:
            raise ParseError(
                f"--values {text!r} does not read; write each parameter once, for example mu=0.1,0.2,0.3."
            ) from None
    return axes or None
