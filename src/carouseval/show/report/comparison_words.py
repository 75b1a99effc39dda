"""What a comparison shows, in plain words: no more than its tests support."""

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.result_tables import decimals, interval_text, test_text
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.comparison.summary import (
    detectable_text,
    joined,
    level_text,
    margin_text,
    oriented_difference,
    oriented_lift,
    ranking,
    run_text,
    significance_text,
    unmatched_systems,
)
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.mean_estimates import few_users_text
from carouseval.evaluation.page_table import NO_PAGE
from carouseval.show.charts.drawing import count_text
from carouseval.show.report.cautions import comparison_cautions
from carouseval.show.report.comparison_headline import Outcome, headline_of, listed, outcome_of, outcomes_of
from carouseval.show.report.document import Point, Summary, Tile
from carouseval.show.report.explanation import capitalised, fixes

_MOST_PAIRS, _MOST_SEGMENTS = 6, 4
_DISAGREE = (
    "For {} the test and the interval, which contains 0, disagree. They are two methods, and the difference is at the "
    "margin of what either can show."
)
_NARROW = "For {} the interval does not contain 0, although the difference is not significant: {}. The test decides."
_REASONS = {True: "the p-value is corrected for all pairs, the interval is not", False: "they are two methods"}


def comparison_summary(
    result: Comparison, explanations: Mapping[str, Explanation], sensitivity: Sensitivity | None
) -> Summary:
    """Which system is better by the first metric, by how much, how sure that is, and what to fix."""
    outcomes, cautions = outcomes_of(result), comparison_cautions(result)
    headline, tone = headline_of(result, outcomes)
    if unmatched_systems(result.evaluations) or math.isnan(ranking(result)[0][Columns.MEAN]):
        return Summary(headline, [], cautions=cautions, tone=tone)
    points = [
        Point("By how much", _differences(result, outcomes)),
        Point("How sure", _certainty(result, outcomes)),
        Point("What to fix", _fixes(result, explanations)),
        Point("Segments", _segments(result, outcomes)),
        Point("Other metrics", _other_metrics(result, outcomes)),
        Point("Does it depend on the metric?", [sensitivity.summary] if sensitivity else []),
    ]
    stated = [point for point in points if point.sentences]
    return Summary(headline, stated, _tiles(result, outcomes), cautions, "care" if cautions else tone)


def _differences(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> list[str]:
    metric, ranked = result.metrics[0], ranking(result)
    means = listed(
        [f"{row[Columns.SYSTEM]} {decimals(row[Columns.MEAN]) or 'no score'}" for row in ranked], _MOST_PAIRS
    )
    scale = "where an ideal page scores 1" if metric in result.config["ideals"] else "where more counts as better"
    sentences = [f"Mean {metric}, {scale}: {means}."]
    sentences += [_difference(result, *names, outcome) for names, outcome in list(outcomes.items())[:_MOST_PAIRS]]
    if (more := len(outcomes) - _MOST_PAIRS) > 0:
        sentences.append(f"{count_text(more, 'more pair')}: see Differences.")
    intervals = interval_text(result.pairs.filter(pl.col(Columns.METRIC) == metric), result.config)
    return [*sentences, *([f"{capitalised(intervals)}."] if intervals else [])]


def _difference(result: Comparison, system: str, other: str, outcome: Outcome) -> str:
    """How far a system is from another, and for how many users."""
    pair = result.pair(system, other)
    if pair is None or outcome == "untested":
        return f"{system} and {other} could not be compared: too few users have scores under both."
    difference, low, high = oriented_difference(system, pair)
    lift, lift_low, lift_high = oriented_lift(system, pair)
    change = "" if math.isnan(lift) else f"{_percent(lift)}; "
    relative = "" if math.isnan(lift_low + lift_high) else f", or {_percent(lift_low)} to {_percent(lift_high)}"
    wins, losses = (pair[Columns.WINS], pair[Columns.LOSSES])[:: 1 if pair[Columns.SYSTEM] == system else -1]
    verdict = "better" if difference > 0 else "worse"
    is_tie = abs(difference) <= TIE
    size = f"equal to {other} on average" if is_tie else f"{_size(difference)} {verdict} than {other} on average"
    users = f"better for {wins:,}, the same for {pair[Columns.TIES]:,} and worse for {losses:,} of"
    interval = f"{level_text(result)} {low:.4f} to {high:.4f}"
    return f"{system} is {size} ({change}{interval}{relative}): {users} {count_text(pair[Columns.USERS], 'user')}."


def _percent(share: float) -> str:
    """``+2.5%``; no sign before 0."""
    text = f"{share:+.1%}"
    return text[1:] if text in ("+0.0%", "-0.0%") else text


def _size(difference: float) -> str:
    """Four decimals, or what is left of a difference that has none of them."""
    return f"{abs(difference):.4f}" if abs(difference) >= 5e-5 else f"{abs(difference):.1g}"


def _certainty(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> list[str]:
    tested = {
        names: pair for names in outcomes if (pair := result.pair(*names)) is not None and pair[Columns.USERS] > 1
    }
    if not tested:
        return []
    sentences, single = [], len(tested) == 1
    for names, pair in list(tested.items())[:_MOST_PAIRS]:
        about = "The difference" if single else f"{' against '.join(names)}: the difference"
        not_equal = " That does not show that the two are equal." * single
        open_text = f"{not_equal} {detectable_text(result, pair)}" if outcomes[names] == "open" else ""
        sentences.append(f"{about} is {significance_text(result, pair)}.{open_text}")
    if not single and "open" in outcomes.values():
        sentences.append("A difference that is not significant does not show that two systems are equal.")
    sentences.append(f"Tested by: {test_text(result.pairs, result.config)}.")
    sentences += _disagreements(result, tested)
    sentences += dict.fromkeys(run_text(result, pair) for pair in tested.values())
    if any(pair[Columns.FEW_USERS] for pair in tested.values()):
        sentences.append(f"Few users: {few_users_text('differences')}")
    return [*sentences, *([margin] if (margin := margin_text(result)) else [])]


def _disagreements(result: Comparison, tested: Mapping[tuple[str, str], Mapping[str, Any]]) -> list[str]:
    """Where an interval contains 0 although the difference is significant, or the other way round."""
    contradicting: dict[bool, list[str]] = {}
    for names, pair in tested.items():
        contains_0 = math.isnan(pair[Columns.LOW]) or pair[Columns.LOW] <= 0 <= pair[Columns.HIGH]
        if bool(pair[Columns.SIGNIFICANT]) == contains_0:
            contradicting.setdefault(bool(pair[Columns.SIGNIFICANT]), []).append(" against ".join(names))
    sentences = [_DISAGREE.format(listed(contradicting[True]))] if True in contradicting else []
    if False in contradicting:
        config = result.config
        corrected = len(tested) > 1 and config["correction"] != "none" and not config["simultaneous"]
        sentences.append(_NARROW.format(listed(contradicting[False]), _REASONS[corrected]))
    return sentences


def _fixes(result: Comparison, explanations: Mapping[str, Explanation]) -> list[str]:
    """What to fix in each system; the losses of one run do not add up to the mean of several."""
    sentences = fixes(explanations)
    has_runs = any(len(result.evaluations[name]) > 1 for name in explanations)
    return [*sentences, "Of systems with several runs, this is about the first."] if has_runs else sentences


def _segments(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> list[str]:
    """In which segments each pair differs, by the first metric."""
    if result.segments.is_empty():
        return []
    by, sentences = result.config["by"], []
    has_page = pl.any_horizontal(pl.col(by) != NO_PAGE)  # whoever has none belongs to no segment
    lines = result.segments.filter(pl.col(Columns.METRIC) == result.metrics[0], has_page)
    texts: dict[Outcome, str] = {
        "better": "significantly better in {}",
        "worse": "significantly worse in {}",
        "open": "no difference could be shown in {}",
        "same": "the same in {}",
        "untested": "too few users in {}",
    }
    for system, other in list(outcomes)[:_MOST_PAIRS]:
        names = pl.col(Columns.SYSTEM).is_in([system, other]) & pl.col(Columns.BASELINE).is_in([system, other])
        groups: dict[Outcome, list[str]] = {}
        for row in lines.filter(names).iter_rows(named=True):
            segment = " / ".join(str(row[column]) for column in by)
            groups.setdefault(outcome_of(system, other, row), []).append(segment)
        parts = [text.format(_segment_names(groups[name])) for name, text in texts.items() if name in groups]
        if parts:
            sentences.append(f"By {joined(by)}, {system} against {other}: {'; '.join(parts)}.")
    if sentences and result.config["correction"] != "none":
        sentences.append("P-values of segments are corrected for all pairs of all segments.")
    return sentences


def _segment_names(names: list[str]) -> str:
    """``tv and web``; of many, their number first."""
    return listed(names) if len(names) <= _MOST_SEGMENTS else f"{len(names):,} segments ({listed(names)})"


def _other_metrics(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> list[str]:
    """Where other metrics disagree with the first, or that they do not."""
    words = {"better": "better", "worse": "worse", "open": "no difference shown", "same": "the same"}
    sentences = []
    for metric in result.metrics[1:]:
        other = outcomes_of(result, metric)
        changed = [names for names in outcomes if outcomes[names] != other[names]]
        if not changed:
            sentences.append(f"By {metric} the outcome is the same.")
            continue
        parts = [f"{' against '.join(names)}: {words.get(other[names], 'not tested')}" for names in changed]
        sentences.append(f"By {metric} the outcome differs ({'; '.join(parts[:_MOST_PAIRS])}).")
    return sentences


def _tiles(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> list[Tile]:
    """The means of the first pair, its difference, and its users."""
    means = {row[Columns.SYSTEM]: row[Columns.MEAN] for row in ranking(result)}
    system, other = next(iter(outcomes))
    if math.isnan(means[system] + means[other]):
        return []
    tiles = [Tile(name, f"{means[name]:.4f}", f"mean {result.metrics[0]}") for name in (system, other)]
    pair = result.pair(system, other)
    if pair is None or outcomes[system, other] == "untested":
        return tiles
    difference, low, high = oriented_difference(system, pair)
    verdict = "significant" if pair[Columns.SIGNIFICANT] else "not significant"
    level = f"{100 * result.config['ci']:g}% interval"
    return [
        *tiles,
        Tile(f"{system} - {other}", f"{difference:+.4f}", f"{level} {low:.4f} to {high:.4f}, {verdict}"),
        Tile("users", f"{pair[Columns.USERS]:,}", "scored under both"),
    ]
