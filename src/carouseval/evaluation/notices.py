"""Counts beside the scores, what the settings refuse, and warnings, in words."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation import page_defects, schema
from carouseval.evaluation.defect_lines import describe_defects
from carouseval.evaluation.joined_categories import joined_categories
from carouseval.evaluation.outcomes import PageOutcomes
from carouseval.evaluation.page_matching import FEW, page_match
from carouseval.evaluation.per_page import entry_names
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring.ideal_problems import categorised_items
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import PageScores, gaps
from carouseval.evaluation.settings import Settings
from carouseval.metrics.gains import LARGEST_GRADE, large_gain
from carouseval.metrics.validation import did_you_mean
from carouseval.table_columns import Defect

COUNTS = {
    "users": ("user", "users"),
    "pages": ("page", "pages"),
    "lines": ("line", "lines"),
    "missing": ("missing page", "missing pages"),
    "no_relevant": ("page without a relevant item", "pages without a relevant item"),
    "no_category": (
        "page left out: no relevant item has a category",
        "pages left out: no relevant item has a category",
    ),
    "duplicates": ("repeated item", "repeated items"),
    "unjudged": ("item shown without a judgment", "items shown without a judgment"),
    "uncategorised": ("judged item without a category", "judged items without a category"),
    "personal": ("personal category", "personal categories"),
    "limited": ("category of limited capacity", "categories of limited capacity"),
    "invalid": ("invalid page", "invalid pages"),
    "gaps": ("page with gaps", "pages with gaps"),
    "bounded": ("ideal not proven optimal", "ideals not proven optimal"),
    "above_ideal": ("page above its ideal", "pages above their ideal"),
}  # what is counted, and how one and several are worded
_MOST_CATEGORIES = 3  # listed in a notice
_MANY = 20  # judged users, of whom most should have a page


def counts_of(inputs: Inputs, outcomes: PageOutcomes, scores: PageScores) -> dict[str, int]:
    """The counts by the names of ``COUNTS``.

    A page is without a relevant item, or left out, if it is so by any metric; a missing page may be so as well.
    """
    entries = outcomes.entries
    none = np.zeros(len(scores.page), bool)
    by_metric = list(outcomes.by_metric.values()) or [outcomes.by_any]
    membership = inputs.judged.membership
    return {
        "users": len(np.unique(entries.user[: len(entries.pages)])),
        "pages": len(entries.pages),
        "lines": inputs.layouts.lines,
        "missing": len(entries.missing_sets),
        "no_relevant": int(np.any([~one.relevant for one in by_metric], axis=0).sum()),
        "no_category": int(np.any([one.no_category for one in by_metric], axis=0).sum()),
        "duplicates": int(scores.duplicates.sum()),
        "unjudged": int(scores.unjudged.sum()),
        "uncategorised": uncategorised(inputs),
        "personal": 0 if membership is None else len(membership.personal_categories),
        "limited": _limited(inputs),
        "invalid": int(((scores.defects & page_defects.INVALID) > 0).sum()),
        "gaps": int(((scores.defects & page_defects.GAP.bit) > 0).sum()),
        "bounded": int(np.any([none, *(metric.bounded for metric in scores.metrics.values())], axis=0).sum()),
        "above_ideal": int(np.any([none, *(metric.above for metric in scores.metrics.values())], axis=0).sum()),
    }


def _limited(inputs: Inputs) -> int:
    """How many categories hold fewer items than the grid has columns, on grids that pages have."""
    if inputs.judged.membership is None or inputs.plan.settings.candidates == "displayed":
        return 0
    used = np.unique(inputs.layouts.grid[inputs.layouts.present])
    widths = np.zeros(len(inputs.plan.grids), np.int64)
    widths[used] = [inputs.plan.grids[grid].cols for grid in used]
    limited = inputs.judged.carousels.limited(widths)
    return int((limited & ~_is_unknown(inputs, len(limited))).sum())


def _is_unknown(inputs: Inputs, categories: int) -> NDArray[np.bool_]:
    """Which categories have no item and are on no page: only carousels or capacity name them."""
    membership, shown = inputs.judged.membership, inputs.shown
    known = np.zeros(categories, bool)
    if membership is not None:
        known[: len(membership.sizes)] = membership.sizes[:categories] > 0
        known[(membership.arrays.own & np.uint64(0xFFFFFFFF)).astype(np.int64)] = True
    if shown is not None:
        known[: len(shown.owner)] |= shown.longest.max(axis=0)[:categories] > 0
    return ~known


def unknown_categories(inputs: Inputs) -> list[Defect]:
    """Categories that carousels or capacity names and no other table has, where that looks like a mistake."""
    carousels, names = inputs.judged.carousels, inputs.codebook.categories.values().cast(pl.String)
    unknown = _is_unknown(inputs, len(names))
    known = names.filter(pl.Series(~unknown))
    defects = []
    for where, codes in (("capacity", carousels.named_by_setting), ("carousels", carousels.named)):
        odd = names.gather(codes[unknown[codes]])
        if where == "carousels" and len(odd) < len(codes):  # it may list more than these pages show
            odd = odd.filter(_letters(odd).is_in(_letters(known).implode()))
        hints = [hint for name in odd.head(_MOST_CATEGORIES) if (hint := did_you_mean(name, known))]
        if len(odd):
            are = "category is" if len(odd) == 1 else "categories are"
            listed = ", ".join(map(repr, odd.head(_MOST_CATEGORIES)))
            listed += ", ..." if len(odd) > _MOST_CATEGORIES else ""
            message = f"{where}: {len(odd):,} {are} in no other table: {listed}.{hints[0] if hints else ''}"
            defects.append(Defect(where, "category", len(odd), message, "warning"))
    return defects


def uncategorised(inputs: Inputs) -> int:
    """How many relevant judged items have no category."""
    judged = inputs.judged
    if judged.membership is None:
        return 0
    categorised = categorised_items(judged, judged.gaining.astype(np.float64), inputs.plan)
    return int(judged.gaining.sum(dtype=np.int64) - categorised.sum())


def _letters(names: pl.Series) -> pl.Series:
    """Names without case, blanks and punctuation."""
    return names.str.to_lowercase().str.replace_all(r"[\W_]", "")


def refusals(inputs: Inputs, outcomes: PageOutcomes) -> Iterator[Defect]:
    """Pages that the settings refuse, or that have no weight."""
    settings, by_any = inputs.plan.settings, outcomes.by_any
    missing = by_any.missing & (settings.missing_pages == "error")
    if missing.any():
        whom = "page" if inputs.judged.judgments.per_page else "user"
        count = int(missing.sum())
        what = f"layouts: {number(count, whom)} {_have(count)} judgments but no {'lines' if whom == 'page' else 'page'}"
        yield _refusal(inputs, outcomes, missing, what, "Add the pages, or use missing_pages='zero' or 'skip'.")
    no_relevant = outcomes.refused & ~missing
    if no_relevant.any():
        count = int(no_relevant.sum())
        if settings.candidates == "displayed":
            shows = "shows" if count == 1 else "show"
            what = f"layouts: {number(count, 'page')} {shows} no relevant item, so there is nothing to arrange"
        else:
            what = f"judgments: {number(count, 'page')} {_have(count)} no relevant item"
        remedy = "Add judgments of relevant items, or use no_relevant='skip' or 'zero'."
        yield _refusal(inputs, outcomes, no_relevant, what, remedy)
    if outcomes.entries.weights is not None:
        unknown = by_any.counted & np.isnan(outcomes.entries.weights)
        if unknown.any():
            count = int(unknown.sum())
            what = f"judgments: {number(count, 'page')} {_have(count)} no {settings.weight}"
            remedy = "Add the column to judgments, or use missing_pages='skip'."
            yield _refusal(inputs, outcomes, unknown, what, remedy)


def _refusal(inputs: Inputs, outcomes: PageOutcomes, which: NDArray[np.bool_], what: str, remedy: str) -> Defect:
    names = entry_names(inputs, outcomes.entries).filter(pl.Series(which)).sort(pl.all()).row(0, named=True)
    first = " ".join(f"{key}={value!r}" for key, value in names.items() if value is not None)
    return Defect(what.partition(":")[0], "user_id", int(which.sum()), f"{what}, first {first}. {remedy}")


def mismatches(inputs: Inputs, unjudged: int, missing: int) -> list[Defect]:
    """Tables without a common user or item: their ids may be written in different ways."""
    judgments, codebook = inputs.judged.judgments, inputs.codebook
    theirs, ours = inputs.tables["judgments"], inputs.tables["layouts"]
    match = page_match(judgments, inputs.layouts)
    if match is not None and match < FEW:
        return [_unmatched_pages(inputs, match)]
    defects: list[Defect] = []
    for column, no_match, ids, what in (
        ("user_id", missing == int(judgments.judged.sum()), codebook.users, "no user of the layouts has a judgment"),
        ("item_id", unjudged == inputs.layouts.lines, codebook.items, "no item shown has a judgment by its user"),
    ):
        if no_match and not defects:
            our_id, their_id = (table.first(column) for table in (ours, theirs))
            message = (
                f"layouts: {what}, so every score is 0. Write ids the same way in all tables: {ours.names[column]} is "
                f"{our_id!r} in layouts and {their_id!r} in judgments."
            )
            defects.append(Defect("layouts", ours.names[column], len(ids), message, "warning"))
    return defects


def large_gains(inputs: Inputs) -> list[Defect]:
    """Relevances that are no grades, where gains are 2^relevance - 1."""
    plan, judged, table = inputs.plan, inputs.judged, inputs.tables["judgments"]
    exp2 = [gains for name, gains in judged.gains.items() if name in plan.metrics and plan.gain_of(name) == "exp2"]
    if not any(gains.max(initial=0.0) > 2.0**LARGEST_GRADE - 1 for gains in exp2):
        return []
    relevance = judged.judgments.relevance
    largest, count = float(relevance.max()), int((relevance > LARGEST_GRADE).sum())
    record, _, _ = table.find(pl.col("relevance") == largest)
    message = (
        f"judgments: column {table.names['relevance']}: {number(count, 'relevance')} of {len(relevance):,} "
        f"{'is' if count == 1 else 'are'} above {LARGEST_GRADE}, the largest {largest:g} ({table.where(record)}); "
        f"{large_gain(largest)}"
    )
    return [Defect("judgments", table.names["relevance"], count, message, "warning")]


def _unmatched_pages(inputs: Inputs, match: float) -> Defect:
    """Users who are in both tables, but with other pages."""
    theirs, ours = inputs.tables["judgments"], inputs.tables["layouts"]
    pages = "no page has" if match == 0 else f"only {match:.1%} of pages have"
    our_id, their_id = (table.first("page_id") for table in (ours, theirs))
    message = (
        f"layouts: {pages} the page_id of a judgment, though users match, so judged pages count as missing. Write "
        f"page_id the same way in all tables: {ours.names['page_id']} is {our_id!r} in layouts and {their_id!r} in "
        "judgments. If judgments hold for all pages of a user, drop page_id from them."
    )
    return Defect("layouts", ours.names["page_id"], int(inputs.layouts.present.sum()), message, "warning")


def no_relevance(inputs: Inputs) -> str:
    """The message about judgments without a column with the relevance; empty if they have one."""
    table = inputs.tables["judgments"]
    if schema.relevance_is_given(table):
        return ""
    unused = [name for name in table.header if name not in table.names.values()]
    message = "judgments: there is no column relevance, so every judgment counts as relevance 1."
    if not unused:
        return message
    names = f"{', '.join(unused[:5])}{', ...' if len(unused) > 5 else ''}"
    return f"{message} Not read: {names}. If one holds the relevance, use columns={{'relevance': '{unused[0]}'}}."


def no_category(inputs: Inputs, count: int) -> str:
    """The message about relevant items that no carousel can show."""
    where = "items" if inputs.judged.membership is None else inputs.judged.membership.source
    has = " that its user has" if inputs.judged.carousels.restricted.any() else ""
    return (
        f"judgments: {number(count, 'relevant item')} {_have(count)} no category in {where}{has}, so no ideal page "
        f"shows {'it' if count == 1 else 'them'}. Give items (item_id, category) for all judged items."
    )


def notify_of(inputs: Inputs, counts: dict[str, int], scores: PageScores, notify: Callable[[str], None]) -> None:
    """Say what was scored but needs attention."""
    if counts["gaps"]:
        notify(
            str(describe_defects(page_defects.GAP, scores.page[(scores.defects & page_defects.GAP.bit) > 0], inputs))
        )
    unmatched = mismatches(inputs, counts["unjudged"], counts["missing"])
    for defect in (*unmatched, *large_gains(inputs), *unknown_categories(inputs)):
        notify(str(defect))
    judged = int(inputs.judged.judgments.judged.sum())
    mostly_missing = judged >= _MANY and counts["missing"] > judged / 2
    if inputs.plan.settings.missing_pages == "zero" and mostly_missing and not unmatched:
        per_page = inputs.judged.judgments.per_page
        are_missing = "pages with judgments are missing" if per_page else "users with judgments have no page"
        notify(
            f"layouts: {counts['missing']:,} of {judged:,} {are_missing} and score 0, most of the mean. Add the pages, "
            "or use missing_pages='skip' to leave them out."
        )
    if counts["uncategorised"] and inputs.plan.needs_categories:
        notify(no_category(inputs, counts["uncategorised"]))
    if joined := joined_categories(inputs):
        notify(str(joined))
    if "Not read" in (message := no_relevance(inputs)):
        notify(message)
    if inputs.plan.figures and (inputs.judged.membership is None or inputs.judged.membership.source != "items"):
        notify(
            f"{', '.join(inputs.plan.figures)}: there is no items table, so the catalogue is taken from these layouts. "
            "Give items (item_id, category)."
        )
    if counts["above_ideal"]:
        notify(
            f"layouts: {number(counts['above_ideal'], 'page')} gained more than the ideal page because of what it may "
            "not show: an item outside its category, twice in a row, after a gap or beyond a capacity."
        )
    if counts["bounded"]:
        of_metrics = (gaps(metric.best, metric.bound) for metric in scores.metrics.values())
        largest = max(float(gap.max(initial=0.0)) for gap in of_metrics)
        notify(not_proven(counts["bounded"], largest, inputs.plan.settings))


def not_proven(count: int, gap: float, settings: Settings) -> str:
    """The message about ideal pages that are not proven optimal, and the largest gap."""
    message = (
        f"{number(count, 'ideal page')} could not be proven optimal: the score there is 2DCG divided by a proven upper "
        f"bound, and too low by at most {math.ceil(gap * 10_000) / 100:g}%."
    )
    if settings.candidates == "displayed" and settings.duplicates == "first":
        return message  # the search for the order of rows has a limit of its own
    if gap <= settings.tolerance:
        return f"{message} To prove more, use tolerance=0."
    return f"{message} To prove more, use work={max(10 * settings.work, Settings.work):.0f}."


def overfull(ideals: PageIdeals, inputs: Inputs, notify: Callable[[str], None]) -> None:
    """Say which categories hold more items on ideal pages than on any page, and what ends it."""
    rows = sorted(ideals.overfull().items(), key=lambda entry: (-entry[1].ideals, entry[0]))
    if not rows:
        return
    names = inputs.codebook.categories.values()
    shared = inputs.layouts.page_ids is None and not inputs.judged.judgments.per_page
    listed = "; ".join(
        f"{names[category]!r} holds up to {row.most} there and at most {row.shown} on any page, for "
        f"{_percent(row.ideals, ideals.solved)} of {'users' if shared else 'pages'}"
        for category, row in rows[:_MOST_CATEGORIES]
    )
    more = f"; and {len(rows) - _MOST_CATEGORIES:,} more" if len(rows) > _MOST_CATEGORIES else ""
    notify(
        f"layouts: ideal pages fill {'a category' if len(rows) == 1 else 'categories'} beyond what any page shows: "
        f"{listed}{more}. If a carousel cannot hold more than it shows, use capacity='shown', or "
        "declare it in carousels (category, capacity)."
    )


def _percent(part: int, whole: int) -> str:
    share = 100 * part / max(1, whole)
    return "less than 1%" if 0 < share < 1 else f"{share:.0f}%"


def number(count: int, what: str) -> str:
    """``3 pages``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
