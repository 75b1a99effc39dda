"""``carouseval compare``: which system is better, and is the difference significant?"""

from typing import Annotated, Any

import typer

from carouseval.cli import options
from carouseval.cli.options import SensitivityFlag, category_metric
from carouseval.cli.output import Format, emit, note_assumptions, progress_bar
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import with_settings
from carouseval.cli.system_arguments import split_arguments
from carouseval.comparison.settings import ComparisonSettings
from carouseval.errors import ParseError, each_warning_once
from carouseval.evaluation.settings import Settings
from carouseval.show.charts.kinds import KINDS

EXAMPLES = """
carouseval compare prod=layouts-prod.parquet new=layouts-new.parquet judgments.parquet --items items.parquet
carouseval compare prod=prod.parquet new=new-1.parquet new=new-2.parquet judgments.parquet --baseline prod
carouseval compare prod=prod.parquet new=new.parquet judgments.parquet --plan 0.005
carouseval compare prod=prod.parquet new=new.parquet judgments.parquet --by device --chart differences.svg
carouseval compare prod=prod.csv new=new.csv judgments.csv --by device --test wilcoxon --correction bh --format latex
carouseval compare prod=prod.parquet new=new.parquet judgments.parquet --fail-if "new < prod" --margin 0.005
carouseval compare prod=prod.parquet new=new.parquet judgments.parquet --items items.parquet --sensitivity
"""


@with_output("Comparison", saves=True, sensitivity=KINDS["Sensitivity"]["matrix"])
@with_settings(comparison=ComparisonSettings, settings=Settings)
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
    *,
    comparison: dict[str, Any],
    plan: Annotated[
        float | None,
        typer.Option(help="Also report how many users it takes to find a difference of this size with 80% power."),
    ] = None,
    sensitivity: SensitivityFlag = False,
    fail_if: Annotated[
        list[str],
        typer.Option(
            metavar="<condition>",
            help="End with status 3 if a system is significantly worse by the first metric: 'new < prod'. With "
            "--margin: unless it is shown to be non-inferior. Repeat for several.",
        ),
    ] = options.NOTHING,
    settings: dict[str, Any],
    per_user: options.PerUser = None,
    output: Output,
) -> None:
    """Compare systems on the same users, with significance tests.

    Differences are paired by user. P-values are corrected for multiple comparisons, confidence intervals are only with
    --simultaneous.
    """
    from carouseval.cli.conditions import exit_on_failure, parse_system_conditions
    from carouseval.comparison.compare import compare as run
    from carouseval.comparison.sensitivity import sensitivity as run_sensitivity
    from carouseval.show.terminal.comparison import comparison as draw

    layouts, judgments = split_arguments([*systems, judgments])
    conditions = parse_system_conditions(fail_if, list(layouts), comparison["baseline"])
    inputs = [judgments, items, *(path for paths in layouts.values() for path in paths)]
    output.check(*inputs, per_user=per_user)
    if output.chart_kind == "sensitivity" and not sensitivity:
        raise ParseError("--chart-kind sensitivity needs --sensitivity.")
    if plan is not None and not plan > 0:
        raise ParseError(f"--plan must be a difference above 0, found {plan:g}.")
    if plan is not None and output.format is Format.csv:
        raise ParseError("--plan needs any --format but csv.")
    if sensitivity and (isinstance(settings["grid"], dict) or output.format is Format.csv):
        raise ParseError("--sensitivity needs a single --grid, and any --format but csv.")
    with progress_bar() as bar, each_warning_once():
        result = run(layouts, judgments, items, progress=bar, **comparison, **settings)
        variations = None
        if sensitivity:
            varied = settings | {"metrics": category_metric(settings["metrics"])}
            variations = run_sensitivity(layouts, judgments, items, progress=bar, **varied)
    note_assumptions(result.config)
    planned = None if plan is None else result.plan(plan)
    more = {} if variations is None else {"sensitivity": variations.to_dict()}
    more |= {} if planned is None else {"plan": planned.to_dict()}
    charted = variations if output.chart_kind == "sensitivity" else None
    output.write(result, lambda width: draw(result, variations, planned, width), more, charted=charted)
    for addition in (variations, planned):
        if addition is not None and output.format in (Format.markdown, Format.latex):
            typer.echo()
            emit(addition, output.format)
    exit_on_failure(result.worse(system, other) for system, other in conditions)
