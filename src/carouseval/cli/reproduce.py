"""``carouseval reproduce``: the published numbers beside the ones computed here."""

from pathlib import Path
from typing import Annotated

import typer

from carouseval.cli.options import OutputFormat
from carouseval.cli.output import Format, emit, progress_bar

EXAMPLES = """
carouseval reproduce
carouseval reproduce --out paper/
carouseval reproduce --format json
"""


def reproduce(
    out: Annotated[
        Path | None,
        typer.Option(help="Write results.json, the tables (CSV, Markdown, LaTeX) and the figures to this folder."),
    ] = None,
    format: OutputFormat = Format.table,
) -> None:
    """Reproduce the paper from the embedded eye-tracking counts.

    Table 1, the six fitted discounts and their scores (Figure 2), and Table 2 in both modes, in seconds and without a
    download. Ends with status 1 if a number differs from the published one. Beyond the paper: d_rpb, fitted by
    likelihood, beside d_rpd and the noise ceiling, and every form tried.
    """
    from carouseval.extras import require_extra
    from carouseval.paper.reproduce import reproduce as run
    from carouseval.paper.terminal import reproduction

    if out is not None:
        require_extra("show", "--out, which draws the figures,")
    with progress_bar() as bar:
        result = run(bar)
    if out is not None:
        from carouseval.paper.reproduction_files import write_paper

        typer.echo(f"wrote {write_paper(result, out)} files to {out}", err=True)
    emit(result, format, lambda _: reproduction(result))
    different = sum(not check.agrees for check in result.checks)
    count = len(result.checks)
    typer.echo(f"{count - different} of {count} published numbers reproduced", err=True)
    if different:
        raise typer.Exit(1)
