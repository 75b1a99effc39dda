"""Charts of a comparison: differences, means, how users' scores differ, the users needed, and the sensitivity."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.power_analysis import PowerAnalysis
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.messages import setting
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.drawing import (
    LONGEST_NAME,
    chart_of,
    chart_title,
    count_text,
    finished,
    ink_on_shades,
    named_axis,
    named_lines,
    short_name,
    tooltip,
)
from carouseval.show.charts.evaluation import chosen_metric
from carouseval.show.charts.shapes.bars import Bar, bar_chart
from carouseval.show.charts.shapes.histograms import difference_edges, histogram
from carouseval.show.charts.shapes.intervals import IntervalLine, interval_chart
from carouseval.show.charts.theme import INK, PAPER, RAMP, RED
from carouseval.validation import require_choice

_SCORE = pl.col(Columns.MEAN).fill_nan(None)  # sorts systems without one last
_MOST_LINES = 40  # of a panel
_WIDE, _NARROW, _HIGH = 76, 48, 26  # pixels of a cell; narrow ones where systems are many
_MANY = 10


def difference_intervals(result: Comparison, metric: str | None = None) -> Chart:
    """The difference of each pair of systems with its interval, over all users and in each segment.

    Draws all metrics by default. Of more than 40 differences by a metric it draws those of the best system, then of
    other pairs, then of segments, the largest first.
    """
    config, frame = result.config, result.to_frame()
    metrics = result.metrics if metric is None else (chosen_metric(result.metrics, metric),)
    nothing = pl.repeat(False, pl.len())  # where there are no segments
    is_segment = pl.any_horizontal(nothing, *(pl.col(by) != "(all)" for by in config["by"]))
    panels, left_out = {}, {"between systems": 0, "in segments": 0}
    for name in metrics:
        lines = frame.filter(pl.col(Columns.METRIC) == name)
        if lines.height > _MOST_LINES:
            best = _ranked(result, name)[0]
            without_best = (pl.col(Columns.SYSTEM) != best) & (pl.col(Columns.BASELINE) != best)
            size = -pl.col(Columns.DIFFERENCE).abs().fill_nan(-1)
            lines = lines.sort(is_segment, without_best, size, maintain_order=True)
            segments = lines.slice(_MOST_LINES).filter(is_segment).height
            left_out["between systems"] += lines.height - _MOST_LINES - segments
            left_out["in segments"] += segments
            lines = lines.head(_MOST_LINES)
        by_pair = lines.partition_by(Columns.BASELINE, Columns.SYSTEM, maintain_order=True)
        lines = pl.concat(by_pair)  # segments below their pair
        panels[name] = [_difference_line(row, config["by"]) for row in lines.iter_rows(named=True)]
    adjusted = "adjusted for multiple comparisons" if config["simultaneous"] else "not adjusted"
    corrected = f" after {config['correction'].capitalize()} correction" * (config["correction"] != "none")
    notes = (
        f"{100 * config['ci']:g}% intervals, {adjusted}. Filled: significant{corrected}; hollow: not significant."
        + f" Not drawn: {' and '.join(f'{count:,} {where}' for where, count in left_out.items() if count)}."
        * any(left_out.values())
    )
    numbers = "; ".join(f"{line.name} {line.text}" for lines in panels.values() for line in lines[:10])
    return interval_chart(panels, "Differences between systems", notes, f"{result.summary} {numbers}.", reference=0.0)


def _difference_line(row: dict[str, Any], by: list[str]) -> IntervalLine:
    segment = "".join(f", {row[name]}" for name in by if row[name] != "(all)")
    name = f"{_pair_name(row, max(24, LONGEST_NAME - len(segment)))}{segment}"
    return IntervalLine(
        name, row[Columns.DIFFERENCE], row[Columns.LOW], row[Columns.HIGH], bool(row[Columns.SIGNIFICANT]), signed=True
    )


def _pair_name(row: dict[str, Any], most: int = LONGEST_NAME) -> str:
    """Two systems in so many characters."""
    each = (most - len(" - ")) // 2
    return f"{short_name(row[Columns.SYSTEM], each)} - {short_name(row[Columns.BASELINE], each)}"


def system_intervals(result: Comparison, metric: str | None = None) -> Chart:
    """The mean of each system with its interval, best first; by all metrics by default."""
    metrics = result.metrics if metric is None else (chosen_metric(result.metrics, metric),)
    panels = {}
    for name in metrics:
        ranked = result.systems.filter(pl.col(Columns.METRIC) == name).sort(_SCORE, descending=True, nulls_last=True)
        panels[name] = [
            IntervalLine(row[Columns.SYSTEM], row[Columns.MEAN], row[Columns.LOW], row[Columns.HIGH])
            for row in ranked.iter_rows(named=True)
        ]
    notes = f"Means over users with {100 * result.config['ci']:g}% intervals, best first."
    numbers = "; ".join(f"{line.name} {line.text}" for lines in panels.values() for line in lines[:10])
    return interval_chart(panels, "Mean scores of systems", notes, f"{result.summary} {numbers}.")


def user_differences(
    result: Comparison, metric: str | None = None, system: str | None = None, baseline: str | None = None
) -> Chart:
    """How many users gain or lose how much under one system instead of another.

    By default the two best systems or, with a baseline, the best of the others and the baseline.
    """
    metric = chosen_metric(result.metrics, metric)
    system, baseline = _pair(result, metric, system, baseline)
    pair = result.pair(system, baseline, metric)
    if pair is None:
        raise ParameterError(
            f"{system} and {baseline} were not compared; choose another {setting('baseline')}, or none."
        )
    scores = result.per_user.select(Columns.USER, Columns.SYSTEM, metric)
    first, second = (scores.filter(pl.col(Columns.SYSTEM) == name).drop(Columns.SYSTEM) for name in (system, baseline))
    paired = first.join(second, on=Columns.USER).drop_nulls().drop_nans()
    differences = (paired[metric] - paired[f"{metric}_right"]).to_numpy()
    sign = 1 if pair[Columns.SYSTEM] == system else -1
    wins, losses = (pair[Columns.WINS], pair[Columns.LOSSES])[::sign]
    low, high = sorted((sign * pair[Columns.LOW], sign * pair[Columns.HIGH]))
    mean = sign * pair[Columns.DIFFERENCE] + 0.0  # without a negative 0
    title = f"{system} - {baseline}: differences of users by {metric}"
    interval = "" if math.isnan(low) else f", interval {low:.4f} to {high:.4f}"
    users = count_text(pair[Columns.USERS], "user")
    counts = f"better for {wins:,}, the same for {pair[Columns.TIES]:,}, worse for {losses:,} of {users}"
    notes = f"{system} is {counts}. Mean with its {100 * result.config['ci']:g}% interval."
    alternative = f"Histogram of differences: {system} is {counts}; mean {mean:+.4f}{interval}."
    edges = difference_edges(differences)
    axis = f"{system} minus {baseline}"
    return histogram(differences, edges, title, notes, alternative, axis, (mean, low, high), signed=True)


def _pair(result: Comparison, metric: str, system: str | None, baseline: str | None) -> tuple[str, str]:
    """The names of two systems, those that were left open chosen by their means."""
    names = _ranked(result, metric)
    for name, value in {"system": system, "baseline": baseline}.items():
        if value is not None:
            require_choice(name, value, tuple(names))
    baseline = baseline or (result.config["baseline"] if result.config["baseline"] != system else None)
    system = system or next(name for name in names if name != baseline)
    return system, baseline or next(name for name in names if name != system)


def _ranked(result: Comparison, metric: str) -> list[str]:
    """The systems by a metric, best first."""
    means = result.systems.filter(pl.col(Columns.METRIC) == metric).sort(_SCORE, descending=True, nulls_last=True)
    return means[Columns.SYSTEM].to_list()


def planned_users(result: PowerAnalysis) -> Chart:
    """The users that it takes to find the difference planned for, for each pair and metric."""
    bars = [
        Bar(
            f"{_pair_name(row)}, {row[Columns.METRIC]}",
            math.nan if row[Columns.USERS_NEEDED] is None else row[Columns.USERS_NEEDED],
            ("no number is enough" if row[Columns.USERS_NEEDED] is None else f"{row[Columns.USERS_NEEDED]:,} needed")
            + f", {row[Columns.USERS]:,} compared",
            marked=row[Columns.USERS_NEEDED] is None or row[Columns.USERS_NEEDED] > row[Columns.USERS],
        )
        for row in result.table.head(_MOST_LINES).iter_rows(named=True)
    ]
    title = f"Users needed to find a difference of {result.effect:g}"
    notes = f"With {result.power:.0%} power. Grey: enough users were compared."
    numbers = "; ".join(f"{bar.name}: {bar.text}" for bar in bars[:10])
    return bar_chart(bars, title, notes, f"{result.heading} {numbers}.", "users")


def sensitivity_matrix(result: Sensitivity) -> Chart:
    """The mean of each system under each variation, darker the higher it ranks; swapped places are framed."""
    by = result.config["by"]
    lines = result.table.filter(pl.col(name) == "(all)" for name in by) if by else result.table
    reference: dict[str, int] = {}
    cells: list[dict[str, Any]] = []
    for line, row in enumerate(lines.iter_rows(named=True)):
        ranks = _ranks({system: row[system] for system in result.systems})
        reference = reference or ranks
        for column, system in enumerate(result.systems):
            value, rank = row[system], ranks[system]
            cells.append(
                {"line": line, "top": line - 0.5, "bottom": line + 0.5, "left": column - 0.5, "right": column + 0.5}
                | {"column": column, "system": system, "variation": f"{row[Columns.VARIED]}: {row[Columns.VARIATION]}"}
                | {"mean": None if math.isnan(value) else value, "rank": rank, "moved": rank != reference[system]}
                | {"share": 1 - (rank - 1) / max(1, len(result.systems) - 1)}
                | {"text": "none" if math.isnan(value) else f"{value:.3f}"}
            )
    names = [f"{row[Columns.VARIED]}: {row[Columns.VARIATION]}" for row in lines.iter_rows(named=True)]
    x = alt.X(
        "left:Q",
        axis=_top_axis(result.systems),
        scale=alt.Scale(domain=[-0.5, len(result.systems) - 0.5], nice=False, zero=False),
    )
    y = named_lines("top:Q", names)
    squares = chart_of(cells)
    place = {"x": x, "x2": "right:Q", "y": y, "y2": "bottom:Q"}
    layers = [
        squares.mark_rect(stroke=PAPER).encode(
            **place,
            color=alt.Color("share:Q", scale=alt.Scale(range=RAMP, domain=[-0.2, 1]), legend=None),
            tooltip=tooltip(system="", variation="", mean=".4f", rank="d"),
        ),
        squares.transform_filter("datum.moved").mark_rect(filled=False, stroke=RED, strokeWidth=2.5).encode(**place),
        squares.mark_text(fontSize=12, aria=False).encode(
            x=alt.X("column:Q"), y=alt.Y("line:Q"), text="text:N", color=ink_on_shades()
        ),
        chart_of([{"line": 0.5}]).mark_rule(color=INK).encode(y=alt.Y("line:Q")),  # below the reference
    ]
    width = (_WIDE if len(result.systems) <= _MANY else _NARROW) * len(result.systems)
    notes = f"{result.summary} Darker: higher rank in its line. Framed: another rank than in the reference."
    title = chart_title("Does the order of systems hold?", notes, max(560, width + 260))
    figure = alt.LayerChart(layer=layers, width=width, height=_HIGH * max(2, len(names)), title=title)
    return finished(figure, "Does the order of systems hold?", result.summary)


def _ranks(means: dict[str, float]) -> dict[str, int]:
    """Ranks from 1; equal means have the same, and a mean that is missing the last."""
    known = {name: -math.inf if math.isnan(mean) else mean for name, mean in means.items()}
    return {name: 1 + sum(other > mean for other in known.values()) for name, mean in known.items()}


def _top_axis(systems: Sequence[str]) -> alt.Axis:
    """The names of systems, at an angle where there are many."""
    if len(systems) <= 4:
        return named_axis(systems, orient="top", labelAngle=0, labelLimit=_WIDE)
    return named_axis(systems, orient="top", labelAngle=-40, labelAlign="left", labelLimit=200)
