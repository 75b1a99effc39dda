"""What becomes of a page: it is scored, counts as zero, is skipped or refused; and its share of the mean.

The one place where ``missing_pages`` and ``no_relevant`` are decided: results, explanations and checks read it here.
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

SCORED, MISSING, NO_RELEVANT = "scored", "missing", "no_relevant"  # why, in a word
SCORE, ZERO, SKIP, REFUSE = range(4)  # what is done about it
_BY_POLICY = {"zero": ZERO, "skip": SKIP, "error": REFUSE}


@dataclass(frozen=True, eq=False)
class Entries:
    """All that a mean is taken over: pages that are there, then truths with judgments of which no page is shown."""

    pages: NDArray[np.int64]  # codes of pages
    missing_truths: NDArray[np.int64]
    user: Codes  # of all entries
    truth: Codes  # pages may have none: a code past the last truth
    weights: Array | None  # NaN where no table says

    def __len__(self) -> int:
        return len(self.user)

    @classmethod
    def of(cls, judged: JudgedData, layouts: Layouts) -> "Entries":
        """The pages of layouts and the truths that they leave out."""
        judgments = judged.judgments
        pages = np.flatnonzero(layouts.present)
        shown = np.zeros(max(len(judgments), int(layouts.truth.max(initial=0)) + 1), bool)
        shown[layouts.truth[pages]] = True
        missing = np.flatnonzero(judgments.judged & ~shown[: len(judgments)])
        weights = None
        if layouts.weights is not None:
            unknown = np.full(len(missing), np.nan)
            of_missing = unknown if judgments.weights is None else judgments.weights[missing]
            weights = np.concatenate([layouts.weights[pages], of_missing])
        return cls(
            pages=pages,
            missing_truths=missing,
            user=np.concatenate([layouts.user[pages], judgments.user[missing]]),
            truth=np.concatenate([layouts.truth[pages], missing.astype(np.uint32)]),
            weights=weights,
        )


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What becomes of every entry, by one metric or by any of them."""

    entries: Entries
    relevant: NDArray[np.bool_]  # whether its truth has a judged item that gains
    missing: NDArray[np.bool_]  # whether it has no page
    decision: NDArray[np.int64]  # SCORE, ZERO, SKIP or REFUSE

    @property
    def status(self) -> NDArray[np.str_]:
        """Why, in a word; of what is missing and has nothing relevant, the latter."""
        return np.where(self.relevant, np.where(self.missing, MISSING, SCORED), NO_RELEVANT)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Whether it goes into the mean."""
        return np.asarray(self.decision != SKIP)

    @cached_property
    def shares(self) -> Array:
        """Of the mean over users of their means over pages; they sum to 1."""
        weights, counted = self.entries.weights, self.counted
        shares = np.zeros(len(counted))
        shares[counted] = page_shares(self.entries.user[counted], None if weights is None else weights[counted])
        return shares


def decide(entries: Entries, judged: JudgedData, settings: Settings, metric: str | None = None) -> Outcomes:
    """Decide what becomes of every entry by one metric; without a name, by any of them."""
    known = np.append(judged.relevant_items(metric) > 0, False)  # pages may have no truth
    relevant = known[np.minimum(entries.truth, len(known) - 1)]
    missing = np.arange(len(entries)) >= len(entries.pages)
    absent, bare = _BY_POLICY[settings.missing_pages], _BY_POLICY[settings.no_relevant]
    of_missing = np.where(relevant, absent, bare if absent == ZERO else absent)
    decision = np.where(missing, of_missing, np.where(relevant, SCORE, bare))
    return Outcomes(entries, relevant, missing, decision)


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What becomes of every entry by every metric of a plan; known before anything is scored."""

    entries: Entries
    by_any: Outcomes
    by_metric: Mapping[str, Outcomes]

    @classmethod
    def of(cls, judged: JudgedData, layouts: Layouts, plan: ScoringPlan) -> "Verdicts":
        """Decide all."""
        entries = Entries.of(judged, layouts)
        by_metric = {name: decide(entries, judged, plan.settings, name) for name in plan.metrics}
        return cls(entries, decide(entries, judged, plan.settings), by_metric)

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Which entries some metric must not be asked about."""
        every = self.by_metric.values() or [self.by_any]
        return np.asarray(np.any([one.decision == REFUSE for one in every], axis=0))


def page_shares(user: NDArray[Any], weight: Array | None = None) -> Array:
    """What each page adds to the mean over users of their mean over pages; a user weighs what its pages do on average.

    >>> page_shares(np.array([7, 7, 8])).tolist()
    [0.25, 0.25, 0.5]
    """
    _, owner = np.unique(user, return_inverse=True)
    mass = np.ones(len(owner)) if weight is None else np.nan_to_num(weight)
    total, pages = np.bincount(owner, mass), np.bincount(owner)
    shares = np.divide(mass, pages[owner], out=np.zeros_like(mass), where=total[owner] > 0)
    whole = math.fsum(shares.tolist())
    return shares / whole if whole > 0 else shares
