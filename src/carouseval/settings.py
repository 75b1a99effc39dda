"""How a list of settings, a dataclass of annotated fields, is described and checked: types, defaults, signatures."""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, ForwardRef, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from carouseval.errors import ParameterError
from carouseval.validation import require_choice, subject

TakesSettings = TypeVar("TakesSettings", bound=Callable[..., Any])
_LAST = "progress"  # the parameter that comes after the settings
_WORDS: dict[Any, str] = {str: "text", int: "an integer", float: "a number", bool: "True or False"}


class Doc(NamedTuple):
    """What a setting means, in a sentence or two; its type and default as readers see them, unless they are plain."""

    text: str
    type: str = ""
    default: str = ""


def setting_type(setting: "Field[Any]") -> Any:
    """The type of a setting; types that need NumPy stay names."""
    kind = get_args(setting.type)[0] if get_origin(setting.type) is Annotated else setting.type
    return kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind


def setting_doc(setting: "Field[Any]") -> str:
    """What a setting means."""
    return _doc(setting).text


def setting_default(setting: "Field[Any]") -> Any:
    """A setting's default."""
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def _doc(setting: "Field[Any]") -> Doc:
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
    if get_origin(kind) is Literal:
        require_choice(name, value, get_args(kind))
        return
    kinds = union_members(kind)
    simple = [one for one in kinds if one in _WORDS]
    if len(simple) + (NoneType in kinds) < len(kinds) or (value is None and NoneType in kinds):
        return
    numbers = (Real,) if float in simple else (Integral,) if int in simple else ()
    is_number = isinstance(value, numbers) and not isinstance(value, bool)
    if not is_number and not (isinstance(value, (str, bool)) and type(value) in simple):
        words = " or ".join([*(_WORDS[one] for one in simple), *(["None"] if NoneType in kinds else [])])
        raise ParameterError(f"{subject(name)} must be {words}, found {value!r}.")


def with_settings_listed(function: TakesSettings, *lists: type) -> TakesSettings:
    """List all settings of some dataclasses in the signature and docstring of a function that takes ``**settings``.

    Of a class, in those of its ``__init__`` and its own. Settings come after the function's own parameters, but before
    ``progress``.
    """
    call: Any = vars(function).get("__init__", function)
    settings = [setting for one in lists for setting in fields(one)]
    signature = inspect.signature(call)
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    listed = [
        inspect.Parameter(
            setting.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=setting_default(setting),
            annotation=setting_type(setting),
        )
        for setting in settings
    ]
    first = [one for one in own if one.name != _LAST]
    last = [one for one in own if one.name == _LAST]
    full = signature.replace(parameters=[*first, *listed, *last])
    call.__signature__ = full
    if function.__doc__:
        function.__doc__ = _with_settings(inspect.cleandoc(function.__doc__), settings)
    return function


def _with_settings(doc: str, settings: Sequence["Field[Any]"]) -> str:
    """A docstring whose section Parameters, if it has one, lists the settings too."""
    lines = doc.split("\n")
    underlines = [at for at, line in enumerate(lines) if line and set(line) == {"-"}]
    begin = next((at for at in underlines if lines[at - 1] == "Parameters"), None)
    if begin is None:
        return doc
    end = next((at - 1 for at in underlines if at > begin), len(lines))
    end = next((at for at in range(begin, end) if lines[at].split(" ")[0] == _LAST), end)
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
    doc, kind, default = _doc(setting), setting_type(setting), setting_default(setting)
    text = doc.type or " or ".join(_type_name(one) for one in union_members(kind) if one is not NoneType)
    return f"{text}, optional" if default is None else f"{text}, default {doc.default or _quoted(default)}"


def _type_name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "{" + ", ".join(map(_quoted, get_args(kind))) + "}"
    return str(getattr(kind, "__name__", kind))


def _quoted(value: Any) -> str:
    return repr(value).replace("'", '"')
