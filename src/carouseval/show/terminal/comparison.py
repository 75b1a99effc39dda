"""Comparisons in the terminal."""

import math
from collections.abc import Sequence

import polars as pl
from rich.text import Text

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.plan import Plan
from carouseval.comparison.result_tables import (
    decimals,
    few_users_note,
    interval,
    interval_text,
    lift_interval,
    signed,
    test_text,
)
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.show.terminal.text_blocks import sentences, small_table

_MOST_PAIRS = 60


def comparison(
    result: Comparison, sensitivity: Sensitivity | None = None, plan: Plan | None = None, width: int | None = None
) -> Text:
    """The summary, the systems, the pairs, the segments, the caption and, if given, the sensitivity and the plan."""
    config = result.config
    level = f"{100 * config['ci']:g}% interval"
    lines = [sentences(result.heading, width, "bold"), Text(), _system_table(result.systems, level), Text()]
    lines.append(_pair_table("Pairs", result.pairs, [], level))
    if not result.segments.is_empty():
        lines += [Text(), _pair_table("Segments", result.segments, config["by"], level)]
    frame = result.to_frame()
    intervals = interval_text(frame, config)
    draws = f"; {config['permutations']:,} random draws, seed {config['seed']}"
    is_random = not {"permutation", "bootstrap"}.isdisjoint(frame["test"])
    test = (
        f"Test: {test_text(frame, config)}{draws if is_random else ''}. {intervals[:1].upper()}{intervals[1:]}"
        f"{'. ' * bool(intervals)}Detectable: the smallest true difference that would be found significant with 80% "
        "power. Break-even: if unjudged items shown by the losing system gain this share of the mean gain of relevant "
        "items, the difference is 0."
    )
    if config["runs"] != "fixed" and result.systems["runs"].n_unique() > 1:
        test += " Intervals of systems with several runs allow for other runs, those of systems with one run do not."
    notes = [result.caption, test, few_users_note(frame)]
    lines += [Text(), *(sentences(note, width, "dim") for note in notes if note)]
    if plan is not None:
        lines += [Text(), sentences(plan.heading, width, "bold"), _plan_table(plan)]
    if sensitivity is not None:
        lines += [Text(), sentences(sensitivity.summary, width, "bold"), _sensitivity_table(sensitivity)]
    return Text("\n").join(lines)


def _system_table(systems: pl.DataFrame, level: str) -> Text:
    has_runs = systems["runs"].max() != 1
    header = ["system", "metric", "mean", level, "users"] + ["runs", "spread"] * has_runs
    header += ["relevant shown", "shown judged"]
    ranked = systems.sort("metric", "mean", descending=[False, True], nulls_last=True)
    rows = [
        [row["system"], row["metric"], decimals(row["mean"]), interval(row), f"{row['users']:,}"]
        + [str(row["runs"]), decimals(row["spread"])] * has_runs
        + [_share(row["relevant_shown"]), _share(row["judged_share"])]
        for row in ranked.iter_rows(named=True)
    ]
    return small_table("", header, rows)


def _pair_table(title: str, pairs: pl.DataFrame, by: Sequence[str], level: str) -> Text:
    margin = ["not inferior"] if "not_inferior" in pairs.columns else []
    header = [*by, "metric", "system", "baseline", "difference", level, "lift", f"{level} of the lift", "effect"]
    header += ["wins/ties/losses", "p", "corrected p", "significant", *margin, "detectable", "break-even"]
    rows = [
        [*(row[name] for name in by), row["metric"], row["system"], row["baseline"], signed(row["difference"], ".4f")]
        + [interval(row), signed(row["lift"], ".1%"), lift_interval(row), signed(row["effect"], ".2f")]
        + [f"{row['wins']:,}/{row['ties']:,}/{row['losses']:,}", _p(row["p"]), _p(row["p_adjusted"])]
        + ["yes" if row["significant"] else "no"]
        + ["yes" if row["not_inferior"] else "no" for _ in margin]
        + [decimals(row["detectable"]) or "none", _share(row["break_even"]) or "none"]
        for row in pairs.head(_MOST_PAIRS).iter_rows(named=True)
    ]
    more = (
        f" (the first {_MOST_PAIRS} of {pairs.height:,}; --format csv prints all)" if pairs.height > _MOST_PAIRS else ""
    )
    return small_table(title + more, header, rows)


def _plan_table(plan: Plan) -> Text:
    header = ["metric", "system", "baseline", "users", "deviation", "detectable", "users needed"]
    rows = [
        [
            *(row[name] for name in header[:3]),
            f"{row['users']:,}",
            decimals(row["deviation"]),
            decimals(row["detectable"]) or "none",
            "none" if row["users_needed"] is None else f"{row['users_needed']:,}",
        ]
        for row in plan.table.head(_MOST_PAIRS).iter_rows(named=True)
    ]
    return small_table("", header, rows)


def _sensitivity_table(result: Sensitivity) -> Text:
    by = result.config["by"]
    header = [*by, "varied", "variation", *result.systems, "tau", "swapped pairs"]
    rows = [
        [
            *(row[name] for name in by),
            row["varied"],
            row["variation"],
            *(decimals(row[name]) for name in result.systems),
            f"{row['tau']:.2f}",
            row["flips"],
        ]
        for row in result.table.iter_rows(named=True)
    ]
    return small_table("", header, rows)


def _p(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}" if value >= 0.001 else f"{value:.1e}"


def _share(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.1%}"
