"""The report of a sensitivity study."""

from collections.abc import Sequence

import polars as pl

from carouseval.comparison.sensitivity import Sensitivity
from carouseval.show.report.document import Block, Detail, Document, Figure, Point, Section, Summary, Tile, table_block
from carouseval.show.report.settings_section import settings_section
from carouseval.text_tables import TextTable


def sensitivity_document(result: Sensitivity, detail: Detail, notices: Sequence[str]) -> Document:
    """Whether the order of systems holds."""
    del detail  # it has nothing large
    return Document(
        "Does the order of systems hold?",
        f"{len(result.systems)} systems under other discounts, ideals, gains and cutoffs",
        _summary(result),
        [
            Section("Variations", sensitivity_blocks(result)),
            settings_section(result.config, {}, notices, result.caption),
        ],
    )


def sensitivity_blocks(result: Sensitivity) -> list[Block]:
    """The matrix and the table of variations."""
    table = TextTable.of(result.table)
    caption = "Means of systems under each variation. Tau: agreement with the order of the reference, from -1 to 1."
    return [Figure(result.chart()), table_block(table, caption, "sensitivity.table has all")]


def _summary(result: Sensitivity) -> Summary:
    by = result.config["by"]
    overall = result.table.filter(pl.col(name) == "(all)" for name in by) if by else result.table
    variations = overall.filter(pl.col("varied") != "reference")
    changed = variations.filter(pl.col("flips") != "").height
    headline = (
        f"The order of systems changes in {changed} of {variations.height} variations"
        if changed
        else f"The order of systems holds in all {variations.height} variations"
    )
    not_tested = "Only the order of means is looked at here; compare tests whether systems differ."
    leads = variations.filter(pl.col("best") == result.systems[0]).height
    tiles = [
        Tile("variations that change the order", str(changed), f"of {variations.height}"),
        Tile(f"{result.systems[0]} leads", str(leads), f"of {variations.height}"),
    ]
    return Summary(
        headline, [Point("In short", [result.summary, not_tested])], tiles, tone="open" if changed else "clear"
    )
