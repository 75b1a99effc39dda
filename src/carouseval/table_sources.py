"""What can be a table: frames of any library, dicts of columns, paths and patterns."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.table_files import TableFile, find_files, open_file, under

TableLike: TypeAlias = Any


def in_memory(source: TableLike, name: str) -> TableLike:
    """What can be read only once, or slowly, as a frame; paths and frames as they are."""
    records, files = records_of(source, name)
    return source if files or isinstance(source, pl.LazyFrame) else records.collect()


def records_of(source: TableLike, name: str) -> tuple[pl.LazyFrame, tuple[TableFile, ...]]:
    """All columns of a table, and the files they come from, if they do."""
    if isinstance(source, str | os.PathLike) or (
        isinstance(source, list | tuple) and source and all(isinstance(one, str | os.PathLike) for one in source)
    ):
        paths = [source] if isinstance(source, str | os.PathLike) else source
        try:
            files = tuple(open_file(file) for path in paths for file in find_files(Path(path)))
        except DataError as error:
            raise DataError(under(name, str(error))) from None
        frames = [file.records for file in files]
        return (frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")), files
    if isinstance(source, pl.LazyFrame):
        return source, ()
    if isinstance(source, pl.DataFrame):
        return source.lazy(), ()
    if isinstance(source, Mapping) or hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__"):
        try:
            return pl.DataFrame(source).lazy(), ()
        except Exception as error:  # whatever a foreign library says of its own table
            raise DataError(f"{name} does not read as a table: {str(error).strip().partition(chr(10))[0]}.") from None
    raise ParameterError(
        f"{name} must be a table (Polars, pandas, PyArrow, DuckDB, a dict of columns) or a path, "
        f"found {type(source).__name__}."
    )


def name_of(source: TableLike) -> str:
    """What to call a table that has no other name: its path, or "table"."""
    return str(source) if isinstance(source, str | os.PathLike) else "table"
