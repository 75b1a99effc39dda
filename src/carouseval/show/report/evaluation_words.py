"""What an evaluation shows, in plain words."""

import math

from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.results import Evaluation
from carouseval.show.charts.drawing import count_text
from carouseval.show.report.document import Point, Summary, Tile
from carouseval.show.report.explanation_words import fixes

_MOST_METRICS = 6


def evaluation_summary(result: Evaluation, explanation: Explanation | None) -> Summary:
    """How well the pages score, in which segments, and what to fix."""
    metric, mean = next(iter(result.mean.items()))
    if math.isnan(mean):
        return Summary("No user was scored", [], cautions=[result.heading] * bool(result.heading), tone="care")
    if metric in result.config["ideals"]:
        headline = f"These pages score {100 * mean:.1f} of 100 by {metric}, where 100 is the score of ideal pages"
    else:
        headline = f"The mean {metric} of these pages is {mean:.4f}"
    score = [_score(result, name) for name in list(result.mean)[:_MOST_METRICS]]
    points = [
        Point("Score", [*score, *([note] if (note := result.few_users_note) else [])]),
        Point("What to fix", fixes({"": explanation}) if explanation else []),
        Point("Segments", _segments(result)),
    ]
    tiles = [Tile(name, f"{value:.4f}", _interval(result, name)) for name, value in list(result.mean.items())[:3]]
    tiles += [Tile("users", f"{result.counts['users']:,}"), Tile("pages", f"{result.counts['pages']:,}")]
    cautions = [result.heading] if result.heading else []
    return Summary(headline, [point for point in points if point.sentences], tiles, cautions, "clear")


def _score(result: Evaluation, metric: str) -> str:
    interval = _interval(result, metric)
    if not interval:
        return f"{metric}: {result.mean[metric]:.4f}."
    users = count_text(result.per_user[metric].count(), "user")
    return f"{metric}: {result.mean[metric]:.4f} on average over {users} (95% confidence interval {interval})."


def _interval(result: Evaluation, metric: str) -> str:
    low, high = result.intervals.get(metric, (math.nan, math.nan))
    return "" if math.isnan(low) else f"{low:.4f} to {high:.4f}"


def _segments(result: Evaluation) -> list[str]:
    """The segments with the highest and the lowest mean."""
    if not result.by or not result.metrics:
        return []
    metric = result.metrics[0]
    rows = [row for row in result.segments.iter_rows(named=True) if not math.isnan(row[metric])]
    if len(rows) < 2:
        return []
    rows.sort(key=lambda row: -row[metric])
    names = [f"{', '.join(str(row[name]) for name in result.by)} ({row[metric]:.4f})" for row in (rows[0], rows[-1])]
    return [
        f"Of {len(rows)} segments by {' and '.join(result.by)}, {names[0]} scores highest and {names[1]} lowest. "
        "Whether segments differ was not tested."
    ]
