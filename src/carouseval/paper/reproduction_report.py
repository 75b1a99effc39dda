"""The report of the paper's reproduction."""

from carouseval.paper.reproduce import Reproduction
from carouseval.paper.reproduction_files import paper_tables
from carouseval.show.charts.kinds import kinds_of
from carouseval.show.report.document import Detail, Document, Figure, Point, Section, Summary, table_block
from carouseval.text_tables import TextTable

_ALL = "carouseval reproduce prints all"
_TABLES = {
    "table1": "Table 1 of the paper: 2DCG of the best pages.",
    "fits": "Figure 2 of the paper: discounts fitted to Bratislava, scored on Amsterdam.",
    "table2": "Table 2 of the paper: agreement with the truth on pairs of pages.",
    "ceiling": "Beyond the paper: discounts beside the noise ceiling.",
    "forms": "Beyond the paper: the forms of browsing models compared.",
}


def reproduction_document(result: Reproduction, detail: Detail) -> Document:
    """Every published number beside ours, and the figures."""
    del detail  # it has nothing large
    agreeing, count = sum(check.agrees for check in result.checks), len(result.checks)
    exact = [check for check in result.checks if check.agrees and check.exact]
    tables = {name: TextTable.of(table.to_frame()) for name, table in paper_tables(result).items()}
    by_exact = f", {len(exact)} of them by exact arithmetic, from which the authors' floating-point numbers differ"
    published = [f"All {count} published numbers are reproduced{by_exact if exact else ''}."]
    if agreeing < count:
        wrong = "; ".join(f"{check.where}, {check.what}" for check in result.checks if not check.agrees)
        published = [f"{agreeing} of {count} published numbers are reproduced. These differ: {wrong}."]
    published += [
        f"{check.where}: {check.published} pairs are published, {check.ours} is exact; {check.note}." for check in exact
    ]
    return Document(
        "Revisiting N2DCG, reproduced",
        "Every published number beside the one computed here",
        Summary(
            f"{agreeing} of {count} published numbers are reproduced",
            [Point("The paper", published), Point("Beyond the paper", result.ceiling_study.sentences)],
            tone="clear" if result.agrees else "care",
        ),
        [
            Section("Figures", [Figure(result.chart(name)) for name in kinds_of(Reproduction)]),
            Section("Tables", [table_block(tables[name], caption) for name, caption in _TABLES.items()]),
            Section("Every number", [table_block(tables["checks"], "Published numbers and ours.", _ALL)]),
        ],
    )
