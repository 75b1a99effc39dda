"""The report of a sensitivity study."""

import math

import polars as pl

from carouseval.comparison.crossed_effects import TIE
from carouseval.comparison.result_columns import SENSITIVITY
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.result_table import ShownColumn, shown_table
from carouseval.show.report.document import Block, Detail, Document, Figure, Point, Section, Summary, Tile, table_block
from carouseval.show.report.settings_section import settings_section


def sensitivity_document(result: Sensitivity, detail: Detail) -> Document:
    """Whether the order of systems holds."""
    del detail  # it has nothing large
    return Document(
        "Does the order of systems hold?",
        f"{len(result.systems)} systems under other discounts, ideals, gains and cutoffs",
        _summary(result),
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


def _summary(result: Sensitivity) -> Summary:
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
