"""What a user may choose of making pages and judgments: lists of settings, as of evaluations.

To add one, add a field here, and its name and type to the dict below the list; then write the code that acts on it. The
function that takes the list, and its command, have it from then on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypedDict

from carouseval.errors import ParameterError
from carouseval.evaluation.settings import (
    Capacity,
    ColumnNames,
    ColumnNamesSetting,
    Invalid,
    Metrics,
    Settings,
    SplitSetting,
    default_grid,
)
from carouseval.messages import setting
from carouseval.metrics.gain_names import GainName
from carouseval.settings import Doc, check_types, only
from carouseval.validation import require_float, require_int

if TYPE_CHECKING:  # the command line reads these lists before it needs NumPy
    from carouseval.metrics.gains import GainFunction
    from carouseval.metrics.grid import Grid
    from carouseval.tables.sources import TableLike

CategoryOrder: TypeAlias = Literal["remaining", "best", "mean", "sum", "fixed"]
"""How the categories of a page are ordered, from the top row down."""
Combine: TypeAlias = Literal["sum", "max", "last"]
"""How the lines of a user and an item become one value."""

_LARGEST_VALUE = 1e16  # sums of billions of such lines fit into the fixed-point numbers of event_log.py


@dataclass(frozen=True, kw_only=True)
class PageSettings:
    """How pages are made of scores."""

    grid: Annotated[
        "Grid",
        Doc(
            "The screen to fill.",
            default="RECGAZE",
            option="Pages have at most its rows and columns.",
            form="<grid>",
        ),
    ] = field(default_factory=default_grid)
    order: Annotated[
        CategoryOrder,
        Doc(
            "Which category comes first. 'remaining' chooses the rows from the top: each row goes to the category "
            "whose items not shown above score best there (see Notes). The others count all scores of a category, also "
            "those of items that another row shows: 'best' orders by the largest score, 'mean' and 'sum' by the mean "
            "or sum of the ``grid.cols`` best scores, and 'fixed' as listed in ``categories``.",
            option="Which category comes first: by its scores of items not shown above (remaining), by its largest "
            "score (best), by the mean or sum of its best scores, or as listed by --categories (fixed).",
        ),
    ] = "remaining"
    categories: Annotated[
        Sequence[Any] | None,
        Doc(
            "The categories that may be shown, by default all; with ``order='fixed'`` from the top row down.",
            "sequence of str or int",
            option="Category that may be shown; with --order fixed from the top row down. Default: all. Repeat for "
            "several.",
            form="<category>",
            flags=("--category",),
        ),
    ] = None
    pinned: Annotated[
        Mapping[Any, int] | None,
        Doc(
            'Categories with a fixed row, from 1: ``{"Continue watching": 1}``. They need not be listed in '
            "``categories``. If a user lacks a pinned category, the next category takes its row; if there are too few "
            "rows above, the pinned row moves up, as no page skips a row. The result then has a column ``pinned``.",
            "dict of category to int",
            option="Category with a fixed row, from 1: 'Continue watching=1'. Repeat for several.",
            form="<category=row>",
            example="'Continue watching=1'",
        ),
    ] = None
    unique_items: Annotated[
        bool,
        Doc(
            "Whether an item appears only once on a page: rows are filled from the top, and a row skips the items "
            "shown above it. If False, an item appears in the row of each of its categories.",
            option="Show an item once on a page, on the highest of its rows, or in each of its categories.",
        ),
    ] = True
    min_items: Annotated[
        int,
        Doc(
            "The fewest items of a row. A category with fewer items left for a user is skipped.",
            option="Fewest items of a row; a shorter one is left out.",
        ),
    ] = 1
    columns: ColumnNamesSetting = None
    split: SplitSetting = None

    def __post_init__(self) -> None:
        require_int("min_items", self.min_items, 1)
        check_types(self)


class PageSettingsDict(TypedDict, total=False):
    """All but the grid, which may be given by position, for type checkers."""

    order: CategoryOrder
    categories: Sequence[Any] | None
    pinned: Mapping[Any, int] | None
    unique_items: bool
    min_items: int
    columns: ColumnNames
    split: str | None


@dataclass(frozen=True, kw_only=True)
class EventSettings:
    """How a log of events becomes judgments."""

    value: Annotated[
        str | None,
        Doc(
            "The column of values: minutes, a rating, a share watched. Without it every line counts 1, so that the sum "
            "is the number of events, and 'max' and 'last' give 1.",
            option="Column of values, such as minutes or rating. Default: every line counts 1.",
        ),
    ] = None
    combine: Annotated[
        Combine,
        Doc(
            "What becomes of several lines: their sum (to the nearest millionth, whatever their order), the largest "
            "value, or the value of the latest line by ``time`` (of lines at the same time, the last in the table).",
            option="What becomes of several lines of a user and an item: their sum, the largest, or the last by time.",
        ),
    ] = "sum"
    grades: Annotated[
        Sequence[float] | None,
        Doc(
            "Thresholds of the combined value, increasing: ``(1, 10, 45)`` gives relevance 0 below 1, 1 from 1 up to "
            "but not including 10, 2 from 10, and 3 from 45. Without grades and quantiles, the combined value is the "
            "relevance.",
            "sequence of float",
            option="Thresholds: 1,10,45 gives relevance 0 below 1, 1 from 1, 2 from 10, 3 from 45. Default: the value "
            "itself is the relevance.",
            form="<numbers>",
            example="1,10,45",
        ),
    ] = None
    quantiles: Annotated[
        Sequence[float] | None,
        Doc(
            "Thresholds by share, increasing, from 0 up to but not including 1: quantiles of the positive combined "
            "values (interpolated as by ``numpy.quantile``). ``(0, 0.5, 0.9)`` gives relevance 1 to the lower half of "
            "the positive values, 2 from the median, and 3 to the top tenth.",
            "sequence of float",
            option="Thresholds by quantiles of the positive values: 0,0.5,0.9 gives relevance 3 to the top tenth.",
            form="<numbers>",
            example="0,0.5,0.9",
        ),
    ] = None
    event_relevance: Annotated[
        Mapping[str, float | None] | None,
        Doc(
            "Events with a relevance of their own, whatever their value: "
            '``{"add_to_list": 2, "thumbs_down": 0}``. The larger of this relevance and that of the other lines holds, '
            "but 0 is a dislike and overrides all else. With ``combine='last'``, the latest line holds in any case. "
            'None leaves an event out: ``{"impression": None}``. The values of all other events count.',
            "dict of str to float",
            option="Relevance of an event whatever its value: add_to_list=2. An event of relevance 0, such as a thumbs "
            "down, overrides all others, unless --combine is last; none leaves an event out. Repeat for several.",
            form="<event=relevance>",
            example="thumbs_down=0",
        ),
    ] = None
    at_least: Annotated[
        float, Doc("Lines with a smaller value are excluded.", option="Exclude lines with a smaller value.")
    ] = 0
    at_most: Annotated[
        float | None,
        Doc(
            "Lines with a larger value are excluded: 1440, say, if a line holds the minutes of one day. By default "
            "1e16.",
            option="Exclude lines with a larger value. Default: 1e16.",
        ),
    ] = None
    per_page: Annotated[
        bool,
        Doc(
            "Whether judgments hold for a page only: one relevance per ``user_id``, ``page_id`` and ``item_id``.",
            option="Make one judgment per user, page_id and item.",
        ),
    ] = False
    columns: Annotated[
        ColumnNames,
        Doc(
            'The names of your columns: ``{"user_id": "customer", "event": "action", "time": "timestamp"}``.',
            "dict",
            option="Your name for a column: user_id=customer. Repeat for several.",
            form="<ours=yours>",
            flags=("--column",),
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.grades is not None and self.quantiles is not None:
            raise ParameterError(
                f"{setting('quantiles')}: give {setting('grades')} or {setting('quantiles')}, not both."
            )
        if not (self.value is None or (isinstance(self.value, str) and self.value)):
            raise ParameterError(f"{setting('value')} must be the name of a column, found {self.value!r}.")
        if not isinstance(self.event_relevance, Mapping | None):
            raise ParameterError(
                f"{setting('event_relevance')} must be a dict such as {{'thumbs_down': 0}}, found "
                f"{self.event_relevance!r}."
            )
        relevances = {
            str(name): None
            if relevance is None
            else require_float(f"{setting('event_relevance')}: the relevance of {name!r}", relevance, at_least=0)
            for name, relevance in (self.event_relevance or {}).items()
        }
        if self.value is None and (self.at_least != 0 or self.at_most is not None):
            limit = "at_most" if self.at_least == 0 else "at_least"
            raise ParameterError(
                f"{setting(limit)}: without a column of values every line counts 1. Name the column in "
                f"{setting('value')}."
            )
        at_least = require_float("at_least", self.at_least, at_least=0, at_most=_LARGEST_VALUE)
        at_most = _LARGEST_VALUE if self.at_most is None else self.at_most
        at_most = require_float("at_most", at_most, at_least=at_least, at_most=_LARGEST_VALUE)
        check_types(self)
        for name, value in {"event_relevance": relevances, "at_least": at_least, "at_most": at_most}.items():
            object.__setattr__(self, name, value)


class EventSettingsDict(TypedDict, total=False):
    """All but the column of values, which may be given by position, for type checkers."""

    combine: Combine
    grades: Sequence[float] | None
    quantiles: Sequence[float] | None
    event_relevance: Mapping[str, float | None] | None
    at_least: float
    at_most: float | None
    per_page: bool
    columns: ColumnNames


class CandidateSettingsDict(TypedDict, total=False):
    """The settings of evaluations that hold for candidate carousels, too."""

    metrics: Metrics
    grid: "Grid"
    gain: GainName | "GainFunction"
    invalid: Invalid
    columns: ColumnNames
    carousels: "TableLike | None"
    capacity: Capacity
    split: str | None
    tolerance: float
    work: float


CANDIDATE_SETTINGS = only(
    Settings,
    *CandidateSettingsDict.__annotations__,
    metrics="One metric: N2DCG_cat, N2DCG or 2DCG, with any discount and cutoff, such as 'N2DCG_cat(d_rpb)@3x5'.",
    grid=Annotated["Grid", Doc("The screen.", default="RECGAZE", form="<grid>")],
    invalid="A page that is invalid, as in an evaluation, and a candidate with items outside its category or beyond "
    "its capacity are errors, or are counted and scored as they are.",
    capacity="How many items a carousel of the ideal page holds, as in an evaluation: as many as the grid has columns "
    "(grid), or as its longest row in layouts and candidates (shown); or the numbers of single categories.",
)
"""What ``marginal_gains`` and ``build_pages`` take."""
