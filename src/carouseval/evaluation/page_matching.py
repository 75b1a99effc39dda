"""Whether layouts and judgments name the same pages."""

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.reading.judgments import Judgments
from carouseval.evaluation.reading.layouts import Layouts

FEW = 0.1  # a share of matching pages below which page_id seems to be written in different ways


def page_match(judgments: Judgments, layouts: Layouts) -> float | None:
    """The share of matching pages in the table that names fewer of them, among users of both tables.

    None if judgments do not name pages, or have no user in common with the layouts.
    """
    if not judgments.per_page:
        return None
    shown, judged = layouts.present, np.zeros(len(layouts), bool)
    judged[: len(judgments)] = judgments.judged  # codes of pages are shared
    both = _of_users(layouts, shown) & _of_users(layouts, judged)
    fewer = min(int((shown & both).sum()), int((judged & both).sum()))
    return float((shown & judged).sum() / fewer) if fewer else None


def _of_users(layouts: Layouts, pages: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """All pages of the users who have one of these."""
    has_page = np.zeros(int(layouts.user.max(initial=0)) + 1, bool)
    has_page[layouts.user[pages]] = True
    return has_page[layouts.user]
