"""The outcome of a page: it is scored, counts as zero, is skipped or refused; and its share of the mean.

The one place that acts on ``missing_pages`` and ``no_relevant``, for results, explanations and checks alike.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.layouts import Layouts
from carouseval.evaluation.settings import Settings
from carouseval.metrics.grid import Array

SCORED, MISSING, NO_RELEVANT = "scored", "missing", "no_relevant"  # the status of a page
SCORE, ZERO, SKIP, REFUSE = range(4)  # decisions
_DECISIONS = {"zero": ZERO, "skip": SKIP, "error": REFUSE}


@dataclass(frozen=True, eq=False)
class Entries:
    """What a mean is taken over: the pages of layouts, then judgment sets without a page (missing pages)."""

    pages: NDArray[np.int64]  # codes of pages
    missing_sets: NDArray[np.int64]
    user: Codes  # of all entries
    judgment_set: Codes  # of all entries; a code past the last set where a page has none
    weights: Array | None  # NaN where no table has one

    def __len__(self) -> int:
        return len(self.user)

    @classmethod
    def of(cls, judged: JudgedData, layouts: Layouts) -> "Entries":
        """The pages of layouts, and the judgment sets without a page."""
        judgments = judged.judgments
        pages = np.flatnonzero(layouts.present)
        has_page = np.zeros(max(len(judgments), int(layouts.judgment_set.max(initial=0)) + 1), bool)
        has_page[layouts.judgment_set[pages]] = True
        missing = np.flatnonzero(judgments.judged & ~has_page[: len(judgments)])
        weights = None
        if layouts.weights is not None:
            unknown = np.full(len(missing), np.nan)
            of_missing = unknown if judgments.weights is None else judgments.weights[missing]
            weights = np.concatenate([layouts.weights[pages], of_missing])
        return cls(
            pages=pages,
            missing_sets=missing,
            user=np.concatenate([layouts.user[pages], judgments.user[missing]]),
            judgment_set=np.concatenate([layouts.judgment_set[pages], missing.astype(np.uint32)]),
            weights=weights,
        )


@dataclass(frozen=True, eq=False)
class MetricOutcomes:
    """The outcome of every entry, by one metric or by any of them."""

    entries: Entries
    relevant: NDArray[np.bool_]  # whether its judgment set has a relevant item
    missing: NDArray[np.bool_]  # whether it has no page
    decision: NDArray[np.int64]  # SCORE, ZERO, SKIP or REFUSE

    @property
    def status(self) -> NDArray[np.str_]:
        """Scored, missing or no_relevant; the last for missing pages without a relevant item."""
        return np.where(self.relevant, np.where(self.missing, MISSING, SCORED), NO_RELEVANT)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Whether it is part of the mean."""
        return np.asarray(self.decision != SKIP)

    @cached_property
    def shares(self) -> Array:
        """The share of each entry in the mean over users of their means over pages; they sum to 1."""
        weights, counted = self.entries.weights, self.counted
        shares = np.zeros(len(counted))
        shares[counted] = page_shares(self.entries.user[counted], None if weights is None else weights[counted])
        return shares


def decide(entries: Entries, judged: JudgedData, settings: Settings, metric: str | None = None) -> MetricOutcomes:
    """Decide the outcome of every entry by one metric; without a name, by any of them."""
    has_relevant = np.append(judged.relevant_items(metric) > 0, False)  # pages may have no judgment set
    relevant = has_relevant[np.minimum(entries.judgment_set, len(has_relevant) - 1)]
    missing = np.arange(len(entries)) >= len(entries.pages)
    if_missing, if_no_relevant = _DECISIONS[settings.missing_pages], _DECISIONS[settings.no_relevant]
    of_missing = np.where(relevant, if_missing, if_no_relevant if if_missing == ZERO else if_missing)
    decision = np.where(missing, of_missing, np.where(relevant, SCORE, if_no_relevant))
    return MetricOutcomes(entries, relevant, missing, decision)


@dataclass(frozen=True, eq=False)
class PageOutcomes:
    """The outcomes of every entry by every metric of a plan, decided before anything is scored."""

    entries: Entries
    by_any: MetricOutcomes
    by_metric: Mapping[str, MetricOutcomes]

    @classmethod
    def of(cls, judged: JudgedData, layouts: Layouts, plan: ScoringPlan) -> "PageOutcomes":
        """Decide the outcomes of all pages of layouts."""
        entries = Entries.of(judged, layouts)
        by_metric = {name: decide(entries, judged, plan.settings, name) for name in plan.metrics}
        return cls(entries, decide(entries, judged, plan.settings), by_metric)

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Which entries are refused by any metric."""
        outcomes = self.by_metric.values() or [self.by_any]
        return np.asarray(np.any([one.decision == REFUSE for one in outcomes], axis=0))


def page_shares(user: NDArray[Any], weight: Array | None = None) -> Array:
    """The share of each page in the mean over users of their mean over pages.

    A user's weight is the mean weight of its pages.

    >>> page_shares(np.array([7, 7, 8])).tolist()
    [0.25, 0.25, 0.5]
    """
    _, owner = np.unique(user, return_inverse=True)
    weights = np.ones(len(owner)) if weight is None else np.nan_to_num(weight)
    total, pages = np.bincount(owner, weights), np.bincount(owner)
    shares = np.divide(weights, pages[owner], out=np.zeros_like(weights), where=total[owner] > 0)
    sum_of_shares = math.fsum(shares.tolist())
    return shares / sum_of_shares if sum_of_shares > 0 else shares
