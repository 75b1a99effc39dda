"""What is shown of each pair of systems, and the headline that says it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.summary import joined, margin_text, oriented_difference, ranking, unmatched_systems
from carouseval.evaluation.columns import Columns
from carouseval.show.report.document import Tone
from carouseval.show.report.explanation import capitalised

Outcome: TypeAlias = Literal["better", "worse", "open", "same", "untested"]
_MOST_NAMES = 4


def outcomes_of(result: Comparison, metric: str | None = None) -> dict[tuple[str, str], Outcome]:
    """What is shown of each pair that matters: systems against the baseline or, without one, the best against others.

    The first system of a pair is the one that is called better or worse. Best is who has the highest mean by the first
    metric.
    """
    names = [row[Columns.SYSTEM] for row in ranking(result)]
    baseline = result.config["baseline"]
    pairs = [(names[0], name) for name in names[1:]]
    if baseline is not None:
        pairs = [(name, baseline) for name in names if name != baseline]
    return {pair: outcome_of(*pair, result.pair(*pair, metric)) for pair in pairs}


def outcome_of(system: str, other: str, pair: Mapping[str, Any] | None) -> Outcome:
    """What is shown of a system beside another by a line of ``pairs``."""
    if pair is None or pair[Columns.USERS] < 2:
        return "untested"
    if pair[Columns.SIGNIFICANT]:
        return "better" if oriented_difference(system, pair)[0] > 0 else "worse"
    return "open" if pair[Columns.WINS] + pair[Columns.LOSSES] else "same"


def headline_of(result: Comparison, outcomes: Mapping[tuple[str, str], Outcome]) -> tuple[str, Tone]:
    """Which system is better, in one line, and how clear that is."""
    first, baseline = ranking(result)[0], result.config["baseline"]
    if unmatched := unmatched_systems(result.evaluations):
        return f"Nothing can be concluded: the pages of {listed(unmatched)} do not match the judgments", "care"
    if math.isnan(first[Columns.MEAN]):
        return "Nothing can be concluded: no user was scored", "care"
    groups: dict[Outcome, list[str]] = {}
    for (system, other), outcome in outcomes.items():
        groups.setdefault(outcome, []).append(other if baseline is None else system)
    tone: Tone = "clear" if {*groups} <= {"better", "worse"} else "open"
    if result.notice and groups.keys() & {"better", "worse"}:
        return f"{first[Columns.SYSTEM]} scores highest, but the judgments seem to favour one system", "care"
    if len(outcomes) == 1:
        (((system, other), outcome),) = outcomes.items()
        margin = margin_text(result).rstrip(".") if baseline is not None else ""
        return "; ".join(filter(None, (_pair_headline(system, other, outcome), margin))), tone
    return (_best_headline(result, groups) if baseline is None else _baseline_headline(baseline, groups)), tone


def _best_headline(result: Comparison, groups: Mapping[Outcome, list[str]]) -> str:
    """Whether the system with the highest mean is better than all others."""
    ranked = ranking(result)
    best, same, beaten = ranked[0][Columns.SYSTEM], groups.get("same", []), groups.get("better", [])
    unclear = [name for outcome, names in groups.items() if outcome not in ("better", "same") for name in names]
    if not (same or unclear):
        return f"{best} wins: it is significantly better than each of the {len(beaten)} other systems"
    if not unclear:
        tied = f"{listed([best, *same])} have the same score for every user"
        return f"{tied}, and are significantly better than {listed(beaten)}" if beaten else tied
    leaders = [row[Columns.SYSTEM] for row in ranked if ranked[0][Columns.MEAN] - row[Columns.MEAN] <= TIE]
    if len(leaders) > 1:
        return f"No single winner: {listed(leaders)} have the same mean, which is the highest"
    return f"No single winner: {best} has the highest mean, but is not shown to be better than {listed(unclear)}"


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
            parts.append(f"{begin}{named}{end}: {listed(groups[outcome])}")
    return capitalised("; ".join(parts))


def listed(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """``a, b and 3 more``."""
    more = len(names) - most
    return joined([*names[:most], *([f"{more:,} more"] if more > 0 else [])])
