"""Lists of settings: a frozen dataclass of annotated fields says what a function takes, once for everything.

A field has a name, a type, a default and a :class:`Doc`. Of these :func:`takes` makes the signature and the docstring
of every function that takes the list, :func:`checked_settings` its checks and :func:`in_force` the record ``config``.
The command line makes options of them (``cli/settings_options.py``), and so shells complete them.
"""

import copy
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ForwardRef,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    overload,
)

from carouseval.errors import ParameterError
from carouseval.validation import did_you_mean, require_choice, subject

_Function = TypeVar("_Function", bound=Callable[..., Any])
_List = TypeVar("_List")
_Other = TypeVar("_Other")
_LAST = "progress"  # the parameter that comes after the settings
_WORDS: dict[Any, str] = {str: "text", int: "an integer", float: "a number", bool: "True or False"}


class Doc(NamedTuple):
    """What a setting means, for readers of Python and of the command line."""

    text: str | Callable[[], str]  # in a sentence or two; a function where that takes other modules
    type: str = ""  # as readers see it, unless it is plain
    default: str = ""  # the same
    option: str = ""  # the text of the command line, where that is shorter or other; of grids, what is to be added
    form: str = ""  # what is typed, unless it is plain: <category=row>
    flags: tuple[str, ...] = ()  # other names of the option: -m
    example: str = ""  # of what is typed


@dataclass(frozen=True)
class Subset(Generic[_List]):
    """Some settings of a list, for what takes no others; see :func:`only`."""

    kind: type[_List]
    fields: "tuple[Field[Any], ...]"


SettingsList: TypeAlias = type[_List] | Subset[_List]
"""A list of settings, or a part of one."""


def only(kind: type[_List], *names: str, without: Sequence[str] = (), **changed: Any) -> Subset[_List]:
    """The settings of these names, or all ``without`` some; those ``changed`` have another text or annotation."""
    every: Any = fields(kind)  # type: ignore[arg-type]
    settings = [one for one in every if one.name not in without and (not names or one.name in names)]
    return Subset(kind, tuple(_changed(setting, changed.get(setting.name)) for setting in settings))


def _changed(setting: "Field[Any]", change: Any) -> "Field[Any]":
    if change is None:
        return setting
    if isinstance(change, str):
        change = Annotated[setting_type(setting), doc_of(setting)._replace(text=change, option=change)]
    changed = copy.copy(setting)
    changed.type = change
    return changed


def settings_of(listed: "SettingsList[Any]") -> "tuple[Field[Any], ...]":
    """The settings of a list, or of a part of one."""
    return listed.fields if isinstance(listed, Subset) else fields(listed)


def setting_type(setting: "Field[Any]") -> Any:
    """The type of a setting; types that need NumPy stay names."""
    kind = get_args(setting.type)[0] if get_origin(setting.type) is Annotated else setting.type
    return kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind


def setting_doc(setting: "Field[Any]") -> str:
    """What a setting means."""
    text = doc_of(setting).text
    return text if isinstance(text, str) else text()


def setting_default(setting: "Field[Any]") -> Any:
    """A setting's default."""
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def doc_of(setting: "Field[Any]") -> Doc:
    """All that is said of a setting."""
    metadata = getattr(setting.type, "__metadata__", ())
    return next((extra for extra in metadata if isinstance(extra, Doc)), Doc(""))


def union_members(kind: Any) -> tuple[Any, ...]:
    """The types of a union; of any other type, itself."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def check_types(settings: Any) -> None:
    """Refuse what the types of settings do not allow, where a type is a word, a number, text, or None."""
    for setting in fields(settings):
        _check_type(setting.name, getattr(settings, setting.name), setting_type(setting))


def _check_type(name: str, value: Any, kind: Any) -> None:
    kinds = union_members(kind)
    if value is None and NoneType in kinds:
        return
    others = [member for member in kinds if member is not NoneType]
    if len(others) == 1 and get_origin(others[0]) is Literal:
        require_choice(name, value, get_args(others[0]))
        return
    simple = [member for member in others if member in _WORDS]
    if len(simple) < len(others):
        return
    numbers = (Real,) if float in simple else (Integral,) if int in simple else ()
    is_number = isinstance(value, numbers) and not isinstance(value, bool)
    if not is_number and not (isinstance(value, (str, bool)) and type(value) in simple):
        words = " or ".join([*(_WORDS[member] for member in simple), *(["None"] if NoneType in kinds else [])])
        raise ParameterError(f"{subject(name)} must be {words}, found {value!r}.")


@overload
def checked_settings(function: str, settings: Mapping[str, Any], listed: SettingsList[_List], /) -> _List: ...
@overload
def checked_settings(
    function: str, settings: Mapping[str, Any], listed: SettingsList[_List], other: SettingsList[_Other], /
) -> tuple[_List, _Other]: ...
def checked_settings(function: str, settings: Mapping[str, Any], /, *lists: SettingsList[Any]) -> Any:
    """The settings of each list, from the keyword arguments of a function that takes them.

    An unknown name is refused as Python does, with a hint.
    """
    names = [setting.name for listed in lists for setting in settings_of(listed)]
    for name in settings:
        if name not in names:
            hint = did_you_mean(name, names)
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}.{hint}")
    made = tuple(_made(listed, settings) for listed in lists)
    return made if len(made) > 1 else made[0]


def _made(listed: SettingsList[_List], settings: Mapping[str, Any]) -> _List:
    kind = listed.kind if isinstance(listed, Subset) else listed
    return kind(**{name: settings[name] for name in (one.name for one in settings_of(listed)) if name in settings})


def in_force(settings: Any, kind: type | None = None) -> dict[str, Any]:
    """Every setting and its value, for the record ``config``; of a derived list, those of its base ``kind``."""
    return {setting.name: getattr(settings, setting.name) for setting in fields(kind or settings)}


def takes(*lists: SettingsList[Any]) -> Callable[[_Function], _Function]:
    """Give a function that takes ``**settings`` the signature and docstring of these lists.

    Of a class, in those of its ``__init__`` and its own. Settings come after the function's own parameters, but before
    ``progress``. Those that may be given by position stand in the function's signature too, with the same default; the
    rest is taken from the list.
    """

    def decorate(function: _Function) -> _Function:
        call: Any = vars(function).get("__init__", function)
        settings = {setting.name: setting for listed in lists for setting in settings_of(listed)}
        signature = inspect.signature(call)
        own = {
            parameter.name: parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        }
        listed = [_parameter(setting, own.get(name)) for name, setting in settings.items()]
        first = [parameter for name, parameter in own.items() if name != _LAST and name not in settings]
        last = [own[_LAST]] if _LAST in own else []
        call.__signature__ = signature.replace(parameters=[*first, *listed, *last])
        if function.__doc__:
            function.__doc__ = _with_settings(inspect.cleandoc(function.__doc__), list(settings.values()))
        return function

    return decorate


def _parameter(setting: "Field[Any]", own: inspect.Parameter | None) -> inspect.Parameter:
    """A setting in a signature: as the function has it, or as a keyword."""
    default = setting_default(setting)
    if own is None:
        kind = inspect.Parameter.KEYWORD_ONLY
        return inspect.Parameter(setting.name, kind, default=default, annotation=setting_type(setting))
    if own.default != default:
        raise TypeError(f"{setting.name} has the default {own.default!r} in the signature, {default!r} in its list")
    return own


def _with_settings(doc: str, settings: Sequence["Field[Any]"]) -> str:
    """A docstring whose section Parameters, if it has one, lists the settings too."""
    lines = doc.split("\n")
    underlines = [number for number, line in enumerate(lines) if line and set(line) == {"-"}]
    begin = next((number for number in underlines if lines[number - 1] == "Parameters"), None)
    if begin is None:
        return doc
    end = next((number - 1 for number in underlines if number > begin), len(lines))
    end = next((number for number in range(begin, end) if lines[number].split(" ")[0] == _LAST), end)
    entries = [
        f"{setting.name} : {_type_text(setting)}\n"
        + textwrap.fill(setting_doc(setting), 116, initial_indent="    ", subsequent_indent="    ")
        for setting in settings
    ]
    before, after = "\n".join(lines[:end]).rstrip(), lines[end:]
    if after and not after[0].startswith(_LAST):
        after = ["", *after]
    return "\n".join([before, *entries, *after]).rstrip()


def _type_text(setting: "Field[Any]") -> str:
    """A setting's type and default as numpydoc has them: ``{"zero", "error"}, default "zero"``."""
    doc, kind, default = doc_of(setting), setting_type(setting), setting_default(setting)
    text = doc.type or " or ".join(_type_name(member) for member in union_members(kind) if member is not NoneType)
    return f"{text}, optional" if default is None else f"{text}, default {doc.default or _quoted(default)}"


def _type_name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "{" + ", ".join(map(_quoted, get_args(kind))) + "}"
    return str(getattr(kind, "__name__", kind))


def _quoted(value: Any) -> str:
    return repr(value).replace("'", '"')
