"""Messages of the package in the words of the command line: ``--missing-pages zero`` for ``missing_pages='zero'``."""

import functools
import re
import shlex
from typing import Any

import typer

from carouseval.cli.settings_options import option_names

_OF_COMPARE = ("baseline", "test", "correction", "ci", "seed", "permutations", "margin")
_OPTIONS = option_names() | {name: f"--{name}" for name in _OF_COMPARE}
_OPTIONS |= {"metric": "--metric", "Grid": "--grid", "page_size": "--page-size", "visible_rows": "--visible-rows"}
_NAME = "|".join(_OPTIONS)

_SUBJECT = re.compile(r"^(?:Grid: (?=page_size|visible_rows))?(\w+(?= must |: )|metric(?= '))")
# a pair after "first", or after another pair, is a line of a table: first user_id='u17' test='A'
_PAIR = re.compile(rf"(?<!\S)(?<!first )(?<!['\d] )({_NAME})=('[^']*'|[\d.]*\d)((?:(?:, | or )'[^']*')*)")
_COLUMNS = re.compile(r"(columns=)?\{'(\w+)': '(\w+)'(?:, \.\.\.)?\}")
_PHRASES = {
    "Give items": "Give --items",
    "twice in by and weight": "twice in --by and --weight",
    "as given in columns": "as given in --column",
    "Use it once in columns": "Use it once in --column",
    "for which grid names": "for which --grid names",
    "choose another baseline": "choose another --baseline",
    "say of how many screens": "say with --screens of how many screens",
    "leave out objective and refine": "leave out --objective and --refine",
    "leave out refine": "leave out --refine",
}


def as_typed(message: str, *, data: bool = False) -> str:
    """A message with settings named as the options that a user of the command line types.

    One about ``data`` begins with the name of a table or of a system, which may look like a setting's.

    >>> as_typed("missing_pages must be 'zero', 'skip' or 'error', found 'none'.")
    "--missing-pages must be 'zero', 'skip' or 'error', found 'none'."
    >>> as_typed("test: judgments: 2 pages without any judged item. Or use no_relevant='skip' or 'zero'.", data=True)
    'test: judgments: 2 pages without any judged item. Or use --no-relevant skip or zero.'
    """
    if not data:
        message = _SUBJECT.sub(lambda found: _of_commands().get(found[1], found[0]), message)
    message = _PAIR.sub(_pair, message)
    message = _COLUMNS.sub(lambda found: f"{'--column ' if found[1] else ''}{found[2]}={found[3]}", message)
    for phrase, typed in _PHRASES.items():
        message = message.replace(phrase, typed)
    return message


@functools.cache
def _of_commands() -> dict[str, str]:
    """The options of all commands, by the names of their parameters."""
    from carouseval.cli.app import app

    commands: Any = typer.main.get_command(app)
    options = [param for one in commands.commands.values() for param in one.params if param.param_type_name == "option"]
    return {param.name: max(param.opts, key=len) for param in options} | _OPTIONS


def _pair(found: re.Match[str]) -> str:
    name, value, others = found.groups()
    word, more = shlex.quote(value.strip("'")), others.replace("'", "")
    return f"{_OPTIONS[name]} {word}{more}"
