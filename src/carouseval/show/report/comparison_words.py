"""What a comparison shows, in plain words: no more than its tests support."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.result_tables import test_text
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.comparison.summary import (
    detectable_text,
    joined,
    left_out_text,
    level_text,
    margin_text,
    missing_pages_text,
    oriented_difference,
    oriented_lift,
    ranking,
    run_text,
    significance_text,
    unmatched_systems,
)
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.mean_estimates import few_users_text
from carouseval.show.charts.drawing import count_text
from carouseval.show.report.document import Point, Summary, Tile, Tone
from carouseval.show.report.explanation_words import capitalised, fixes

Outcome: TypeAlias = Literal["better", "worse", "open", "same", "untested"]
_MOST_PAIRS, _MOST_NAMES = 6, 4
_DISAGREE = (
    "For {} the test and the interval, which contains 0, disagree. They are two methods, and the difference is at the "
    "margin of what either can show."
)


def comparison_summary(
    result: Comparison, explanations: Mapping[str, Explanation], sensitivity: Sensitivity | None
) -> Summary:
    """Which system is better by the first metric, by how much, how sure that is, and what to fix."""
    outcomes = outcomes_of(result)
    headline, tone = _headline(result, outcomes)
    arrangement = next(iter(result.evaluations.values()))[0].heading
    if unmatched_systems(result.evaluations):
        return Summary(headline, [], cautions=[text for text in (arrangement, result.summary) if text], tone=tone)
    points = [
        Point("By how much", _differences(result, outcomes)),
        Point("How sure", _certainty(result, outcomes)),
        Point("What to fix", fixes(explanations)),
        Point("Segments", _segments(result)),
        Point("Other metrics", _other_metrics(result, outcomes)),
        Point("Does it depend on the metric?", [sensitivity.summary] if sensitivity else []),
    ]
    cautions = [arrangement, result.notice, missing_pages_text(result), left_out_text(result)]
    return Summary(
        headline,
        [point for point in points if point.sentences],
        _tiles(result, outcomes),
        [text for text in cautions if text],
        "care" if result.notice else tone,
    )


def outcomes_of(result: Comparison, metric: str | None = None) -> dict[tuple[str, str], Outcome]:
    """What is shown of each pair that matters: systems against the baseline or, without one, the best against others.

    The first system of a pair is the one that is called better or worse. Best is who has the highest mean by the first
    metric.
    """
    names = [row["system"] for row in ranking(result)]
    baseline = result.config["baseline"]
    pairs = [(names[0], name) for name in names[1:]]
    if baseline is not None:
        pairs = [(name, baseline) for name in names if name != baseline]
    return {pair: outcome_of(*pair, result.pair(*pair, metric)) for pair in pairs}


def outcome_of(system: str, other: str, pair: Mapping[str, Any] | None) -> Outcome:
    """What is shown of a system beside another by a line of ``pairs``."""
    if pair is None or pair["users"] < 2:
        return "untested"
    if pair["significant"]:
        return "better" if oriented_difference(system, pair)[0] > 0 else "worse"
    return "open" if pair["wins"] + pair["losses"] else "same"


def _headline(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> tuple[str, Tone]:
    first = ranking(result)[0]
    if unmatched := unmatched_systems(result.evaluations):
        return f"Nothing can be concluded: the pages of {joined(unmatched)} do not match the judgments", "care"
    if math.isnan(first["mean"]):
        return "Nothing can be concluded: no user was scored", "care"
    groups: dict[Outcome, list[str]] = {}
    for (system, other), outcome in outcomes.items():
        groups.setdefault(outcome, []).append(other if result.config["baseline"] is None else system)
    tone: Tone = "clear" if {*groups} <= {"better", "worse"} else "open"
    if result.notice and groups.keys() & {"better", "worse"}:
        return f"{first['system']} scores highest, but the judgments seem to favour one system", "care"
    if len(outcomes) == 1:
        ((system, other),) = outcomes
        return _pair_headline(system, other, outcomes[system, other]), tone
    if result.config["baseline"] is not None:
        return _baseline_headline(result.config["baseline"], groups), tone
    best, rest = first["system"], [name for outcome, names in groups.items() if outcome != "better" for name in names]
    if not rest:
        return f"{best} wins: it is significantly better than each of the {len(outcomes)} other systems", tone
    return f"No single winner: {best} has the highest mean, but is not shown to be better than {_listed(rest)}", "open"


def _pair_headline(system: str, other: str, outcome: Outcome) -> str:
    match outcome:
        case "better":
            return f"{system} wins against {other}"
        case "worse":
            return f"{system} loses against {other}"
        case "same":
            return f"{system} and {other} have the same score for every user"
        case "open":
            return f"No difference between {system} and {other} could be shown"
        case _:
            return f"{system} and {other} could not be compared: too few users have scores under both"


def _baseline_headline(baseline: str, groups: Mapping[Outcome, Sequence[str]]) -> str:
    texts: dict[Outcome, tuple[str, str, str]] = {
        "better": ("significantly better", " than {}", ""),
        "worse": ("significantly worse", " than {}", ""),
        "open": ("no difference", " from {}", " could be shown"),
        "same": ("the same score", " as {}", " for every user"),
        "untested": ("not compared", " with {}", ""),
    }
    parts: list[str] = []
    for outcome, (begin, against, end) in texts.items():
        if outcome in groups:
            named = "" if parts else against.format(baseline)  # once is enough
            parts.append(f"{begin}{named}{end}: {_listed(groups[outcome])}")
    return capitalised("; ".join(parts))


def _differences(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> list[str]:
    metric, ranked = result.metrics[0], ranking(result)
    if math.isnan(ranked[0]["mean"]):
        return []
    means = joined([f"{row['system']} {row['mean']:.4f}" for row in ranked[:_MOST_PAIRS]])
    more = f" and {len(ranked) - _MOST_PAIRS} more" * (len(ranked) > _MOST_PAIRS)
    scale = ", where an ideal page scores 1" if metric in result.config["ideals"] else ""
    return [
        f"Mean {metric}{scale}: {means}{more}.",
        *(_difference(result, *names, outcome) for names, outcome in list(outcomes.items())[:_MOST_PAIRS]),
    ]


def _difference(result: Comparison, system: str, other: str, outcome: Outcome) -> str:
    """How far a system is from another, and for how many users."""
    pair = result.pair(system, other)
    if pair is None or outcome == "untested":
        return f"{system} and {other} could not be compared: too few users have scores under both."
    difference, low, high = oriented_difference(system, pair)
    lift, lift_low, lift_high = oriented_lift(system, pair)
    change = "" if math.isnan(lift) else f"{lift:+.1%}; "
    relative = "" if math.isnan(lift_low + lift_high) else f", or {lift_low:+.1%} to {lift_high:+.1%}"
    wins, losses = (pair["wins"], pair["losses"])[:: 1 if pair["system"] == system else -1]
    verdict = "better" if difference > 0 else "worse"
    size = f"{abs(difference):.4f} {verdict} than {other} on average" if difference else f"equal to {other} on average"
    users = f"better for {wins:,}, the same for {pair['ties']:,} and worse for {losses:,} of"
    interval = f"{level_text(result)} {low:.4f} to {high:.4f}"
    return f"{system} is {size} ({change}{interval}{relative}): {users} {count_text(pair['users'], 'user')}."


def _certainty(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> list[str]:
    tested = {names: pair for names in outcomes if (pair := result.pair(*names)) is not None and pair["users"] > 1}
    if not tested:
        return []
    sentences = []
    for (system, other), pair in list(tested.items())[:_MOST_PAIRS]:
        about = "The difference" if len(tested) == 1 else f"{system} against {other}: the difference"
        sentences.append(f"{about} is {significance_text(result, pair)}.")
        if outcomes[system, other] == "open":
            sentences.append(f"That does not show that the two are equal. {detectable_text(result, pair)}")
    sentences.append(f"Tested by: {test_text(result.pairs, result.config)}.")
    if disagreeing := [f"{system} and {other}" for (system, other), pair in tested.items() if _disagrees(pair)]:
        sentences.append(_DISAGREE.format(_listed(disagreeing)))
    sentences += dict.fromkeys(run_text(result, pair) for pair in tested.values())
    if any(pair["few_users"] for pair in tested.values()):
        sentences.append(f"Few users: {few_users_text('differences')}")
    return [*sentences, *([margin] if (margin := margin_text(result)) else [])]


def _disagrees(pair: Mapping[str, Any]) -> bool:
    """Whether a difference is significant although its interval contains 0."""
    return bool(pair["significant"]) and pair["low"] <= 0 <= pair["high"]


def _segments(result: Comparison) -> list[str]:
    """In which segments each pair differs, by the first metric."""
    if result.segments.is_empty():
        return []
    by, sentences = result.config["by"], []
    lines = result.segments.filter(pl.col("metric") == result.metrics[0])
    for system, other in list(outcomes_of(result))[:_MOST_PAIRS]:
        names = pl.col("system").is_in([system, other]) & pl.col("baseline").is_in([system, other])
        groups: dict[Outcome, list[str]] = {}
        for row in lines.filter(names).iter_rows(named=True):
            segment = ", ".join(str(row[column]) for column in by)
            groups.setdefault(outcome_of(system, other, row), []).append(segment)
        texts: dict[Outcome, str] = {
            "better": "significantly better in {}",
            "worse": "significantly worse in {}",
            "open": "no difference could be shown in {}",
            "same": "the same in {}",
            "untested": "too few users in {}",
        }
        parts = [text.format(_listed(groups[outcome])) for outcome, text in texts.items() if outcome in groups]
        if parts:
            sentences.append(f"By {joined(by)}, {system} against {other}: {'; '.join(parts)}.")
    if sentences and result.config["correction"] != "none":
        sentences.append("P-values of segments are corrected for all pairs of all segments.")
    return sentences


def _other_metrics(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> list[str]:
    """Where other metrics disagree with the first, or that they do not."""
    if len(result.metrics) == 1:
        return []
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
    ranked = ranking(result)
    if math.isnan(ranked[0]["mean"]):
        return []
    tiles = [Tile(row["system"], f"{row['mean']:.4f}", f"mean {result.metrics[0]}") for row in ranked[:2]]
    system, other = next(iter(outcomes))
    pair = result.pair(system, other)
    if pair is None or outcomes[system, other] == "untested":
        return tiles
    difference, low, high = oriented_difference(system, pair)
    verdict = "significant" if pair["significant"] else "not significant"
    return [
        *tiles,
        Tile(f"{system} - {other}", f"{difference:+.4f}", f"{low:.4f} to {high:.4f}, {verdict}"),
        Tile("users", f"{pair['users']:,}", "scored under both"),
    ]


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return joined([*names[:_MOST_NAMES], *([f"{more} more"] if more > 0 else [])])
