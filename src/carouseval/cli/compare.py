"""``carouseval compare``: which system is better, and is the difference significant?"""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.cli import chart_options, options
from carouseval.cli.output import Format, emit, note_assumptions, progress_bar
from carouseval.cli.settings_options import with_settings
from carouseval.comparison.choices import Correction, NamedTest, RunEffects
from carouseval.errors import ParseError, each_warning_once

EXAMPLES = """
carouseval compare prod=layouts-prod.parquet new=layouts-new.parquet judgments.parquet --items items.parquet
carouseval compare prod=prod.parquet new=new-1.parquet new=new-2.parquet judgments.parquet --baseline prod
carouseval compare prod=prod.parquet new=new.parquet judgments.parquet --plan 0.005
carouseval compare prod=prod.parquet new=new.parquet judgments.parquet --by device --chart differences.svg
carouseval compare prod=prod.csv new=new.csv judgments.csv --by device --test wilcoxon --correction bh --format latex
carouseval compare prod=prod.parquet new=new.parquet judgments.parquet --fail-if "new < prod" --margin 0.005
carouseval compare prod=prod.parquet new=new.parquet judgments.parquet --items items.parquet --sensitivity
"""
_USAGE = "Write the systems first, then the judgments: prod=a.parquet new=b.parquet judgments.parquet."


@with_settings
def compare(
    systems: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=LAYOUTS",
            help="Layouts of each system. Repeat a name for several runs of a system, such as different seeds.",
        ),
    ],
    judgments: options.JudgmentsArgument,
    items: options.ItemsOption = None,
    baseline: Annotated[
        str | None, typer.Option(help="System that all others are compared with. Default: all pairs are compared.")
    ] = None,
    test: Annotated[
        NamedTest | None,
        typer.Option(
            parser=options.choice_parser(NamedTest),
            help="Significance test of paired differences. Default: permutation; with several runs of a system, a t "
            "test in which users and runs both vary.",
        ),
    ] = None,
    runs: Annotated[
        RunEffects,
        typer.Option(
            parser=options.choice_parser(RunEffects),
            help="Several runs of a system: a random sample of its runs, paired between systems by their order (same "
            "seeds), or fixed (compare exactly these runs).",
        ),
    ] = "random",
    correction: Annotated[
        Correction,
        typer.Option(
            parser=options.choice_parser(Correction),
            help="Correction of p-values for multiple comparisons, per metric: Holm, Benjamini-Hochberg, or none.",
        ),
    ] = "holm",
    across_metrics: Annotated[
        bool, typer.Option("--across-metrics", help="Correct p-values over all metrics together.")
    ] = False,
    simultaneous: Annotated[
        bool,
        typer.Option("--simultaneous", help="Widen intervals: those of all pairs of a metric hold together."),
    ] = False,
    ci: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    permutations: Annotated[int, typer.Option(help="Number of sign flips, or of bootstrap resamples.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same p-values.")] = 0,
    margin: Annotated[
        float | None,
        typer.Option(help="Non-inferiority margin: the interval of the difference must lie above minus the margin."),
    ] = None,
    plan: Annotated[
        float | None,
        typer.Option(help="Also report how many users it takes to find a difference of this size with 80% power."),
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Also report whether the order holds under other discounts, ideals, gains and cutoffs.",
        ),
    ] = False,
    fail_if: Annotated[
        list[str],
        typer.Option(
            metavar="<condition>",
            help="End with status 3 if a system is significantly worse by the first metric: 'new < prod'. With "
            "--margin: unless it is shown to be non-inferior. Repeat for several.",
        ),
    ] = options.NOTHING,
    *,
    settings: dict[str, Any],
    per_user: options.PerUser = None,
    out: Annotated[Path | None, typer.Option(help=options.OUT)] = None,
    chart: chart_options.ChartOption = None,
    chart_kind: chart_options.ComparisonKind = "differences",
    format: options.OutputFormat = Format.table,
) -> None:
    """Compare systems on the same users, with significance tests.

    Differences are paired by user. P-values are corrected for multiple comparisons, confidence intervals are only with
    --simultaneous.
    """
    from carouseval.atomic_files import RESULTS, TABLES, check_outputs, write_frame
    from carouseval.cli.conditions import exit_on_failure, parse_system_conditions
    from carouseval.comparison.compare import compare as run
    from carouseval.comparison.sensitivity import sensitivity as run_sensitivity
    from carouseval.show.terminal.comparison import comparison as draw

    layouts, judgments = split_arguments([*systems, judgments])
    conditions = parse_system_conditions(fail_if, list(layouts), baseline)
    inputs = [judgments, items, *(path for paths in layouts.values() for path in paths)]
    check_outputs(per_user)
    check_outputs(out, kinds=RESULTS)
    check_outputs(per_user, out, kinds=(*TABLES, *RESULTS), inputs=inputs)
    chart_options.check_chart(chart, inputs)
    if chart_kind == "sensitivity" and not sensitivity:
        raise ParseError("--chart-kind sensitivity needs --sensitivity.")
    if plan is not None and not plan > 0:
        raise ParseError(f"--plan must be a difference above 0, found {plan:g}.")
    if plan is not None and format is Format.csv:
        raise ParseError("--plan needs any --format but csv.")
    if sensitivity and (isinstance(settings["grid"], dict) or format is Format.csv):
        raise ParseError("--sensitivity needs a single --grid, and any --format but csv.")
    metrics = [name for name in settings["metrics"] if name.startswith("N2DCG_cat")] or ["N2DCG_cat"]
    with progress_bar() as bar, each_warning_once():
        result = run(
            layouts,
            judgments,
            items,
            baseline=baseline,
            test=test,
            runs=runs,
            correction=correction,
            across_metrics=across_metrics,
            simultaneous=simultaneous,
            ci=ci,
            seed=seed,
            permutations=permutations,
            margin=margin,
            progress=bar,
            **settings,
        )
        variations = None
        if sensitivity:
            variations = run_sensitivity(layouts, judgments, items, progress=bar, **settings | {"metrics": metrics[:1]})
    note_assumptions(result.config)
    if per_user is not None:
        write_frame(per_user, result.per_user)
    if out is not None:
        result.save(out)
    if variations is not None and chart_kind == "sensitivity":
        chart_options.save_chart(variations, chart)
    else:
        chart_options.save_chart(result, chart, chart_kind)
    planned = None if plan is None else result.plan(plan)
    more = {} if variations is None else {"sensitivity": variations.to_dict()}
    more |= {} if planned is None else {"plan": planned.to_dict()}
    emit(result, format, lambda width: draw(result, variations, planned, width), more)
    for addition in (variations, planned):
        if addition is not None and format in (Format.markdown, Format.latex):
            typer.echo()
            emit(addition, format)
    exit_on_failure(result.worse(system, other) for system, other in conditions)


def split_arguments(arguments: list[str]) -> tuple[dict[str, list[str]], str]:
    """The layouts of each system by its name, and the judgments.

    Judgments come last, or first where every other argument has a name. Without any names, systems are called after
    their files.
    """
    pairs = [_name_and_path(text) for text in arguments]
    unnamed = [position for position, (name, _) in enumerate(pairs) if not name]
    if not unnamed:
        raise ParseError(
            f"no judgments are given: every argument is NAME=LAYOUTS, the last {arguments[-1]!r}. {_USAGE} If the path "
            "of the judgments contains '=', write ./ before it."
        )
    if len(unnamed) == len(pairs):
        pairs = [(Path(path).name.partition(".")[0], path) for _, path in pairs]
        names = [name for name, _ in pairs[:-1]]
        if len(set(names)) < len(names):
            raise ParseError(f"two systems are called {max(names, key=names.count)!r} after their files. {_USAGE}")
        at = len(pairs) - 1
    elif len(unnamed) > 1 or unnamed[0] not in (0, len(pairs) - 1):
        text = arguments[next(position for position in unnamed if position < len(pairs) - 1)]
        raise ParseError(f"{text!r} is neither NAME=LAYOUTS nor the judgments. {_USAGE}")
    else:
        at = unnamed[0]
    judgments = pairs.pop(at)[1]
    layouts: dict[str, list[str]] = {}
    for name, path in pairs:
        layouts.setdefault(name, []).append(path)
    if len(layouts) < 2:
        raise ParseError(f"compare needs at least two systems, found {', '.join(layouts)}. {_USAGE}")
    return layouts, judgments


def _name_and_path(text: str) -> tuple[str, str]:
    """``NAME=PATH`` in two; without a name, or with a folder before the first ``=``, all of it is a path."""
    match = re.fullmatch(r"([^=/\\]*)=(.*)", text, re.DOTALL)
    if match is None:
        return "", text
    name, path = match.groups()
    if not (name and path):
        raise ParseError(f"{text!r} cannot be parsed; write NAME=LAYOUTS, such as prod=layouts-prod.parquet.")
    if Path(text).exists() and not Path(path).exists():
        raise ParseError(
            f"{text!r} is a path that contains '='; write NAME={text} for layouts, ./{text} for judgments."
        )
    return name, path
