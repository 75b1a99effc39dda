"""What becomes of a page: whether it is scored, missing or without a relevant item, and its share of the mean.

The one place where ``missing_pages`` and ``no_relevant`` are decided; results, explanations and checks all ask here.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.reading.ids import Codes
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.layouts import Layouts
from carouseval.evaluation.settings import Settings
from carouseval.metrics.grid import Array

SCORED, MISSING, NO_RELEVANT = "scored", "missing", "no_relevant"


@dataclass(frozen=True, eq=False)
class Entries:
    """All that a mean is taken over: pages that are there, then truths with judgments of which no page is shown."""

    pages: NDArray[np.int64]  # codes of pages
    missing: NDArray[np.int64]  # truths
    user: Codes
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
            missing=missing,
            user=np.concatenate([layouts.user[pages], judgments.user[missing]]),
            truth=np.concatenate([layouts.truth[pages], missing.astype(np.uint32)]),
            weights=weights,
        )


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What becomes of every entry, by one metric."""

    entries: Entries
    relevant: NDArray[np.bool_]  # whether its truth has a judged item that gains
    missing: NDArray[np.bool_]
    counted: NDArray[np.bool_]  # whether it goes into the mean; where it is missing, as 0

    @cached_property
    def shares(self) -> Array:
        """Of the mean over users of their means over pages; they sum to 1."""
        weights = self.entries.weights
        shares = np.zeros(len(self.counted))
        shares[self.counted] = page_shares(
            self.entries.user[self.counted], None if weights is None else weights[self.counted]
        )
        return shares

    @property
    def status(self) -> NDArray[np.str_]:
        """In a word."""
        return np.where(self.relevant, np.where(self.missing, MISSING, SCORED), NO_RELEVANT)


def outcomes(entries: Entries, judged: JudgedData, settings: Settings, metric: str | None = None) -> Outcomes:
    """Decide what becomes of every entry by one metric; without a name, by any of them."""
    known = np.append(judged.relevant_items(metric) > 0, False)  # pages may have no truth
    relevant = known[np.minimum(entries.truth, len(known) - 1)]
    missing = np.arange(len(entries)) >= len(entries.pages)
    counted = relevant | (settings.no_relevant == "zero")
    counted &= ~missing | (settings.missing_pages != "skip")
    return Outcomes(entries, relevant, missing, counted)


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
