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
    from carouseval.table_sources import TableLike

Metrics: TypeAlias = "Sequence[MetricLike] | MetricLike"
"""One or several metrics, each by its name, as an object or as a function of (gains, weights)."""
Grids: TypeAlias = "Grid | Mapping[Any, Grid]"
"""One grid, or a grid for each value of the column ``by``."""
ColumnNames: TypeAlias = Mapping[str, str] | Mapping[str, Mapping[str, str]] | None
"""The caller's names by ours: ``{"user_id": "customer"}``, or the same under a table's name."""
Candidates: TypeAlias = Literal["judged", "displayed"]
Duplicates: TypeAlias = Literal["best", "first", "every", "error"]
MissingPages: TypeAlias = Literal["zero", "skip", "error"]
NoRelevant: TypeAlias = Literal["skip", "zero", "error"]
Unjudged: TypeAlias = Literal["zero", "error"]
Invalid: TypeAlias = Literal["error", "count"]
Capacity: TypeAlias = Literal["grid", "shown"] | Mapping[Any, int]
"""How many items carousels hold: a word, or the number of each category."""

_MOST_WORK = 1e12  # millions of steps: decades, which a 64-bit integer counts


class Doc(NamedTuple):
    """What a setting means, in a sentence or two; its type and default as readers see them, unless they are plain."""

    text: str
    type: str = ""
    default: str = ""


def _recgaze() -> Any:
    from carouseval.metrics.grid import RECGAZE

    return RECGAZE


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every choice in force; the first value of each list of choices is the default."""

    metrics: Annotated[
        Metrics,
        Doc(
            "What to compute: a metric's name, such as 'N2DCG_cat(d_rpb)@3x5', a Metric, a function of (gains, "
            "weights), or a list of these.",
            "str, Metric, callable or sequence of these",
        ),
    ] = ("N2DCG_cat",)
    grid: Annotated[
        Grids,
        Doc(
            "The screen; or a dict with the screen of each value of the column `by`.",
            "Grid or mapping of Grid",
            "RECGAZE",
        ),
    ] = field(default_factory=_recgaze)
    gain: Annotated[
        "Gain",
        Doc(
            "'exp2' (2^relevance - 1), 'linear' (the relevance itself), or a function from an array of relevances to "
            "an array of gains.",
            '{"exp2", "linear"} or callable',
        ),
    ] = "exp2"
    candidates: Annotated[
        Candidates,
        Doc(
            "What the ideal page may show: any judged item of each category (judged), so that every system is divided "
            "by the same ideal; or only the items on the page, rearranged (displayed), which scores the arrangement "
            "alone."
        ),
    ] = "judged"
    duplicates: Annotated[
        Duplicates,
        Doc(
            "An item shown twice counts once, where its weight is largest (best) or where it comes first, row by row "
            "(first); counts every time; or is an error. The ideal follows the same rule."
        ),
    ] = "best"
    missing_pages: Annotated[
        MissingPages, Doc("A user with judgments but without a page scores zero, is skipped, or is an error.")
    ] = "zero"
    no_relevant: Annotated[
        NoRelevant, Doc("A user without any relevant item is skipped, scores zero, or is an error.")
    ] = "skip"
    unjudged: Annotated[Unjudged, Doc("An item shown without a judgment has a gain of zero, or is an error.")] = "zero"
    invalid: Annotated[
        Invalid,
        Doc(
            "A page that repeats a category, skips a row, shows an item outside its row's category or holds more than "
            "a declared capacity is an error, or is counted and scored as it is."
        ),
    ] = "error"
    by: Annotated[
        str | Sequence[str] | None,
        Doc(
            "A column of layouts or judgments (or several) whose values are also reported separately, such as device.",
            "str or sequence of str",
        ),
    ] = None
    columns: Annotated[
        ColumnNames,
        Doc(
            "Your names for our columns: {'user_id': 'customer'}; or, for one table, {'layouts': {'row': 'position'}}.",
            "mapping",
        ),
    ] = None
    carousels: Annotated[
        "TableLike | None",
        Doc(
            "What is declared of carousels: lines of category, and optionally user_id (only these users have it; null: "
            "everyone), capacity (how many items it holds) and personal (true: its items are those that each user is "
            "shown there).",
            "table",
        ),
    ] = None
    capacity: Annotated[
        Capacity,
        Doc(
            "How many items a carousel of the ideal page holds, where carousels has no line: as many as the grid has "
            "columns (grid); as many as its longest row in any of the layouts (shown); or a dict with the numbers of "
            "single categories. A pinned row holds as many as the longest pinned row of its category.",
            '{"grid", "shown"} or mapping',
        ),
    ] = "grid"
    split: Annotated[
        str | None,
        Doc("The separator of several categories in one cell of `items`: '|' for 'Action|Comedy'."),
    ] = None
    weight: Annotated[
        str | None,
        Doc(
            "A column with the weight of each page (in layouts) or user (in judgments). A user's weight is the mean "
            "weight of its pages."
        ),
    ] = None
    tolerance: Annotated[
        float,
        Doc(
            "Relative gap accepted between an ideal page of items with several categories and the proven bound on it, "
            "by which scores are then divided; 0: prove ideal pages."
        ),
    ] = 0.0
    work: Annotated[
        float,
        Doc(
            "The most work for one ideal page, in millions of steps, about half a millisecond each; past it scores are "
            "divided by a proven bound. Steps, not time, are counted: results do not depend on the machine."
        ),
    ] = 8000.0
    memory: Annotated[
        float,
        Doc(
            "Memory for the lines of layouts and for scoring them, in GiB; ids, judgments and scores come on top. "
            "Larger tables go through temporary files, and of tall grids fewer pages are scored at a time, with the "
            "same results."
        ),
    ] = 4.0
    threads: Annotated[
        int | None,
        Doc(
            "Maximum number of threads; by default, that of the environment variable CAROUSEVAL_THREADS, or all cores. "
            "Results do not depend on it."
        ),
    ] = None

    def __post_init__(self) -> None:
        for setting in fields(self):
            _check(setting.name, getattr(self, setting.name), setting_type(setting))
        object.__setattr__(self, "by", _column_names(self.by))
        object.__setattr__(self, "capacity", _checked_capacity(self.capacity))
        require_float("tolerance", self.tolerance, at_least=0, below=1)
        require_float("work", self.work, at_least=0, at_most=_MOST_WORK)
        require_float("memory", self.memory, above=0, at_most=1e9)
        if self.split == "":
            raise ParameterError("split must be a separator such as '|', found ''.")
        if self.threads is not None:
            require_int("threads", self.threads, 1)

    @classmethod
    def named(cls, function: str, settings: Mapping[str, Any], also: Sequence[str] = ()) -> "Settings":
        """Settings from a function's keyword arguments; an unknown name is refused as Python does, with a hint.

        ``also`` has the names of what else the function takes.
        """
        names = [setting.name for setting in fields(cls)]
        for name in settings:
            if name not in names:
                hint = did_you_mean(name, [*names, *also])
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}.{hint}")
        return cls(**settings)

    @classmethod
    def choices(cls) -> dict[str, tuple[str, ...]]:
        """The settings that are one of several words, and the words."""
        types = {setting.name: setting_type(setting) for setting in fields(cls)}
        return {name: get_args(kind) for name, kind in types.items() if get_origin(kind) is Literal}

    @property
    def by_columns(self) -> tuple[str, ...]:
        """The columns of ``by``."""
        return tuple(self.by or ())

    @property
    def once(self) -> bool:
        """Whether an item counts once a page."""
        return self.duplicates != "every"


class SettingsDict(TypedDict, total=False):
    """The settings for type checkers: ``**settings: Unpack[SettingsDict]``."""

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
    carousels: "TableLike | None"
    capacity: Capacity
    split: str | None
    weight: str | None
    tolerance: float
    work: float
    memory: float
    threads: int | None


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


TakesSettings = TypeVar("TakesSettings", bound=Callable[..., Any])
_LAST = "progress"  # the parameter that comes after the settings


def takes_settings(function: TakesSettings, *kinds: type) -> TakesSettings:
    """List every setting in the signature and docstring of a function, or class, that takes ``**settings``.

    Settings come after the function's own parameters, but before ``progress``. Lists other than :class:`Settings` are
    given by their dataclasses.
    """
    call: Any = vars(function).get("__init__", function)
    settings = [setting for kind in kinds or (Settings,) for setting in fields(kind)]
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
    text = doc.type or " or ".join(_type_name(one) for one in _members(kind) if one is not NoneType)
    return f"{text}, optional" if default is None else f"{text}, default {doc.default or _quoted(default)}"


def _type_name(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return "{" + ", ".join(map(_quoted, get_args(kind))) + "}"
    return str(getattr(kind, "__name__", kind))


def _quoted(value: Any) -> str:
    return repr(value).replace("'", '"')


def _members(kind: Any) -> tuple[Any, ...]:
    """The types of a union; of any other type, itself."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


_WORDS: dict[Any, str] = {str: "text", int: "an integer", float: "a number", bool: "True or False"}


def _check(name: str, value: Any, kind: Any) -> None:
    """Refuse what a setting's type does not allow, where the type is a word, a number, text, or None."""
    if get_origin(kind) is Literal:
        require_choice(name, value, get_args(kind))
        return
    kinds = _members(kind)
    simple = [one for one in kinds if one in _WORDS]
    if len(simple) + (NoneType in kinds) < len(kinds) or (value is None and NoneType in kinds):
        return
    numbers = (Real,) if float in simple else (Integral,) if int in simple else ()
    is_number = isinstance(value, numbers) and not isinstance(value, bool)
    if not is_number and not (isinstance(value, (str, bool)) and type(value) in simple):
        words = " or ".join([*(_WORDS[one] for one in simple), *(["None"] if NoneType in kinds else [])])
        raise ParameterError(f"{name} must be {words}, found {value!r}.")


def _checked_capacity(capacity: Any) -> Any:
    """A word, or a dict of plain categories and integers."""
    if not isinstance(capacity, Mapping):
        if capacity not in ("grid", "shown"):
            hint = did_you_mean(str(capacity), ("grid", "shown"))
            raise ParameterError(
                f"capacity must be 'grid', 'shown' or a dict such as {{'Top 10': 10}}, found {capacity!r}.{hint}"
            )
        return capacity
    return {
        int(category) if isinstance(category, Integral) else str(category): require_int(
            f"capacity of {category!r}", room, 1
        )
        for category, room in capacity.items()
    }


def _column_names(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """``by`` as a tuple of columns."""
    if by is None or isinstance(by, str):
        return () if by is None else (by,)
    if not isinstance(by, Sequence) or not all(isinstance(column, str) for column in by):
        raise ParameterError(f"by must be the name of a column, or a list of names, found {by!r}.")
    return tuple(by)
