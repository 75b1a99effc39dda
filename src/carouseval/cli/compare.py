"""``carouseval compare``: which system is better, and can one be sure?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.cli import table_options as on
from carouseval.cli.options import OutputFormat, PageSize, VisibleRows
from carouseval.cli.output import Format, progress_bar, write_json, write_rows

DEFAULT_METRICS = ["N2DCG_cat"]

EXAMPLES = """
carouseval compare judgments.parquet prod=layouts-prod.parquet new=layouts-new.parquet --items items.parquet
carouseval compare judgments.parquet prod=prod.parquet new=new-1.parquet new=new-2.parquet --baseline prod
carouseval compare judgments.csv prod=prod.csv new=new.csv --by device --test wilcoxon --correction bh --format latex
carouseval compare judgments.parquet prod=prod.parquet new=new.parquet --fail-if "new < prod" --margin 0.005
carouseval compare judgments.parquet prod=prod.parquet new=new.parquet --items items.parquet --sensitivity
"""


def compare(
    judgments: on.Judgments,
    systems: Annotated[
        list[str],
        typer.Argument(help="NAME=LAYOUTS for each system; the same name again is another run of it (a seed)."),
    ],
    items: on.Items = None,
    metric: Annotated[
        list[str],
        typer.Option("--metric", "-m", help="A metric's name, such as 'N2DCG_cat(d_a)@3x5'. Repeat for more."),
    ] = DEFAULT_METRICS,
    baseline: Annotated[
        str | None, typer.Option(help="Compare all others with this system. Default: all pairs.")
    ] = None,
    test: Annotated[str, typer.Option(help="permutation, t, wilcoxon or bootstrap.")] = "permutation",
    correction: Annotated[str, typer.Option(help="holm, bh (Benjamini-Hochberg) or none; per metric.")] = "holm",
    ci: Annotated[float, typer.Option(help="The level of intervals; 1 less this is that of tests.")] = 0.95,
    permutations: Annotated[int, typer.Option(help="How many random flips of signs.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same p-values.")] = 0,
    margin: Annotated[
        float | None, typer.Option(help="Not inferior: the interval of the difference lies above minus this.")
    ] = None,
    sensitivity: Annotated[
        bool, typer.Option("--sensitivity", help="Also say whether the order survives other discounts, ideals, gains.")
    ] = False,
    fail_if: Annotated[
        list[str],
        typer.Option(
            help="'new < prod': end with status 3 if new is significantly worse by the first metric, after correction; "
            "with --margin, unless it is shown to be not inferior. Repeat for more."
        ),
    ] = on.NOTHING,
    grid: on.Screens = on.DEFAULT_GRID,
    page_size: PageSize = None,
    visible_rows: VisibleRows = None,
    gain: on.Gain = "exp2",
    candidates: on.Candidates = "judged",
    duplicates: on.Duplicates = "best",
    missing_pages: on.MissingPages = "zero",
    no_relevant: on.NoRelevant = "skip",
    unjudged: on.Unjudged = "zero",
    invalid: on.Invalid = "error",
    by: on.By = on.NOTHING,
    column: on.Columns = on.NOTHING,
    memory: on.Memory = 4.0,
    per_user: Annotated[
        Path | None, typer.Option(help="Write every user's scores to this .parquet, .csv or .ndjson file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the pairs to this .json, .md, .tex, .csv or .parquet file too.")
    ] = None,
    format: OutputFormat = Format.table,
) -> None:
    """Compare systems on the same users, by the same ideals, with tests and corrections.

    Differences are paired by user. Intervals are unadjusted; p-values are shown before and after correction.
    """
    from carouseval.cli.conditions import parse_worse
    from carouseval.cli.inputs import note_swipe_pages
    from carouseval.comparison.compare import compare as run
    from carouseval.comparison.sensitivity import sensitivity as vary
    from carouseval.errors import ParseError
    from carouseval.whole_files import RESULTS, TABLES, check_outputs, write_frame

    named = _named(systems)
    worse = parse_worse(fail_if, list(named), baseline)
    inputs = [judgments, items, *(path for paths in named.values() for path in paths)]
    check_outputs(per_user, out, kinds=(*TABLES, *RESULTS), inputs=inputs)
    check_outputs(per_user)
    check_outputs(out, kinds=RESULTS)
    screens, names = on.grids(grid, page_size, visible_rows), on.columns(column)
    note_swipe_pages(metric, screens)
    if sensitivity and (isinstance(screens, dict) or format is Format.csv):
        raise ParseError("--sensitivity goes with one --grid, and with any --format but csv.")
    policies: dict[str, Any] = {
        "duplicates": duplicates,
        "missing_pages": missing_pages,
        "no_relevant": no_relevant,
        "unjudged": unjudged,
        "invalid": invalid,
        "memory": memory,
    }
    with progress_bar() as bar:
        result = run(
            named,
            judgments,
            items,
            metric,
            screens,
            gain,
            candidates,
            by=by,
            columns=names,
            baseline=baseline,
            test=test,
            correction=correction,
            ci=ci,
            seed=seed,
            permutations=permutations,
            margin=margin,
            progress=bar,
            **policies,
        )
        varied = None
        if sensitivity:
            varied = vary(named, judgments, items, screens, gain=gain, columns=names, progress=bar, **policies)
    if per_user is not None:
        write_frame(per_user, result.per_user)
    if out is not None:
        result.save(out)
    _print(result, varied, format)
    failures = [told for one, other in worse if (told := result.worse(one, other))]
    for failure in failures:
        typer.echo(f"carouseval: failed: {failure}", err=True)
    if failures:
        raise typer.Exit(3)


def _named(systems: list[str]) -> dict[str, list[str]]:
    """``NAME=PATH`` arguments; a name given again is another run."""
    from carouseval.errors import ParseError

    named: dict[str, list[str]] = {}
    for text in systems:
        name, mark, path = text.partition("=")
        if not (name and mark and path):
            raise ParseError(f"{text!r} does not read; write NAME=LAYOUTS, such as prod=layouts-prod.parquet.")
        named.setdefault(name, []).append(path)
    return named


def _print(result: Any, varied: Any, format: Format) -> None:
    if format is Format.json:
        write_json(result.to_dict() | ({} if varied is None else {"sensitivity": varied.to_dict()}))
    elif format is Format.table:
        from rich.console import Console

        from carouseval.show.comparison import comparison

        Console(highlight=False).print(comparison(result, varied), soft_wrap=True)
    elif format is Format.csv:
        frame = result.to_frame()
        write_rows(format, frame.columns, frame.iter_rows())
    else:
        for one in (result, varied) if varied is not None else (result,):
            typer.echo(one.to_markdown() if format is Format.markdown else one.to_latex(), nl=False)
