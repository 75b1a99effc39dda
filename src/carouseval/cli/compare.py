"""``carouseval compare``: which system is better, and is the difference significant?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from carouseval.cli import chart_options, comparison_options, options
from carouseval.cli.output import Format, emit, note_assumptions, progress_bar
from carouseval.cli.settings_options import with_settings
from carouseval.cli.system_arguments import split_arguments
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
    baseline: comparison_options.Baseline = None,
    test: comparison_options.TestOption = None,
    runs: comparison_options.Runs = "random",
    correction: comparison_options.CorrectionOption = "holm",
    across_metrics: comparison_options.AcrossMetrics = False,
    simultaneous: comparison_options.Simultaneous = False,
    ci: comparison_options.ConfidenceLevel = 0.95,
    permutations: comparison_options.Permutations = 10_000,
    seed: comparison_options.Seed = 0,
    margin: comparison_options.Margin = None,
    plan: Annotated[
        float | None,
        typer.Option(help="Also report how many users it takes to find a difference of this size with 80% power."),
    ] = None,
    sensitivity: comparison_options.SensitivityFlag = False,
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
    chart_theme: chart_options.ThemeOption = "light",
    format: options.OutputFormat = Format.table,
) -> None:
    """Compare systems on the same users, with significance tests.

    Differences are paired by user. P-values are corrected for multiple comparisons, confidence intervals are only with
    --simultaneous.
    """
    from carouseval.cli.conditions import exit_on_failure, parse_system_conditions
    from carouseval.comparison.compare import compare as run
    from carouseval.comparison.sensitivity import sensitivity as run_sensitivity
    from carouseval.show.terminal.comparison import comparison as draw
    from carouseval.tables.writing import RESULTS, TABLES, check_outputs, write_frame

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
            varied = settings | {"metrics": comparison_options.category_metric(settings["metrics"])}
            variations = run_sensitivity(layouts, judgments, items, progress=bar, **varied)
    note_assumptions(result.config)
    if per_user is not None:
        write_frame(per_user, result.per_user)
    if out is not None:
        result.save(out)
    if variations is not None and chart_kind == "sensitivity":
        chart_options.save_chart(variations, chart, chart_theme)
    else:
        chart_options.save_chart(result, chart, chart_theme, chart_kind)
    planned = None if plan is None else result.plan(plan)
    more = {} if variations is None else {"sensitivity": variations.to_dict()}
    more |= {} if planned is None else {"plan": planned.to_dict()}
    emit(result, format, lambda width: draw(result, variations, planned, width), more)
    for addition in (variations, planned):
        if addition is not None and format in (Format.markdown, Format.latex):
            typer.echo()
            emit(addition, format)
    exit_on_failure(result.worse(system, other) for system, other in conditions)
