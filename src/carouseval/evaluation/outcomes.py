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
from carouseval.evaluation.reading.page_batch import page_batches
from carouseval.evaluation.scoring.ideal_problems import categorised_items
from carouseval.evaluation.settings import Settings
from carouseval.metrics.grid import Array

SCORED, MISSING = "scored", "missing"  # the status of a page
NO_RELEVANT, NO_CATEGORY = "no_relevant", "no_category"
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
        judgments, sets = judged.judgments, len(judged.judgments)
        pages = np.flatnonzero(layouts.present)
        has_page = np.zeros(max(sets, int(layouts.judgment_set.max(initial=0)) + 1), bool)
        has_page[layouts.judgment_set[pages]] = True
        missing = np.flatnonzero(judgments.judged & ~has_page[:sets])
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
    relevant: NDArray[np.bool_]  # whether a relevant item is judged or, with displayed candidates, on the page
    no_category: NDArray[np.bool_]  # whether no relevant item has a category, so that the ideal is 0
    missing: NDArray[np.bool_]  # whether it has no page
    decision: NDArray[np.int64]  # SCORE, ZERO, SKIP or REFUSE

    @property
    def status(self) -> NDArray[np.str_]:
        """Scored, missing, no_relevant or no_category; the last two for missing pages too."""
        status = np.where(self.missing, MISSING, SCORED)
        return np.where(self.relevant, np.where(self.no_category, NO_CATEGORY, status), NO_RELEVANT)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Whether it is part of the mean."""
        return np.asarray(self.decision != SKIP)

    @cached_property
    def shares_of_users(self) -> Array:
        """What each entry is of its user, times the user's weight: divided by their sum, its share in the mean."""
        weights, counted = self.entries.weights, self.counted
        shares = np.zeros(len(counted))
        shares[counted] = _shares_of_users(self.entries.user[counted], None if weights is None else weights[counted])
        return shares


def decide(
    entries: Entries,
    settings: Settings,
    relevant_sets: NDArray[np.bool_],
    *,
    categorised_sets: NDArray[np.bool_] | None = None,
    relevant_pages: NDArray[np.bool_] | None = None,
) -> MetricOutcomes:
    """Decide the outcome of every entry by a metric, given which judgment sets have a relevant item.

    Where categories count, ``categorised_sets`` says which have one with a category; where only what is displayed
    counts, ``relevant_pages`` says which pages show one.
    """

    def of_entries(of_sets: NDArray[np.bool_]) -> NDArray[np.bool_]:
        known = np.append(of_sets, False)  # pages may have no judgment set
        return known[np.minimum(entries.judgment_set, len(known) - 1)]

    relevant = of_entries(relevant_sets)
    no_category = relevant & ~of_entries(relevant_sets if categorised_sets is None else categorised_sets)
    if relevant_pages is not None:
        relevant[: len(entries.pages)] = relevant_pages[entries.pages]
    missing = np.arange(len(entries)) >= len(entries.pages)
    if_missing, if_no_relevant = _DECISIONS[settings.missing_pages], _DECISIONS[settings.no_relevant]
    of_missing = np.where(relevant, if_missing, if_no_relevant if if_missing == ZERO else if_missing)
    decision = np.where(missing, of_missing, np.where(relevant, SCORE, if_no_relevant))
    decision = np.where(no_category & (decision != REFUSE), SKIP, decision)
    return MetricOutcomes(entries, relevant, no_category, missing, decision)


@dataclass(frozen=True, eq=False)
class PageOutcomes:
    """The outcomes of every entry by every metric of a plan, decided before anything is scored."""

    entries: Entries
    by_any: MetricOutcomes
    by_metric: Mapping[str, MetricOutcomes]

    @classmethod
    def of(cls, judged: JudgedData, layouts: Layouts, plan: ScoringPlan) -> "PageOutcomes":
        """Decide the outcomes of all pages of layouts."""
        entries, settings = Entries.of(judged, layouts), plan.settings
        displayed = settings.candidates == "displayed"
        relevant_pages = _pages_that_show_relevant(judged, layouts, plan) if displayed else {}
        given_items = judged.membership is not None and judged.membership.source == "items"
        by_metric = {}
        for name, metric in plan.metrics.items():
            by_category = metric.ideal == "category" and not displayed and given_items
            by_metric[name] = decide(
                entries,
                settings,
                judged.relevant_items(name) > 0,
                categorised_sets=categorised_items(judged, judged.gains[name], plan) > 0 if by_category else None,
                relevant_pages=relevant_pages.get(name),
            )
        return cls(entries, _by_any(by_metric) or decide(entries, settings, judged.relevant_items() > 0), by_metric)

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Which entries are refused by any metric."""
        outcomes = self.by_metric.values() or [self.by_any]
        return np.asarray(np.any([outcome.decision == REFUSE for outcome in outcomes], axis=0))


def _by_any(by_metric: Mapping[str, MetricOutcomes]) -> MetricOutcomes | None:
    """The outcomes by any of some metrics; None where there are none."""
    if not by_metric:
        return None
    first, *others = by_metric.values()
    for other in others:
        scorable = (first.relevant & ~first.no_category) | (other.relevant & ~other.no_category)
        first = MetricOutcomes(
            first.entries,
            first.relevant | other.relevant,
            (first.no_category | other.no_category) & ~scorable,
            first.missing,
            np.where(first.decision == SKIP, other.decision, first.decision),
        )
    return first


def _pages_that_show_relevant(judged: JudgedData, layouts: Layouts, plan: ScoringPlan) -> dict[str, NDArray[np.bool_]]:
    """By each metric with an ideal: which pages show an item of positive gain."""
    shows = {name: np.zeros(len(layouts), bool) for name, metric in plan.metrics.items() if metric.ideal != "none"}
    for batch in page_batches(layouts, judged, plan) if shows else ():
        page, judgment = batch.pages[batch.hit_page], batch.hit_judgment
        for name, pages in shows.items():
            pages[page[judged.gains[name][judgment] > 0]] = True
    return shows


def page_shares(user: NDArray[Any], weight: Array | None = None) -> Array:
    """The share of each page in the mean over users of their mean over pages.

    A user's weight is the mean weight of its pages.

    >>> page_shares(np.array([7, 7, 8])).tolist()
    [0.25, 0.25, 0.5]
    """
    shares = _shares_of_users(user, weight)
    total = math.fsum(shares.tolist())
    return shares / total if total > 0 else shares


def _shares_of_users(user: NDArray[Any], weight: Array | None = None) -> Array:
    _, owner = np.unique(user, return_inverse=True)
    weights = np.ones(len(owner)) if weight is None else np.nan_to_num(weight)
    total, pages = np.bincount(owner, weights), np.bincount(owner)
    return np.divide(weights, pages[owner], out=np.zeros_like(weights), where=total[owner] > 0)
