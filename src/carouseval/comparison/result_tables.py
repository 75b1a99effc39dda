"""The tables of a comparison for papers: means of systems by metric, and differences between systems."""

import math
import string
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.result_columns import PAIRS, SYSTEMS
from carouseval.comparison.tests import result_test
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.mean_estimates import few_users_text
from carouseval.evaluation.result_table import ShownColumn, shown_table
from carouseval.text_tables import DAGGER, TableCell, TextTable

_FEW_MARK = "*"
_PAIR = (Columns.METRIC, Columns.SYSTEM, Columns.BASELINE)
_INTERVAL = (Columns.LOW, Columns.HIGH, Columns.FEW_USERS)
# what is read in frames alone: counts that warnings tell, steps on the way to intervals and p-values, what captions say
_NOT_OF_SYSTEMS = (Columns.LEFT_OUT,)
_NOT_OF_PAIRS = (Columns.ERROR, Columns.RUN_ERROR, Columns.DF, Columns.RUN_DF, Columns.USERS, Columns.TEST)
_CORRECTIONS = {"holm": "Holm correction", "bh": "Benjamini-Hochberg correction", "none": "no correction"}


def mean_table(systems: pl.DataFrame, pairs: pl.DataFrame, config: Mapping[str, Any], caption: str) -> TextTable:
    """One line per system, one column per metric; the highest mean is bold, and significant differences are marked.

    A dagger marks a difference from the baseline. Without a baseline systems have letters, and a mean is followed by
    the letters of the systems that score significantly lower.
    """
    names, metrics = (
        systems[column].unique(maintain_order=True).to_list() for column in (Columns.SYSTEM, Columns.METRIC)
    )
    means = {(row[Columns.SYSTEM], row[Columns.METRIC]): row[Columns.MEAN] for row in systems.iter_rows(named=True)}
    best = dict(systems.group_by(Columns.METRIC).agg(pl.col(Columns.MEAN).max()).iter_rows())  # leaves out NaN
    baseline, letters = config["baseline"], _letters(names)
    marks = _letter_marks(pairs, letters) if baseline is None else _baseline_marks(pairs)

    def cell(name: str, metric: str) -> TableCell:
        mean = means[name, metric]
        return TableCell(decimals(mean), mean >= best[metric] - TIE, ",".join(marks.get((name, metric), [])))

    labels = [f"({letters[name]}) {name}" if baseline is None else name for name in names]
    return TextTable(
        header=["system", *metrics],
        rows=[[label, *(cell(name, metric) for metric in metrics)] for label, name in zip(labels, names, strict=True)],
        numeric=[False] + [True] * len(metrics),
        caption=f"{caption} Bold: highest mean. {_marks_note(baseline, bool(marks))} ({test_text(pairs, config)}).",
        label="tab:comparison",
    )


def _marks_note(baseline: str | None, any_marks: bool) -> str:
    """What the marks of means say."""
    if baseline is None:
        some, none = "Letters after a mean: systems that score significantly lower", "No difference is significant"
    else:
        some = f"{DAGGER} Significantly different from {baseline}"
        none = f"No system differs significantly from {baseline}"
    return some if any_marks else none


def difference_table(lines: pl.DataFrame, config: Mapping[str, Any], caption: str) -> TextTable:
    """One line per segment, metric and pair of systems; significant differences are bold."""
    by, level = config["by"], _level(config)
    of_lift = f"{level} of the lift"
    margin = ["not inferior"] if Columns.NOT_INFERIOR in lines.columns else []
    p = "p" if config["correction"] == "none" else "corrected p"
    header = [*by, *_PAIR, "difference", level, "lift", of_lift, "effect", p, *margin]
    rows: list[list[str | TableCell]] = []
    for row in lines.iter_rows(named=True):
        names = [str(row[column]) for column in (*by, *_PAIR)]
        values = [interval(row), signed(row[Columns.LIFT], ".1%"), lift_interval(row)]
        values += [signed(row[Columns.EFFECT], ".2f"), _p(row[Columns.P_ADJUSTED])]
        verdict = ["yes" if row[Columns.NOT_INFERIOR] else "no" for _ in margin]
        rows.append(
            [*names, TableCell(signed(row[Columns.DIFFERENCE], ".4f"), row[Columns.SIGNIFICANT]), *values, *verdict]
        )
    numeric = [name in ("difference", level, "lift", of_lift, "effect", p) for name in header]
    intervals = interval_text(lines, config)
    note = (
        f"Differences are those of users scored under both, system minus baseline{'; ' * bool(intervals)}{intervals}. "
        f"Bold: significant ({test_text(lines, config)})."
    )
    text = " ".join(part for part in (caption, note, few_users_note(lines)) if part)
    return TextTable(header, rows, numeric, text, "tab:comparison-differences")


def system_table(systems: pl.DataFrame, config: Mapping[str, Any]) -> TextTable:
    """All that is known of each system by each metric, best first."""
    of_runs = () if systems[Columns.RUNS].max() != 1 else (Columns.RUNS, Columns.SPREAD)
    columns = [
        *map(ShownColumn.of_name, (Columns.SYSTEM, Columns.METRIC)),
        ShownColumn((Columns.MEAN,), "mean", lambda row: decimals(row[Columns.MEAN])),
        ShownColumn(_INTERVAL, _level(config), interval),
        _counted((Columns.USERS,), "users"),
        ShownColumn((Columns.RUNS,), "runs", lambda row: str(row[Columns.RUNS])),
        ShownColumn((Columns.SPREAD,), "spread", lambda row: decimals(row[Columns.SPREAD])),
        ShownColumn((Columns.RELEVANT_SHOWN,), "relevant shown", lambda row: _share(row[Columns.RELEVANT_SHOWN])),
        ShownColumn((Columns.JUDGED_SHARE,), "shown judged", lambda row: _share(row[Columns.JUDGED_SHARE])),
    ]
    score = pl.col(Columns.MEAN).fill_nan(None)  # sorts systems without one last
    ranked = systems.sort(Columns.METRIC, score, descending=[False, True], nulls_last=True, maintain_order=True)
    return shown_table(ranked, SYSTEMS, columns, {*_NOT_OF_SYSTEMS, *of_runs})


def pair_table(pairs: pl.DataFrame, config: Mapping[str, Any]) -> TextTable:
    """All that is known of each pair of systems by each metric, in all or in each segment."""
    by, level = [name for name in config["by"] if name in pairs.columns], _level(config)
    columns = [
        *map(ShownColumn.of_name, (*by, *_PAIR)),
        ShownColumn((Columns.DIFFERENCE,), "difference", lambda row: signed(row[Columns.DIFFERENCE], ".4f")),
        ShownColumn(_INTERVAL, level, interval),
        ShownColumn((Columns.LIFT,), "lift", lambda row: signed(row[Columns.LIFT], ".1%")),
        ShownColumn((Columns.LIFT_LOW, Columns.LIFT_HIGH), f"{level} of the lift", lift_interval),
        ShownColumn((Columns.EFFECT,), "effect", lambda row: signed(row[Columns.EFFECT], ".2f")),
        _counted((Columns.WINS, Columns.TIES, Columns.LOSSES), "wins/ties/losses"),
        ShownColumn((Columns.P,), "p", lambda row: _exact_p(row[Columns.P])),
        ShownColumn((Columns.P_ADJUSTED,), "corrected p", lambda row: _exact_p(row[Columns.P_ADJUSTED])),
        *(ShownColumn.as_it_is(name, pl.Boolean()) for name in (Columns.SIGNIFICANT, Columns.NOT_INFERIOR)),
        ShownColumn((Columns.DETECTABLE,), "detectable", lambda row: decimals(row[Columns.DETECTABLE]) or "none"),
        ShownColumn((Columns.BREAK_EVEN,), "break-even", lambda row: _share(row[Columns.BREAK_EVEN]) or "none"),
    ]
    return shown_table(pairs, PAIRS, columns, _NOT_OF_PAIRS)


def _level(config: Mapping[str, Any]) -> str:
    return f"{100 * config['ci']:g}% interval"


def _counted(columns: tuple[str, ...], header: str) -> ShownColumn:
    return ShownColumn(columns, header, lambda row: "/".join(f"{row[name]:,}" for name in columns))


def _letters(systems: Sequence[str]) -> dict[str, str]:
    """A letter for each system; after z come aa, bb and so on."""
    size = len(string.ascii_lowercase)
    return {name: string.ascii_lowercase[number % size] * (number // size + 1) for number, name in enumerate(systems)}


def _baseline_marks(pairs: pl.DataFrame) -> dict[tuple[str, str], list[str]]:
    significant = pairs.filter(Columns.SIGNIFICANT)
    return {key: [DAGGER] for key in significant.select(Columns.SYSTEM, Columns.METRIC).iter_rows()}


def _letter_marks(pairs: pl.DataFrame, letters: Mapping[str, str]) -> dict[tuple[str, str], list[str]]:
    """By system and metric, the letters of the systems that score significantly lower."""
    marks: dict[tuple[str, str], list[str]] = {}
    for row in pairs.filter(Columns.SIGNIFICANT).iter_rows(named=True):
        system, baseline = row[Columns.SYSTEM], row[Columns.BASELINE]
        higher, lower = (system, baseline) if row[Columns.DIFFERENCE] > 0 else (baseline, system)
        marks.setdefault((higher, row[Columns.METRIC]), []).append(letters[lower])
    return {key: sorted(values, key=lambda letter: (len(letter), letter)) for key, values in marks.items()}


def test_text(lines: pl.DataFrame, config: Mapping[str, Any]) -> str:
    """``permutation test paired by user, Holm correction, p < 0.05``."""
    names = lines[Columns.TEST].unique(maintain_order=True).to_list() or [config["test"]]
    tests = " or ".join(result_test(name).words for name in names)
    across = " across metrics" if config["across_metrics"] else ""
    correction = f", {_CORRECTIONS[config['correction']]}{across}" if several_tests(lines, config) else ""
    return f"{tests}{correction}, p < {round(1 - config['ci'], 12):g}"


def interval_text(lines: pl.DataFrame, config: Mapping[str, Any]) -> str:
    """What intervals of several differences promise together; empty for one difference."""
    if not several_tests(lines, config):
        return ""
    if config["simultaneous"]:
        return f"intervals of all pairs of {'all metrics' if config['across_metrics'] else 'a metric'} hold together"
    return "intervals are not adjusted for multiple comparisons"


def several_tests(lines: pl.DataFrame, config: Mapping[str, Any]) -> bool:
    """Whether p-values are corrected for more than one test."""
    return lines.height > (1 if config["across_metrics"] else lines[Columns.METRIC].n_unique())


def few_users_note(lines: pl.DataFrame) -> str:
    """What the mark of intervals says, where one is marked."""
    if not lines[Columns.FEW_USERS].any():
        return ""
    return f"{_FEW_MARK} {few_users_text('differences')}"


def decimals(value: float | None) -> str:
    """Four decimals; nothing for NaN or None."""
    return "" if value is None or math.isnan(value) else f"{value:.4f}"


def interval(row: Mapping[str, Any]) -> str:
    """``0.4138 to 0.4569``, marked where users are few."""
    mark = _FEW_MARK * row[Columns.FEW_USERS]
    return "" if math.isnan(row[Columns.LOW]) else f"{row[Columns.LOW]:.4f} to {row[Columns.HIGH]:.4f}{mark}"


def lift_interval(row: Mapping[str, Any]) -> str:
    """``+1.4% to +4.6%``."""
    return "" if math.isnan(row[Columns.LIFT_LOW]) else f"{row[Columns.LIFT_LOW]:+.1%} to {row[Columns.LIFT_HIGH]:+.1%}"


def signed(value: float, form: str) -> str:
    """A number with its sign, in a format such as ``.4f``."""
    return "" if math.isnan(value) else f"{value:+{form}}"


def _p(value: float) -> str:
    return "" if math.isnan(value) else "<0.0001" if value < 0.00005 else f"{value:.4f}"


def _exact_p(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}" if value >= 0.001 else f"{value:.1e}"


def _share(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.1%}"
