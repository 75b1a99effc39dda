"""What is counted beside the scores, what the settings refuse, and what somebody should look at, in words."""

import sys
import warnings
from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.errors import DataWarning
from carouseval.evaluation import page_defects
from carouseval.evaluation.defect_lines import describe_defects
from carouseval.evaluation.outcomes import Verdicts
from carouseval.evaluation.per_page import entry_names
from carouseval.evaluation.reading.inputs import Inputs
from carouseval.evaluation.scoring import ideals
from carouseval.evaluation.scoring.page_scores import PageScores
from carouseval.table_columns import Defect

COUNTS = {
    "users": "users",
    "pages": "pages",
    "lines": "lines",
    "missing": "without a page",
    "no_relevant": "without a relevant item",
    "duplicates": "repeated items",
    "unjudged": "items shown without a judgment",
    "uncategorised": "judged items without a category",
    "invalid": "invalid pages",
    "gaps": "pages with gaps",
    "bounded": "ideals not proven",
    "above_ideal": "pages above their ideal",
}  # what is counted, and how it is said


def counts_of(inputs: Inputs, verdicts: Verdicts, scores: PageScores) -> dict[str, int]:
    """What was found, by the names of ``COUNTS``; who has neither a page nor a relevant item counts for both."""
    entries = verdicts.entries
    nowhere = np.zeros(len(scores.page), bool)
    metrics = scores.metrics.values()
    return {
        "users": len(np.unique(entries.user[: len(entries.pages)])),
        "pages": len(entries.pages),
        "lines": inputs.layouts.lines,
        "missing": len(entries.missing_truths),
        "no_relevant": int((~verdicts.by_any.relevant).sum()),
        "duplicates": int(scores.duplicates.sum()),
        "unjudged": int(scores.unjudged.sum()),
        "uncategorised": uncategorised(inputs),
        "invalid": int(((scores.defects & page_defects.INVALID) > 0).sum()),
        "gaps": int(((scores.defects & page_defects.GAP.bit) > 0).sum()),
        "bounded": int(np.any([nowhere, *(one.bounded for one in metrics)], axis=0).sum()),
        "above_ideal": int(np.any([nowhere, *(one.above for one in metrics)], axis=0).sum()),
    }


def uncategorised(inputs: Inputs) -> int:
    """How many judgments gain something but have no category to be shown in."""
    judged, membership = inputs.judged, inputs.judged.membership
    if membership is None:
        return 0
    if not membership.personal:
        homes = np.diff(membership.arrays.offsets)
        known = judged.judgments.item < len(homes)
        homeless = ~known | (homes[np.where(known, judged.judgments.item, 0)] == 0)
        return int((homeless & (judged.gaining > 0)).sum())
    truths = np.arange(len(judged.judgments), dtype=np.uint32)
    gathered = ideals.judged_problems(judged, judged.gaining.astype(np.float64), inputs.plan.grids[0], truths)
    return int(gathered.strays.sum())


def refusals(inputs: Inputs, verdicts: Verdicts) -> Iterator[Defect]:
    """Entries that the settings do not let pass, or that lack the weight they would count with."""
    settings, by_any = inputs.plan.settings, verdicts.by_any
    missing = by_any.missing & (settings.missing_pages == "error")
    if missing.any():
        whom = "page" if inputs.judged.judgments.per_page else "user"
        what = f"layouts: {number(int(missing.sum()), whom)} with judgments but no page"
        yield _refusal(inputs, verdicts, missing, what, "Add the pages, or use missing_pages='zero' or 'skip'.")
    bare = verdicts.refused & ~missing
    if bare.any():
        what = f"judgments: {number(int(bare.sum()), 'page')} without any judged item that gains"
        yield _refusal(inputs, verdicts, bare, what, "Judge some, or use no_relevant='skip' or 'zero'.")
    if verdicts.entries.weights is not None:
        unknown = by_any.counted & np.isnan(verdicts.entries.weights)
        if unknown.any():
            what = f"judgments: {number(int(unknown.sum()), 'page')} without {settings.weight}"
            remedy = "Add the column to judgments, or use missing_pages='skip'."
            yield _refusal(inputs, verdicts, unknown, what, remedy)


def _refusal(inputs: Inputs, verdicts: Verdicts, which: NDArray[np.bool_], what: str, remedy: str) -> Defect:
    names = entry_names(inputs, verdicts.entries).filter(pl.Series(which)).sort(pl.all()).row(0, named=True)
    first = " ".join(f"{key}={value!r}" for key, value in names.items() if value is not None)
    return Defect(what.partition(":")[0], "user_id", int(which.sum()), f"{what}, first {first}. {remedy}")


def mismatches(inputs: Inputs, unjudged: int, missing: int) -> list[Defect]:
    """Tables that hardly meet: ids that look alike but are written in different ways score 0 without a word."""
    judgments, codebook = inputs.judged.judgments, inputs.codebook
    theirs, ours = inputs.tables["judgments"], inputs.tables["layouts"]
    found: list[Defect] = []
    for column, nothing, ids, what in (
        ("user_id", missing == int(judgments.judged.sum()), codebook.users, "no user of the layouts has a judgment"),
        ("item_id", unjudged == inputs.layouts.lines, codebook.items, "no item shown has a judgment of its user"),
    ):
        if nothing and not found:
            one, other = (table.frame().select(column).head(1).collect().item() for table in (ours, theirs))
            message = (
                f"layouts: {what}, so every score is 0. Are ids written alike? {ours.names[column]} is {one!r} in "
                f"layouts and {other!r} in judgments."
            )
            found.append(Defect("layouts", ours.names[column], len(ids), message, "warning"))
    return found


def no_category(inputs: Inputs, count: int) -> str:
    """What to say of judged items that no carousel can show."""
    items = "item that gains has" if count == 1 else "items that gain have"
    where = "items" if inputs.judged.membership is None else inputs.judged.membership.source
    return (
        f"judgments: {count:,} judged {items} no category in {where}, so no ideal page shows "
        f"{'it' if count == 1 else 'them'}. Give items (item_id, category) for all that are judged."
    )


def warn_of(inputs: Inputs, counts: dict[str, int], scores: PageScores) -> None:
    """Everything that was scored, but that somebody should look at."""
    if counts["gaps"]:
        warn(str(describe_defects(page_defects.GAP, scores.page[(scores.defects & page_defects.GAP.bit) > 0], inputs)))
    for mismatch in mismatches(inputs, counts["unjudged"], counts["missing"]):
        warn(str(mismatch))
    if counts["uncategorised"] and inputs.plan.needs_categories:
        warn(no_category(inputs, counts["uncategorised"]))
    if inputs.plan.figures and (inputs.judged.membership is None or inputs.judged.membership.source != "items"):
        warn(
            f"{', '.join(inputs.plan.figures)}: there is no items table, so the catalogue is what these layouts show. "
            "Give items (item_id, category)."
        )
    if counts["above_ideal"]:
        warn(
            f"layouts: {number(counts['above_ideal'], 'page')} above a score of 1, for doing what no ideal page "
            "may: showing an item outside its category, twice in a row, or after a gap."
        )
    if counts["bounded"]:
        warn(
            f"{number(counts['bounded'], 'ideal page')} not proven best: there the score is 2DCG over a proven "
            "upper bound."
        )


def number(count: int, what: str) -> str:
    """``3 pages``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def warn(message: str) -> None:
    """Warn at the line of whoever called the package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("carouseval."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, DataWarning, stacklevel=level)
