"""Were the judgments logged on one system's pages? Such judgments favour it: nobody can play what is not shown.

In a log of one system's plays, that system shows every judged item, relevant or not, by construction. Other systems
show fewer of them, and most of what they show instead has no judgment, which counts as not relevant. The rule looks
for exactly that. A system that chose perfectly would look the same if only relevant items are judged; if others are
judged too, it would not show those.

Thresholds. They were chosen on simulated worlds. Systems that know users' tastes only in part show 0.4 to 0.8
of the relevant items of the sample world. They come closest to a log with sparse positive judgments that follow
popularity, and a page that holds half of the catalogue: there, knowing taste and popularity exactly, the best showed
0.989 of them in 300 worlds. A log gives 1, or a little less if a few plays come from elsewhere, such as search: hence
0.99. Logs with more from elsewhere, or of several systems, pass unnoticed. Systems within 0.1 of it show much the same
items, and judgments can hardly favour one of them. With fewer than 20 users a good system may show all by chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from carouseval.comparison.crossed_effects import TIE
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.scoring.shown_items import ShareCounts, ShownItems

NEARLY_ALL = 0.99  # of the relevant items, and of all judged items, shown by the system that was logged
FAR_FEWER = 0.1  # how much smaller the share of relevant items is that another system shows
MOSTLY = 0.5  # of its items are unjudged
FEWEST = 20  # users, or pages where judgments name pages, with a relevant item

_MOST_NAMES = 5


@dataclass(frozen=True)
class SystemShares:
    """What a system shows of the judged items, averaged over its runs.

    Shares are taken over the users (pages, where judgments name pages) who have judgments and a page in every run of
    every system, so that they are comparable; they are NaN where there are none.
    """

    relevant_shown: float  # of the items relevant to a user by a metric, those that the user is shown
    judged_shown: float  # of all judged items
    judged_share: float  # of the cells, those whose item is judged
    users: int  # with a relevant item

    @classmethod
    def of(cls, runs: Sequence[ShareCounts]) -> "SystemShares":
        """From what each run shows."""
        return cls(
            relevant_shown=float(np.mean([run.share_of_relevant for run in runs])),
            judged_shown=float(np.mean([run.share_of_judged for run in runs])),
            judged_share=float(np.mean([run.judged_share for run in runs])),
            users=runs[0].users,
        )


def share_counts(shown_items: Mapping[str, Sequence[ShownItems]], metric: str | None) -> dict[str, list[ShareCounts]]:
    """What every run shows, over the judgment sets that have a page in all of them."""
    common = np.logical_and.reduce([run.has_page for runs in shown_items.values() for run in runs])
    return {name: [run.counts(metric, common) for run in runs] for name, runs in shown_items.items()}


@dataclass(frozen=True)
class LoggedJudgments:
    """The finding that judgments were probably logged on one system's pages."""

    favoured: dict[str, SystemShares]  # the system; several if they show the same share of the relevant items
    others: dict[str, SystemShares]  # those that it is favoured over

    @classmethod
    def find(cls, shares: Mapping[str, SystemShares]) -> "LoggedJudgments | None":
        """The finding, if the shares of systems suggest it."""
        largest = max(share.relevant_shown for share in shares.values())
        favoured = {
            name: share
            for name, share in shares.items()
            if share.relevant_shown == largest and min(largest, share.judged_shown) >= NEARLY_ALL
        }
        others = {
            name: share
            for name, share in shares.items()
            if share.relevant_shown <= largest - FAR_FEWER and share.judged_share < MOSTLY
        }
        enough = all(share.users >= FEWEST for share in shares.values())
        return cls(favoured, others) if favoured and others and enough else None

    def notice(self) -> str:
        """What was found, what it means, and how to find out more."""
        logged = " or ".join(self.favoured)
        share = next(iter(self.favoured.values())).relevant_shown
        fewer = _listed({name: f"{system.relevant_shown:.1%}" for name, system in self.others.items()})
        unjudged = _listed({name: f"{1 - system.judged_share:.1%}" for name, system in self.others.items()})
        return (
            f"The judgments were probably logged on the pages of {logged}: {share:.1%} of the relevant items are shown "
            f"there, but far fewer by {fewer}, where most items shown have no judgment: {unjudged}. Such judgments "
            f"favour {logged}, since an item that was not shown could not be played and counts as not relevant. A "
            "system that chooses perfectly would look the same. To tell the two apart, use judgments of items that "
            f"{logged} did not show (ratings, plays from search, randomised pages), or an A/B test."
        )

    def warning(self) -> str:
        """The same in short."""
        logged = " or ".join(self.favoured)
        return f"judgments: they were probably logged on the pages of {logged}, and favour {logged}. See the summary."

    def break_even_text(self, pairs: Sequence[Mapping[str, Any]]) -> str:
        """How much unjudged items must gain for the favoured system to lose its lead, by pairs of a linear metric.

        Empty where it does not lead.
        """
        shares = {}
        for pair in pairs:
            loser, winner = (pair[Columns.SYSTEM], pair[Columns.BASELINE])[:: 1 if pair[Columns.DIFFERENCE] < 0 else -1]
            if winner in self.favoured and loser in self.others and abs(pair[Columns.DIFFERENCE]) > TIE:
                shares[loser] = (
                    "none up to 100%" if pair[Columns.BREAK_EVEN] is None else f"{pair[Columns.BREAK_EVEN]:.1%}"
                )
        if not shares:
            return ""
        return (
            "The lead is lost if every unjudged item shown by the following gains this share of the mean gain of "
            f"relevant items (break-even): {_listed(shares)}."
        )


def break_even(difference: float, unjudged_gain: float) -> float | None:
    """The smallest q at which a difference is 0 if unjudged items of the losing system gain q times the mean gain.

    ``unjudged_gain`` is by how much that system's mean grows at q = 1; it grows in proportion to q. None where a q
    above 1 would be needed. An item that both systems show gains for the losing one only: the case most favourable to
    it, so that the order stands below this q.
    """
    lead = abs(difference)
    if lead <= TIE:
        return 0.0
    return lead / unjudged_gain if unjudged_gain >= lead else None


def _listed(values: Mapping[str, str]) -> str:
    """``new (67%), random (9%) and 3 more``."""
    texts = [f"{name} ({value})" for name, value in list(values.items())[:_MOST_NAMES]]
    more = len(values) - len(texts)
    return ", ".join(texts) + (f" and {more} more" if more else "")
