"""The tables of results: what each column holds, its type, its place, and when it is there.

To add a column, add it to its table here, and make it where the table is made: a table with another set of columns is
refused. Engines, tables of reports, the check that segments and systems are called otherwise, and docs/columns.md
follow from here. ``comparison/result_columns.py`` has the tables of comparisons in the same form.
"""

from collections.abc import Iterable

import polars as pl

from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.result_table import ResultColumn, ResultTable, When

TEXT, NUMBER, INTEGER, BOOLEAN = pl.String(), pl.Float64(), pl.Int64(), pl.Boolean()
COUNT = pl.UInt32()  # of lines, as Polars has it

_USER = ResultColumn(Columns.USER, None, "the user")
_PAGE = ResultColumn(Columns.PAGE, None, "the page", When.PAGE_IDS)
SEGMENT = ResultColumn(Columns.SEGMENT, TEXT, "the value of each column that segments are made by")
_WEIGHT = ResultColumn(Columns.WEIGHT, NUMBER, "the page's weight", When.WEIGHT)
_STATUS = ResultColumn(Columns.STATUS, TEXT, "scored, missing, no_relevant or no_category")

PER_PAGE = ResultTable(
    "Evaluation.per_page",
    "a page, or a missing page",
    (
        _USER,
        _PAGE,
        SEGMENT,
        _WEIGHT,
        _STATUS,
        ResultColumn(Columns.METRIC_SCORE, NUMBER, "the score; null where the page is left out of the mean"),
        ResultColumn(Columns.METRIC_DCG, NUMBER, "the score before it is divided by the ideal", When.IDEAL),
        ResultColumn(Columns.METRIC_IDEAL, NUMBER, "the score of the ideal page, or a bound of it", When.IDEAL),
        ResultColumn(Columns.METRIC_IDEAL_FOUND, NUMBER, "the score of the best page found", When.UNPROVEN),
        ResultColumn(Columns.METRIC_BOUNDED, BOOLEAN, "whether the ideal is only a bound", When.UNPROVEN),
        ResultColumn(Columns.DUPLICATES, INTEGER, "how often the page repeats an item"),
        ResultColumn(Columns.UNJUDGED, INTEGER, "cells whose item has no judgment"),
        ResultColumn(Columns.INVALID, BOOLEAN, "whether the page breaks a rule"),
    ),
)

_PAGES = ResultColumn(Columns.PAGES, COUNT, "the user's pages that any metric scores")
_USER_MEAN = ResultColumn(Columns.METRIC_SCORE, NUMBER, "the mean over the user's pages; null without a score")
_USER_WEIGHT = ResultColumn(Columns.WEIGHT, NUMBER, "the mean weight of the user's pages", When.WEIGHT)
PER_USER = ResultTable("Evaluation.per_user", "a user with a score", (_USER, _PAGES, _USER_MEAN, _USER_WEIGHT))
USERS_BY = ResultTable(
    "Evaluation.users_by",
    "a user and segment",
    (
        _USER,
        ResultColumn(Columns.SEGMENT, None, "the value of each column asked for"),
        _PAGES,
        _USER_MEAN,
        _USER_WEIGHT,
        ResultColumn(
            Columns.METRIC_WEIGHT, NUMBER, "the mean weight of the user's pages that the metric scores", When.WEIGHT
        ),
    ),
)

_USERS_OF_SEGMENT = ResultColumn(Columns.USERS, INTEGER, "users whom any metric scores")
_PAGES_OF_SEGMENT = ResultColumn(Columns.PAGES, INTEGER, "pages that any metric scores")
_SEGMENT_MEAN = ResultColumn(Columns.METRIC_SCORE, NUMBER, "the mean over users")
SEGMENTS = ResultTable(
    "Evaluation.segments",
    "a segment; none without `by`",
    (
        SEGMENT,
        _USERS_OF_SEGMENT,
        _PAGES_OF_SEGMENT,
        _SEGMENT_MEAN,
        ResultColumn(Columns.METRIC_LOW, NUMBER, "where the mean's 95% interval begins"),
        ResultColumn(Columns.METRIC_HIGH, NUMBER, "where it ends"),
    ),
)
SEGMENT_MEANS = ResultTable(
    "Evaluation.segment_means",
    "a segment; none without `by`",
    (SEGMENT, _USERS_OF_SEGMENT, _PAGES_OF_SEGMENT, _SEGMENT_MEAN),
)
METRIC = ResultColumn(Columns.METRIC, TEXT, "the metric")
MEANS = ResultTable(
    "Evaluation.to_frame",
    "a metric, of all pages and of each segment",
    (
        SEGMENT,
        METRIC,
        ResultColumn(Columns.MEAN, NUMBER, "the mean over users of their mean over pages"),
        ResultColumn(Columns.LOW, NUMBER, "where its 95% interval begins; NaN for figures of the system"),
        ResultColumn(Columns.HIGH, NUMBER, "where it ends"),
        ResultColumn(Columns.USERS, INTEGER, "users whom the metric scores"),
        ResultColumn(Columns.PAGES, INTEGER, "pages that it scores"),
    ),
)

_LOST_BY = (
    ResultColumn(Columns.ITEM_ORDER, NUMBER, "what the order of items in their rows costs, in 2DCG"),
    ResultColumn(Columns.ROW_ORDER, NUMBER, "what the order of rows costs"),
    ResultColumn(Columns.CHOICE, NUMBER, "what the choice of items costs"),
)
LOSSES = ResultTable(
    "Explanation.per_page",
    "a page, or a missing page",
    (
        _USER,
        _PAGE,
        SEGMENT,
        _WEIGHT,
        _STATUS,
        ResultColumn(Columns.SCORE, NUMBER, "the score; null where the page is left out of the mean"),
        ResultColumn(Columns.DCG, NUMBER, "its 2DCG"),
        *_LOST_BY,
        ResultColumn(Columns.IDEAL, NUMBER, "the 2DCG of its ideal page"),
    ),
)
WORST = ResultTable(
    "Explanation.worst",
    "a page, the lowest score first",
    (*LOSSES.columns, ResultColumn(Columns.LOST, NUMBER, "the 2DCG that is lost")),
)
_ROW = ResultColumn(Columns.ROW, INTEGER, "the row, counted from 1")
CELLS = ResultTable(
    "Explanation.cells",
    "a cell, in each segment",
    (
        SEGMENT,
        _ROW,
        ResultColumn(Columns.COL, INTEGER, "the column, counted from 1"),
        ResultColumn(Columns.LOSS, NUMBER, "(ideal gain - gain) x weight over the page's ideal, as a part of the mean"),
        ResultColumn(Columns.GAIN, NUMBER, "the mean gain there"),
        ResultColumn(Columns.IDEAL_GAIN, NUMBER, "the mean gain there on ideal pages"),
    ),
)
ROWS = ResultTable(
    "Explanation.rows",
    "a row, in each segment",
    (SEGMENT, _ROW, ResultColumn(Columns.ITEM_ORDER, NUMBER, "what the order of items costs there")),
)
SHARES = ResultTable(
    "Explanation.to_frame",
    "all pages, and each segment: shares that sum to 1",
    (
        SEGMENT,
        ResultColumn(Columns.SCORE, NUMBER, "the score"),
        ResultColumn(Columns.ITEM_ORDER, NUMBER, "lost to the order of items in their rows"),
        ResultColumn(Columns.ROW_ORDER, NUMBER, "lost to the order of rows"),
        ResultColumn(Columns.CHOICE, NUMBER, "lost to the choice of items"),
        ResultColumn(Columns.MISSING, NUMBER, "lost on missing pages", When.MISSING),
        ResultColumn(Columns.NOTHING_TO_SHOW, NUMBER, "lost on users without a relevant item", When.NOTHING),
    ),
)
INSIDE = ResultTable(  # of no table that people see, but of users' tables on the way there
    "",
    "a user",
    (
        ResultColumn(Columns.METRIC_PAGES, COUNT, "the user's pages that the metric scores"),
        ResultColumn(Columns.METRIC_UNJUDGED_GAIN, NUMBER, "what unjudged items could add to the user's score"),
    ),
)

EVALUATION_TABLES = (PER_PAGE, PER_USER, USERS_BY, SEGMENTS, SEGMENT_MEANS, MEANS, LOSSES, WORST, CELLS, ROWS, SHARES)
_METRIC_COLUMNS = {
    column.name
    for table in (*EVALUATION_TABLES, INSIDE)
    for column in table.columns
    if Columns.METRIC_SCORE in column.name
}


def names_by(metric: str) -> set[str]:
    """The names of all columns by a metric."""
    return {of_metric(name, metric) for name in _METRIC_COLUMNS}


def own_names(tables: Iterable[ResultTable]) -> set[str]:
    """The names of columns of tables, but for those that are called like segments, metrics and systems."""
    return {name for table in tables for name in table.own_names}
