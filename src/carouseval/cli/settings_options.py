"""Settings as options: a command that judges tables takes all of them, as :class:`Settings` lists them."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

import typer

from carouseval.cli.options import GAIN, METRIC, PAGE_SIZE, VISIBLE_ROWS, GainName
from carouseval.errors import ParseError
from carouseval.evaluation.settings import Settings, setting_default, setting_doc, setting_type


class Spelling(NamedTuple):
    """How a setting is written on the command line: its options, and what makes its value of theirs."""

    options: tuple[inspect.Parameter, ...]
    value: Callable[..., Any] = lambda given: given


def with_settings(command: Callable[..., None], kind: type[Settings] = Settings) -> Callable[..., None]:
    """Give a command the option of every setting, in place of its parameter ``settings``, a dict of their values."""
    spellings = {one.name: _spelling(one) for one in fields(kind)}

    @functools.wraps(command)
    def run(**given: Any) -> None:
        settings = {
            name: spelling.value(*(given.pop(option.name) for option in spelling.options))
            for name, spelling in spellings.items()
        }
        command(**given, settings=settings)

    options = [option for spelling in spellings.values() for option in spelling.options]
    own = inspect.signature(command)
    shown = [each for one in own.parameters.values() for each in (options if one.name == "settings" else [one])]
    setattr(run, "__signature__", own.replace(parameters=shown))  # noqa: B010 - functions have no such attribute for mypy
    return run


def option_names() -> dict[str, str]:
    """The option of each setting: ``--missing-pages`` of ``missing_pages``."""
    return {one.name: f"--{_spelling(one).options[0].name.replace('_', '-')}" for one in fields(Settings)}


def _spelling(one: "Field[Any]") -> Spelling:
    if one.name in _SPECIAL:
        return _SPECIAL[one.name](one)
    return Spelling((_option(one.name, _one_word(setting_type(one)), setting_default(one), help=setting_doc(one)),))


def _one_word(kind: Any) -> Any:
    """Of a setting's types, the first that one word can express: choices, a number, yes or no; else text."""
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return next((one for one in kinds if get_origin(one) is Literal or one in (str, int, float, bool)), str)


def _option(name: str, kind: Any, default: Any, *flags: str, **more: Any) -> inspect.Parameter:
    option = typer.Option(default, *flags, **more)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)


def _metrics(one: "Field[Any]") -> Spelling:
    default = list(setting_default(one))
    return Spelling((_option("metric", list[str], default, "--metric", "-m", metavar="<name>", help=METRIC),))


def _grid(_: "Field[Any]") -> Spelling:
    text = (
        "The screen: ROWSxCOLS, recgaze, tv, desktop or phone. Repeat as VALUE=SCREEN, such as tv=20x24, for the "
        "screen of each value of --by."
    )

    def value(asked: list[str], page_size: int | None, visible_rows: int | None) -> Any:
        from carouseval.cli.screen import screens

        return screens(asked, page_size, visible_rows)

    options = (
        _option("grid", list[str], ["recgaze"], metavar="<screen>", help=text),  # by name: a grid would need NumPy
        _option("page_size", int, None, help=PAGE_SIZE),
        _option("visible_rows", int, None, help=VISIBLE_ROWS),
    )
    return Spelling(options, value)


def _gain(one: "Field[Any]") -> Spelling:
    return Spelling((_option("gain", GainName, setting_default(one), help=GAIN),))


def _by(_: "Field[Any]") -> Spelling:
    text = (
        "A column of layouts or judgments whose values are also reported separately, such as device. Repeat for more."
    )
    return Spelling((_option("by", list[str], [], metavar="<column>", help=text),))


def _columns(_: "Field[Any]") -> Spelling:
    text = "What you call a column: user_id=customer; of one table alone: layouts.row=position. Repeat for more."
    return Spelling((_option("column", list[str], [], metavar="<ours=yours>", help=text),), _column_names)


def _column_names(asked: list[str]) -> dict[str, Any]:
    """``--column user_id=customer --column layouts.row=position`` as the setting ``columns`` takes it."""
    names: dict[str, Any] = {}
    for text in asked:
        ours, mark, theirs = text.partition("=")
        if not (ours and mark and theirs):
            raise ParseError(f"--column {text!r} does not read; write our name, then yours: user_id=customer.")
        table, dot, column = ours.partition(".")
        if dot:
            within = names.setdefault(table, {})
            if not isinstance(within, dict):
                raise ParseError(f"--column {table}={within} names no column of ours; write {table}.user_id=yours.")
            within[column] = theirs
        else:
            names[ours] = theirs
    return names


_SPECIAL = {"metrics": _metrics, "grid": _grid, "gain": _gain, "by": _by, "columns": _columns}
