"""``carouseval evaluate``: the score of a system."""

from typing import Annotated, Any

import typer

from carouseval.cli import options, spark_engine
from carouseval.cli.output import note_assumptions, progress_bar
from carouseval.cli.output_options import Output, with_output
from carouseval.cli.settings_options import with_settings
from carouseval.evaluation.settings import Settings

EXAMPLES = """
carouseval evaluate layouts.parquet judgments.parquet --items items.parquet
carouseval evaluate 'layouts/*.csv.gz' judgments.csv --items items.csv -m N2DCG_cat -m N2DCG_cat@3x5 -m NDCG@10
carouseval evaluate layouts.parquet judgments.parquet --by device --grid tv=tv --grid phone=phone --grid web=10x15
carouseval evaluate layouts.parquet judgments.parquet -m "N2DCG_cat(d_rpb)" -m "N2DCG_cat(@fitted.json)"
carouseval evaluate layouts.parquet judgments.parquet --per-page scores.parquet --fail-if "N2DCG_cat < 0.42"
carouseval evaluate layouts.parquet judgments.parquet --by device --chart means.svg --chart-kind means
carouseval evaluate pages.ndjson clicks.ndjson --columns user_id=customer --columns relevance=clicked --format json
carouseval evaluate layouts/ judgments.parquet --engine spark --master 'local[2]' --per-page scores
"""


@with_output("Evaluation", saves=True)
@with_settings(settings=Settings)
def evaluate(
    layouts: options.LayoutsArgument,
    judgments: options.JudgmentsArgument,
    items: options.ItemsOption = None,
    *,
    settings: dict[str, Any],
    engine: spark_engine.EngineOption = "local",
    master: spark_engine.MasterOption = None,
    per_page: spark_engine.PagesOption = None,
    per_user: spark_engine.UsersOption = None,
    output: Output,
    fail_if: Annotated[
        list[str],
        typer.Option(
            metavar="<condition>",
            help="End with status 3 if this holds for an overall mean or a count: 'N2DCG_cat < 0.42', 'missing > 0'. "
            "Repeat for several.",
        ),
    ] = options.NOTHING,
) -> None:
    """Score a system's pages against judgments.

    The score is the mean over users of the mean over their pages. Each page is compared with the best page that its
    user's judgments allow.
    """
    from carouseval.cli.conditions import exit_on_failure, parse_conditions
    from carouseval.evaluation.evaluate import evaluate as run
    from carouseval.show.terminal.evaluation import evaluation as draw

    conditions = parse_conditions(fail_if, settings["metrics"])
    spark_engine.check_engine(engine, master)
    pages_folder, users_folder = (
        path if spark_engine.is_folder(engine, path) else None for path in (per_page, per_user)
    )
    per_page, per_user = (None if pages_folder else per_page, None if users_folder else per_user)
    output.check(layouts, judgments, items, per_page=per_page, per_user=per_user)
    if engine == "spark":
        needs_users = output.chart is not None and output.chart_kind == "distribution"
        result = spark_engine.evaluate_on_spark(
            {"layouts": layouts, "judgments": judgments, "items": items},
            settings,
            master,
            per_page=pages_folder,
            per_user=users_folder,
            collect=per_page is not None or per_user is not None or needs_users,
        )
    else:
        with progress_bar() as bar:
            result = run(layouts, judgments, items, progress=bar, **settings)
    note_assumptions(result.config)
    output.write(result, lambda width: draw(result, width))
    exit_on_failure(condition.failure(result) for condition in conditions)
