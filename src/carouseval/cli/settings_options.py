"""Settings as options: every command that evaluates tables takes all settings that :class:`Settings` lists."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_origin

import typer

from carouseval.cli.options import (
    GAIN,
    GRID,
    METRIC,
    PAGE_SIZE,
    PAGE_SIZE_FORM,
    VISIBLE_ROWS,
    GainName,
    choice_parser,
    parse_page_size,
)
from carouseval.errors import ParseError
from carouseval.evaluation.settings import Settings
from carouseval.settings import setting_default, setting_doc, setting_type, union_members
from carouseval.validation import parse_size, quoted

_COLUMNS = "Your name for a column: user_id=customer, or items.item_id=sku for a single table. Repeat for several."
ColumnsOption: TypeAlias = Annotated[
    list[str], typer.Option("--columns", "--column", metavar="<ours=yours>", help=_COLUMNS)
]  # for commands that take only some of the settings
SplitOption: TypeAlias = Annotated[
    str | None, typer.Option(help="Separator of several categories in one cell of items: '|' for 'Action|Comedy'.")
]
_HELP = {setting.name: setting_doc(setting) for setting in fields(Settings)}
ToleranceOption: TypeAlias = Annotated[float, typer.Option(help=_HELP["tolerance"])]
WorkOption: TypeAlias = Annotated[float, typer.Option(help=_HELP["work"])]


class SettingOptions(NamedTuple):
    """The options of one setting, and the function from their values to the setting's value."""

    options: tuple[inspect.Parameter, ...]
    value: Callable[..., Any] = lambda value: value


def with_settings(
    command: Callable[..., None], kind: type[Settings] = Settings, *, help: Mapping[str, str] | None = None
) -> Callable[..., None]:
    """Give a command the options of every setting in place of its parameter ``settings``, a dict of their values.

    ``help`` describes settings that mean something else to this command.
    """
    options_by_setting = {setting.name: _setting_options(setting) for setting in fields(kind)}
    for name, text in (help or {}).items():
        options_by_setting[name].options[0].default.help = text

    @functools.wraps(command)
    def run(**values: Any) -> None:
        settings = {
            name: setting.value(*(values.pop(option.name) for option in setting.options))
            for name, setting in options_by_setting.items()
        }
        command(**values, settings=settings)

    options = [option for setting in options_by_setting.values() for option in setting.options]
    signature = inspect.signature(command)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        parameters += options if parameter.name == "settings" else [parameter]
    setattr(run, "__signature__", signature.replace(parameters=parameters))  # noqa: B010 - mypy knows no such attribute
    return run


def option_names() -> dict[str, str]:
    """The option of each setting: ``--missing-pages`` for ``missing_pages``."""
    return {
        setting.name: f"--{_setting_options(setting).options[0].name.replace('_', '-')}" for setting in fields(Settings)
    }


def _setting_options(setting: "Field[Any]") -> SettingOptions:
    if setting.name in _SPECIAL:
        return _SPECIAL[setting.name](setting)
    kind = _option_type(setting_type(setting))
    return SettingOptions((_option(setting.name, kind, setting_default(setting), help=setting_doc(setting)),))


def _option_type(kind: Any) -> Any:
    """The first of a setting's types that an option can have: choices, a number, a flag or text; else text."""
    return next(
        (one for one in union_members(kind) if get_origin(one) is Literal or one in (str, int, float, bool)), str
    )


def _option(name: str, kind: Any, default: Any, *flags: str, **attributes: Any) -> inspect.Parameter:
    if get_origin(kind) is Literal:
        attributes["parser"] = choice_parser(kind)
    option = typer.Option(default, *flags, **attributes)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)


def _metrics(setting: "Field[Any]") -> SettingOptions:
    flags, default = ("--metrics", "--metric", "-m"), list(setting_default(setting))
    return SettingOptions((_option("metrics", list[str], default, *flags, metavar="<name>", help=METRIC),))


def _grid(_: "Field[Any]") -> SettingOptions:
    text = f"{GRID} Repeat as VALUE=GRID, such as tv=20x24, for the grid of each value of --by."

    def value(texts: list[str], page_size: int | tuple[int, ...] | None, visible_rows: int | None) -> Any:
        from carouseval.cli.grid_options import parse_grids

        return parse_grids(texts, page_size, visible_rows)

    options = (
        _option("grid", list[str], ["recgaze"], metavar="<grid>", help=text),  # by name: a Grid would need NumPy
        _option("page_size", Any, None, parser=parse_page_size, metavar=PAGE_SIZE_FORM, help=PAGE_SIZE),
        _option("visible_rows", int, None, help=VISIBLE_ROWS),
    )
    return SettingOptions(options, value)


def _gain(setting: "Field[Any]") -> SettingOptions:
    return SettingOptions((_option("gain", GainName, setting_default(setting), help=GAIN),))


def _by(_: "Field[Any]") -> SettingOptions:
    text = (
        "Column of the layouts or judgments, such as device, whose values are also reported separately. Repeat for "
        "several."
    )
    return SettingOptions((_option("by", list[str], [], metavar="<column>", help=text),))


def _columns(_: "Field[Any]") -> SettingOptions:
    option = _option("columns", list[str], [], "--columns", "--column", metavar="<ours=yours>", help=_COLUMNS)
    return SettingOptions((option,), parse_columns)


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


def _carousels(_: "Field[Any]") -> SettingOptions:
    text = (
        "Carousels: category (and user_id: only these users have it; capacity: how many items it holds; personal: its "
        "items are each user's own)."
    )
    return SettingOptions((_option("carousels", str, None, metavar="<file>", help=text),))


def _capacity(_: "Field[Any]") -> SettingOptions:
    text = (
        "How many items a carousel of the ideal page holds: as many as the grid has columns (grid), or as its longest "
        "row in any of the layouts (shown); or 'Top 10=10' for a single category. Repeat for several."
    )
    option = _option("capacity", list[str], ["grid"], metavar="<grid|shown|category=number>", help=text)
    return SettingOptions((option,), _parse_capacity)


def _parse_capacity(texts: list[str]) -> Any:
    """``--capacity shown``, or ``--capacity 'Top 10=10' --capacity Billboard=1``, as a value of the setting."""
    if texts in (["grid"], ["shown"]):
        return texts[0]
    capacities: dict[str, int] = {}
    for text in texts:
        category, equals, number = text.rpartition("=")
        capacity = parse_size(number)
        if not (category and equals) or capacity is None:
            raise ParseError(
                f"--capacity {quoted(text)} cannot be parsed; write grid, shown, or a category and its capacity: "
                "'Top 10=10'."
            )
        capacities[category] = capacity
    return capacities


_SPECIAL = {
    "metrics": _metrics,
    "grid": _grid,
    "gain": _gain,
    "by": _by,
    "columns": _columns,
    "carousels": _carousels,
    "capacity": _capacity,
}
