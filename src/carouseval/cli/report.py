"""``carouseval report``: a page to be read and mailed."""

import re
import shlex
import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carouseval.cli import options
from carouseval.cli.options import SensitivityFlag, category_metric
from carouseval.cli.output import note_assumptions, progress_bar
from carouseval.cli.settings_options import with_settings
from carouseval.cli.system_arguments import USAGE, split_arguments
from carouseval.cli.wording import with_options
from carouseval.comparison.settings import ComparisonSettings
from carouseval.errors import ParseError, each_warning_once
from carouseval.evaluation.settings import Settings

if TYPE_CHECKING:
    from carouseval.evaluation.explanation import Explanation
    from carouseval.progress import Progress
    from carouseval.results import Reported

EXAMPLES = """
carouseval report layouts.parquet judgments.parquet --items items.parquet --by device
carouseval report prod=layouts-prod.parquet new=layouts-new.parquet judgments.parquet --items items.parquet
carouseval report prod=prod.parquet new=new.parquet judgments.parquet --baseline prod --sensitivity --out new.html
carouseval report --reproduce --out paper.html
"""
_DEFAULT = Path("report.html")


@with_settings(comparison=ComparisonSettings, settings=Settings)
def report(
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]LAYOUTS JUDGMENTS",
            help="Layouts of one system, or NAME=LAYOUTS of each of several, which are then compared; then the "
            "judgments. Repeat a name for several runs of a system.",
        ),
    ] = options.NOTHING,
    items: options.ItemsOption = None,
    *,
    comparison: dict[str, Any],
    sensitivity: SensitivityFlag = False,
    reproduce: Annotated[
        bool, typer.Option("--reproduce", help="Report on the paper's reproduction, which takes no tables.")
    ] = False,
    settings: dict[str, Any],
    title: Annotated[str | None, typer.Option(help="Title of the report.")] = None,
    out: Annotated[Path, typer.Option(help="The .html file to write; an existing one is replaced.")] = _DEFAULT,
) -> None:
    """Write a report: one HTML file that opens offline, prints and can be mailed.

    It begins with a summary in plain words: which system wins, by how much, how sure that is, and what to fix. Charts,
    tables, the worst pages beside their ideals, every setting and count follow.
    """
    from carouseval.extras import require_extra
    from carouseval.tables.writing import REPORTS, check_outputs

    if reproduce and tables:
        raise ParseError(f"--reproduce takes no tables, found {tables[0]!r}.")
    if not reproduce and len(tables) < 2:
        raise ParseError(f"report needs layouts and judgments. {USAGE} Or use --reproduce.")
    layouts, judgments = split_arguments(tables, at_least=1) if tables else ({}, "")
    if len(layouts) == 1:
        _check_single(layouts, comparison["baseline"], sensitivity)
    if sensitivity and isinstance(settings["grid"], dict):
        raise ParseError("--sensitivity needs a single --grid.")
    paths = [path for runs_of_system in layouts.values() for path in runs_of_system]
    check_outputs(out, kinds=REPORTS, inputs=[*paths, judgments or None, items])
    require_extra("show", "a report")
    result: Reported
    parts: dict[str, Any] = {}
    with progress_bar() as bar, each_warning_once(), _recorded_warnings() as notices:
        if reproduce:
            from carouseval.paper.reproduce import reproduce as run_reproduce

            result = run_reproduce(bar)
        elif len(layouts) == 1:
            result, parts = _evaluation(paths[0], judgments, items, settings, bar)
            title = title or f"Evaluation of {next(iter(layouts))}"
        else:
            result, parts = _comparison(layouts, judgments, items, settings, comparison, sensitivity, bar)
        files = {Path(path) for path in (*paths, judgments, items, settings["carousels"], out) if path}
        command = shlex.join(["carouseval", *(without_folders(argument, files) for argument in sys.argv[1:])])
        result.report(out, title=title, notices=notices, command=command, **parts)
    typer.echo(out)


def _evaluation(
    layouts: str, judgments: str, items: str | None, settings: dict[str, Any], bar: "Progress | None"
) -> tuple["Reported", dict[str, Any]]:
    """The evaluation of one system and what explains it; by one metric alone, both are found at once."""
    from carouseval.evaluation.evaluate import evaluate
    from carouseval.evaluation.explain import explain

    if list(settings["metrics"]) == category_metric(settings["metrics"]):
        explanation = explain(layouts, judgments, items, progress=bar, **settings)
        note_assumptions(explanation.evaluation.config)
        return explanation.evaluation, {"explanation": explanation}
    result = evaluate(layouts, judgments, items, progress=bar, **settings)
    note_assumptions(result.config)
    return result, {"explanation": _explain(layouts, judgments, items, settings, bar)}


def _comparison(
    layouts: dict[str, list[str]],
    judgments: str,
    items: str | None,
    settings: dict[str, Any],
    comparison: dict[str, Any],
    sensitivity: bool,
    bar: "Progress | None",
) -> tuple["Reported", dict[str, Any]]:
    """The comparison of several systems, what explains the first run of each and, if asked for, the sensitivity."""
    from carouseval.comparison.compare import compare
    from carouseval.comparison.sensitivity import sensitivity as run_sensitivity

    metrics = category_metric(settings["metrics"])
    explained = metrics[0] in settings["metrics"]
    result = compare(layouts, judgments, items, progress=bar, explain=explained, **comparison, **settings)
    note_assumptions(result.config)
    parts: dict[str, Any] = {}
    if sensitivity:
        parts["sensitivity"] = run_sensitivity(
            layouts, judgments, items, progress=bar, **settings | {"metrics": metrics}
        )
    if not explained:
        items_of_all = _items(layouts, items, settings)
        parts["explanations"] = {
            name: _explain(runs[0], judgments, items_of_all, settings, bar) for name, runs in layouts.items()
        }
    return result, parts


def _check_single(layouts: dict[str, list[str]], baseline: str | None, sensitivity: bool) -> None:
    """Refuse, for one system, what takes several."""
    ((name, paths),) = layouts.items()
    if len(paths) > 1:
        raise ParseError(f"{name} has {len(paths)} runs and nothing to compare them with; report on one of them.")
    for option, given in (("--baseline", baseline is not None), ("--sensitivity", sensitivity)):
        if given:
            raise ParseError(f"{option} needs at least two systems, found {name}. {USAGE}")


def _explain(
    layouts: str, judgments: str, items: Any, settings: dict[str, Any], bar: "Progress | None"
) -> "Explanation":
    """What pages lose; what there is to be warned of, the evaluation has said."""
    from carouseval.errors import DataWarning
    from carouseval.evaluation.explain import explain

    metric = {"metrics": category_metric(settings["metrics"])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return explain(layouts, judgments, items, progress=bar, **settings | metric)


def _items(layouts: dict[str, list[str]], items: str | None, settings: dict[str, Any]) -> Any:
    """The items that a comparison goes by: without a table, the pairs in the layouts of all systems."""
    from carouseval.evaluation.tables_from_layouts import items_from_layouts

    if items is not None or settings["candidates"] == "displayed":
        return items
    return items_from_layouts(layouts, columns=settings["columns"], carousels=settings["carousels"])


def without_folders(argument: str, paths: Collection[Path]) -> str:
    """An argument with the name of its file alone: whoever reads the report need not know this machine's folders."""
    option, equals, path = argument.partition("=")
    for begin, end in (("", argument), (option + equals, path)):
        if end and Path(end) in paths:
            return begin + Path(end).name
    return re.sub(r"@[^@]*[/\\]", "@", argument)  # the file of a discount


@contextmanager
def _recorded_warnings() -> Iterator[list[str]]:
    """The warnings that are shown meanwhile, as they are shown."""
    messages: list[str] = []
    show = warnings.showwarning

    def record(message: Any, *arguments: Any, **options: Any) -> None:
        messages.append(with_options(str(message)))
        show(message, *arguments, **options)

    warnings.showwarning = record
    try:
        yield messages
    finally:
        warnings.showwarning = show
