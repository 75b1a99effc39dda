"""Comparisons in the terminal."""

from rich.text import Text

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.power_analysis import PowerAnalysis
from carouseval.comparison.result_tables import (
    decimals,
    few_users_note,
    interval_text,
    pair_table,
    system_table,
    test_text,
)
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.comparison.tests import result_test
from carouseval.evaluation.columns import Columns
from carouseval.show.terminal.text_blocks import sentences, small_table
from carouseval.text_tables import TextTable

_MOST_PAIRS = 60


def comparison(
    result: Comparison,
    sensitivity: Sensitivity | None = None,
    plan: PowerAnalysis | None = None,
    width: int | None = None,
) -> Text:
    """The summary, the systems, the pairs, the segments, the caption and, if given, the sensitivity and the plan."""
    config, systems = result.config, system_table(result.systems, result.config)
    lines = [sentences(result.heading, width, "bold"), Text(), small_table("", systems.header, systems.rows), Text()]
    lines.append(_pairs("Pairs", pair_table(result.pairs, config)))
    if not result.segments.is_empty():
        lines += [Text(), _pairs("Segments", pair_table(result.segments, config))]
    frame = result.to_frame()
    intervals = interval_text(frame, config)
    draws = f"; {config['permutations']:,} random draws, seed {config['seed']}"
    is_random = any(result_test(name).is_random for name in frame[Columns.TEST].unique())
    test = (
        f"Test: {test_text(frame, config)}{draws if is_random else ''}. {intervals[:1].upper()}{intervals[1:]}"
        f"{'. ' * bool(intervals)}Detectable: the smallest true difference that would be found significant with 80% "
        "power. Break-even: if unjudged items shown by the losing system gain this share of the mean gain of relevant "
        "items, the difference is 0."
    )
    if config["runs"] != "fixed" and result.systems[Columns.RUNS].n_unique() > 1:
        test += " Intervals of systems with several runs allow for other runs, those of systems with one run do not."
    notes = [result.caption, test, few_users_note(frame)]
    lines += [Text(), *(sentences(note, width, "dim") for note in notes if note)]
    if plan is not None:
        lines += [Text(), sentences(plan.heading, width, "bold"), _plan_table(plan)]
    if sensitivity is not None:
        lines += [Text(), sentences(sensitivity.summary, width, "bold"), _sensitivity_table(sensitivity)]
    return Text("\n").join(lines)


def _pairs(title: str, table: TextTable) -> Text:
    more = len(table.rows) - _MOST_PAIRS
    limit = f" (the first {_MOST_PAIRS} of {len(table.rows):,}; --format csv prints all)" if more > 0 else ""
    return small_table(title + limit, table.header, table.rows[:_MOST_PAIRS])


def _plan_table(plan: PowerAnalysis) -> Text:
    header = [Columns.METRIC, Columns.SYSTEM, Columns.BASELINE, "users", "deviation", "detectable", "users needed"]
    rows = [
        [
            *(row[name] for name in header[:3]),
            f"{row[Columns.USERS]:,}",
            decimals(row[Columns.DEVIATION]),
            decimals(row[Columns.DETECTABLE]) or "none",
            "none" if row[Columns.USERS_NEEDED] is None else f"{row[Columns.USERS_NEEDED]:,}",
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
            row[Columns.VARIED],
            row[Columns.VARIATION],
            *(decimals(row[name]) for name in result.systems),
            f"{row[Columns.TAU]:.2f}",
            row[Columns.FLIPS],
        ]
        for row in result.table.iter_rows(named=True)
    ]
    return small_table("", header, rows)
