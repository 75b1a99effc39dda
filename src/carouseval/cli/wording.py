"""Messages of the package as the command line words them: ``--missing-pages zero`` for ``missing_pages='zero'``."""

import ast
import functools
import shlex
import sys
from collections.abc import Mapping
from typing import Any

import typer

from carouseval.messages import Field, Message

_COMMANDS = {"judgments_from_events": "judgments"}  # functions that are commands
_OTHER_NAMES = {"user_id": "user", "page_id": "page"}  # settings whose options have names of their own


def with_options(message: str, command: str | None = None) -> str:
    """The message with options of a command, by default the one that runs, for settings; those it lacks stay.

    >>> from carouseval.messages import setting
    >>> with_options(Message(f"Or use {setting('missing_pages', 'zero', 'skip')}."), "evaluate")
    'Or use --missing-pages zero or skip.'
    """
    if command is None:
        command = sys.argv[1] if len(sys.argv) > 1 else ""
    return Message(message).worded(functools.partial(_worded, command=command))


@functools.cache
def _options(command: str) -> dict[str, str]:
    """The options of a command by what they may be called: ``--metrics`` is ``metrics``, and ``metric``."""
    from carouseval.cli.app import app

    group: Any = typer.main.get_command(app)
    options = group.commands[command].params if command in group.commands else ()
    return {
        name: next(flag for flag in option.opts if flag.startswith("--"))
        for option in options
        if option.param_type_name == "option"
        for name in (*(flag.lstrip("-").replace("-", "_") for flag in option.opts), option.name)
    }


def _worded(field: Field, command: str) -> str:
    if field.name in _COMMANDS:
        return f"carouseval {_COMMANDS[field.name]}"
    option = _options(field.of or command).get(_OTHER_NAMES.get(field.name, field.name))
    if option is None:
        return field.text
    try:
        first, *others = map(_value, field.values or ("True",))
    except ValueError:  # something that is made in Python
        return field.text
    if field.name == "grid" and field.values:
        from carouseval.cli.grid_options import grid_options

        return grid_options(first)
    if isinstance(first, Mapping):
        return " ".join(f"{option} {shlex.quote(f'{key}={value}')}" for key, value in first.items())
    return " or ".join([option if first is True else f"{option} {_typed(first)}", *map(_typed, others)])


def _typed(value: Any) -> str:
    """A value as it is typed after its option."""
    return shlex.quote(",".join(map(str, value)) if isinstance(value, tuple) else str(value))


def _value(expression: str) -> Any:
    """What a Python expression stands for: a literal, a grid, or a dict of grids; a dict may go on (``...``)."""
    if expression.endswith(", ...}"):
        expression = expression.removesuffix(", ...}") + "}"
    return _evaluated(ast.parse(expression, mode="eval").body)


def _evaluated(node: ast.expr) -> Any:
    if isinstance(node, ast.Dict):
        return {_evaluated(key): _evaluated(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "cv.Grid":
        from carouseval.metrics.grid import Grid

        return Grid(**{str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords})
    return ast.literal_eval(node)
