"""Settings as options: a command that takes a list of settings has an option for each, made of its type and its Doc."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field
from functools import partial
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import typer

from carouseval.cli.options import (
    GRID,
    PAGE_SIZE,
    PAGE_SIZE_FORM,
    VISIBLE_ROWS,
    choice_parser,
    parse_page_size,
    with_parameters,
)
from carouseval.errors import ParseError
from carouseval.evaluation.settings import ColumnNames, Grids
from carouseval.settings import (
    Doc,
    SettingsList,
    doc_of,
    setting_default,
    setting_doc,
    setting_type,
    settings_of,
    union_members,
)
from carouseval.validation import parse_size, quoted


class SettingOptions(NamedTuple):
    """The options of one setting, and the function from their values to the setting's value."""

    options: tuple[inspect.Parameter, ...]
    value: Callable[..., Any] = lambda value: value


def with_settings(**lists: SettingsList[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of lists of settings, each in place of a parameter, a dict of their values."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for parameter, listed in lists.items():
            by_setting = {setting.name: setting_options(setting) for setting in settings_of(listed)}
            options = [option for setting in by_setting.values() for option in setting.options]
            command = with_parameters(command, parameter, options, partial(_values, by_setting))
        return command

    return decorate


def _values(by_setting: Mapping[str, SettingOptions], values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that options give."""
    return {
        name: setting.value(*(values[option.name] for option in setting.options))
        for name, setting in by_setting.items()
    }


def _option_name(setting: str) -> str:
    return f"--{setting.replace('_', '-')}"


def option_help(setting: "Field[Any]") -> str:
    """What the command line says of a setting."""
    return doc_of(setting).option or setting_doc(setting)


def setting_options(setting: "Field[Any]") -> SettingOptions:
    """The options of a setting, by its type."""
    kind, doc = setting_type(setting), doc_of(setting)
    if kind in (Grids, "Grid"):
        return _grid_options(several=kind == Grids, more=doc.option)
    default: Any = setting_default(setting)
    members = [member for member in union_members(kind) if member is not NoneType]
    words = next((member for member in members if get_origin(member) is Literal), None)
    mapping = next((member for member in members if _is(member, Mapping)), None)
    if mapping is not None and not doc.form:
        doc = doc._replace(form=f"<{'|'.join([*get_args(words), 'name=value'])}>", example="name=value")
    option = partial(_option, setting, doc)
    if kind == ColumnNames:
        return SettingOptions((option(list[str], []),), parse_columns)
    if mapping is not None:
        read = partial(_read_pairs, setting.name, doc, get_args(mapping)[1], get_args(words))
        given = [default] if words else []
        return SettingOptions((option(list[str], given),), lambda texts: read(texts) if texts else default)
    if any(_is(member, Sequence) and get_args(member) == (float,) for member in members):
        return SettingOptions(
            (option(str, None),), lambda text: default if text is None else _read_numbers(setting.name, doc, text)
        )
    if any(_is(member, Sequence) for member in members):
        return SettingOptions((option(list[str], list(default or [])),), lambda texts: texts or default)
    plain = next((member for member in members if member in (str, int, float, bool)), str)
    return SettingOptions((option(plain if words is None else words, default),))


def _is(kind: Any, form: Any) -> bool:
    """Whether a type, or the name of one, is a mapping or a sequence."""
    return kind.startswith(f"{form.__name__}[") if isinstance(kind, str) else get_origin(kind) is form


def _option(setting: "Field[Any]", doc: Doc, kind: Any, default: Any) -> inspect.Parameter:
    attributes: dict[str, Any] = {"parser": choice_parser(kind)} if get_origin(kind) is Literal else {}
    attributes |= {"metavar": doc.form} if doc.form else {}
    attributes |= {"show_default": False} if default is False else {}
    # of a flag that is off by default, Typer would make --no-..., too
    flags = (_option_name(setting.name), *doc.flags) if doc.flags or default is False else ()
    return _keyword(setting.name, kind, typer.Option(default, *flags, help=option_help(setting), **attributes))


def _keyword(name: str, kind: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)


def _grid_options(*, several: bool, more: str) -> SettingOptions:
    """The options of a grid, or of one for each value of ``by``."""

    def value(given: Any, page_size: int | tuple[int, ...] | None, visible_rows: int | None) -> Any:
        from carouseval.cli.grid_options import parse_grid, parse_grids

        if several:
            return parse_grids(given, page_size, visible_rows)
        return parse_grid(given, page_size, visible_rows, ())

    # by name: a Grid would need NumPy
    option = typer.Option(["recgaze"] if several else "recgaze", metavar="<grid>", help=f"{GRID} {more}".strip())
    page_size = typer.Option(None, parser=parse_page_size, metavar=PAGE_SIZE_FORM, help=PAGE_SIZE)
    options = (
        _keyword("grid", list[str] if several else str, option),
        _keyword("page_size", Any, page_size),
        _keyword("visible_rows", int, typer.Option(None, help=VISIBLE_ROWS)),
    )
    return SettingOptions(options, value)


def parse_columns(texts: list[str]) -> dict[str, Any]:
    """``--columns user_id=customer --columns layouts.row=position`` as a value of the setting ``columns``."""
    names: dict[str, Any] = {}
    for text in texts:
        ours, equals, theirs = text.partition("=")
        if not (ours and equals and theirs):
            raise ParseError(
                f"--columns {quoted(text)} cannot be parsed; write our name, then yours: user_id=customer."
            )
        table, dot, column = ours.partition(".")
        if dot:
            table_names = names.setdefault(table, {})
            if not isinstance(table_names, dict):
                raise ParseError(
                    f"--columns {quoted(f'{table}={table_names}')}: {quoted(table)} is a table; write "
                    f"{table[:60]}.user_id=yours."
                )
            table_names[column] = theirs
        else:
            names[ours] = theirs
    return names


def _read_pairs(setting: str, doc: Doc, kind: Any, words: Sequence[str], texts: list[str]) -> Any:
    """``--pinned 'Top 10=1' --pinned New=2`` as a mapping, or a word that may stand in its place."""
    if len(texts) == 1 and texts[0] in words:
        return texts[0]
    pairs: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            if not name or name in pairs:
                raise ValueError
            pairs[name] = _read_value(value, kind)
        except ValueError:
            pair = doc.form.strip("<>").rpartition("|")[2]
            instead = f"{', '.join(words)}, or " if words else ""
            raise ParseError(
                f"{_option_name(setting)} {quoted(text)} cannot be parsed; write {instead}{pair}, each "
                f"{pair.partition('=')[0]} once, such as {doc.example}."
            ) from None
    return pairs


def _read_value(text: str, kind: Any) -> Any:
    """One value: a size, a number, numbers between commas, or none."""
    members = union_members(kind)
    if NoneType in members and text.strip().lower() == "none":
        return None
    if _is(kind, Sequence):
        return [_read_value(part, get_args(kind)[0]) for part in text.split(",")]
    if float in members:
        return int(text) if int in members and not set(text.lower()) & set(".e") else float(text)
    if (size := parse_size(text)) is None:
        raise ValueError
    return size


def _read_numbers(setting: str, doc: Doc, text: str) -> list[float]:
    """``"1,10,45"`` as numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ParseError(
            f"{_option_name(setting)} {quoted(text)} cannot be parsed; write numbers separated by commas, such as "
            f"{doc.example}."
        ) from None
