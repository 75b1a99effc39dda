"""Tables of results as people read them: which columns share one, how values are written, and what they hold.

A column that is declared for a table (``result_columns.py``) and not named here follows the others, as it is.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl

from carouseval.evaluation.result_table import ResultTable
from carouseval.text_tables import TableCell, TextTable, value_text

Line: TypeAlias = Mapping[str, Any]
"""A line of a table, by column."""


@dataclass(frozen=True)
class ShownColumn:
    """A column that people read, of one or more of a table's."""

    columns: tuple[str, ...]
    header: str
    text: Callable[[Line], str | TableCell]
    numeric: bool = True
    about: str = ""  # what it holds, if that is not what its columns do

    @classmethod
    def as_it_is(cls, name: str, kind: pl.DataType, header: str = "") -> "ShownColumn":
        """A column that nothing is said of, but perhaps what it is called."""
        yes_no = {True: "yes", False: "no", None: ""}
        text = (lambda row: yes_no[row[name]]) if kind == pl.Boolean else (lambda row: value_text(row[name]))
        return cls((name,), header or name.replace("_", " "), text, kind.is_numeric())

    @classmethod
    def of_name(cls, name: str) -> "ShownColumn":
        """A column of names or ids."""
        return cls((name,), name, lambda row: str(row[name]), numeric=False)


def shown_table(
    frame: pl.DataFrame, declared: ResultTable, shown: Sequence[ShownColumn], left_out: Collection[str] = ()
) -> TextTable:
    """A table of results: some columns as they are ``shown``, then all others but those that are ``left_out``."""
    named = {name for one in shown for name in one.columns}.union(left_out)
    columns = [one for one in shown if {*one.columns} <= {*frame.columns}.difference(left_out)]
    columns += [ShownColumn.as_it_is(name, kind) for name, kind in frame.schema.items() if name not in named]
    rows = [[one.text(row) for one in columns] for row in frame.iter_rows(named=True)]
    docs = {column.name: column.doc for column in declared.columns}
    about = [one.about or "; ".join(docs[name] for name in one.columns if name in docs) for one in columns]
    return TextTable([one.header for one in columns], rows, [one.numeric for one in columns], about=about)
