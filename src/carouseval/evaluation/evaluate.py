"""From tables to scores: ``evaluate`` for one system, ``Evaluator`` for many systems judged by the same truth."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import membership, schema
from carouseval.evaluation.found import Found
from carouseval.evaluation.ids import Ids
from carouseval.evaluation.judgments import Truth, read_truth
from carouseval.evaluation.layouts import Progress, read_layouts
from carouseval.evaluation.membership import Membership
from carouseval.evaluation.opened import Opened
from carouseval.evaluation.policies import Policies
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring import Scorer
from carouseval.metrics.gains import Gain, check_gain, gain_name
from carouseval.metrics.grid import RECGAZE, Array, Grid
from carouseval.metrics.names import AnyMetric, MetricLike, metric
from carouseval.metrics.validation import require_float
from carouseval.tables import Table, TableLike, agree_on_ids, in_memory

Grids = Grid | Mapping[Any, Grid]
NO_CATEGORY = (
    "no table says which category an item belongs to, and the ideal page needs it. Give items (item_id, category), or "
    "a column category in layouts; or ask for candidates='displayed', which judges the arrangement alone."
)


class Evaluator:
    """Judges many layouts by the same judgments; ideals are computed once.

    Takes what :func:`evaluate` takes, except the layouts. ``items`` is needed for category ideals of judged items: the
    denominator must not depend on which system comes first; :func:`items_of` collects it from several layouts.
    """

    items_from_layouts: ClassVar[bool] = False  # where there are no items, whether pages tell the categories
    needs_judgments: ClassVar[bool] = True

    def __init__(
        self,
        judgments: TableLike,
        items: TableLike | None = None,
        metrics: Sequence[MetricLike] | MetricLike = ("N2DCG_cat",),
        grid: Grids = RECGAZE,
        gain: Gain = "exp2",
        candidates: str = "judged",
        duplicates: str = "best",
        missing_pages: str = "zero",
        no_relevant: str = "skip",
        unjudged: str = "zero",
        invalid: str = "error",
        by: str | Sequence[str] | None = None,
        columns: schema.ColumnNames = None,
        *,
        weight: str | None = None,
        memory: float = 4.0,
    ) -> None:
        self.policies = Policies(candidates, duplicates, missing_pages, no_relevant, unjudged, invalid)
        self.metrics = _metrics(metrics)
        self.gain = check_gain(gain)
        self.by = segment_names(by)
        self.grids = _grids(grid, self.by)
        _check_clashes(self.by, self.metrics)
        self.weight, self.columns = weight, columns
        self.memory = require_float("memory", memory, above=0, at_most=1e9)
        self._sources = {"judgments": in_memory(judgments, "judgments")}
        if items is not None:
            self._sources["items"] = in_memory(items, "items")
        self._id_types: dict[str, pl.DataType] = {}  # settled by the first layouts
        self._truth: Truth | None = None
        self._membership: Membership | None = None
        self.segment_ids = {name: Ids() for name in self.by}
        self._scorers: dict[tuple[str, Grid], Scorer] = {}
        self._gains: dict[str | int, Array] = {}

    def use_items(self, items: TableLike) -> None:
        """Take items after all, before anything was judged."""
        assert self._truth is None
        self._sources["items"] = in_memory(items, "items")

    @property
    def truth(self) -> Truth:
        """The judgments, once they have been read."""
        assert self._truth is not None
        return self._truth

    @property
    def needs_categories(self) -> bool:
        """Whether some ideal page must know what belongs to which category."""
        judged = self.policies.candidates == "judged"
        return judged and any(one.ideal == "category" for one in self.metrics.values())

    def evaluate(self, layouts: TableLike, progress: Progress = None) -> Evaluation:
        """Score one system's pages."""
        with self.open(layouts, progress) as opened:
            found = Found(opened)
            for shown in opened.shown():
                found.add(shown)
            return found.evaluation()

    @contextlib.contextmanager
    def open(self, layouts: TableLike, progress: Progress = None, *, canonical: bool = False) -> Iterator[Opened]:
        """A system's pages, read and checked, ready to be scored; for use in a ``with`` block.

        Layouts are ``canonical`` where their columns go by our names already.
        """
        tables = self.tables(layouts, canonical=canonical)
        if self._truth is None:
            truth = read_truth(tables["judgments"], self.by, self.weight, self.segment_ids, needed=self.needs_judgments)
            if "items" in tables:
                codes = truth.users, truth.items, truth.categories
                self._membership = membership.from_table(tables["items"], *codes)
            self._truth = truth
            self._id_types = {name: kind for table in tables.values() for name, kind in table.id_types.items()}
        labelled = "category" in tables["layouts"]
        if self.needs_categories and self._membership is None and not (labelled and self.items_from_layouts):
            if labelled:
                raise ParameterError(
                    "an Evaluator of category ideals needs items; items_of(layouts, ...) collects them."
                )
            raise DataError(NO_CATEGORY)
        want_pairs = self._membership is None and labelled
        with read_layouts(
            tables["layouts"], self.truth, self.by, self.weight, self.segment_ids, self.memory, want_pairs, progress
        ) as read:
            seen = self._membership
            if seen is None and read.pairs is not None and self.items_from_layouts:
                seen = membership.from_layouts(read.pairs, self.truth.categories)
            yield Opened(self, read, seen, progress)

    def tables(self, layouts: TableLike, *, canonical: bool = False) -> dict[str, Table]:
        """All tables, opened and agreed on ids; layouts that come later take the types that ids have had."""
        sources = {"layouts": in_memory(layouts, "layouts")} | self._sources
        ours = ("layouts",) if canonical else ()
        return schema.open_tables(sources, self.columns, self.by, self.weight, self._id_types, ours)

    def gains(self, one: AnyMetric) -> Array:
        """What every judgment gains by a metric."""
        gain = self.gain if one.gain is None else one.gain
        key = gain if isinstance(gain, str) else id(gain)  # a function need not be hashable
        if key not in self._gains:
            self._gains[key] = self.truth.gains(gain)
        return self._gains[key]

    def scorer(self, name: str, grid: Grid, seen: Membership | None) -> Scorer:
        """The scorer of a metric on a grid; it keeps the ideals it has computed, by the categories it first saw."""
        if (name, grid) not in self._scorers:
            one = self.metrics[name]
            self._scorers[name, grid] = Scorer(one, grid, self.truth, seen, self.policies, self.gains(one))
        return self._scorers[name, grid]

    def config(self, seen: Membership | None) -> dict[str, Any]:
        """Everything in force, as plain values."""
        grids = {key: asdict(grid) for key, grid in self.grids.items()}
        return {
            "metrics": {name: str(one) for name, one in self.metrics.items()},
            "discounts": {name: str(one.discount) for name, one in self.metrics.items() if one.discount is not None},
            "grid": grids.get(None) or grids,
            "gain": gain_name(self.gain),
            **asdict(self.policies),
            "items": "none" if seen is None else seen.source,
            "judgments": "per page" if self.truth.per_page else "per user",
            "by": list(self.by),
            "weight": self.weight,
            "memory_gib": self.memory,
        }


class OneSystem(Evaluator):
    """Judges a single system: where there are no items, what its own pages show tells the categories."""

    items_from_layouts = True


def segment_names(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """``by`` as a tuple of columns."""
    if by is None or isinstance(by, str):
        return () if by is None else (by,)
    if not isinstance(by, Sequence) or not all(isinstance(one, str) for one in by):
        raise ParameterError(f"by must be a column's name or a list of several, found {by!r}.")
    return tuple(by)


def _check_clashes(by: tuple[str, ...], metrics: Mapping[str, AnyMetric]) -> None:
    """Segments must not go by the names of the results' own columns."""
    for name in metrics:
        taken = {name, *(f"{name}.{part}" for part in ("dcg", "ideal", "ideal_found", "bounded", "low", "high"))}
        if clash := taken & set(by):
            raise ParameterError(
                f"by={min(clash)!r} is a name that results use themselves; give the column another name."
            )


def _metrics(asked: Sequence[MetricLike] | MetricLike) -> dict[str, AnyMetric]:
    """Metrics by the names asked for."""
    if isinstance(asked, set | frozenset | bytes | Iterator) or hasattr(asked, "__array__"):
        raise ParameterError(f"metrics must be a name or a list of names, found {type(asked).__name__}.")
    several = asked if isinstance(asked, Sequence) and not isinstance(asked, str) else [asked]
    metrics: dict[str, AnyMetric] = {}
    for one in several:
        parsed = metric(one)
        name = one.strip() if isinstance(one, str) else str(parsed)
        if name in metrics:
            raise ParameterError(f"metrics: {name} is asked for twice.")
        if name in schema.RESERVED:
            raise ParameterError(f"metrics: {name!r} is a name that results use themselves; rename the function.")
        metrics[name] = parsed
    if not metrics:
        raise ParameterError("metrics: none is asked for; name at least one, such as 'N2DCG_cat'.")
    return metrics


def _grids(grid: Grids, by: tuple[str, ...]) -> dict[str | None, Grid]:
    """The one grid under None, or the grid of each value of ``by``."""
    grids: dict[str | None, Grid] = {}
    if isinstance(grid, Mapping):
        if len(by) != 1:
            raise ParameterError("grid: several grids need by='column', whose values say which page has which.")
        grids = {_as_text(key): each for key, each in grid.items()}
    else:
        grids = {None: grid}
    for each in grids.values():
        if not isinstance(each, Grid):
            raise ParameterError(f"grid must be a carouseval.Grid, or a dict of them, found {type(each).__name__}.")
        if each.rows > schema.MOST_ROWS or each.cols > schema.MOST_COLS:
            raise ParameterError(
                f"grid: at most {schema.MOST_ROWS:,} rows and {schema.MOST_COLS:,} columns, found {each}."
            )
    if not grids or len(grids) > 255:
        raise ParameterError(f"grid: from 1 to 255 grids, found {len(grids)}.")
    return grids


def _as_text(value: Any) -> str:
    """A segment's value as columns of any type are read."""
    if value is None:
        return "(none)"
    return str(value).lower() if isinstance(value, bool) else str(value)


def evaluate(
    layouts: TableLike,
    judgments: TableLike,
    items: TableLike | None = None,
    metrics: Sequence[MetricLike] | MetricLike = ("N2DCG_cat",),
    grid: Grids = RECGAZE,
    gain: Gain = "exp2",
    candidates: str = "judged",
    duplicates: str = "best",
    missing_pages: str = "zero",
    no_relevant: str = "skip",
    unjudged: str = "zero",
    invalid: str = "error",
    by: str | Sequence[str] | None = None,
    columns: schema.ColumnNames = None,
    *,
    weight: str | None = None,
    memory: float = 4.0,
    progress: Progress = None,
) -> Evaluation:
    """Score a system's pages.

    Parameters
    ----------
    layouts
        Lines of ``user_id, row, col, item_id`` (+ ``page_id, category, pinned``), or one line per carousel with a list
        ``items`` in place of ``col, item_id``. Polars, pandas, PyArrow, DuckDB, a dict of columns, or a path or pattern
        (``.parquet .csv .ndjson``).
    judgments
        Lines of ``user_id, item_id, relevance`` (+ ``page_id``).
    items
        Lines of ``item_id, category``, one per membership (+ ``user_id``, null for everyone). Left out: the pairs
        seen in layouts.
    metrics, grid, gain
        Metric names; the screen, or one for each value of ``by``; ``"exp2"``, ``"linear"`` or a function.
    candidates, duplicates, missing_pages, no_relevant, unjudged, invalid
        See :class:`carouseval.evaluation.policies.Policies`.
    by
        Columns of layouts (or judgments) whose values are judged apart as well.
    columns
        What you call the columns: ``{"user_id": "customer"}``, or the same under a table's name.
    weight
        A column with the weight of each page (in layouts) or user (in judgments); a user weighs what its pages weigh on
        average.
    memory
        GiB for the lines of layouts; what does not fit goes through temporary files, with the same results.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [10, 11, 12],
    ...            "category": ["new", "new", "drama"]}
    >>> judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    >>> result = cv.evaluate(layouts, judgments)
    >>> round(result.mean["N2DCG_cat"], 4)
    0.8715
    """
    evaluator = OneSystem(
        judgments, items, metrics, grid, gain, candidates, duplicates, missing_pages, no_relevant, unjudged, invalid,
        by, columns, weight=weight, memory=memory,
    )  # fmt: skip
    return evaluator.evaluate(layouts, progress)


def items_of(*layouts: TableLike, columns: schema.ColumnNames = None) -> pl.DataFrame:
    """The (item, category) pairs that layouts show, as an items table for an :class:`Evaluator`.

    >>> items_of({"user_id": [1, 2], "row": [1, 1], "col": [1, 1], "item_id": [7, 7], "category": ["a", "a"]}).rows()
    [(7, 'a')]
    """
    if not layouts:
        raise ParameterError("items_of needs at least one table of layouts.")
    opened = []
    for one in layouts:
        table = schema.open_tables({"layouts": in_memory(one, "layouts")}, columns)["layouts"]
        if "category" not in table:
            raise DataError("layouts: missing column category, which items_of collects.")
        opened.append(table)
    agreed = agree_on_ids(opened)
    pairs = [batch.select("item_id", "category").unique() for table in agreed for batch in table.batches()]
    if not pairs:
        raise DataError("layouts: the tables are empty, and show no item.")
    return pl.concat(pairs).unique().sort("item_id", "category")
