"""Messages of the package in terms of the command line: ``--missing-pages zero`` for ``missing_pages='zero'``."""

import ast
import functools
import re
import shlex
from typing import Any

import typer

from carouseval.cli.settings_options import option_names

_COMPARE_OPTIONS = ("baseline", "test", "runs", "correction", "ci", "seed", "permutations", "margin")
_OPTIONS = option_names() | {name: f"--{name}" for name in _COMPARE_OPTIONS}
_OPTIONS |= {"metric": "--metrics", "Grid": "--grid", "page_size": "--page-size", "visible_rows": "--visible-rows"}
_NAME = "|".join(_OPTIONS)

_SUBJECT = re.compile(r"^(?:Grid: (?=page_size|visible_rows))?(\w+(?= must | of row |: )|metric(?= '))")
_ONE_GRID = r"cv\.Grid\((?:[^()]|\([^()]*\))*\)"
_GRIDS = re.compile(rf"grid=({_ONE_GRID}|\{{[^{{}}]*{_ONE_GRID}\}})")
# a pair after "first", or after another pair, is a line of a table: first user_id='u17' test='A'
_PAIR = re.compile(rf"(?<!\S)(?<!first )(?<!['\d] )({_NAME})=('[^']*'|[\d.]*\d)((?:(?:, | or )'[^']*')*)")
_COLUMN = r"'\w+': '[^']+'"
_COLUMNS = re.compile(rf"(columns=)?\{{({_COLUMN}(?:, {_COLUMN})*)(?:, \.\.\.)?\}}")
_PHRASES = {
    "Give items": "Give --items",
    "declare it in carousels": "declare it in --carousels",
    "Raise the capacity in carousels or capacity=": "Raise the capacity in --carousels or --capacity",
    "leave carousels out": "leave --carousels out",
    "declare personal=false in carousels": "declare personal=false in --carousels",
    "declare personal=true in carousels": "declare personal=true in --carousels",
    "with judgments_from_events": "with carouseval judgments",
    "a relevance in event_relevance": "a relevance with --event-relevance",
    "event_relevance={'thumbs_down': 0}": "--event-relevance thumbs_down=0",
    "grades=(1, 10, 45)": "--grades 1,10,45",
    "quantiles=(0, 0.5, 0.9)": "--quantiles 0,0.5,0.9",
    "Name the column in value": "Name the column with --value",
    "as event_relevance has it": "as --event-relevance has it",
    "twice in by and weight": "twice in --by and --weight",
    "as given in columns": "as given in --columns",
    "Use it once in columns": "Use it once in --columns",
    "which grid does not list": "which --grid does not list",
    "give the grid of the screen": "give the grid of the screen with --grid",
    "choose another baseline": "choose another --baseline",
    "leave out weight": "leave out --weight",
    "eave out split": "eave out --split",
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
    >>> with_option_names("Use grid=cv.Grid(rows=12, cols=20, page_size=4).", data=True)
    'Use --grid 12x20 --page-size 4.'
    """
    if not data:
        message = _SUBJECT.sub(lambda match: _all_options().get(match[1], match[0]), message)
    parts = _GRIDS.split(message)  # text and grids in turn
    return "".join(_grid_options(part) if at % 2 else _with_option_names(part) for at, part in enumerate(parts))


def _with_option_names(message: str) -> str:
    message = _PAIR.sub(_option_and_value, message)
    message = _COLUMNS.sub(_column_options, message)
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


def _grid_options(text: str) -> str:
    """The options in place of ``cv.Grid(...)``, or of a dict of grids, as messages write them."""
    from carouseval.cli.grid_options import grid_options
    from carouseval.metrics.grid import Grid

    def grid(call: Any) -> Grid:
        return Grid(**{keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords})

    content: Any = ast.parse(text, mode="eval").body
    if isinstance(content, ast.Call):
        return grid_options(grid(content))
    segments = (ast.literal_eval(key) for key in content.keys)
    return grid_options(dict(zip(segments, map(grid, content.values), strict=True)))


def _column_options(match: re.Match[str]) -> str:
    """``--columns user_id=customer`` for every column of ``columns={'user_id': 'customer'}``."""
    pairs = re.findall(r"'(\w+)': '([^']+)'", match[2])
    option = "--columns " if match[1] else ""
    return " ".join(f"{option}{shlex.quote(f'{ours}={theirs}')}" for ours, theirs in pairs)


def _option_and_value(match: re.Match[str]) -> str:
    name, value, alternatives = match.groups()
    return f"{_OPTIONS[name]} {shlex.quote(value.strip(chr(39)))}{alternatives.replace(chr(39), '')}"
