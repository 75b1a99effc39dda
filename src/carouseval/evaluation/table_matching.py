"""Whether layouts and judgments name the same users, items and pages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval.evaluation.exact_sums import AddsUp
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.reading.judgments import Judgments
from carouseval.evaluation.reading.layouts import Layouts

FEW = 0.1  # a share of matching pages below which page_id seems to be written in different ways


@dataclass(frozen=True)
class PageMatch(AddsUp):
    """How many pages layouts and judgments name, of users who are in both, and how many of them both name."""

    both: int
    shown: int
    judged: int

    @property
    def share(self) -> float | None:
        """The share of matching pages in the table that names fewer of them; None if no user is in both."""
        fewer = min(self.shown, self.judged)
        return self.both / fewer if fewer else None


@dataclass(frozen=True)
class TableMatch:
    """How much of layouts and judgments is in both tables."""

    judgment_sets: int
    missing: int  # judgment sets without a page
    lines: int
    unjudged: int  # lines with an item that its user did not judge
    pages: PageMatch | None  # None: judgments do not name pages
    ids: Mapping[tuple[str, str], Any]  # examples by table and column, if tables do not match

    @classmethod
    def of(cls, inputs: Inputs, missing: int, unjudged: int) -> "TableMatch":
        """Count what matches."""
        judgments, layouts = inputs.judged.judgments, inputs.layouts
        pages = _page_match(judgments, layouts) if judgments.per_page else None
        match = cls(int(judgments.judged.sum()), missing, layouts.lines, unjudged, pages, {})
        no_match = match.few_pages or match.no_user or match.no_item
        return replace(match, ids=_example_ids(inputs)) if no_match else match

    def __add__(self, other: "TableMatch") -> "TableMatch":
        return TableMatch(
            self.judgment_sets + other.judgment_sets,
            self.missing + other.missing,
            self.lines + other.lines,
            self.unjudged + other.unjudged,
            None if self.pages is None or other.pages is None else self.pages + other.pages,
            {**other.ids, **self.ids},
        )

    @property
    def page_share(self) -> float | None:
        """The share of pages that are in both tables; None if judgments do not name pages."""
        return None if self.pages is None else self.pages.share

    @property
    def few_pages(self) -> bool:
        """Whether hardly any page is in both tables, though users are."""
        return self.page_share is not None and self.page_share < FEW

    @property
    def no_user(self) -> bool:
        """Whether no user is in both tables."""
        return self.missing == self.judgment_sets

    @property
    def no_item(self) -> bool:
        """Whether no item was judged by a user to whom it is shown."""
        return self.unjudged == self.lines


def _page_match(judgments: Judgments, layouts: Layouts) -> PageMatch:
    is_shown, judged = layouts.present, np.zeros(len(layouts), bool)
    judged[: len(judgments)] = judgments.judged  # codes of pages are shared
    both = _of_users(layouts, is_shown) & _of_users(layouts, judged)
    return PageMatch(int((is_shown & judged).sum()), int((is_shown & both).sum()), int((judged & both).sum()))


def _example_ids(inputs: Inputs) -> dict[tuple[str, str], Any]:
    """The first id of each kind in layouts and in judgments."""
    tables = [inputs.tables[name] for name in ("layouts", "judgments") if inputs.tables[name].height()]
    columns = ("user_id", "item_id", "page_id")
    return {(table.name, column): table.first(column) for table in tables for column in columns if column in table}


def _of_users(layouts: Layouts, pages: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """All pages of the users who have one of these."""
    has_page = np.zeros(int(layouts.user.max(initial=0)) + 1, bool)
    has_page[layouts.user[pages]] = True
    return has_page[layouts.user]
