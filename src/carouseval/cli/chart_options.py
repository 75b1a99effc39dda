"""The options ``--chart``, ``--chart-kind`` and ``--chart-theme``, and what commands do with them."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from carouseval.cli.options import choice_parser
from carouseval.show.charts.kinds import KINDS, Kind, Theme

if TYPE_CHECKING:
    from carouseval.results import Charted

ChartOption: TypeAlias = Annotated[
    Path | None, typer.Option("--chart", help="Also draw the result to this .svg, .png, .pdf or .html file.")
]

ThemeOption: TypeAlias = Annotated[
    Theme, typer.Option("--chart-theme", parser=choice_parser(Theme), help="Colours of --chart: light or dark.")
]


def kind_option(kinds: Mapping[str, Kind]) -> Any:
    """The option ``--chart-kind`` of a result with these kinds of chart."""
    listed = "; ".join(f"{kind.shows} ({name})" for name, kind in kinds.items())
    return typer.Option("--chart-kind", parser=choice_parser(kinds), help=f"What --chart draws: {listed}.")


EvaluationKind: TypeAlias = Annotated[str, kind_option(KINDS["Evaluation"])]
SENSITIVITY = {"sensitivity": KINDS["Sensitivity"]["matrix"]}
ComparisonKind: TypeAlias = Annotated[str, kind_option(KINDS["Comparison"] | SENSITIVITY)]
ExplanationKind: TypeAlias = Annotated[str, kind_option(KINDS["Explanation"])]
PageScoreKind: TypeAlias = Annotated[str, kind_option(KINDS["PageScore"])]
FitKind: TypeAlias = Annotated[str, kind_option(KINDS["FitReport"])]


def check_chart(path: Path | None, inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse, before any work is done, a chart that could not be written."""
    from carouseval.extras import require_extra
    from carouseval.tables.writing import CHARTS, check_outputs

    if path is not None:
        check_outputs(path, kinds=CHARTS, inputs=inputs)
        require_extra("show", "--chart")


def save_chart(result: "Charted", path: Path | None, theme: Theme, kind: str | None = None, **options: Any) -> None:
    """Draw a result, if a file is given."""
    if path is not None:
        result.chart(kind, theme=theme, **options).save(path)
