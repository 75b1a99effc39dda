"""Tables of items and carousels, collected from the layouts of several systems."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from carouseval.errors import DataError, ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.settings import ColumnNames, Settings
from carouseval.evaluation.systems import Run, Systems, is_systems, naming, runs_of_system
from carouseval.messages import setting
from carouseval.tables.table import Table, TableLike, agree_on_ids, in_memory


def items_from_layouts(
    *layouts: TableLike | Systems, columns: ColumnNames = None, carousels: TableLike | None = None
) -> pl.DataFrame:
    """Collect the (item, category) pairs of layouts, as an items table for an :class:`carouseval.Evaluator`.

    A category that only one of several users is shown is personal, as is one that ``carousels`` calls so: its pairs
    have the ``user_id`` of whom they are shown to.

    Parameters
    ----------
    *layouts : table, or dict of str to table
        The layouts of each system, with a column ``category``: one after the other, or in a dict by name, as
        :func:`carouseval.compare` takes them, with a list of layouts where a system has several runs.
    columns : mapping, optional
        Your names for our columns: ``{"user_id": "customer"}``.
    carousels : table, optional
        What is declared of carousels, as in :func:`carouseval.evaluate`.

    Returns
    -------
    polars.DataFrame
        Columns ``item_id`` and ``category``, each pair once, sorted; with personal categories also ``user_id``, null
        for the pairs of other categories.

    See Also
    --------
    carousels_from_layouts : How much each category shows.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 2], "row": [1, 1], "col": [1, 1], "item_id": [7, 7], "category": ["a", "a"]}
    >>> cv.items_from_layouts(layouts).rows()
    [(7, 'a')]
    >>> cv.items_from_layouts({"prod": layouts, "new": [layouts, layouts]}).rows()
    [(7, 'a')]
    """
    tables, declared = _open("items_from_layouts", layouts, columns, carousels)
    personal = _personal(_categories(tables), declared)
    keys = ["item_id", "category"]
    if not len(personal):
        return _distinct(tables, keys)
    owner = pl.when(pl.col("category").is_in(personal.implode())).then(pl.col("user_id")).alias("user_id")
    return _distinct(tables, [*keys, owner]).sort(*keys, "user_id")


def carousels_from_layouts(*layouts: TableLike | Systems, columns: ColumnNames = None) -> pl.DataFrame:
    """Collect what layouts show of each category, as a carousels table for an :class:`carouseval.Evaluator`.

    Parameters
    ----------
    *layouts : table, or dict of str to table
        The layouts of each system, with a column ``category``: one after the other, or in a dict by name, as
        :func:`carouseval.compare` takes them, with a list of layouts where a system has several runs.
    columns : mapping, optional
        Your names for our columns: ``{"user_id": "customer"}``.

    Returns
    -------
    polars.DataFrame
        One line per category, sorted: ``category``, ``capacity`` (the last occupied column of its rows) and
        ``personal`` (whether only one of several users is shown it); with personal categories also ``user_id``, null
        for the others.

    See Also
    --------
    items_from_layouts : The items of each category.

    Examples
    --------
    >>> import carouseval as cv
    >>> layouts = {"user_id": [1, 1, 2], "row": [1, 1, 1], "col": [1, 2, 1], "item_id": [7, 8, 7],
    ...            "category": ["Top 10", "Top 10", "Top 10"]}
    >>> cv.carousels_from_layouts(layouts).rows(named=True)
    [{'category': 'Top 10', 'capacity': 2, 'personal': False}]
    """
    tables, _ = _open("carousels_from_layouts", layouts, columns, None)
    categories = _categories(tables)
    personal = _personal(categories, None)
    lines = categories.select(
        "category",
        pl.when(pl.col("category").is_in(personal.implode())).then(pl.col("first_user")).alias("user_id"),
        "capacity",
        pl.col("category").is_in(personal.implode()).alias("personal"),
    )
    return lines if len(personal) else lines.drop("user_id")


def _open(
    function: str, layouts: Sequence[TableLike | Systems], columns: ColumnNames, carousels: TableLike | None
) -> tuple[list[Table], pl.DataFrame | None]:
    """All tables, with ids of one type, and the declared carousels."""
    if not layouts:
        raise ParameterError(f"{function} needs at least one table of layouts.")
    settings, tables = Settings(columns=columns), []
    for (system, _), source in _tables_by_run(layouts, settings):
        with naming(system):
            table = schema.open_tables({"layouts": in_memory(source, "layouts")}, settings)["layouts"]
            if "category" not in table:
                raise DataError(
                    f"layouts: missing column category, which {function} collects. Add it, or give "
                    f"{setting('items')} (item_id, category)."
                )
        tables.append(table)
    if carousels is None:
        return agree_on_ids(tables), None
    declared = schema.open_tables({"carousels": in_memory(carousels, "carousels")}, settings)["carousels"]
    *agreed, declared = agree_on_ids([*tables, declared])
    return agreed, declared.collect()


def _tables_by_run(layouts: Sequence[TableLike | Systems], settings: Settings) -> Iterator[tuple[Run, Any]]:
    """All tables, those of a dict of systems one by one; those given alone are of a system without a name."""
    user_column = schema.names_of(settings.columns, "layouts").get("user_id", "user_id")
    for source in layouts:
        if isinstance(source, Mapping) and is_systems(source, user_column):
            for name, of_system in source.items():
                yield from runs_of_system(name, of_system).items()
        else:
            yield ("", 0), source


def _categories(tables: Sequence[Table]) -> pl.DataFrame:
    """Each category's first and last user and last column, sorted; and the first and last user of all."""
    parts = [
        batch.group_by("category").agg(
            pl.col("user_id").min().alias("first_user"),
            pl.col("user_id").max().alias("last_user"),
            pl.col("col").max().alias("capacity"),
        )
        for table in tables
        for batch in table.batches()
    ]
    if not parts:
        raise DataError(schema.EMPTY["layouts"])
    merged = pl.col("first_user").min(), pl.col("last_user").max(), pl.col("capacity").max()
    return pl.concat(parts).group_by("category").agg(merged).sort("category")


def _personal(categories: pl.DataFrame, declared: pl.DataFrame | None) -> pl.Series:
    """The personal categories: declared so, or shown to one of several users and not declared otherwise."""
    has_several_users = categories["first_user"].min() != categories["last_user"].max()
    alone = categories.filter((pl.col("first_user") == pl.col("last_user")) & has_several_users)["category"]
    if declared is None:
        return alone
    is_declared = pl.col("personal") if "personal" in declared.columns else pl.lit(None, pl.Boolean)
    shared = is_declared.is_null() if "user_id" in declared.columns else pl.lit(False)
    lines = declared.select("category", personal=pl.when(shared).then(False).otherwise(is_declared)).drop_nulls()
    personal = lines.group_by("category").agg(pl.col("personal").any())
    declared_personal = personal.filter(pl.col("personal"))["category"]
    otherwise = alone.filter(~alone.is_in(personal["category"].implode()))
    return pl.concat([otherwise, declared_personal]).unique()


def _distinct(tables: Sequence[Table], columns: Sequence[str | pl.Expr]) -> pl.DataFrame:
    parts = [batch.select(columns).unique() for table in tables for batch in table.batches()]
    return pl.concat(parts).unique().sort("item_id", "category")
