"""From tables to scores: ``evaluate`` for one system, ``Evaluator`` for many systems judged by the same truth."""

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError, DataWarning, ParameterError
from carouseval.evaluation import flaws, membership, schema
from carouseval.evaluation.ids import NONE, Codes, Ids
from carouseval.evaluation.membership import Membership
from carouseval.evaluation.pages import Layouts, Progress, ShownPages, read_layouts
from carouseval.evaluation.policies import Policies
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring import Scorer
from carouseval.evaluation.truth import Truth, read_truth
from carouseval.metric.checks import number
from carouseval.metric.gains import Gain, check_gain, gain_name
from carouseval.metric.grid import RECGAZE, Array, Grid
from carouseval.metric.names import AnyMetric, PageFunction, metric
from carouseval.metric.score import ratio
from carouseval.tables import TableLike

MetricLike = str | PageFunction | AnyMetric
Grids = Grid | Mapping[Any, Grid]
_NO_CATEGORY = (
    "no table says which category an item belongs to, and the ideal page needs it. Give items (item_id, category), or a "
    "column category in layouts; or ask for candidates='displayed', which judges the arrangement alone."
)


class Evaluator:
    """Judges many layouts by the same judgments; ideals are computed once.

    Takes what :func:`evaluate` takes, except the layouts. ``items`` is needed for category ideals of judged items: the
    denominator must not depend on which system comes first; :func:`items_of` collects it from several layouts.
    """

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
        memory: float = 2.0,
    ) -> None:
        self.policies = Policies(candidates, duplicates, missing_pages, no_relevant, unjudged, invalid)
        self.metrics = _metrics(metrics)
        self.gain = check_gain(gain)
        self.by = (by,) if isinstance(by, str) else tuple(by or ())
        self.grids = _grids(grid, self.by)
        self.weight, self.columns = weight, columns
        self.memory = number("memory", memory, above=0)
        self._sources = {"judgments": judgments} | ({} if items is None else {"items": items})
        self._truth: Truth | None = None
        self._membership: Membership | None = None
        self._segment_ids = {name: Ids() for name in self.by}
        self._scorers: dict[tuple[str, Grid], Scorer] = {}
        self._items_from_layouts = False

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
            found = Found(len(opened.layouts), self)
            for shown in opened.shown():
                found.add(shown, opened)
            return found.evaluation(opened)

    @contextlib.contextmanager
    def open(self, layouts: TableLike, progress: Progress = None) -> Iterator["Opened"]:
        """A system's pages, read and checked, ready to be scored; for use in a ``with`` block."""
        tables = schema.open_tables({"layouts": layouts} | self._sources, self.columns, self.by, self.weight)
        if self._truth is None:
            self._truth = read_truth(tables["judgments"], self.by, self.weight, self._segment_ids)
            if "items" in tables:
                codes = self._truth.users, self._truth.items, self._truth.categories
                self._membership = membership.from_table(tables["items"], *codes)
        labelled = "category" in tables["layouts"]
        if self.needs_categories and self._membership is None and not (labelled and self._items_from_layouts):
            if labelled:
                raise ParameterError("an Evaluator of category ideals needs items; items_of(layouts, ...) collects them.")
            raise DataError(_NO_CATEGORY)
        want_pairs = self._membership is None and labelled
        with read_layouts(
            tables["layouts"], self.truth, self.by, self.weight, self._segment_ids, self.memory, want_pairs, progress
        ) as read:
            seen = self._membership
            if seen is None and read.pairs is not None and self._items_from_layouts:
                seen = membership.from_layouts(read.pairs, self.truth.categories)
            yield Opened(self, read, seen, progress)

    def gains(self, one: AnyMetric) -> Array:
        """What every judgment gains by a metric."""
        return self.truth.gains(self.gain if one.gain is None else one.gain)

    def scorer(self, name: str, grid: Grid, seen: Membership | None) -> Scorer:
        """The scorer of a metric on a grid; it keeps the ideals it has computed."""
        if (name, grid) not in self._scorers:
            one = self.metrics[name]
            self._scorers[name, grid] = Scorer(one, grid, self.truth, seen, self.policies, self.gains(one))
        return self._scorers[name, grid]

    def config(self, layouts: Layouts, seen: Membership | None) -> dict[str, Any]:
        """Everything in force, as plain values."""
        grids = {str(key): str(grid) for key, grid in self.grids.items()}
        return {
            "metrics": {name: str(one) for name, one in self.metrics.items()},
            "discounts": {name: str(one.discount) for name, one in self.metrics.items() if one.discount is not None},
            "grid": grids if isinstance(next(iter(self.grids), None), str) else grids["None"],
            "gain": gain_name(self.gain),
            **asdict(self.policies),
            "items": "none" if seen is None else seen.source,
            "judgments": "per page" if self.truth.per_page else "per user",
            "by": list(self.by),
            "weight": self.weight,
            "memory_gib": self.memory,
        }


@dataclass(frozen=True)
class Opened:
    """A system's pages, packed, with what they are judged by."""

    evaluator: Evaluator
    layouts: Layouts
    membership: Membership | None
    progress: Progress

    def grid_of(self) -> tuple[list[Grid], NDArray[np.uint8]]:
        """The grids in use, and which of them every page has."""
        grids = self.evaluator.grids
        if None in grids:
            return [grids[None]], np.zeros(len(self.layouts), np.uint8)
        segment = self.segment(self.evaluator.by[0])
        values = self.evaluator._segment_ids[self.evaluator.by[0]].values().to_list()
        index = {name: at for at, name in enumerate(grids)}
        unknown = sorted({values[code] for code in np.unique(segment) if code != NONE} - index.keys())
        if unknown:
            raise DataError(
                f"layouts: {self.evaluator.by[0]} has {', '.join(map(repr, unknown[:5]))}, for which grid names no screen; "
                f"it has {', '.join(map(repr, index))}."
            )
        of_code = np.array([index.get(value, 0) for value in values], np.uint8)
        return list(grids.values()), np.where(segment == NONE, 0, of_code[np.where(segment == NONE, 0, segment)])

    def segment(self, name: str) -> Codes:
        """Every page's segment: as its own lines say, else as its judgments do."""
        if name in self.layouts.segments:
            return self.layouts.segments[name]
        return _of_truths(self.evaluator.truth.segments[name], self.layouts.truths(), NONE)

    def shown(self) -> Iterator[ShownPages]:
        """All pages; what the policies refuse is raised."""
        evaluator, layouts = self.evaluator, self.layouts
        counts = np.zeros(len(evaluator.truth.relevance), np.uint8)
        for one in evaluator.metrics.values():
            counts |= (evaluator.gains(one) > 0).astype(np.uint8)
        grids, grid_of = self.grid_of()
        for shown in layouts.shown(counts, self.membership, grids, grid_of, self.progress):
            self._refuse(shown, grids, grid_of)
            yield shown

    def _refuse(self, shown: ShownPages, grids: list[Grid], grid_of: NDArray[np.uint8]) -> None:
        policies = self.evaluator.policies
        for flaw in flaws.FLAWS:
            refused = flaw.severity == "error" or (flaw.severity == "invalid" and policies.invalid == "error")
            marked = shown.pages[(shown.flaws & flaw.bit) > 0]
            if refused and len(marked):
                raise DataError(
                    str(flaws.describe(flaw, self.layouts, marked, self.membership, lambda page: grids[grid_of[page]]))
                )
        for policy, found, what, remedy in (
            ("duplicates", shown.duplicates, "an item twice", "Drop the repeats, or use duplicates='best'."),
            ("unjudged", shown.unjudged, "an item without a judgment", "Judge it, or use unjudged='zero'."),
        ):
            if getattr(policies, policy) == "error" and found.any():
                pages = shown.pages[found > 0]
                raise DataError(
                    f"layouts: {len(pages):,} page{'s show' if len(pages) > 1 else ' shows'} {what}, "
                    f"first {self.name(pages)}. {remedy}"
                )

    def name(self, pages: NDArray[np.int64]) -> str:
        """The first of some pages, in the order of ids."""
        names = self.names(pages).sort(pl.all()).row(0, named=True)
        return " ".join(f"{key}={value!r}" for key, value in names.items() if value is not None)

    def names(self, pages: NDArray[np.int64]) -> pl.DataFrame:
        """The ids of pages."""
        users = self.evaluator.truth.users.values().gather(self.layouts.user()[pages]).alias("user_id")
        if self.layouts.pages is None or self.layouts.page_ids is None:
            return pl.DataFrame([users])
        page = self.layouts.page_ids.values().gather(self.layouts.pages.pairs()[1][pages]).alias("page_id")
        return pl.DataFrame([users, page])


def _of_truths(values: Any, truths: Codes, nothing: Any) -> Any:
    """A truth's value for every page; pages may have no truth."""
    known = truths < len(values)
    out = np.full(len(truths), nothing, dtype=values.dtype)
    out[known] = values[truths[known]]
    return out
