"""What the settings refuse, and warnings, in words."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataError
from carouseval.evaluation import schema
from carouseval.evaluation.category_facts import FilledRows
from carouseval.evaluation.category_notices import joined_categories, unknown_categories
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.part import Part, TableFacts
from carouseval.evaluation.per_page import entry_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.table_matching import TableMatch
from carouseval.evaluation.tally import Relevances
from carouseval.messages import Message, setting
from carouseval.metrics.gains import LARGEST_GRADE, large_gain
from carouseval.tables.columns import Defect
from carouseval.tables.table import Table

_MOST_CATEGORIES = 3  # listed in a notice
_MANY = 20  # judged users, of whom most should have a page


@dataclass(frozen=True)
class Refusal:
    """Pages that the settings refuse, or that have no weight: how many, and the first by its ids."""

    kind: Literal["missing", "no_relevant", "no_weight"]
    count: int
    first: tuple[tuple[str, Any], ...]
    per_page: bool  # judgments name pages

    def __add__(self, other: "Refusal") -> "Refusal":
        first = min(self.first, other.first, key=lambda ids: [(value is None, value) for _, value in ids])
        return replace(self, count=self.count + other.count, first=first)

    def defect(self, settings: Settings) -> Defect:
        """The same in words."""
        count = self.count
        if self.kind == "missing":
            whom = "page" if self.per_page else "user"
            no_page = "lines" if whom == "page" else "page"
            what = f"layouts: {number(count, whom)} {_have(count)} judgments but no {no_page}"
            remedy = f"Add the pages, or use {setting('missing_pages', 'zero', 'skip')}."
        elif self.kind == "no_weight":
            what = f"judgments: {number(count, 'page')} {_have(count)} no {settings.weight}"
            remedy = f"Add the column to judgments, or use {setting('missing_pages', 'skip')}."
        else:
            what = f"judgments: {number(count, 'page')} {_have(count)} no relevant item"
            if settings.candidates == "displayed":
                shows = "shows" if count == 1 else "show"
                what = f"layouts: {number(count, 'page')} {shows} no relevant item, so there is nothing to arrange"
            remedy = f"Add judgments of relevant items, or use {setting('no_relevant', 'skip', 'zero')}."
        first = " ".join(f"{key}={value!r}" for key, value in self.first if value is not None)
        return Defect(what.partition(":")[0], "user_id", count, f"{what}, first {first}. {remedy}")


class RefusalError(DataError):
    """Pages that the settings refuse."""

    def __init__(self, refusal: Refusal, settings: Settings) -> None:
        super().__init__(str(refusal.defect(settings)))
        self.refusal = refusal


def refusals(inputs: Inputs, outcomes: PageOutcomes) -> Iterator[Refusal]:
    """Pages that the settings refuse, or that have no weight."""
    by_any, weights = outcomes.by_any, outcomes.entries.weights
    missing = by_any.missing & (inputs.plan.settings.missing_pages == "error")
    kinds: dict[Literal["missing", "no_relevant", "no_weight"], NDArray[np.bool_]] = {
        "missing": missing,
        "no_relevant": outcomes.refused & ~missing,
    }
    if weights is not None:
        kinds["no_weight"] = by_any.counted & np.isnan(weights)
    for kind, which in kinds.items():
        if which.any():
            names = entry_names(inputs, outcomes.entries).filter(pl.Series(which)).sort(pl.all()).row(0, named=True)
            yield Refusal(kind, int(which.sum()), tuple(names.items()), inputs.judged.judgments.per_page)


def mismatches(
    tables: Mapping[str, Table], match: TableMatch, ids: Mapping[str, int] = MappingProxyType({})
) -> list[Defect]:
    """Tables without a common user or item: their ids may be written in different ways.

    ``ids`` tells how many ids there are, by column.
    """
    names = tables["layouts"].names
    if match.few_pages:
        return [_unmatched_pages(tables, match)]
    for column, no_match, what in (
        ("user_id", match.no_user, "no user of the layouts has a judgment"),
        ("item_id", match.no_item, "no item shown has a judgment by its user"),
    ):
        if no_match:
            message = (
                f"layouts: {what}, so every score is 0. Write ids the same way in all tables: {names[column]} is "
                f"{match.ids['layouts', column]!r} in layouts and {match.ids['judgments', column]!r} in judgments."
            )
            return [Defect("layouts", names[column], ids.get(column, 1), message, "warning")]
    return []


def large_gains(tables: Mapping[str, Table], values: Relevances) -> list[Defect]:
    """Relevances that are no grades, where gains are 2^relevance - 1."""
    if not values.grows:
        return []
    table = tables["judgments"]
    where = table.where_is(pl.col("relevance") == values.largest)
    message = (
        f"judgments: column {table.names['relevance']}: {number(values.above, 'relevance')} of {values.count:,} "
        f"{'is' if values.above == 1 else 'are'} above {LARGEST_GRADE}, the largest {values.largest:g}{where}; "
        f"{large_gain(values.largest)}"
    )
    return [Defect("judgments", table.names["relevance"], values.above, message, "warning")]


def _unmatched_pages(tables: Mapping[str, Table], match: TableMatch) -> Defect:
    """Users who are in both tables, but with other pages."""
    column = tables["layouts"].names["page_id"]
    pages = f"only {match.page_share:.1%} of pages have" if match.page_share else "no page has"
    message = (
        f"layouts: {pages} the page_id of a judgment, though users match, so judged pages count as missing. Write "
        f"page_id the same way in all tables: {column} is {match.ids['layouts', 'page_id']!r} in layouts and "
        f"{match.ids['judgments', 'page_id']!r} in judgments. If judgments hold for all pages of a user, drop page_id "
        "from them."
    )
    return Defect("layouts", column, match.pages.shown if match.pages else 0, message, "warning")


def no_relevance(tables: Mapping[str, Table]) -> str:
    """The message about judgments without a column with the relevance; empty if they have one."""
    table = tables["judgments"]
    if schema.relevance_is_given(table):
        return ""
    unused = [name for name in table.header if name not in table.names.values()]
    message = "judgments: there is no column relevance, so every judgment counts as relevance 1."
    if not unused:
        return message
    names = f"{', '.join(unused[:5])}{', ...' if len(unused) > 5 else ''}"
    remedy = f"use {setting('columns', {'relevance': unused[0]})}"
    return Message(f"{message} Not read: {names}. If one holds the relevance, {remedy}.")


def no_category(facts: TableFacts, count: int) -> str:
    """The message about relevant items that no carousel can show."""
    where = "items" if facts.categories == "none" else facts.categories
    has = " that its user has" if facts.restricted else ""
    return Message(
        f"judgments: {number(count, 'relevant item')} {_have(count)} no category in {where}{has}, so no ideal page "
        f"shows {'it' if count == 1 else 'them'}. Give {setting('items')} (item_id, category) for all judged items."
    )


def notify_of(
    part: Part, counts: Mapping[str, int], plan: ScoringPlan, tables: Mapping[str, Table], notify: Callable[[str], None]
) -> None:
    """Say what was scored but needs attention; ``counts`` are all of the part's, ``tables`` name their columns."""
    tally, settings = part.tally, plan.settings
    judged = tally.match.judgment_sets
    if tally.gaps is not None:
        notify(str(tally.gaps.defect()))
    unmatched = mismatches(tables, tally.match)
    for defect in (*unmatched, *large_gains(tables, tally.relevances), *unknown_categories(part.categories)):
        notify(str(defect))
    mostly_missing = judged >= _MANY and counts["missing"] > judged / 2
    if settings.missing_pages == "zero" and mostly_missing and not unmatched:
        per_page = part.tables.judged_per_page
        are_missing = "pages with judgments are missing" if per_page else "users with judgments have no page"
        notify(
            f"layouts: {counts['missing']:,} of {judged:,} {are_missing} and score 0, most of the mean. Add the pages, "
            f"or use {setting('missing_pages', 'skip')} to leave them out."
        )
    if counts["uncategorised"] and plan.needs_categories:
        notify(no_category(part.tables, counts["uncategorised"]))
    if joined := joined_categories(part.categories, settings, tables):
        notify(str(joined))
    if not part.tables.relevance_given and "Not read" in (message := no_relevance(tables)):
        notify(message)
    if plan.figures and part.tables.categories != "items":
        notify(
            f"{', '.join(plan.figures)}: there is no items table, so the catalogue is taken from these layouts. "
            f"Give {setting('items')} (item_id, category)."
        )
    if counts["above_ideal"]:
        notify(
            f"layouts: {number(counts['above_ideal'], 'page')} gained more than the ideal page because of what it may "
            "not show: an item outside its category, twice in a row, after a gap or beyond a capacity."
        )
    if counts["bounded"]:
        notify(not_proven(counts["bounded"], tally.largest_gap, settings))


def not_proven(count: int, gap: float, settings: Settings) -> str:
    """The message about ideal pages that are not proven optimal, and the largest gap."""
    return Message(
        f"{number(count, 'ideal page')} could not be proven optimal: the score there is 2DCG divided by a proven upper "
        f"bound, and too low by at most {_percent_up(gap)}.{_to_prove_more(gap, settings)}"
    )


def rows_not_proven(count: int, gap: float, settings: Settings) -> str:
    """The message about pages whose best order of rows is not proven, by which losses are told apart."""
    return Message(
        f"The best order of rows could not be proven on {number(count, 'page')}: by at most {_percent_up(gap)} of the "
        "ideal page's 2DCG, the loss to the order of rows is too low there, and the loss to the choice of items too "
        f"high.{_to_prove_more(gap, replace(settings, candidates='displayed'))}"
    )


def _percent_up(share: float) -> str:
    return f"{math.ceil(share * 10_000) / 100:g}%"


def _to_prove_more(gap: float, settings: Settings) -> str:
    if not can_work_more(settings):
        return ""
    if gap <= settings.tolerance:
        return f" To prove more, use {setting('tolerance', 0)}."
    return f" To prove more, use {setting('work', round(max(10 * settings.work, Settings.work)))}."


def can_work_more(settings: Settings) -> bool:
    """Whether more work can prove more ideals: the search for rows by their first items has a limit of its own."""
    return settings.candidates != "displayed" or settings.duplicates != "first"


def notify_of_over_capacity(filled: FilledRows, facts: TableFacts, notify: Callable[[str], None]) -> None:
    """Say which categories hold more items on ideal pages than on any page, and what ends it."""
    rows = sorted(filled.over_capacity().items(), key=lambda entry: (-entry[1].ideals, entry[0]))
    if not rows:
        return
    shared = not facts.page_ids and not facts.judged_per_page
    listed = "; ".join(
        f"{category!r} holds up to {row.most} there and at most {row.shown} on any page, for "
        f"{_percent(row.ideals, filled.ideals)} of {'users' if shared else 'pages'}"
        for category, row in rows[:_MOST_CATEGORIES]
    )
    more = f"; and {len(rows) - _MOST_CATEGORIES:,} more" if len(rows) > _MOST_CATEGORIES else ""
    notify(
        f"layouts: ideal pages fill {'a category' if len(rows) == 1 else 'categories'} beyond what any page shows: "
        f"{listed}{more}. If a carousel cannot hold more than it shows, use {setting('capacity', 'shown')}, "
        f"or declare it in {setting('carousels')} (category, capacity)."
    )


def _percent(part: int, whole: int) -> str:
    share = 100 * part / max(1, whole)
    return "less than 1%" if 0 < share < 1 else f"{share:.0f}%"


def number(count: int, what: str) -> str:
    """``3 pages``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
