"""Writes columns.md, the columns of all tables of results, from where they are declared: ``make pictures``."""

from pathlib import Path

from carouseval.comparison.result_columns import COMPARISON_TABLES
from carouseval.evaluation.result_columns import BOOLEAN, COUNT, EVALUATION_TABLES, INTEGER, NUMBER, TEXT
from carouseval.evaluation.result_table import ResultColumn, ResultTable, When

HERE = Path(__file__).parent
KINDS = {TEXT: "text", NUMBER: "number", INTEGER: "integer", COUNT: "integer", BOOLEAN: "boolean"}
INTRODUCTION = """# The columns of results

<!-- from evaluation/result_columns.py and comparison/result_columns.py, by `make pictures` -->

Every table has these columns, in this order. `{segment}` stands for a column for each of `by`, `{metric}` for one for
each metric and `{system}` for one for each system; columns by metric that are listed one after the other stand together
for each metric. Ids have the type that they have in the tables given. Tables on Spark have the same columns, unless it
is said here. Segments (`by`) must be called otherwise than these columns.
"""


def section(table: ResultTable) -> str:
    """A table of a table's columns."""
    lines = [f"| `{one.name}` | {kind(one)} | {there(one)} | {one.doc} |" for one in table.columns]
    head = ["| column | type | only | what it holds |", "|---|---|---|---|"]
    return "\n".join([f"\n## `{table.name}`\n", f"One line for {table.lines}.\n", *head, *lines, ""])


def kind(column: ResultColumn) -> str:
    """The type of a column, in a word."""
    return "as given" if column.kind is None else KINDS.get(column.kind, "integer")


def there(column: ResultColumn) -> str:
    """When there is a column; empty if always."""
    return "" if column.when == When.ALWAYS else column.when


def main(folder: Path) -> None:
    """Write the page into a folder."""
    sections = map(section, (*EVALUATION_TABLES, *COMPARISON_TABLES))
    (folder / "columns.md").write_text(INTRODUCTION + "".join(sections), encoding="utf-8")


if __name__ == "__main__":
    main(HERE)
