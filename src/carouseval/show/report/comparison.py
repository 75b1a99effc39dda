"""The reports of a comparison, and of a sensitivity study."""

import math
from collections.abc import Mapping
from typing import Literal

import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.result_columns import SENSITIVITY
from carouseval.comparison.result_tables import few_users_note, interval_text, pair_table, system_table
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.comparison.summary import ranking
from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.result_table import ShownColumn, shown_table
from carouseval.messages import setting
from carouseval.show.charts.drawing import count_text
from carouseval.show.report.closing_sections import settings_section
from carouseval.show.report.comparison_words import comparison_summary
from carouseval.show.report.document import (
    Block,
    Detail,
    Document,
    Figure,
    Paragraph,
    Point,
    Section,
    Summary,
    Tile,
    table_block,
)
from carouseval.show.report.explanation import capitalised, loss_blocks, page_blocks, score_note
from carouseval.validation import did_you_mean

_MOST_LINES = 100  # of a chart
_MOST_EXPLAINED = 6  # systems whose losses and pages are drawn
_PAIRS = (
    "Pairs of systems. Differences are system minus baseline, on users scored under both. Detectable: the smallest "
    "true difference that would be found significant with 80% power. Break-even: if unjudged items shown by the losing "
    "system gain this share of the mean gain of relevant items, the difference is 0."
)
_SYSTEMS = (
    "Means of systems. Relevant shown: the share of the relevant items that a system shows to their users. Shown "
    "judged: the share of the items it shows that are judged."
)

_FIRST_RUNS = "Of systems with several runs, the first is counted."


def comparison_document(
    result: Comparison,
    detail: Detail,
    explanations: Mapping[str, Explanation] | None = None,
    sensitivity: Sensitivity | None = None,
) -> Document:
    """Systems, differences, segments and, where they are given, what each system loses and the sensitivity."""
    ranked = [row[Columns.SYSTEM] for row in ranking(result)]
    given = dict(result.explanations if explanations is None else explanations)
    for name in given:
        if name not in ranked:
            hint = did_you_mean(str(name), ranked)
            raise ParameterError(f"{setting('explanations')}: there is no system {name!r} in this comparison.{hint}")
    explained = {name: given[name] for name in ranked if name in given}
    sections = [
        Section(
            "Systems",
            [*_figures(result, "systems"), table_block(system_table(result.systems, result.config), _SYSTEMS)],
        ),
        Section("Differences", _differences(result)),
    ]
    if explained:
        sections.append(Section("What each system loses", _explanations(result, explained, detail)))
    if sensitivity is not None:
        sections.append(Section("Does the order hold?", sensitivity_blocks(sensitivity)))
    has_runs = any(len(runs) > 1 for runs in result.evaluations.values())
    sections.append(settings_section(result.config, result.counts, result.caption, _FIRST_RUNS if has_runs else ""))
    users = max(result.systems.filter(pl.col(Columns.METRIC).is_in(result.metrics))[Columns.USERS], default=0)
    title = " against ".join(ranked) if len(ranked) == 2 else f"{len(ranked)} systems compared"
    metrics = dict.fromkeys([*result.metrics, *result.systems[Columns.METRIC]])
    return Document(
        title,
        f"{', '.join(metrics)}; up to {count_text(users, 'user')}",
        comparison_summary(result, explained, sensitivity),
        sections,
    )


def _figures(result: Comparison, kind: Literal["systems", "differences"]) -> list[Block]:
    """A chart by all metrics or, if that were very long, by the first."""
    if len(result.metrics) * len(result.evaluations) <= _MOST_LINES:
        return [Figure(result.chart(kind))]
    first = result.metrics[0]
    return [Figure(result.chart(kind, metric=first)), Paragraph(f"Drawn by {first} alone; the table has all metrics.")]


def _differences(result: Comparison) -> list[Block]:
    config, intervals = result.config, interval_text(result.pairs, result.config)
    notes = [_PAIRS, f"{capitalised(intervals)}." if intervals else "", few_users_note(result.to_frame())]
    blocks: list[Block] = [*_figures(result, "differences"), Figure(result.chart("users"))]
    pairs = pair_table(result.pairs, config)
    blocks.append(table_block(pairs, " ".join(note for note in notes if note), "comparison.pairs has all"))
    if not result.segments.is_empty():
        segments, corrected = pair_table(result.segments, config), "Segments. P-values are corrected for all of them."
        blocks.append(table_block(segments, corrected, "comparison.segments has all"))
    return blocks


def _explanations(result: Comparison, explained: Mapping[str, Explanation], detail: Detail) -> list[Block]:
    """What each system loses, best first, and its worst page."""
    means = {row[Columns.SYSTEM]: row[Columns.MEAN] for row in ranking(result)}
    blocks: list[Block] = []
    for name, explanation in list(explained.items())[:_MOST_EXPLAINED]:
        note = score_note(explanation, means[name])
        pages = page_blocks(explanation, min(1, detail.pages), detail.posters)
        blocks.append(Section(name, [*note, *loss_blocks(explanation, detail), *pages]))
    if others := list(explained)[_MOST_EXPLAINED:]:
        blocks.append(Section("Other systems", [Paragraph(f"{name}: {explained[name].summary}") for name in others]))
    return blocks


def sensitivity_document(result: Sensitivity, detail: Detail) -> Document:
    """Whether the order of systems holds."""
    del detail  # it has nothing large
    return Document(
        "Does the order of systems hold?",
        f"{len(result.systems)} systems under other discounts, ideals, gains and cutoffs",
        _sensitivity_summary(result),
        [
            Section("Variations", sensitivity_blocks(result)),
            settings_section(result.config, {}, result.caption),
        ],
    )


def sensitivity_blocks(result: Sensitivity) -> list[Block]:
    """The matrix and the table of variations."""
    names = map(ShownColumn.of_name, (*result.config["by"], Columns.VARIED, Columns.VARIATION))
    systems = (ShownColumn.as_it_is(name, pl.Float64(), name) for name in result.systems)
    table = shown_table(result.table, SENSITIVITY, [*names, *systems])
    caption = "Means of systems under each variation. Tau: agreement with the order of the reference, from -1 to 1."
    return [Figure(result.chart()), table_block(table, caption, "sensitivity.table has all")]


def _sensitivity_summary(result: Sensitivity) -> Summary:
    by = result.config["by"]
    overall = result.table.filter(pl.col(name) == "(all)" for name in by) if by else result.table
    variations = overall.filter(pl.col(Columns.VARIED) != "reference")
    changed = variations.filter(pl.col(Columns.FLIPS) != "").height
    means = overall.select(result.systems).row(0)
    if any(map(math.isnan, means)):
        return Summary("Nothing can be concluded: a system has no score", [], tone="care")
    if max(means) - min(means) <= TIE:
        headline = "There is no order to change: all systems have the same mean"
    elif changed:
        headline = f"The order of systems changes in {changed} of {variations.height} variations"
    else:
        headline = f"The order of systems holds in all {variations.height} variations"
    not_tested = "Only the order of means is looked at here; compare tests whether systems differ."
    leads = variations.filter(pl.col(Columns.BEST) == result.systems[0]).height
    tiles = [Tile("variations that change the order", str(changed), f"of {variations.height}")]
    if means[0] - means[1] > TIE:
        tiles.append(Tile(f"{result.systems[0]} leads", str(leads), f"of {variations.height}"))
    return Summary(
        headline, [Point("In short", [result.summary, not_tested])], tiles, tone="open" if changed else "clear"
    )
