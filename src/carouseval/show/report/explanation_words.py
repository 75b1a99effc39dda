"""What to fix, in plain words."""

import math

from carouseval.evaluation.explanation import Explanation
from carouseval.show.report.document import Point, Summary, Tile

_LOST = {
    "choice": "to the choice of items and carousels: relevant items are not on the page",
    "row_order": "to the order of carousels: those with relevant items are too low",
    "item_order": "to the order of items: relevant ones are too far right in their carousels",
    "missing": "to missing pages",
}
_SHORT = {"choice": "the choice of items", "row_order": "the order of carousels", "item_order": "the order of items"}
_SHORT["missing"] = "missing pages"
_SMALLEST = 5e-4  # of a loss that is named


def losses(result: Explanation) -> list[tuple[str, float]]:
    """What can be fixed, the largest loss first."""
    named = [(name, share) for name, share in result.shares.items() if name in _LOST and share >= _SMALLEST]
    return sorted(named, key=lambda loss: -loss[1])


def fix_sentence(result: Explanation, system: str = "") -> str:
    """Where a system loses most, and what else it loses."""
    about = f"{system}: " if system else ""
    if math.isnan(result.shares["score"]):
        return f"{about}no page was scored, so there is nothing to fix."
    if not (lost := losses(result)):
        return f"{about}these pages are ideal, and there is nothing left to gain."
    parts = [f"{100 * share:.1f} {_LOST[name]}" for name, share in lost]
    total = 100 * sum(share for _, share in lost)
    return (
        f"{about}fix {_SHORT[lost[0][0]]} first. Of 100 points, the score of an ideal page, {total:.1f} are lost: "
        f"{'; '.join(parts)}."
    )


def explanation_summary(result: Explanation) -> Summary:
    """How far pages are from ideal ones, and what to fix first."""
    shares, evaluation = result.shares, result.evaluation
    if math.isnan(shares["score"]):
        return Summary("No page was scored, so there is nothing to explain", [], tone="care")
    lost = losses(result)
    headline = f"These pages score {100 * shares['score']:.1f} of 100, the score of an ideal page"
    if lost:
        headline += f"; most is lost to {_SHORT[lost[0][0]]}"
    row = [] if result.worst_row is None else [f"Row {result.worst_row} falls furthest short of the ideal page."]
    low, high = evaluation.intervals[result.metric]
    mean = f"Mean {result.metric}: {evaluation.mean[result.metric]:.4f}"
    interval = "" if math.isnan(low) else f" (95% confidence interval over users {low:.4f} to {high:.4f})"
    points = [
        Point("Score", [f"{mean}{interval}.", *([note] if (note := evaluation.few_users_note) else [])]),
        Point("What to fix", [capitalised(fix_sentence(result)), *row]),
    ]
    tiles = [Tile("score", f"{100 * shares['score']:.1f}", "of 100")]
    tiles += [Tile(f"lost to {_SHORT[name]}", f"{100 * share:.1f}", "points") for name, share in lost]
    cautions = [evaluation.heading] if evaluation.heading else []
    return Summary(headline, points, tiles, cautions, "clear")


def capitalised(text: str) -> str:
    """Text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]
