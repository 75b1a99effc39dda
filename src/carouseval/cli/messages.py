"""Messages of the package in the words of the command line: ``--missing-pages zero`` for ``missing_pages='zero'``."""

import re
import shlex

from carouseval.cli.settings_options import option_names

_OF_COMPARE = ("baseline", "test", "correction", "ci", "seed", "permutations", "margin")
_OPTIONS = option_names() | {name: f"--{name}" for name in _OF_COMPARE}
_OPTIONS |= {"metric": "--metric", "Grid": "--grid", "page_size": "--page-size", "visible_rows": "--visible-rows"}
_NAME = "|".join(_OPTIONS)

_SUBJECT = re.compile(rf"^(?:Grid: )?({_NAME})(?= must |: | ')")
# a pair after "first", or after another pair, is a line of a table: first user_id='u17' test='A'
_PAIR = re.compile(rf"(?<!\S)(?<!first )(?<!['\d] )({_NAME})=('[^']*'|[\d.]*\d)((?:(?:, | or )'[^']*')*)")
_COLUMNS = re.compile(r"(columns=)?\{'(\w+)': '(\w+)'(?:, \.\.\.)?\}")
_PHRASES = {
    "Give items": "Give --items",
    "twice in by and weight": "twice in --by and --weight",
    "as columns has it": "as --column has it",
    "Name each once in columns": "Name each once with --column",
    "for which grid names": "for which --grid names",
    "choose another baseline": "choose another --baseline",
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
        message = _SUBJECT.sub(lambda found: _OPTIONS[found[1]], message)
    message = _PAIR.sub(_pair, message)
    message = _COLUMNS.sub(lambda found: f"{'--column ' if found[1] else ''}{found[2]}={found[3]}", message)
    for phrase, typed in _PHRASES.items():
        message = message.replace(phrase, typed)
    return message


def _pair(found: re.Match[str]) -> str:
    name, value, others = found.groups()
    word, more = shlex.quote(value.strip("'")), others.replace("'", "")
    return f"{_OPTIONS[name]} {word}{more}"
