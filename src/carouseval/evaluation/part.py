"""What some users add to an evaluation: it adds up, and one function finishes the sum (``finish_evaluation``)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from carouseval.evaluation import schema
from carouseval.evaluation.category_facts import CategoryFacts, FilledRows
from carouseval.evaluation.exact_sums import AddsUp
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.page_table import PageTable, Segment
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import PageScores
from carouseval.evaluation.tally import Tally
from carouseval.evaluation.user_sums import SegmentSums


@dataclass(frozen=True)
class TableFacts:
    """What tables turned out to hold, besides their columns."""

    categories: str  # which table has those of items: "items", "layouts" or "none"
    judged_per_page: bool  # judgments name pages
    page_ids: bool  # layouts do
    restricted: bool  # some carousels are single users'
    relevance_given: bool

    @classmethod
    def of(cls, inputs: Inputs) -> "TableFacts":
        """Of the tables that are at hand."""
        members = inputs.judged.membership
        return cls(
            categories="none" if members is None else members.source,
            judged_per_page=inputs.judged.judgments.per_page,
            page_ids=inputs.layouts.page_ids is not None,
            restricted=bool(inputs.judged.carousels.restricted.any()),
            relevance_given=schema.relevance_is_given(inputs.tables["judgments"]),
        )

    def __add__(self, other: "TableFacts") -> "TableFacts":
        """Of all: they are the same, but for lines of carousels that concern the users of one part."""
        return self if self.restricted else other

    def config(self) -> dict[str, Any]:
        """The same among the settings in force."""
        return {
            "items": self.categories,
            "judgments": "per page" if self.judged_per_page else "per user",
            "relevance": "given" if self.relevance_given else schema.RELEVANCE_1,
        }


@dataclass(frozen=True)
class SystemItems:
    """The items by which figures of a whole system are computed, each once."""

    in_view: Mapping[str, pl.Series]  # for each figure: on any page
    catalogue: pl.Series  # of all; where users are scored in parts, without those that the items table has for everyone

    @classmethod
    def of(cls, inputs: Inputs, scores: PageScores) -> "SystemItems":
        """Of the pages that were scored."""
        names, members = inputs.codebook.items.values(), inputs.judged.membership
        catalogue = scores.shown
        if members is not None and inputs.plan.figures:
            catalogue = members.own_items if inputs.is_part else members.items
        return cls({name: names.gather(codes) for name, codes in scores.items.items()}, names.gather(catalogue))

    def __add__(self, other: "SystemItems") -> "SystemItems":
        in_view = {name: _distinct(items, other.in_view[name]) for name, items in self.in_view.items()}
        return SystemItems(in_view, _distinct(self.catalogue, other.catalogue))

    def with_catalogue(self, items: pl.Series) -> "SystemItems":
        """With more items in the catalogue."""
        return SystemItems(self.in_view, _distinct(self.catalogue, items))


@dataclass(frozen=True)
class Part(AddsUp):
    """What some users add to an evaluation; every field adds up."""

    tally: Tally
    tables: TableFacts
    categories: CategoryFacts
    rows: FilledRows
    items: SystemItems
    segments: Mapping[Segment, SegmentSums]
    left_out: Mapping[str, int]  # by metric: users none of whose pages has a score

    @classmethod
    def of(
        cls, inputs: Inputs, outcomes: PageOutcomes, scores: PageScores, pages: PageTable, ideals: PageIdeals
    ) -> "Part":
        """Of users whose pages are scored."""
        return cls(
            tally=Tally.of(inputs, outcomes, scores),
            tables=TableFacts.of(inputs),
            categories=CategoryFacts.of(inputs),
            rows=FilledRows.of(inputs, ideals),
            items=SystemItems.of(inputs, scores),
            segments=pages.sums,
            left_out={name: pages.left_out(name) for name in pages.metrics},
        )


def _distinct(*items: pl.Series) -> pl.Series:
    return pl.concat(items).unique().sort()
