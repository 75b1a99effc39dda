"""Comparisons in the terminal."""

import math
from typing import Any

import polars as pl
from rich.text import Text

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.show.terminal import small_table

_MOST_PAIRS = 60


def comparison(result: Comparison, varied: Sensitivity | None = None) -> Text:
    """The sentence, the systems, the pairs, the segments, and what other metrics would say."""
    level = f"{100 * result.config['ci']:g}%"
    several = result.systems["runs"].max() != 1
    header = ["system", "metric", "mean", f"{level} interval", "users"] + ["runs", "spread"] * several
    rows = [
        [row["system"], row["metric"], _number(row["mean"]), _interval(row), f"{row['users']:,}"]
        + [str(row["runs"]), _number(row["spread"])] * several
        for row in result.systems.sort("metric", "mean", descending=[False, True], nulls_last=True).iter_rows(
            named=True
        )
    ]
    lines = [Text(result.heading, "bold"), Text(), small_table("", header, rows), Text()]
    lines.append(_pairs("Pairs", result.pairs, [], level))
    if not result.segments.is_empty():
        by = result.config["by"]
        lines += [Text(), _pairs("Segments", result.segments, by, level)]
    config = result.config
    test = f"{config['test']} test" + (f", {config['permutations']:,} flips" * (config["test"] == "permutation"))
    lines.append(
        Text(f"By {test}, seed {config['seed']}; corrected by {config['correction']}. Intervals are unadjusted.", "dim")
    )
    if varied is not None:
        lines += [Text(), Text(varied.summary, "bold"), _varied(varied)]
    return Text("\n").join(lines)


def _pairs(title: str, pairs: pl.DataFrame, by: list[str], level: str) -> Text:
    margin = ["not inferior"] if "not_inferior" in pairs.columns else []
    header = [*by, "metric", "system", "against", "difference", f"{level} interval", "lift", "effect"]
    header += ["wins/ties/losses", "p", "corrected", "significant", *margin, "detectable"]
    rows = [
        [*(row[name] for name in by), row["metric"], row["system"], row["baseline"], _signed(row["difference"], ".4f")]
        + [_interval(row), _signed(row["lift"], ".1%"), _signed(row["effect"], ".2f")]
        + [f"{row['wins']:,}/{row['ties']:,}/{row['losses']:,}", _p(row["p"]), _p(row["p_adjusted"])]
        + ["yes" if row["significant"] else "no"]
        + ["yes" if row["not_inferior"] else "no" for _ in margin]
        + [_number(row["detectable"])]
        for row in pairs.head(_MOST_PAIRS).iter_rows(named=True)
    ]
    more = (
        f" (the first {_MOST_PAIRS} of {pairs.height:,}; --format csv shows all)" if pairs.height > _MOST_PAIRS else ""
    )
    return small_table(title + more, header, rows)


def _varied(varied: Sensitivity) -> Text:
    by = varied.config["by"]
    header = [*by, "varied", "variation", *varied.systems, "tau", "changing places"]
    rows = [
        [
            *(row[name] for name in by),
            row["varied"],
            row["variation"],
            *(_number(row[name]) for name in varied.systems),
            f"{row['tau']:.2f}",
            row["flips"],
        ]
        for row in varied.table.iter_rows(named=True)
    ]
    return small_table("", header, rows)


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.4f}"


def _interval(row: dict[str, Any]) -> str:
    return "" if math.isnan(row["low"]) else f"{row['low']:.4f} to {row['high']:.4f}"


def _p(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}" if value >= 0.001 else f"{value:.1e}"


def _signed(value: float, form: str) -> str:
    return "" if math.isnan(value) else f"{value:+{form}}"
