"""The commands of ``carouseval`` and the options they share."""

import typer

from carouseval import __version__
from carouseval.cli import examination, fit, recgaze, reproduce, score, simulate

app = typer.Typer(
    help="Decide offline which page of carousels is better: N2DCG_cat and its relatives, exact and fast.",
    epilog="Start with: carouseval score page.csv",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=score.EXAMPLES)(score.score)
app.command(epilog=reproduce.EXAMPLES)(reproduce.reproduce)
app.command(epilog=fit.EXAMPLES)(fit.fit)
app.command(epilog=simulate.EXAMPLES)(simulate.simulate)
app.command(epilog=recgaze.EXAMPLES)(recgaze.recgaze)
app.command(epilog=examination.EXAMPLES)(examination.examination)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"carouseval {__version__}")
        raise typer.Exit


@app.callback()
def carouseval(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Show the version."),
) -> None:
    """Options of the program itself."""
