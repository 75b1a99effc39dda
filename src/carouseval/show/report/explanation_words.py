"""What to fix, in plain words."""

import math
from collections.abc import Mapping

from carouseval.comparison.summary import joined
from carouseval.evaluation.explanation import Explanation
from carouseval.show.report.document import Point, Summary, Tile

_LOSSES = {
    "choice": "the choice of items",
    "row_order": "the order of carousels",
    "item_order": "the order of items",
    "missing": "missing pages",
}
_MEANINGS = {
    "choice": "relevant items are not on the page",
    "row_order": "carousels with relevant items are too low",
    "item_order": "relevant items are too far right in their carousels",
    "missing": "users have no page, and score 0",
}
_SMALLEST = 5e-4  # of a loss that is named


def losses(result: Explanation) -> list[tuple[str, float]]:
    """What can be fixed, the largest loss first."""
    named = [(name, share) for name, share in result.shares.items() if name in _LOSSES and share >= _SMALLEST]
    return sorted(named, key=lambda loss: -loss[1])


def fixes(explanations: Mapping[str, Explanation]) -> list[str]:
    """What to fix in each system, and what that means; a single system may have no name."""
    sentences = [_fix_sentence(result, name) for name, result in explanations.items()]
    named = dict.fromkeys(name for result in explanations.values() for name, _ in losses(result))
    meanings = "; ".join(f"{_LOSSES[name]}: {_MEANINGS[name]}" for name in _LOSSES if name in named)
    if not named:
        return sentences
    return [*sentences, f"In points of 100, the score of an ideal page. {capitalised(meanings)}."]


def _fix_sentence(result: Explanation, system: str) -> str:
    """Where a system loses most, and what else it loses."""
    about = f"{system}: " if system else ""
    if math.isnan(result.shares["score"]):
        return f"{about}No page was scored, so there is nothing to fix."
    if not (lost := losses(result)):
        return f"{about}These pages are ideal, and there is nothing left to gain."
    (first, most), *others = lost
    more = f", then {joined([f'{_LOSSES[name]} ({_points(share)})' for name, share in others])}" if others else ""
    return f"{about}Fix {_LOSSES[first]} first, which costs {_points(most)} points{more}."


def explanation_summary(result: Explanation) -> Summary:
    """How far pages are from ideal ones, and what to fix first."""
    shares, evaluation = result.shares, result.evaluation
    if math.isnan(shares["score"]):
        return Summary("No page was scored, so there is nothing to explain", [], tone="care")
    lost = losses(result)
    headline = f"These pages score {_points(shares['score'])} of 100, the score of an ideal page"
    if lost:
        headline += f"; most is lost to {_LOSSES[lost[0][0]]}"
    row = [] if result.worst_row is None else [f"Row {result.worst_row} falls furthest short of the ideal page."]
    low, high = evaluation.intervals[result.metric]
    mean = f"Mean {result.metric}: {evaluation.mean[result.metric]:.4f}"
    interval = "" if math.isnan(low) else f" (95% confidence interval over users {low:.4f} to {high:.4f})"
    points = [
        Point("Score", [f"{mean}{interval}.", *([note] if (note := evaluation.few_users_note) else [])]),
        Point("What to fix", [*fixes({"": result}), *row]),
    ]
    tiles = [Tile("score", _points(shares["score"]), "of 100")]
    tiles += [Tile(f"lost to {_LOSSES[name]}", _points(share), "points") for name, share in lost]
    cautions = [evaluation.heading] if evaluation.heading else []
    return Summary(headline, points, tiles, cautions, "clear")


def capitalised(text: str) -> str:
    """Text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
