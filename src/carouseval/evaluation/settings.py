"""What a user may choose: the one list behind signatures, options of the command line and ``result.config``.

To add a setting, add a field to :class:`Settings` and its name and type to :class:`SettingsDict`; then write the code
that acts on it. Every function that takes settings, and every command, has it from then on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Integral
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypedDict,
    get_args,
    get_origin,
)

from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.gain_names import GainName
from carouseval.settings import Doc, check_types, setting_type
from carouseval.validation import did_you_mean, require_float, require_int

if TYPE_CHECKING:  # the command line reads this list before it needs NumPy
    from carouseval.metrics.gains import GainFunction
    from carouseval.metrics.grid import Grid
    from carouseval.metrics.names import MetricLike
    from carouseval.tables.sources import TableLike

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

# settings of several lists
ColumnNamesSetting: TypeAlias = Annotated[
    ColumnNames,
    Doc(
        "Your names for our columns: {'user_id': 'customer'}; or, for one table, {'items': {'item_id': 'sku'}}.",
        "mapping",
        option="Your name for a column: user_id=customer, or items.item_id=sku for a single table. Repeat for several.",
        form="<ours=yours>",
        flags=("--column",),
    ),
]
SplitSetting: TypeAlias = Annotated[
    str | None,
    Doc(
        "The separator of several categories in one cell of `items`: '|' for 'Action|Comedy'.",
        option="Separator of several categories in one cell of items: '|' for 'Action|Comedy'.",
    ),
]

_MOST_WORK = 1e12  # millions of steps: decades, which a 64-bit integer counts


def default_grid() -> Any:
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
            option="Metric to compute, such as 'N2DCG_cat(d_rpb)@3x5'. Repeat for several.",
            form="<name>",
            flags=("--metric", "-m"),
        ),
    ] = ("N2DCG_cat",)
    grid: Annotated[
        Grids,
        Doc(
            "The screen; or a dict with the screen of each value of the column `by`.",
            "Grid or mapping of Grid",
            "RECGAZE",
            option="Repeat as VALUE=GRID, such as tv=20x24, for the grid of each value of --by.",
            form="<grid>",
        ),
    ] = field(default_factory=default_grid)
    gain: Annotated[
        GainName | "GainFunction",
        Doc(
            "'exp2' (2^relevance - 1), 'linear' (the relevance itself), or a function from an array of relevances to "
            "an array of gains.",
            '{"exp2", "linear"} or callable',
            option="Gain of an item: 2^relevance - 1 (exp2) or its relevance (linear).",
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
            option="Column of the layouts or judgments, such as device, whose values are also reported separately. "
            "Repeat for several.",
            form="<column>",
        ),
    ] = None
    columns: ColumnNamesSetting = None
    carousels: Annotated[
        "TableLike | None",
        Doc(
            "What is declared of carousels: lines of category, and optionally user_id (only these users have it; null: "
            "everyone), capacity (how many items it holds) and personal (true: its items are those that each user is "
            "shown there).",
            "table",
            option="Carousels: category (and user_id: only these users have it; capacity: how many items it holds; "
            "personal: its items are each user's own).",
            form="<file>",
        ),
    ] = None
    capacity: Annotated[
        Capacity,
        Doc(
            "How many items a carousel of the ideal page holds, where carousels has no line: as many as the grid has "
            "columns (grid); as many as its longest row in any of the layouts (shown); or a dict with the numbers of "
            "single categories. A pinned row holds as many as the longest pinned row of its category.",
            '{"grid", "shown"} or mapping',
            option="How many items a carousel of the ideal page holds: as many as the grid has columns (grid), or as "
            "its longest row in any of the layouts (shown); or 'Top 10=10' for a single category. Repeat for several.",
            form="<grid|shown|category=number>",
            example="'Top 10=10'",
        ),
    ] = "grid"
    split: SplitSetting = None
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
        check_types(self)
        object.__setattr__(self, "by", _column_names(self.by))
        object.__setattr__(self, "capacity", _checked_capacity(self.capacity))
        require_float("tolerance", self.tolerance, at_least=0, below=1)
        require_float("work", self.work, at_least=0, at_most=_MOST_WORK)
        require_float("memory", self.memory, above=0, at_most=1e9)
        if self.split == "":
            raise ParameterError(f"{setting('split')} must be a separator such as '|', found ''.")
        if self.threads is not None:
            require_int("threads", self.threads, 1)

    @classmethod
    def choices(cls) -> dict[str, tuple[str, ...]]:
        """The settings that are one of several words, and the words."""
        types = {setting.name: setting_type(setting) for setting in fields(cls)}
        return {name: get_args(kind) for name, kind in types.items() if get_origin(kind) is Literal}

    @cached_property
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
    gain: GainName | "GainFunction"
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


def _checked_capacity(capacity: Any) -> Any:
    """A word, or a dict of plain categories and integers."""
    if not isinstance(capacity, Mapping):
        if capacity not in ("grid", "shown"):
            hint = did_you_mean(str(capacity), ("grid", "shown"))
            raise ParameterError(
                f"{setting('capacity')} must be 'grid', 'shown' or a dict such as {{'Top 10': 10}}, found "
                f"{capacity!r}.{hint}"
            )
        return capacity
    return {
        int(category) if isinstance(category, Integral) else str(category): require_int(
            f"{setting('capacity')} of {category!r}", room, 1
        )
        for category, room in capacity.items()
    }


def _column_names(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """``by`` as a tuple of columns."""
    if by is None or isinstance(by, str):
        return () if by is None else (by,)
    if not isinstance(by, Sequence) or not all(isinstance(column, str) for column in by):
        raise ParameterError(f"{setting('by')} must be the name of a column, or a list of names, found {by!r}.")
    return tuple(by)
