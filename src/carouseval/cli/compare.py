"""``carouseval compare``: which system is better, and can one be sure?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.cli import options
from carouseval.cli.output import Format, emit, progress_bar
from carouseval.cli.settings_options import with_settings
from carouseval.comparison.choices import Correction, NamedTest

EXAMPLES = """
carouseval compare judgments.parquet prod=layouts-prod.parquet new=layouts-new.parquet --items items.parquet
carouseval compare judgments.parquet prod=prod.parquet new=new-1.parquet new=new-2.parquet --baseline prod
carouseval compare judgments.csv prod=prod.csv new=new.csv --by device --test wilcoxon --correction bh --format latex
carouseval compare judgments.parquet prod=prod.parquet new=new.parquet --fail-if "new < prod" --margin 0.005
carouseval compare judgments.parquet prod=prod.parquet new=new.parquet --items items.parquet --sensitivity
"""


@with_settings
def compare(
    judgments: options.JudgmentsArgument,
    systems: Annotated[
        list[str],
        typer.Argument(help="NAME=LAYOUTS for each system; the same name again is another run of it (a seed)."),
    ],
    items: options.ItemsOption = None,
    baseline: Annotated[
        str | None, typer.Option(help="Compare all others with this system. Default: all pairs.")
    ] = None,
    test: Annotated[NamedTest, typer.Option(help="How p-values are computed.")] = "permutation",
    correction: Annotated[
        Correction, typer.Option(help="Of p-values, per metric: Holm, Benjamini-Hochberg, or none.")
    ] = "holm",
    ci: Annotated[
        float, typer.Option(help="The level of intervals; a difference is significant below 1 less this.")
    ] = 0.95,
    permutations: Annotated[
        int, typer.Option(help="How many times signs are flipped, or users resampled.", min=1)
    ] = 10_000,
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
            metavar="<condition>",
            help="'new < prod': end with status 3 if new is significantly worse by the first metric, after correction; "
            "with --margin, unless it is shown to be not inferior. Repeat for more.",
        ),
    ] = options.NOTHING,
    *,
    settings: dict[str, Any],
    per_user: Annotated[
        Path | None, typer.Option(help="Write every user's scores to this .parquet, .csv or .ndjson file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the pairs to this .json, .md, .tex, .csv or .parquet file too.")
    ] = None,
    format: options.OutputFormat = Format.table,
) -> None:
    """Compare systems on the same users, by the same ideals, with tests and corrections.

    Differences are paired by user. Intervals are unadjusted; p-values are shown before and after correction.
    """
    from carouseval.atomic_files import RESULTS, TABLES, check_outputs, write_frame
    from carouseval.cli.conditions import exit_if_failed, parse_worse
    from carouseval.cli.swipe_pages import note_swipe_pages
    from carouseval.comparison.compare import compare as run
    from carouseval.comparison.sensitivity import sensitivity as vary
    from carouseval.errors import ParseError
    from carouseval.show.comparison import comparison as draw

    named = _named(systems)
    worse = parse_worse(fail_if, list(named), baseline)
    inputs = [judgments, items, *(path for paths in named.values() for path in paths)]
    check_outputs(per_user, out, kinds=(*TABLES, *RESULTS), inputs=inputs)
    check_outputs(per_user)
    check_outputs(out, kinds=RESULTS)
    note_swipe_pages(settings["metrics"], settings["grid"])
    if sensitivity and (isinstance(settings["grid"], dict) or format is Format.csv):
        raise ParseError("--sensitivity goes with one --grid, and with any --format but csv.")
    varying = [name for name in settings["metrics"] if name.startswith("N2DCG_cat")] or ["N2DCG_cat"]
    first = settings | {"metrics": varying[:1]}
    with progress_bar() as bar:
        result = run(
            named,
            judgments,
            items,
            baseline=baseline,
            test=test,
            correction=correction,
            ci=ci,
            seed=seed,
            permutations=permutations,
            margin=margin,
            progress=bar,
            **settings,
        )
        varied = vary(named, judgments, items, progress=bar, **first) if sensitivity else None
    if per_user is not None:
        write_frame(per_user, result.per_user)
    if out is not None:
        result.save(out)
    more = {} if varied is None else {"sensitivity": varied.to_dict()}
    emit(result, format, lambda _: draw(result, varied), more)
    if varied is not None and format in (Format.markdown, Format.latex):
        typer.echo()
        emit(varied, format)
    exit_if_failed(result.worse(one, other) for one, other in worse)


def _named(systems: list[str]) -> dict[str, list[str]]:
    """``NAME=PATH`` arguments; a name given again is another run."""
    from carouseval.errors import ParseError

    named: dict[str, list[str]] = {}
    for text in systems:
        name, mark, path = text.partition("=")
        if not (name and mark and path):
            raise ParseError(f"{text!r} does not read; write NAME=LAYOUTS, such as prod=layouts-prod.parquet.")
        named.setdefault(name, []).append(path)
    if len(named) < 2:
        raise ParseError(
            f"there is nothing to compare {text} with; name another system, such as new=layouts-new.parquet."
        )
    return named
