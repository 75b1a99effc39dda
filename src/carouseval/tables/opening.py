"""Opening a table: its columns are found and named, lists become lines, and what cannot be read is refused."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from carouseval.errors import DataError
from carouseval.messages import nested, setting
from carouseval.tables.columns import Column, missing_columns, type_errors
from carouseval.tables.files import ReadErrors, TableFile, with_table_name
from carouseval.tables.lists import LISTS, NO_ITEMS, NO_ROWS, Rows, find_rows, item_lists, one_line_per_row, value_lists
from carouseval.tables.python_values import objects_error
from carouseval.tables.sources import TableLike, default_name, open_source
from carouseval.tables.table import RECORD, Table


def open_table(
    source: TableLike,
    name: str | None,
    columns: Sequence[Column],
    names: Mapping[str, str] | None = None,
    *,
    hint: str = f"If yours have other names, use {setting('columns', {'user_id': 'customer', ...: ...})}.",
    full_lines: bool = False,
) -> Table:
    """Open a table; ``names`` maps our names of columns to the user's.

    Without a ``name`` it is named by its path. ``hint`` says what to do about missing columns. With ``full_lines``
    every line of a text file must have as many fields as the header. The file is read once more for that: in a log
    whose columns are mostly empty, no column shows that a line was cut off.

    >>> table = open_table({"customer": [7], "row": [1]}, "layouts", [Column("user_id", "id")], {"user_id": "customer"})
    >>> table.collect()["user_id"].to_list()
    [7]
    """
    name = default_name(source) if name is None else name
    given_names = {column.name: (names or {}).get(column.name, column.name) for column in columns}
    records, files = open_source(source, name)
    with ReadErrors(files, name):
        records, rows = _rows_of_pages(name, records.with_row_index(RECORD), given_names)
        schema = records.collect_schema()
    header = [column for column in schema.names() if column != RECORD]
    spellings = _spellings(given_names, header, schema, rows)
    _refuse_objects(name, records, columns, spellings)
    lists = "item_id" in spellings and isinstance(schema.get(spellings["item_id"]), LISTS)
    required = [column.name for column in columns if column.required and not (lists and column.name == "col")]
    if missing := [column for column in required if spellings[column] not in header]:
        separator = next((file.kind.separator for file in files if file.kind.is_text), ",")
        message = missing_columns(
            missing, given_names, header, hint, separator=separator, is_text=schema.get("items") == pl.String
        )
        raise DataError(f"{name}: {message}")
    _check_names(name, spellings)
    for file in files:
        file_header = header if len(files) == 1 else file.records.collect_schema().names()
        if rows is None and columns:  # a table that is asked for no column may have no header
            _check_file(name, file, file_header, [spellings[column] for column in required])
        if full_lines:
            file.check_lines()
    spellings = {column: spelling for column, spelling in spellings.items() if spelling in header}
    is_text = bool(files) and all(file.kind.is_text for file in files)
    if is_text and spellings:  # skip blank lines; if all lines are complete, the columns in use tell them
        checked = list(spellings.values()) if full_lines else header
        records = records.filter(~pl.all_horizontal(pl.col(checked).is_null()))
    records = records.select(RECORD, *(pl.col(spelling).alias(column) for column, spelling in spellings.items()))
    types = {column: schema[spelling] for column, spelling in spellings.items()}
    absent = [column for column in columns if column.default is not None and column.name not in spellings]
    defaults = {column.name: pl.lit(column.default) for column in absent}
    spellings |= {column: column for column in defaults}
    table = Table(
        name=name,
        records=records.with_columns(**defaults),
        columns=tuple(column for column in columns if column.name in spellings or (lists and column.name == "col")),
        names=spellings,
        files=files,
        types=types | dict.fromkeys(defaults, pl.Float64()),
        is_text=is_text,
        nested=rows is not None,
        header=tuple(header) if rows is None else (*header, rows.column),
    )
    table = _with_item_lists(table, given_names["item_id"]) if lists else table
    table = _with_value_lists(table)
    for column, error in type_errors(table.columns, table.types):
        raise DataError(f"{name}: column {table.names[column.name]} {error}")
    return table


def _rows_of_pages(
    name: str, records: pl.LazyFrame, given_names: Mapping[str, str]
) -> tuple[pl.LazyFrame, Rows | None]:
    """One record per row where there is one per page, and what its rows have."""
    if not {"row", "item_id"} <= given_names.keys():
        return records, None
    try:
        rows = find_rows(records.collect_schema(), given_names["row"])
    except DataError as error:
        raise DataError(f"{name}: {nested(error)}") from None
    if rows is None:
        return records, None
    return one_line_per_row(records, rows, given_names.get("pinned", "pinned")), rows


def _spellings(
    given_names: Mapping[str, str], header: Sequence[str], schema: pl.Schema, rows: Rows | None
) -> dict[str, str]:
    """The name of each column in the table, by ours."""
    spellings = {column: given if given in header else column for column, given in given_names.items()}
    absent = {column for column, spelling in spellings.items() if spelling not in header}
    items = schema.get("items")
    if "item_id" in absent and (isinstance(items, LISTS) or items == pl.Object):
        spellings["item_id"] = "items"
    if "row" in absent and schema.get("rows") == pl.Object:
        spellings["row"] = "rows"  # which is refused
    if "category" in absent and rows is not None and rows.title is not None:
        spellings["category"] = rows.title
    return spellings


def _refuse_objects(name: str, records: pl.LazyFrame, columns: Sequence[Column], spellings: Mapping[str, str]) -> None:
    """Refuse the first value that keeps a column from having a type: a date among integers, half of a character."""
    schema = records.collect_schema()
    for column in columns:
        spelling = spellings[column.name]
        if schema.get(spelling) == pl.Object:
            values = records.select(spelling).collect()[spelling].to_list()
            raise DataError(f"{name}: column {spelling}, {objects_error(values, column.expected)}")


def _with_item_lists(table: Table, field: str) -> Table:
    """The table with ids in its lists of items, which may be objects with the id in a field."""
    try:
        items = item_lists(table.types["item_id"], (field, "item_id"), nested=table.nested)
    except DataError as error:
        raise DataError(f"{table.name}: {nested(error)}") from None
    problems = {}
    if table.nested:
        problems = {NO_ROWS: pl.col("row").is_null(), NO_ITEMS: pl.col("item_id").is_null()}
    if items.invalid is not None:
        problems[items.problem] = items.invalid
    if problems:
        _refuse_rows(table, problems)
    return replace(
        table,
        records=table.records.with_columns(items.values),
        names={**table.names, "col": "col"},
        types={**table.types, "item_id": items.type, "col": pl.Int64()},
        lists=True,
        header=tuple(dict.fromkeys([*table.header, *([field] if field != "item_id" else [])])),
    )


def _refuse_rows(table: Table, problems: Mapping[str, pl.Expr]) -> None:
    """Refuse the first row of a page that has one of the problems."""
    row_number = ["row"] if "row" in table else []
    marked = table.records.select(RECORD, *row_number, **problems).filter(pl.any_horizontal(*problems))
    with table.read_errors():
        first = marked.sort(RECORD, maintain_order=True).head(1).collect(engine="streaming")
    for line in first.iter_rows(named=True):
        row = "" if line.get("row") is None else f", row {line['row']}"
        problem = next(problem for problem in problems if line[problem])
        raise DataError(f"{table.name}: {table.where(line[RECORD])}{row}: {problem}")


def _with_value_lists(table: Table) -> Table:
    """The table with lists in the columns that may hold several values in a cell."""
    records, types, many = table.records, dict(table.types), []
    for column in (column for column in table.columns if column.many):
        try:
            values = value_lists(column, types[column.name])
        except DataError as error:
            raise DataError(f"{table.name}: column {table.names[column.name]} {nested(error)}") from None
        if values is not None:
            records, types[column.name] = records.with_columns(values.values), values.type
            many.append(column.name)
    return replace(table, records=records, types=types, many=tuple(many))


def _check_names(name: str, spellings: Mapping[str, str]) -> None:
    for spelling, count in Counter(spellings.values()).items():
        if count > 1:
            first, second, *_ = (column for column in spellings if spellings[column] == spelling)
            raise DataError(
                f"{name}: column {spelling} is used for both {first} and {second}. Use it once in {setting('columns')}."
            )


def _check_file(name: str, file: TableFile, header: Sequence[str], required: Sequence[str]) -> None:
    """Every file must have the required columns, no column twice, and names in UTF-8."""
    for column in header:
        if file.kind.is_text and "\ufffd" in column and set(required) <= set(header):
            raise DataError(with_table_name(name, f"{file.path}: the header is not in UTF-8. Save it as UTF-8."))
        if file.kind.is_text and column and f"{column}_duplicated_0" in header:  # how Polars renames a repeated column
            raise DataError(f"{name}: the header names {column} twice. Remove or rename one.")
    for column in required:
        if column not in header:
            raise DataError(f"{name}: {file.path} has no column {column}. Is this file part of {name}?")
