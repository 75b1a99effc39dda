"""What a user may choose: the one list behind signatures, options of the command line and ``result.config``.

To add a setting, add a field to :class:`Settings` and its name and type to :class:`SettingsDict`; then write the code
that acts on it. Every function that takes settings, and every command, has it from then on.
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ForwardRef,
    Literal,
    NamedTuple,
    TypeAlias,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from carouseval.errors import ParameterError
from carouseval.metrics.validation import did_you_mean, require_choice, require_float, require_int

if TYPE_CHECKING:  # the command line reads this list before it needs NumPy
    from carouseval.metrics.gains import Gain
    from carouseval.metrics.grid import Grid
    from carouseval.metrics.names import MetricLike

Metrics: TypeAlias = "Sequence[MetricLike] | MetricLike"
Grids: TypeAlias = "Grid | Mapping[Any, Grid]"
ColumnNames: TypeAlias = Mapping[str, str] | Mapping[str, Mapping[str, str]] | None
Candidates: TypeAlias = Literal["judged", "displayed"]
Duplicates: TypeAlias = Literal["best", "first", "every", "error"]
MissingPages: TypeAlias = Literal["zero", "skip", "error"]
NoRelevant: TypeAlias = Literal["skip", "zero", "error"]
Unjudged: TypeAlias = Literal["zero", "error"]
Invalid: TypeAlias = Literal["error", "count"]


class Doc(NamedTuple):
    """What a setting means, in a sentence or two."""

    text: str


def _recgaze() -> Any:
    from carouseval.metrics.grid import RECGAZE

    return RECGAZE


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every choice in force; the first value of each list of choices is the default."""

    metrics: Annotated[
        Metrics,
        Doc("A metric's name, such as 'N2DCG_cat(d_rpb)@3x5', a function of (gains, weights), or a list of several."),
    ] = ("N2DCG_cat",)
    grid: Annotated[Grids, Doc("The screen, or a dict with the screen of each value of the column `by`.")] = field(
        default_factory=_recgaze
    )
    gain: Annotated["Gain", Doc("'exp2' (2^relevance - 1), 'linear', or a function of an array of relevances.")] = (
        "exp2"
    )
    candidates: Annotated[
        Candidates,
        Doc(
            "What the ideal page may show: any judged item of each category, which gives one denominator per user for "
            "every system; or only what is displayed, rearranged, which judges the arrangement alone."
        ),
    ] = "judged"
    duplicates: Annotated[
        Duplicates,
        Doc(
            "An item shown twice counts once, where it weighs most (best) or where it stands first, row by row; or "
            "every time; or is an error. The ideal obeys the same rule."
        ),
    ] = "best"
    missing_pages: Annotated[
        MissingPages, Doc("A user with judgments but without a page scores zero, is skipped, or is an error.")
    ] = "zero"
    no_relevant: Annotated[
        NoRelevant, Doc("A user without any judged item that gains is skipped, scores zero, or is an error.")
    ] = "skip"
    unjudged: Annotated[Unjudged, Doc("An item shown without a judgment gains zero, or is an error.")] = "zero"
    invalid: Annotated[
        Invalid,
        Doc(
            "A page that repeats a category, skips a row or shows an item outside its row's category is an error, or "
            "is counted and scored as it is."
        ),
    ] = "error"
    by: Annotated[
        str | Sequence[str] | None,
        Doc("A column of layouts or judgments (or several) whose values are also reported separately, such as device."),
    ] = None
    columns: Annotated[
        ColumnNames,
        Doc("What you call the columns: {'user_id': 'customer'}, or the same under a table's name."),
    ] = None
    weight: Annotated[
        str | None,
        Doc(
            "A column with the weight of each page (in layouts) or user (in judgments); a user weighs what its pages "
            "weigh on average."
        ),
    ] = None
    memory: Annotated[
        float, Doc("GiB for the lines of layouts; larger tables go through temporary files, with the same results.")
    ] = 4.0
    threads: Annotated[
        int | None,
        Doc("The most threads to use; by default CAROUSEVAL_THREADS or all cores. Results never depend on it."),
    ] = None

    def __post_init__(self) -> None:
        for one in fields(self):
            _check(one.name, getattr(self, one.name), setting_type(one))
        object.__setattr__(self, "by", _names(self.by))
        require_float("memory", self.memory, above=0, at_most=1e9)
        if self.threads is not None:
            require_int("threads", self.threads, 1)

    @classmethod
    def named(cls, function: str, settings: Mapping[str, Any]) -> "Settings":
        """Settings as a function was given them; a name that is none is refused as Python does, with a hint."""
        known = [one.name for one in fields(cls)]
        for name in settings:
            if name not in known:
                hint = did_you_mean(name, known)
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}.{hint}")
        return cls(**settings)

    @classmethod
    def choices(cls) -> dict[str, tuple[str, ...]]:
        """The settings that are one of several words, and the words."""
        kinds = {one.name: setting_type(one) for one in fields(cls)}
        return {name: get_args(kind) for name, kind in kinds.items() if get_origin(kind) is Literal}

    @property
    def by_columns(self) -> tuple[str, ...]:
        """The columns of ``by``."""
        return tuple(self.by or ())

    @property
    def once(self) -> bool:
        """Whether an item counts once a page."""
        return self.duplicates != "every"


class SettingsDict(TypedDict, total=False):
    """The same for type checkers: ``**settings: Unpack[SettingsDict]``."""

    metrics: Metrics
    grid: Grids
    gain: "Gain"
    candidates: Candidates
    duplicates: Duplicates
    missing_pages: MissingPages
    no_relevant: NoRelevant
    unjudged: Unjudged
    invalid: Invalid
    by: str | Sequence[str] | None
    columns: ColumnNames
    weight: str | None
    memory: float
    threads: int | None


def setting_type(one: "Field[Any]") -> Any:
    """The type of a setting; types that need NumPy stay names."""
    kind = get_args(one.type)[0] if get_origin(one.type) is Annotated else one.type
    return kind.__forward_arg__ if isinstance(kind, ForwardRef) else kind


def setting_doc(one: "Field[Any]") -> str:
    """What a setting means."""
    return next((extra.text for extra in getattr(one.type, "__metadata__", ()) if isinstance(extra, Doc)), "")


def setting_default(one: "Field[Any]") -> Any:
    """A setting's default."""
    return one.default if one.default_factory is MISSING else one.default_factory()


_F = TypeVar("_F", bound=Callable[..., Any])


def takes_settings(function: _F, kind: type[Settings] = Settings) -> _F:
    """Show people every setting where the code of a function, or of a class's ``__init__``, says ``**settings``.

    In its signature, and in its help, which must have a section "Parameters".
    """
    made = getattr(function, "__init__") if isinstance(function, type) else function  # noqa: B009 - mypy
    signature = inspect.signature(made)
    own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
    more = [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=setting_default(one), annotation=setting_type(one)
        )
        for one in fields(kind)
    ]
    positional = [one for one in own if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    named = [one for one in own if one.kind is inspect.Parameter.KEYWORD_ONLY]
    shown = signature.replace(parameters=[*positional, *more, *named])
    setattr(made, "__signature__", shown)  # noqa: B010 - functions have no such attribute for mypy
    if function.__doc__:
        function.__doc__ = _with_settings(inspect.cleandoc(function.__doc__), kind)
    return function


def _with_settings(doc: str, kind: type[Settings]) -> str:
    """The help with a paragraph for each setting at the end of its parameters."""
    lines = doc.split("\n")
    heads = [at for at, line in enumerate(lines) if line and set(line) == {"-"}]
    begin = next((at for at in heads if lines[at - 1] == "Parameters"), None)
    if begin is None:
        return doc
    end = next((at - 1 for at in heads if at > begin), len(lines))
    told = [
        f"{one.name}\n{textwrap.fill(setting_doc(one), 116, initial_indent='    ', subsequent_indent='    ')}"
        for one in fields(kind)
    ]
    before = "\n".join(lines[:end]).rstrip()
    return "\n".join([before, *told, "", *lines[end:]]).rstrip()


_WORDS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "True or False"}


def _check(name: str, value: Any, kind: Any) -> None:
    """Refuse what a setting's type does not allow, where the type is a word, a number, text, or nothing."""
    if get_origin(kind) is Literal:
        require_choice(name, value, get_args(kind))
        return
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    simple = [one for one in kinds if one in _WORDS]
    if len(simple) + (NoneType in kinds) < len(kinds) or (value is None and NoneType in kinds):
        return
    numbers = (Real,) if float in simple else (Integral,) if int in simple else ()
    is_number = isinstance(value, numbers) and not isinstance(value, bool)
    if not is_number and not (isinstance(value, (str, bool)) and type(value) in simple):
        words = " or ".join([*(_WORDS[one] for one in simple), *(["None"] if NoneType in kinds else [])])
        raise ParameterError(f"{name} must be {words}, found {value!r}.")


def _names(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """``by`` as a tuple of columns."""
    if by is None or isinstance(by, str):
        return () if by is None else (by,)
    if not isinstance(by, Sequence) or not all(isinstance(one, str) for one in by):
        raise ParameterError(f"by must be a column's name or a list of several, found {by!r}.")
    return tuple(by)
