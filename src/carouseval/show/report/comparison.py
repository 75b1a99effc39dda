"""The report of a comparison."""

from collections.abc import Mapping
from typing import Literal

import polars as pl

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.result_tables import few_users_note, interval_text, pair_table, system_table
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.comparison.summary import ranking
from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.explanation import Explanation
from carouseval.show.charts.drawing import count_text
from carouseval.show.report.comparison_words import comparison_summary
from carouseval.show.report.document import Block, Detail, Document, Figure, Paragraph, Section, table_block
from carouseval.show.report.explanation import loss_blocks, page_blocks, score_note
from carouseval.show.report.explanation_words import capitalised
from carouseval.show.report.sensitivity import sensitivity_blocks
from carouseval.show.report.settings_section import settings_section
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
            raise ParameterError(f"explanations: there is no system {name!r} in this comparison.{hint}")
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
