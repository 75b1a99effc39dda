"""What to fix, in plain words."""

import math
from collections.abc import Mapping

from carouseval.comparison.summary import joined
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.show.report.cautions import evaluation_cautions, is_unmatched
from carouseval.show.report.document import Point, Summary, Tile

_LOSSES = {
    Columns.CHOICE: "the choice of items",
    Columns.ROW_ORDER: "the order of carousels",
    Columns.ITEM_ORDER: "the order of items",
    Columns.MISSING: "missing pages",
}
_MEANINGS = {
    Columns.CHOICE: "relevant items are not on the page",
    Columns.ROW_ORDER: "carousels with relevant items are in rows that get less attention",
    Columns.ITEM_ORDER: "relevant items are in places of their carousels that get less attention",
    Columns.MISSING: "users have no page, and score 0",
}
_SMALLEST = 5e-4  # of a loss that is named
_MOST_SYSTEMS = 6  # in the summary


def losses(result: Explanation) -> list[tuple[str, float]]:
    """What can be fixed, the largest loss first; nothing where pages only seem to be missing."""
    if is_unmatched(result.evaluation):
        return []
    named = [(name, share) for name, share in result.shares.items() if name in _LOSSES and share >= _SMALLEST]
    return sorted(named, key=lambda loss: -loss[1])


def fixes(explanations: Mapping[str, Explanation]) -> list[str]:
    """What to fix in each system, and what that means; a single system may have no name."""
    sentences = [_fix_sentence(result, name) for name, result in list(explanations.items())[:_MOST_SYSTEMS]]
    if (more := len(explanations) - _MOST_SYSTEMS) > 0:
        sentences.append(f"{more:,} more: see What each system loses.")
    named = dict.fromkeys(name for result in explanations.values() for name, _ in losses(result))
    meanings = "; ".join(f"{_LOSSES[name]}: {_MEANINGS[name]}" for name in _LOSSES if name in named)
    if not named:
        return sentences
    metrics = joined(list(dict.fromkeys(result.metric for result in explanations.values())))
    return [*sentences, f"In points of 100, the score of an ideal page by {metrics}. {capitalised(meanings)}."]


def _fix_sentence(result: Explanation, system: str) -> str:
    """Where a system loses most, and what else it loses."""
    about = f"{system}: " if system else ""
    if math.isnan(result.shares[Columns.SCORE]):
        return f"{about}No page was scored, so there is nothing to fix."
    if is_unmatched(result.evaluation):
        return f"{about}The pages do not match the judgments by page_id; fix that first."
    nothing = result.shares.get(Columns.NOTHING_TO_SHOW, 0.0)
    other = f" Users without a relevant item score 0, which costs {_points(nothing)} points." * (nothing >= _SMALLEST)
    if not (lost := losses(result)):
        return f"{about}These pages are ideal, and there is nothing left to gain.{other}"
    (first, most), *others = lost
    more = f", then {joined([f'{_LOSSES[name]} ({_points(share)})' for name, share in others])}" if others else ""
    return f"{about}Fix {_LOSSES[first]} first, which costs {_points(most)} points{more}.{other}"


def explanation_summary(result: Explanation) -> Summary:
    """How far pages are from ideal ones, and what to fix first."""
    shares, evaluation = result.shares, result.evaluation
    cautions = evaluation_cautions(evaluation)
    if math.isnan(shares[Columns.SCORE]):
        return Summary("No page was scored, so there is nothing to explain", [], cautions=cautions, tone="care")
    if is_unmatched(evaluation):
        return Summary("Nothing can be concluded: the pages do not match the judgments", [], (), cautions, "care")
    lost = losses(result)
    headline = f"These pages score {_points(shares[Columns.SCORE])} of 100, the score of an ideal page"
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
    tiles = [Tile("score", _points(shares[Columns.SCORE]), "of 100")]
    tiles += [Tile(f"lost to {_LOSSES[name]}", _points(share), "points") for name, share in lost]
    return Summary(headline, points, tiles, cautions, "care" if cautions else "clear")


def capitalised(text: str) -> str:
    """Text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def _points(share: float) -> str:
    return f"{100 * share:.1f}"
