"""The options ``--chart``, ``--chart-kind`` and ``--chart-theme``, and what commands do with them."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from carouseval.cli.options import choice_parser
from carouseval.show.charts.choices import (
    ComparisonChart,
    EvaluationChart,
    ExplanationChart,
    FitChart,
    PageScoreChart,
    Theme,
)

if TYPE_CHECKING:
    from carouseval.result_base import Charted

ChartOption: TypeAlias = Annotated[
    Path | None, typer.Option("--chart", help="Also draw the result to this .svg, .png, .pdf or .html file.")
]

ThemeOption: TypeAlias = Annotated[
    Theme, typer.Option("--chart-theme", parser=choice_parser(Theme), help="Colours of --chart: light or dark.")
]


def _kind_option(kinds: Any, help: str) -> Any:
    return typer.Option("--chart-kind", parser=choice_parser(kinds), help=f"What --chart draws: {help}")


EvaluationKind: TypeAlias = Annotated[
    EvaluationChart,
    _kind_option(EvaluationChart, "the scores of users (distribution), or means by metric and segment."),
]
CompareChart: TypeAlias = Literal[ComparisonChart, "sensitivity"]
ComparisonKind: TypeAlias = Annotated[
    CompareChart,
    _kind_option(
        CompareChart,
        "differences between systems, the means of systems, how the scores of users differ (users), or what "
        "--sensitivity finds.",
    ),
]
ExplanationKind: TypeAlias = Annotated[
    ExplanationChart,
    _kind_option(
        ExplanationChart,
        "from the ideal page to the score (waterfall), losses or gains by cell, or one page beside its ideal.",
    ),
]
PageScoreKind: TypeAlias = Annotated[
    PageScoreChart, _kind_option(PageScoreChart, "the page beside its ideal, or the weights of its cells.")
]
FitKind: TypeAlias = Annotated[
    FitChart, _kind_option(FitChart, "the data beside the model (fit), or the weights of the fitted discount.")
]


def check_chart(path: Path | None, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse, before any work is done, a chart that could not be written."""
    from carouseval.atomic_files import CHARTS, check_outputs
    from carouseval.extras import require_extra

    if path is not None:
        check_outputs(path, kinds=CHARTS, inputs=inputs)
        require_extra("show", "--chart")


def save_chart(result: "Charted", path: Path | None, theme: Theme, kind: str | None = None, **options: Any) -> None:
    """Draw a result, if a file is given."""
    if path is not None:
        result.chart(kind, theme=theme, **options).save(path)
