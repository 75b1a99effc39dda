"""Messages of the package in terms of the command line: ``--missing-pages zero`` for ``missing_pages='zero'``."""

import functools
import re
import shlex
from typing import Any

import typer

from carouseval.cli.settings_options import option_names

_COMPARE_OPTIONS = ("baseline", "test", "correction", "ci", "seed", "permutations", "margin")
_OPTIONS = option_names() | {name: f"--{name}" for name in _COMPARE_OPTIONS}
_OPTIONS |= {"metric": "--metrics", "Grid": "--grid", "page_size": "--page-size", "visible_rows": "--visible-rows"}
_NAME = "|".join(_OPTIONS)

_SUBJECT = re.compile(r"^(?:Grid: (?=page_size|visible_rows))?(\w+(?= must |: )|metric(?= '))")
# a pair after "first", or after another pair, is a line of a table: first user_id='u17' test='A'
_PAIR = re.compile(rf"(?<!\S)(?<!first )(?<!['\d] )({_NAME})=('[^']*'|[\d.]*\d)((?:(?:, | or )'[^']*')*)")
_COLUMNS = re.compile(r"(columns=)?\{'(\w+)': '(\w+)'(?:, \.\.\.)?\}")
_PHRASES = {
    "Give items": "Give --items",
    "declare it in carousels": "declare it in --carousels",
    "Raise the capacity in carousels or capacity=": "Raise the capacity in --carousels or --capacity",
    "leave carousels out": "leave --carousels out",
    "declare personal=false in carousels": "declare personal=false in --carousels",
    "twice in by and weight": "twice in --by and --weight",
    "as given in columns": "as given in --columns",
    "Use it once in columns": "Use it once in --columns",
    "which grid does not list": "which --grid does not list",
    "give the grid of the screen": "give the grid of the screen with --grid",
    "choose another baseline": "choose another --baseline",
    "leave out weight": "leave out --weight",
    "give the number of screens": "give the number of screens with --screens",
    "leave out objective and refine": "leave out --objective and --refine",
    "order='fixed' needs categories": "--order fixed needs --categories",
    "no user_id was given": "no --user was given",
    "no page_id was given": "no --page was given",
    "leave out refine": "leave out --refine",
}


def with_option_names(message: str, *, data: bool = False) -> str:
    """Rewrite a message so that it names settings by their options.

    A message about ``data`` begins with the name of a table or of a system, which may also be the name of a setting.

    >>> with_option_names("missing_pages must be 'zero', 'skip' or 'error', found 'none'.")
    "--missing-pages must be 'zero', 'skip' or 'error', found 'none'."
    >>> with_option_names("test: judgments: 2 pages are empty. Or use no_relevant='skip' or 'zero'.", data=True)
    'test: judgments: 2 pages are empty. Or use --no-relevant skip or zero.'
    """
    if not data:
        message = _SUBJECT.sub(lambda match: _all_options().get(match[1], match[0]), message)
    message = _PAIR.sub(_option_and_value, message)
    message = _COLUMNS.sub(lambda match: f"{'--columns ' if match[1] else ''}{match[2]}={match[3]}", message)
    for phrase, replacement in _PHRASES.items():
        message = message.replace(phrase, replacement)
    return message


@functools.cache
def _all_options() -> dict[str, str]:
    """The options of all commands by the names of their parameters, but for tables, whose names begin messages."""
    from carouseval.cli.app import app

    group: Any = typer.main.get_command(app)
    parameters = [parameter for command in group.commands.values() for parameter in command.params]
    options = [one for one in parameters if one.param_type_name == "option" and one.name != "layouts"]
    return {option.name: next(flag for flag in option.opts if flag.startswith("--")) for option in options} | _OPTIONS


def _option_and_value(match: re.Match[str]) -> str:
    name, value, alternatives = match.groups()
    return f"{_OPTIONS[name]} {shlex.quote(value.strip(chr(39)))}{alternatives.replace(chr(39), '')}"
