"""The result of a comparison in sentences."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.tests import result_test
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.mean_estimates import few_users_text
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.table_matching import FEW

if TYPE_CHECKING:
    from carouseval.comparison.comparison import Comparison

_SMALL_P = 0.00005
_CORRECTIONS = {"holm": " after Holm correction", "bh": " after Benjamini-Hochberg correction", "none": ""}


def summary(result: "Comparison[Any]") -> str:
    """Notices, if any; whether the two best systems by the first metric differ; how sure that is, and the margin."""
    notices = (result.notice, missing_pages_text(result), left_out_text(result))
    texts = (*notices, _best_systems(result), margin_text(result))
    return " ".join(text for text in texts if text)


def ranking(result: "Comparison[Any]") -> list[dict[str, Any]]:
    """The systems by the first metric, best first; those without a score last."""
    ranked = result.systems.filter(pl.col(Columns.METRIC) == result.metrics[0])
    score = pl.col(Columns.MEAN).fill_nan(None)
    return ranked.sort(score, descending=True, nulls_last=True, maintain_order=True).to_dicts()


def unmatched_systems(evaluations: Mapping[str, Sequence[Evaluation[Any]]]) -> list[str]:
    """The systems with few pages that match the judgments by page_id."""
    return [
        name
        for name, runs in evaluations.items()
        if any(run.page_match is not None and run.page_match < FEW for run in runs)
    ]


def oriented_difference(system: str, pair: Mapping[str, Any]) -> tuple[float, float, float]:
    """Difference and interval of a pair: ``system`` minus the other."""
    if pair[Columns.SYSTEM] == system:
        return pair[Columns.DIFFERENCE], pair[Columns.LOW], pair[Columns.HIGH]
    return 0.0 - pair[Columns.DIFFERENCE], 0.0 - pair[Columns.HIGH], 0.0 - pair[Columns.LOW]  # never -0.0


def oriented_lift(system: str, pair: Mapping[str, Any]) -> tuple[float, float, float]:
    """Relative lift of a pair and its interval: of ``system`` over the other; NaN where it has none."""
    if pair[Columns.SYSTEM] == system:
        return pair[Columns.LIFT], pair[Columns.LIFT_LOW], pair[Columns.LIFT_HIGH]
    lift, low, high = (
        -share / (1 + share) if share > -1 else math.nan
        for share in (pair[Columns.LIFT], pair[Columns.LIFT_HIGH], pair[Columns.LIFT_LOW])
    )
    return lift, low, high


def level_text(result: "Comparison[Any]") -> str:
    """``95% confidence interval``; also whether it is adjusted, where there are several."""
    has_several = _tests(result) > 1
    kind = "simultaneous " if has_several and result.config["simultaneous"] else ""
    return f"{kind}{100 * result.config['ci']:g}% confidence interval"


def significance_text(result: "Comparison[Any]", pair: Mapping[str, Any]) -> str:
    """``statistically significant (p = 0.001 after Holm correction)``."""
    if {pair[Columns.BASELINE], pair[Columns.SYSTEM]} & {*unmatched_systems(result.evaluations)}:
        return "not called significant: pages do not match the judgments by page_id"
    verdict = "statistically significant" if pair[Columns.SIGNIFICANT] else "not statistically significant"
    correction = _CORRECTIONS[result.config["correction"]] if _tests(result) > 1 else ""
    return f"{verdict} (p {_p_text(pair[Columns.P_ADJUSTED], round(1 - result.config['ci'], 12))}{correction})"


def _p_text(p: float, alpha: float) -> str:
    """``= 0.03``, with as many digits as it takes to stay on its side of the significance level."""
    if p < _SMALL_P:
        return "< 0.0001"
    texts = (f"{p:.{digits}g}" for digits in range(2, 18))
    return f"= {next(text for text in texts if (float(text) < alpha) == (p < alpha))}"


def run_text(result: "Comparison[Any]", pair: Mapping[str, Any]) -> str:
    """What the result says about other runs of the two systems."""
    counts = {name: len(result.evaluations[name]) for name in (pair[Columns.SYSTEM], pair[Columns.BASELINE])}
    vary = max(counts.values()) > 1 and result.config["runs"] != "fixed"
    if not vary or not result_test(pair[Columns.TEST]).takes_runs:
        runs = "this run" if set(counts.values()) == {1} else "these runs"
        return f"The result is conditional on {runs} of each system."
    single = [name for name, count in counts.items() if count == 1]
    if single:
        (other,) = counts.keys() - single
        return (
            f"Users and runs both vary; {single[0]} has one run, which is assumed to vary as the {counts[other]} runs "
            f"of {other} do."
        )
    listed = " and ".join(f"{count} runs of {name}" for name, count in counts.items())
    paired = ", paired" if result.config["runs"] == "paired" else ""
    return f"Users and runs both vary ({listed}{paired})."


def _tests(result: "Comparison[Any]") -> int:
    """The number of tests that p-values of the first metric are corrected for."""
    pairs = result.pairs
    if not result.config["across_metrics"]:
        pairs = pairs.filter(pl.col(Columns.METRIC) == result.metrics[0])
    return pairs.filter(pl.col(Columns.P).is_not_nan()).height


def missing_pages_text(result: "Comparison[Any]") -> str:
    """How many pages each system lacks, where they score 0 and systems differ."""
    counts = {row[Columns.SYSTEM]: result.counts[row[Columns.SYSTEM]]["missing"] for row in ranking(result)}
    if result.config["missing_pages"] != "zero" or len(set(counts.values())) == 1:
        return ""
    if unmatched_systems(result.evaluations):
        return ""  # the summary says why
    listed = ", ".join(f"{count:,} under {system}" for system, count in counts.items())
    return f"Missing pages, which score 0: {listed}."


def left_out_text(result: "Comparison[Any]") -> str:
    """How many users each system leaves out, where not all systems are scored on the same users."""
    counts = {row[Columns.SYSTEM]: row[Columns.LEFT_OUT] for row in ranking(result)}
    pairs = result.pairs.filter(pl.col(Columns.METRIC) == result.metrics[0])
    scored = {*pairs[Columns.USERS], *(row[Columns.USERS] for row in ranking(result))}
    if len(scored) == 1 or not any(counts.values()):
        return ""
    listed = ", ".join(f"{count:,} under {system}" for system, count in counts.items())
    why = _left_out_reason(result)
    return f"Users left out: {listed} ({why}). Systems are compared on the users scored under both."


def _left_out_reason(result: "Comparison[Any]") -> str:
    """Why users have no score by the settings in force."""
    config, lacks = result.config, []
    if config["missing_pages"] == "skip" or config["no_relevant"] != "skip":
        lacks.append("no page")
    if config["no_relevant"] == "skip" and config["candidates"] != "displayed":
        lacks.append("no relevant item")
    reasons = [f"they have {' or '.join(lacks)}"] if lacks else []
    if config["no_relevant"] == "skip" and config["candidates"] == "displayed":
        reasons.append("their pages show nothing relevant, so there is nothing to arrange")
    return ", or ".join(reasons)


def _best_systems(result: "Comparison[Any]") -> str:
    """Whether the two best systems differ."""
    metric = result.metrics[0]
    best, second = ranking(result)[:2]
    if unmatched := unmatched_systems(result.evaluations):
        return (
            f"The pages of {' and '.join(unmatched)} do not match the judgments by page_id, so no difference from "
            f"{'it' if len(unmatched) == 1 else 'them'} is called significant. Write page_id the same way in all "
            "tables, or drop it from judgments that hold for all pages of a user."
        )
    if math.isnan(best[Columns.MEAN]):
        return "No user was scored."
    leader, runner_up = (f"{row[Columns.SYSTEM]} ({row[Columns.MEAN]:.4f})" for row in (best, second))
    if abs(best[Columns.MEAN] - second[Columns.MEAN]) <= TIE:
        return f"{leader} and {runner_up} have the highest {metric}; there is no difference between them."
    pair = result.pair(best[Columns.SYSTEM], second[Columns.SYSTEM])
    highest = f"{leader} has the highest {metric}, followed by {runner_up}."
    if pair is None:
        return f"{highest} The two were not compared with each other."
    if pair[Columns.USERS] < 2:
        return f"{highest} Too few users have scores under both for a test."
    difference, low, high = oriented_difference(best[Columns.SYSTEM], pair)
    if pair[Columns.SIGNIFICANT]:
        first = highest
    else:
        first = f"{leader} and {runner_up} have the highest {metric} and do not differ significantly."
    adjusted = ", not adjusted for multiple comparisons" if _tests(result) > 1 else ""
    if result.config["simultaneous"]:
        adjusted = ""
    sentences = [
        first,
        f"On the {pair[Columns.USERS]:,} users scored under both, {best[Columns.SYSTEM]} is {abs(difference):.4f} "
        f"{'better' if difference >= 0 else 'worse'} than {second[Columns.SYSTEM]} ({level_text(result)} {low:.4f} to "
        f"{high:.4f}{adjusted}).",
        f"The difference is {significance_text(result, pair)}.",
        run_text(result, pair),
    ]
    if not pair[Columns.SIGNIFICANT]:
        sentences.append(detectable_text(result, pair))
    if pair[Columns.FEW_USERS]:
        sentences.append(few_users_text("differences"))
    return " ".join(sentences)


def detectable_text(result: "Comparison[Any]", pair: Mapping[str, Any]) -> str:
    """The smallest difference between two systems that would have been found."""
    names = f"{pair[Columns.SYSTEM]} and {pair[Columns.BASELINE]}"
    if math.isnan(pair[Columns.DETECTABLE]):
        draws = f"{result.config['permutations']:,} permutations"
        return f"With {pair[Columns.USERS]:,} users and {draws} no difference between {names} can be significant."
    return (
        f"The smallest difference between {names} that this comparison would detect with 80% power is "
        f"{pair[Columns.DETECTABLE]:.4f}."
    )


def margin_text(result: "Comparison[Any]") -> str:
    """Which systems are shown to be at most the margin worse than what they are compared with."""
    margin = result.config["margin"]
    pairs = result.pairs.filter((pl.col(Columns.METRIC) == result.metrics[0]) & (pl.col(Columns.USERS) > 1))
    if margin is None or pairs.is_empty():
        return ""
    groups = pairs.group_by(Columns.BASELINE, Columns.NOT_INFERIOR, maintain_order=True).agg(Columns.SYSTEM)
    return " ".join(
        f"{joined(systems)} {'is' if len(systems) == 1 else 'are'}{'' if is_shown else ' not'} shown to be at most "
        f"{margin:g} worse than {baseline}."
        for baseline, is_shown, systems in groups.iter_rows()
    )


def joined(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
