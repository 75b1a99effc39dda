"""The commands of ``carouseval``."""

from importlib import import_module
from textwrap import indent

import typer

from carouseval import __version__

# in the order of the help; each is a function in a file of its name, beside its EXAMPLES
COMMANDS = (
    "score",
    "evaluate",
    "compare",
    "explain",
    "check",
    "judgments",
    "pages",
    "adds",
    "report",
    "studio",
    "sample",
    "reproduce",
    "fit",
    "simulate",
    "examination",
    "recgaze",
)

app: typer.Typer = typer.Typer(
    help="Evaluate pages of carousels offline: N2DCG_cat and related metrics, exact and fast.",
    epilog="Start with: carouseval sample demo",
    no_args_is_help=True,
    rich_markup_mode=None,  # Rich's frames around the help would more than double the time it takes
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 120,
        # False rather than None, for which Typer would load Pydantic before printing any help. Commands load it all
        # the same: Typer 0.29 has no public way to read a value, or the lack of one, without it
        "default_map": {"help": False, "install_completion": False, "show_completion": False},
    },
)
for _name in COMMANDS:
    _module = import_module(f"carouseval.cli.{_name}")
    _examples = indent(_module.EXAMPLES, "  ")
    app.command(epilog=f"\b\nExamples:{_examples}")(getattr(_module, _name))  # \b keeps the line breaks


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"carouseval {__version__}")
        raise typer.Exit


@app.callback()
def carouseval(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Show the version."),
) -> None:
    """Define the options of the program itself."""
