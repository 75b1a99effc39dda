"""Where a command's result goes: the options ``--out``, ``--chart`` and ``--format``, and what is done with them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

import typer

from carouseval.cli.options import choice_parser, with_parameters
from carouseval.cli.output import Format, emit
from carouseval.results import Charted, Result
from carouseval.show.charts.kinds import KINDS, Kind, Theme, kinds_of

OUT = "Also write the result to this .json, .md, .tex, .csv or .parquet file."
FORMAT = typer.Option(
    Format.table, "--format", "-f", parser=choice_parser(Format), help="Format of the printed result."
)


@dataclass
class Output:
    """Where the result of a command goes."""

    chart: Path | None
    chart_kind: str | None
    chart_theme: Theme
    format: Format
    _: KW_ONLY
    out: Path | None = None
    tables: Mapping[str, Path | None] = field(default_factory=dict)  # by the attributes of the result that hold them

    def check(self, *inputs: str | Path | None, **tables: Path | str | None) -> None:
        """Refuse, before any work is done, what could not be written, also to these files for tables of the result."""
        from carouseval.extras import require_extra
        from carouseval.tables.writing import CHARTS, RESULTS, TABLES, check_outputs

        self.tables = {name: None if path is None else Path(path) for name, path in tables.items()}
        check_outputs(*self.tables.values())
        check_outputs(self.out, kinds=RESULTS)
        check_outputs(*self.tables.values(), self.out, kinds=(*TABLES, *RESULTS), inputs=inputs)
        if self.chart is not None:
            check_outputs(self.chart, kinds=CHARTS, inputs=inputs)
            require_extra("show", "--chart")

    def write(
        self,
        result: Result,
        terminal: Callable[[int | None], Any] | None = None,
        more: Mapping[str, Any] | None = None,
        *,
        charted: Charted | None = None,
        **chart_options: Any,
    ) -> None:
        """Write and draw a result, or draw what is ``charted`` in its place, and print it; see :func:`emit`."""
        from carouseval.tables.writing import write_frame

        for name, path in self.tables.items():
            if path is not None:
                write_frame(path, getattr(result, name))
        if self.out is not None:
            result.save(self.out)
        if self.chart is not None:
            drawn = result if charted is None else charted
            kind = self.chart_kind if self.chart_kind in kinds_of(type(drawn)) else None
            drawn.chart(kind, theme=self.chart_theme, **chart_options).save(self.chart)
        emit(result, self.format, terminal, more)


def with_output(*results: str, saves: bool = False, **kinds: Kind) -> Callable[..., Callable[..., None]]:
    """Give a command the options of its output in place of the parameter ``output``.

    ``results`` are the classes of what it may print, ``kinds`` further charts; with ``saves``, it has ``--out``.
    """
    charts = {name: kind for result in results for name, kind in KINDS[result].items()} | kinds
    listed = "; ".join(f"{kind.shows} ({name})" for name, kind in charts.items())
    words: Any = Literal[tuple(charts)]
    options = {
        "chart": (Path, typer.Option(None, help="Also draw the result to this .svg, .png, .pdf or .html file.")),
        "chart_kind": (
            words,
            typer.Option(
                next(iter(charts)) if len(results) == 1 else None,
                parser=choice_parser(words),
                help=f"What --chart draws: {listed}.",
            ),
        ),
        "chart_theme": (
            Theme,
            typer.Option("light", parser=choice_parser(Theme), help="Colours of --chart: light or dark."),
        ),
        "format": (Format, FORMAT),
    }
    if saves:
        options = {"out": (Path, typer.Option(None, help=OUT))} | options
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)
        for name, (kind, option) in options.items()
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        return with_parameters(command, "output", parameters, lambda values: Output(**values))

    return decorate
