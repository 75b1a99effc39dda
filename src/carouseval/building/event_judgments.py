"""Judgments out of a log of events: plays, minutes, ratings and thumbs become one relevance per user and item."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from carouseval.building.event_log import EventLog, EventRules
from carouseval.building.event_tables import excluded_table, fell_where, grade_table
from carouseval.building.run_files import with_integer_ids
from carouseval.building.settings import Combine, EventSettings, EventSettingsDict
from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation.notices import number
from carouseval.messages import setting
from carouseval.metrics.gains import LARGEST_GRADE
from carouseval.progress import Progress
from carouseval.results import Result
from carouseval.settings import checked_settings, in_force, takes
from carouseval.tables.table import TableLike
from carouseval.tables.writing import TABLES, write_frame
from carouseval.text_tables import TextTable
from carouseval.validation import require_float


@dataclass(frozen=True, eq=False, repr=False)
class EventJudgments(Result):
    """Judgments made of events, and how many fell where; the result of :func:`carouseval.judgments_from_events`.

    It is itself a table of its judgments: pass it as ``judgments``, or to ``polars.DataFrame``.

    Attributes
    ----------
    judgments : polars.DataFrame
        ``user_id, item_id, relevance`` (and ``page_id``), sorted by ids: one line per user and item, for
        :func:`carouseval.evaluate` and the other functions that take judgments.
    table : polars.DataFrame
        How many fell where: ``relevance``, the values that get it (from ``from`` up to, but not including, ``to``), the
        number of judgments (``pairs``), how many of them a named event gave, rather than a value (``by_event``), their
        ``share``, and the number of ``users`` who have one. More than 20 different relevances without grades are listed
        by ranges of relevance.
    excluded : polars.DataFrame
        Lines that were not used: ``reason``, number of ``lines``, where the ``first`` is and its ``value``.
    counts : dict of str to int
        The numbers of lines read, lines excluded, judgments, relevant judgments (above 0), users and items.
    config : dict of str to object
        Every argument in force, and the ``thresholds`` that values were compared with.

    Examples
    --------
    >>> import carouseval as cv
    >>> events = {"user_id": [1, 1, 2], "item_id": [7, 7, 7], "minutes": [30, 25, 4]}
    >>> result = cv.judgments_from_events(events, "minutes", grades=(1, 10, 45))
    >>> result
    EventJudgments(2 judgments (2 relevant) of 2 users from 3 events)
    >>> result.table.select("relevance", "from", "to", "pairs").rows()
    [(0.0, 0.0, 1.0, 0), (1.0, 1.0, 10.0, 1), (2.0, 10.0, 45.0, 0), (3.0, 45.0, None, 1)]
    """

    judgments: pl.DataFrame
    table: pl.DataFrame
    excluded: pl.DataFrame
    counts: dict[str, int]
    config: dict[str, Any]

    @property
    def heading(self) -> str:
        counts = self.counts
        return (
            f"{number(counts['judgments'], 'judgment')} ({counts['relevant']:,} relevant) of "
            f"{number(counts['users'], 'user')} from {number(counts['lines'], 'event')}"
        )

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The judgments as an Arrow stream, as every function that takes a table reads them."""
        return self.judgments.__arrow_c_stream__(requested_schema)

    def to_frame(self) -> pl.DataFrame:
        """How many judgments fell where: the attribute ``table``."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """All but the judgments: ``results`` (the lines of the table), ``excluded``, ``counts`` and ``config``."""
        return {
            "results": self.table.to_dicts(),
            "excluded": self.excluded.to_dicts(),
            "counts": self.counts,
            "config": self.config,
        }

    def _text_tables(self) -> list[TextTable]:
        excluded = [excluded_table(self.excluded)] if self.excluded.height else []
        return [grade_table(self.table, self.config), *excluded]

    def save(self, path: str | Path) -> Path:
        """Write the judgments, or the table of how many fell where, completely or not at all.

        Parameters
        ----------
        path : str or Path
            Its ending chooses what is written: the judgments (``.parquet``, ``.csv``, ``.ndjson``), or how many fell
            where (``.json``, ``.md``, ``.tex``).

        Returns
        -------
        Path
            The path of the file.
        """
        if Path(path).suffix.lower() in TABLES:
            return write_frame(path, self.judgments)
        return super().save(path)


@takes(EventSettings)
def judgments_from_events(
    events: TableLike,
    value: str | None = None,
    *,
    progress: Progress | None = None,
    **settings: Unpack[EventSettingsDict],
) -> EventJudgments:
    """Turn a log of plays, minutes, ratings or thumbs into judgments, one relevance per user and item.

    The lines of a user and an item are combined into one value, thresholds turn the value into a grade, and events with
    a relevance of their own have the last word.

    Parameters
    ----------
    events : table or path
        ``user_id, item_id`` and a column of values, one line per event; with ``event_relevance`` also ``event``, with
        ``combine='last'`` also ``time`` (a number, or a date and time), with ``per_page`` also ``page_id``. Logs of any
        number of lines are read in batches; memory is needed for the users and items, not for the lines.
    progress : callable, optional
        Called with (what, done, total) while the log is read.

    Returns
    -------
    EventJudgments
        The judgments, how many fell where, and the lines that were excluded.

    Notes
    -----
    Values that mean nothing are excluded by name, counted in the result, and reported in one
    :class:`carouseval.DataWarning`: 'missing', 'not a number' (text), 'not finite' (NaN, infinity), 'negative', 'below
    at_least' and 'above at_most'. A user and an item without any other line get no judgment. Events that are left out
    are counted too, as 'event left out'.

    A :class:`carouseval.DataWarning` is also raised if events of several names count alike, as there is neither a
    column of values nor a relevance for any of them, and if values that are no grades become relevances above 10.

    Lines are not compared with each other: an exact repeat of a line counts like any other.

    Ids of text files such as CSV become integers if all ids of their column are. A log holds what was shown when it was
    written: items that no page offered have no events, and so no judgment.

    Examples
    --------
    >>> import carouseval as cv
    >>> events = {
    ...     "user_id": [1, 1, 1, 2, 2, 2],
    ...     "item_id": ["a", "a", "b", "a", "a", "c"],
    ...     "event": ["play", "play", "play", "play", "thumbs_down", "add_to_list"],
    ...     "minutes": [30, 25, 4, 90, None, None],
    ... }
    >>> result = cv.judgments_from_events(
    ...     events, "minutes", grades=(1, 10, 45), event_relevance={"add_to_list": 2, "thumbs_down": 0}
    ... )
    >>> result.judgments.rows()
    [(1, 'a', 3.0), (1, 'b', 1.0), (2, 'a', 0.0), (2, 'c', 2.0)]
    """
    rules = checked_settings("judgments_from_events", {"value": value, **settings}, EventRules)
    grades, quantiles = rules.grades, rules.quantiles
    limits = None if grades is None else _increasing("grades", grades, (1, 10, 45))
    shares = None if quantiles is None else _increasing("quantiles", quantiles, (0, 0.5, 0.9), below=1)
    table = rules.open(events)
    log = EventLog.read(table, rules, progress)
    if shares is not None:
        limits = _quantile_thresholds(log.pairs["value"], shares)
    grade = _grade(limits)
    relevance = _relevance(grade, rules.combine)
    pairs = log.pairs.select(*rules.keys, relevance.alias("relevance"), relevance.ne_missing(grade).alias("by_event"))
    if limits is None:
        _warn_of_large_values(pairs)
    judgments = pairs.drop("by_event")
    if table.is_text:
        judgments = with_integer_ids(judgments, *rules.keys)
    counts = {
        "lines": log.height,
        "excluded": int(log.excluded["lines"].sum()),
        "judgments": judgments.height,
        "relevant": int((judgments["relevance"] > 0).sum()),
        "users": judgments["user_id"].n_unique(),
        "items": judgments["item_id"].n_unique(),
    }
    config = in_force(rules) | {"grades": None if grades is None else limits, "quantiles": shares, "thresholds": limits}
    config |= {"columns": dict(rules.columns or {})}
    return EventJudgments(judgments, fell_where(pairs, limits), log.excluded, counts, config)


def _increasing(name: str, values: Any, example: tuple[float, ...], below: float = math.inf) -> list[float]:
    """Thresholds of at least 0, each larger than the one before."""
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray) or not len(values):
        raise ParameterError(f"{setting(name)} must be a list of numbers such as {example}, found {values!r}.")
    numbers = [require_float(f"{setting(name)}: each number", value, at_least=0) for value in values]
    for previous, threshold in itertools.pairwise(numbers):
        if threshold <= previous:
            raise ParameterError(f"{setting(name)} must increase, found {threshold:g} after {previous:g}.")
    if numbers[-1] >= below:
        raise ParameterError(f"{setting(name)} must be below {below:g}, found {numbers[-1]:g}.")
    return numbers


def _quantile_thresholds(values: pl.Series, quantiles: Sequence[float]) -> list[float]:
    """The quantiles of the positive values."""
    positive = values.filter(values > 0).to_numpy()
    if not len(positive):
        raise DataError(f"events: no combined value is positive, so there are no quantiles. Give {setting('grades')}.")
    thresholds = [float(threshold) for threshold in np.quantile(positive, quantiles)]
    same = [grade for grade in range(1, len(thresholds)) if thresholds[grade] == thresholds[grade - 1]]
    if same:
        first = same[0]
        warn(
            f"events: the quantiles {quantiles[first - 1]:g} and {quantiles[first]:g} are both "
            f"{thresholds[first]:g}, so no value gets relevance {first}. Use fewer {setting('quantiles')}, or give "
            f"{setting('grades')}."
        )
    return thresholds


def _grade(thresholds: Sequence[float] | None) -> pl.Expr:
    """The relevance of a pair by its combined value alone; null if it has none."""
    value = pl.col("value")
    if thresholds is None:
        return value
    reached = pl.sum_horizontal((value >= threshold).cast(pl.Float64) for threshold in thresholds)
    return pl.when(value.is_not_null()).then(reached)


def _relevance(grade: pl.Expr, combine: Combine) -> pl.Expr:
    """The relevance of a pair by the grade of its value and its events."""
    larger = pl.max_horizontal(grade, "most")  # with "last" there is only one of the two
    return larger if combine == "last" else pl.when(pl.col("least") == 0).then(0.0).otherwise(larger)


def _warn_of_large_values(pairs: pl.DataFrame) -> None:
    """Warn of values that are too large to be grades."""
    largest = pairs.filter(~pl.col("by_event"))["relevance"].to_numpy().max(initial=0)
    if largest > LARGEST_GRADE:
        warn(
            f"events: without {setting('grades')} or {setting('quantiles')}, values are relevances, up to "
            f"{largest:g}; with {setting('gain', 'exp2', of='evaluate')} one above {LARGEST_GRADE} outweighs all "
            f"others. Give {setting('grades', (1, 10, 45))} or {setting('quantiles', (0, 0.5, 0.9))}, or use "
            f"{setting('gain', 'linear', of='evaluate')} when evaluating."
        )
