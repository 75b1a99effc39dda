"""What is counted while pages are scored. Tallies of different users add up, wherever they were counted."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.category_facts import is_unknown
from carouseval.evaluation.defects import page_defects
from carouseval.evaluation.defects.defect_lines import FoundDefect, find_defect
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring.ideal_problems import categorised_items
from carouseval.evaluation.scoring.page_scores import PageScores, gaps
from carouseval.evaluation.table_matching import TableMatch
from carouseval.metrics.gains import LARGEST_GRADE

COUNTS = {
    "users": ("user", "users"),
    "pages": ("page", "pages"),
    "lines": ("line", "lines"),
    "missing": ("missing page", "missing pages"),
    "no_relevant": ("page without a relevant item", "pages without a relevant item"),
    "no_category": (
        "page left out: no relevant item has a category",
        "pages left out: no relevant item has a category",
    ),
    "duplicates": ("repeated item", "repeated items"),
    "unjudged": ("item shown without a judgment", "items shown without a judgment"),
    "uncategorised": ("judged item without a category", "judged items without a category"),
    "personal": ("personal category", "personal categories"),
    "limited": ("category of limited capacity", "categories of limited capacity"),
    "invalid": ("invalid page", "invalid pages"),
    "gaps": ("page with gaps", "pages with gaps"),
    "bounded": ("ideal not proven optimal", "ideals not proven optimal"),
    "above_ideal": ("page above its ideal", "pages above their ideal"),
}  # what is counted, and how one and several are worded


@dataclass(frozen=True)
class Relevances:
    """How many judgments there are, how many of them are too large for grades, and the largest."""

    count: int = 0
    above: int = 0
    largest: float = 0.0
    grows: bool = False  # whether a metric takes gains of 2^relevance - 1 of those

    @classmethod
    def of(cls, inputs: Inputs) -> "Relevances":
        """The relevances of all judgments."""
        plan, judged = inputs.plan, inputs.judged
        relevance = judged.judgments.relevance
        exp2 = [gains for name, gains in judged.gains.items() if name in plan.metrics and plan.gain_of(name) == "exp2"]
        return cls(
            count=len(relevance),
            above=int((relevance > LARGEST_GRADE).sum()),
            largest=float(relevance.max(initial=0.0)),
            grows=any(gains.max(initial=0.0) > 2.0**LARGEST_GRADE - 1 for gains in exp2),
        )

    def __add__(self, other: "Relevances") -> "Relevances":
        largest, grows = max(self.largest, other.largest), self.grows or other.grows
        return Relevances(self.count + other.count, self.above + other.above, largest, grows)


@dataclass(frozen=True)
class LimitedCategories:
    """The categories that hold fewer items than grids have columns; sets of grids are the bits of an integer.

    Which grids count is known once all pages are.
    """

    used: int  # the grids that pages have
    grids: Mapping[Any, int]  # by category: those on which it holds fewer
    of_one_user: Mapping[int, int]  # by such grids: how many categories that only one user is shown

    def __add__(self, other: "LimitedCategories") -> "LimitedCategories":
        grids = {name: self.grids.get(name, 0) | other.grids.get(name, 0) for name in {*self.grids, *other.grids}}
        of_one_user = Counter(self.of_one_user) + Counter(other.of_one_user)
        return LimitedCategories(self.used | other.used, grids, of_one_user)

    def count(self) -> int:
        """The categories that hold fewer items than a grid that pages have."""
        named = sum(1 for grids in self.grids.values() if grids & self.used)
        return named + sum(number for grids, number in self.of_one_user.items() if grids & self.used)


@dataclass(frozen=True)
class Tally:
    """What the pages of some users add to the counts and notices of an evaluation."""

    counts: Mapping[str, int]  # by the names of ``COUNTS``, those that add up
    match: TableMatch
    relevances: Relevances
    largest_gap: float  # of ideals that are not proven optimal
    personal: frozenset[Any]  # personal categories, except those that only one user is shown, which are counted
    limited: LimitedCategories
    gaps: FoundDefect | None  # rows with gaps

    @classmethod
    def of(cls, inputs: Inputs, outcomes: PageOutcomes, scores: PageScores) -> "Tally":
        """Count pages that were scored."""
        with_gaps = scores.page[(scores.defects & page_defects.GAP.bit) > 0]
        of_metrics = (gaps(metric.best, metric.bound) for metric in scores.metrics.values())
        members, names = inputs.judged.membership, inputs.codebook.categories.values()
        alone = _shown_to_one_user(inputs, len(names))
        personal = np.zeros(0, np.uint32) if members is None else members.personal_categories
        counts = _counts(inputs, outcomes, scores)
        return cls(
            counts=counts | {"personal": int(alone[personal].sum())},
            match=TableMatch.of(inputs, counts["missing"], counts["unjudged"]),
            relevances=Relevances.of(inputs),
            largest_gap=max((float(gap.max(initial=0.0)) for gap in of_metrics), default=0.0),
            personal=frozenset(names.gather(personal[~alone[personal]])),
            limited=_limited(inputs, alone, names),
            gaps=find_defect(page_defects.GAP, with_gaps, inputs) if len(with_gaps) else None,
        )

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            counts=Counter(self.counts) + Counter(other.counts),
            largest_gap=max(self.largest_gap, other.largest_gap),
            personal=self.personal | other.personal,
            limited=self.limited + other.limited,
            match=self.match + other.match,
            relevances=self.relevances + other.relevances,
            gaps=self.gaps + other.gaps if self.gaps and other.gaps else self.gaps or other.gaps,
        )

    def all_counts(self) -> dict[str, int]:
        """Every count, by the names of ``COUNTS``."""
        counts = {name: self.counts.get(name, 0) for name in COUNTS}
        return counts | {"personal": counts["personal"] + len(self.personal), "limited": self.limited.count()}


def _shown_to_one_user(inputs: Inputs, categories: int) -> NDArray[np.bool_]:
    """Which categories only one of several users is shown."""
    alone = np.zeros(categories, bool)
    if inputs.shown is not None:
        alone[: len(inputs.shown.owner)] = inputs.shown.has_one_user
    return alone


def _counts(inputs: Inputs, outcomes: PageOutcomes, scores: PageScores) -> dict[str, int]:
    """What adds up over users.

    A page is without a relevant item, or left out, if it is so by any metric; a missing page may be so as well.
    """
    entries = outcomes.entries
    none = np.zeros(len(scores.page), bool)
    by_metric = list(outcomes.by_metric.values()) or [outcomes.by_any]
    return {
        "users": len(np.unique(entries.user[: len(entries.pages)])),
        "pages": len(entries.pages),
        "lines": inputs.layouts.lines,
        "missing": len(entries.missing_sets),
        "no_relevant": int(np.any([~outcomes_by.relevant for outcomes_by in by_metric], axis=0).sum()),
        "no_category": int(np.any([outcomes_by.no_category for outcomes_by in by_metric], axis=0).sum()),
        "duplicates": int(scores.duplicates.sum()),
        "unjudged": int(scores.unjudged.sum()),
        "uncategorised": uncategorised(inputs),
        "invalid": int(((scores.defects & page_defects.INVALID) > 0).sum()),
        "gaps": int(((scores.defects & page_defects.GAP.bit) > 0).sum()),
        "bounded": int(np.any([none, *(metric.bounded for metric in scores.metrics.values())], axis=0).sum()),
        "above_ideal": int(np.any([none, *(metric.above for metric in scores.metrics.values())], axis=0).sum()),
    }


def uncategorised(inputs: Inputs) -> int:
    """How many relevant judged items have no category."""
    judged = inputs.judged
    if judged.membership is None:
        return 0
    categorised = categorised_items(judged, judged.gaining.astype(np.float64), inputs.plan)
    return int(judged.gaining.sum(dtype=np.int64) - categorised.sum())


def _limited(inputs: Inputs, alone: NDArray[np.bool_], names: pl.Series) -> LimitedCategories:
    """The categories that hold fewer items than grids have columns; ``alone`` are those that one user is shown."""
    if inputs.judged.membership is None or inputs.plan.settings.candidates == "displayed":
        return LimitedCategories(0, {}, {})
    carousels, widths = inputs.judged.carousels, inputs.plan.shapes[:, 1]
    limited = np.array(
        [carousels.limited(np.where(np.arange(len(widths)) == number, widths, 0)) for number in range(len(widths))]
    )
    limited &= ~is_unknown(inputs, limited.shape[1])
    category = np.flatnonzero(limited.any(axis=0))
    named, of_one_user = category[~alone[category]], category[alone[category]]
    used = np.zeros((len(widths), 1), bool)
    used[inputs.layouts.grid[inputs.layouts.present]] = True
    return LimitedCategories(
        used=_as_bits(used)[0],
        grids=dict(zip(names.gather(named).to_list(), _as_bits(limited[:, named]), strict=True)),
        of_one_user=Counter(_as_bits(limited[:, of_one_user])),
    )


def _as_bits(sets: NDArray[np.bool_]) -> list[int]:
    """Sets, one in each column, as the bits of integers."""
    return [int.from_bytes(column.tobytes(), "little") for column in np.packbits(sets, axis=0, bitorder="little").T]
