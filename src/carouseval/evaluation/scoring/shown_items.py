"""What a system shows of the judged items, and how much of what it shows is judged."""

import numpy as np
from numpy.typing import NDArray

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

    def relevant_shown(self, metric: str | None = None, among: NDArray[np.bool_] | None = None) -> float:
        """The share of items relevant to a user, by one metric or by any, that the user is shown."""
        gains = self.judged.gaining if metric is None else self.judged.gains[metric]
        return self._share_shown(np.asarray(gains > 0), among)

    def judged_shown(self, among: NDArray[np.bool_] | None = None) -> float:
        """The share of judged items that is shown, where the hits of pages are all judged items."""
        return self._share_shown(np.ones(len(self._shown), bool), among)

    def judged_share(self, among: NDArray[np.bool_] | None = None) -> float:
        """The share of cells whose item is judged."""
        sets = self.has_page if among is None else among
        cells = int(self._cells[sets].sum())
        return 1 - int(self._unjudged[sets].sum()) / cells if cells else float("nan")

    def _share_shown(self, which: NDArray[np.bool_], among: NDArray[np.bool_] | None) -> float:
        sets = self.has_page if among is None else among
        which = which & np.repeat(sets, np.diff(self.judged.judgments.offsets))
        total = int(which.sum())
        return int((which & self._shown).sum()) / total if total else float("nan")
