"""Charts of an evaluation: the scores of users, and means with their intervals."""

from collections.abc import Sequence

import numpy as np

from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.results import Evaluation
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import count_text
from carouseval.show.charts.shapes.histograms import histogram, score_edges
from carouseval.show.charts.shapes.intervals import IntervalLine, interval_chart
from carouseval.validation import require_choice

_MOST_SEGMENTS = 40


def score_distribution(result: Evaluation, metric: str | None = None) -> Chart:
    """How many users have which score by a metric, the first by default."""
    metric = chosen_metric(result.metrics, metric)
    scores = result.per_user[metric].drop_nulls().drop_nans().to_numpy()
    title = f"Scores of users by {metric}"
    mean, (low, high) = result.mean[metric], result.intervals[metric]
    interval = "" if np.isnan(low) else f", 95% interval {low:.4f} to {high:.4f}"
    alternative = f"Histogram of the scores of {count_text(len(scores), 'user')}"
    if len(scores):
        median, smallest, largest = np.median(scores), scores.min(), scores.max()
        alternative += f": mean {mean:.4f}{interval}; median {median:.4f}, from {smallest:.4f} to {largest:.4f}"
    content = (
        f"{count_text(len(scores), 'user')}; mean with its 95% interval." if len(scores) else "No user has a score."
    )
    notes = f"{content} {result.heading}".strip()
    return histogram(scores, score_edges(scores), title, notes, f"{alternative}.", metric, (mean, low, high))


def mean_intervals(result: Evaluation) -> Chart:
    """The mean of each metric with its interval, over all users and in each segment."""
    frame = result.to_frame()
    panels: dict[str, list[IntervalLine]] = {}
    for row in frame.head((_MOST_SEGMENTS + 1) * len(result.mean)).iter_rows(named=True):
        segment = ", ".join(str(row[name]) for name in result.by) or "all users"
        is_all = all(row[name] == "(all)" for name in result.by)
        line = IntervalLine("all users" if is_all else segment, row[Columns.MEAN], row[Columns.LOW], row[Columns.HIGH])
        panels.setdefault(row[Columns.METRIC], []).append(line)
    segments = frame.height // max(1, len(result.mean)) - 1
    left_out = f" The first {_MOST_SEGMENTS} of {segments:,} segments." if segments > _MOST_SEGMENTS else ""
    title = f"Mean scores by {' and '.join(result.by)}" if result.by else "Mean scores"
    numbers = "; ".join(
        f"{metric}: {', '.join(f'{line.name} {line.text}' for line in lines[:10])}" for metric, lines in panels.items()
    )
    notes = f"Means over users with 95% intervals.{left_out} {result.heading}".strip()
    return interval_chart(panels, title, notes, f"Means with 95% intervals: {numbers}.")


def chosen_metric(metrics: Sequence[str], metric: str | None) -> str:
    """The metric asked for, or the first."""
    if not metrics:
        raise ParameterError("no metric of this result scores single pages, so there is no distribution; use 'means'.")
    return metrics[0] if metric is None else require_choice("metric", metric, tuple(metrics))
