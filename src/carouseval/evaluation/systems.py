"""Several systems in a dict: their layouts by run, told from a dict of columns; and errors that name them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.messages import nested, setting
from carouseval.tables.table import TableLike

V = TypeVar("V")
Systems: TypeAlias = Mapping[str, TableLike | Sequence[TableLike]]
"""The layouts of each system by its name; a list of layouts where a system has several runs."""

Run: TypeAlias = tuple[str, int]
"""A system, and the number of its run from 0."""


def is_systems(source: Any, user_column: str = "user_id") -> bool:
    """Whether a dict holds the layouts of systems rather than the columns of one table.

    Layouts have a column with users, and columns are not tables; a list of paths is several runs, as in ``compare``.
    """
    return (
        isinstance(source, Mapping)
        and bool(source)
        and user_column not in source
        and all(
            all(map(_is_table, layouts)) if isinstance(layouts, list | tuple) else _is_table(layouts)
            for layouts in source.values()
        )
    )


def _is_table(source: Any) -> bool:
    """Whether this may be a table and cannot be a column: frames of all libraries list their columns."""
    return isinstance(source, str | os.PathLike | Mapping | pl.LazyFrame) or hasattr(source, "columns")


def runs_of_system(name: Any, layouts: TableLike | Sequence[TableLike]) -> dict[Run, Any]:
    """The layouts of a system's runs; its name is checked."""
    if not isinstance(name, str) or not name:
        raise ParameterError(f"{setting('systems')}: names must be non-empty strings, found {name!r}.")
    tables: list[Any] = list(layouts) if isinstance(layouts, list | tuple) else [layouts]
    if not tables:
        raise ParameterError(f"{setting('systems')}: {name} has no layouts.")
    return {(name, run): table for run, table in enumerate(tables)}


def by_system(by_run: Mapping[Run, V]) -> dict[str, list[V]]:
    """The values of the runs of every system, in their order."""
    systems: dict[str, list[V]] = {}
    for (name, _), value in by_run.items():
        systems.setdefault(name, []).append(value)
    return systems


@contextmanager
def naming(system: str, run: int = 0) -> Iterator[None]:
    """Name the system in errors about the tables of one of its runs; an empty name is left out."""
    try:
        yield
    except DataError as error:
        if not system:
            raise
        raise NamedError((system, run), error) from None


class NamedError(DataError):
    """An error about the tables of one run of a system."""

    def __init__(self, run: Run, error: DataError) -> None:
        super().__init__(f"{run[0]}: {nested(error)}")
        self.run, self.error = run, error
