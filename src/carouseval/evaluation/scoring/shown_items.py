"""What a system shows of the judged items, and how much of what it shows is judged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.exact_sums import AddsUp
from carouseval.evaluation.reading.judged_data import JudgedData
from carouseval.evaluation.reading.page_batch import PageBatch


class ShownItems:
    """Judged items on a system's pages, collected batch by batch.

    An item counts once per judgment set, on whichever of its pages it is shown. Shares are taken over some judgment
    sets, by default those with judgments and a page, and are NaN where there is nothing to share.
    """

    def __init__(self, judged: JudgedData) -> None:
        self.judged: JudgedData = judged
        self._shown = np.zeros(len(judged.judgments.item), bool)  # per judgment
        self._cells, self._unjudged = np.zeros((2, len(judged.judgments)), np.int64)  # per judgment set

    def add(self, pages: PageBatch) -> None:
        """Add some pages; what counts as shown are their hits."""
        self._shown[pages.hit_judgment] = True
        has_set = pages.judgment_set < len(self._cells)
        judgment_set = pages.judgment_set[has_set]
        np.add.at(self._cells, judgment_set, (pages.end - pages.begin)[has_set])
        np.add.at(self._unjudged, judgment_set, pages.unjudged[has_set].astype(np.int64))

    @property
    def has_page(self) -> NDArray[np.bool_]:
        """Which judgment sets have judgments and a page."""
        return self.judged.judgments.judged & (self._cells > 0)

    def counts(self, metric: str | None = None, among: NDArray[np.bool_] | None = None) -> "ShareCounts":
        """What is shown, where relevant are items by one metric or by any; of all judged items if hits are those."""
        gains = self.judged.gaining if metric is None else self.judged.gains[metric]
        sets = self.has_page if among is None else among
        judged = np.repeat(sets, np.diff(self.judged.judgments.offsets))
        relevant = judged & (gains > 0)
        return ShareCounts(
            users=int((sets & (self.judged.relevant_items(metric) > 0)).sum()),
            relevant=int(relevant.sum()),
            relevant_shown=int((relevant & self._shown).sum()),
            judged=int(judged.sum()),
            judged_shown=int((judged & self._shown).sum()),
            cells=int(self._cells[sets].sum()),
            judged_cells=int((self._cells - self._unjudged)[sets].sum()),
        )


@dataclass(frozen=True)
class ShareCounts(AddsUp):
    """How many items are relevant, judged and shown, over some judgment sets; those of others add up."""

    users: int  # or pages, with a relevant item
    relevant: int
    relevant_shown: int
    judged: int
    judged_shown: int
    cells: int
    judged_cells: int

    @property
    def share_of_relevant(self) -> float:
        """The share of items relevant to a user that the user is shown."""
        return self.relevant_shown / self.relevant if self.relevant else float("nan")

    @property
    def share_of_judged(self) -> float:
        """The share of judged items that is shown."""
        return self.judged_shown / self.judged if self.judged else float("nan")

    @property
    def judged_share(self) -> float:
        """The share of cells whose item is judged."""
        return 1 - (self.cells - self.judged_cells) / self.cells if self.cells else float("nan")
