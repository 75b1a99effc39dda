"""The commands of ``carouseval`` and the options they share."""

from textwrap import indent

import typer

from carouseval import __version__
from carouseval.cli import (
    check,
    compare,
    evaluate,
    examination,
    explain,
    fit,
    recgaze,
    reproduce,
    sample,
    score,
    simulate,
)

app = typer.Typer(
    help="Decide offline which page of carousels is better: N2DCG_cat and its relatives, exact and fast.",
    epilog="Start with: carouseval score page.csv",
    no_args_is_help=True,
    rich_markup_mode=None,  # Rich's frames around the help would more than double the time it takes
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 120,
        # False rather than nothing, for which Typer would load Pydantic before any command's help
        "default_map": {"help": False, "install_completion": False, "show_completion": False},
    },
)
for command, examples in (
    (score.score, score.EXAMPLES),
    (evaluate.evaluate, evaluate.EXAMPLES),
    (compare.compare, compare.EXAMPLES),
    (explain.explain, explain.EXAMPLES),
    (check.check, check.EXAMPLES),
    (sample.sample, sample.EXAMPLES),
    (reproduce.reproduce, reproduce.EXAMPLES),
    (fit.fit, fit.EXAMPLES),
    (simulate.simulate, simulate.EXAMPLES),
    (recgaze.recgaze, recgaze.EXAMPLES),
    (examination.examination, examination.EXAMPLES),
):
    app.command(epilog=f"\b\nExamples:{indent(examples, '  ')}")(command)  # after \b, lines stay as they are


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"carouseval {__version__}")
        raise typer.Exit


@app.callback()
def carouseval(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Show the version."),
) -> None:
    """Options of the program itself."""
