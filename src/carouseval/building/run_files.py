"""Tables of scores from the output of recommenders: TREC run files, and arrays of each user's top items."""

from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from carouseval.errors import DataError
from carouseval.evaluation.schema import SCORES
from carouseval.messages import setting
from carouseval.tables.files import is_table
from carouseval.tables.kinds.contract import open_text
from carouseval.tables.opening import open_table
from carouseval.validation import require_choice

RunFormat: TypeAlias = Literal["auto", "trec"]
"""The format of a run file."""

_RUN = r"^\s*(?P<user_id>\S+)\s+\S+\s+(?P<item_id>\S+)\s+\S+\s+(?P<score>\S+)\s+\S.*$"
_FIELDS = "A line of a TREC run is: user Q0 item rank score tag."
_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"  # as Python prints an integer of 64 bits


def read_run(path: str | Path, format: RunFormat = "auto") -> pl.DataFrame:
    r"""Read the scores of a recommender from a TREC run file or a table.

    A TREC run has ``user Q0 item rank score tag`` on each line, separated by spaces or tabs. As in trec_eval, the score
    counts and the rank is ignored (trec_eval breaks ties by descending item id, :func:`carouseval.pages_from_scores` by
    ascending).

    Parameters
    ----------
    path : str or Path
        The file, which may be compressed (``.gz``).
    format : {'auto', 'trec'}, default 'auto'
        'auto' reads ``.parquet``, ``.csv``, ``.tsv``, ``.ndjson``, ``.json`` and ``.arrow`` as tables with the columns
        ``user_id, item_id, score``, and all other files as TREC runs.

    Returns
    -------
    polars.DataFrame
        ``user_id, item_id, score``. Ids are integers if all ids of the column are, else text.

    See Also
    --------
    carouseval.pages_from_scores : Turn scores into pages.

    Examples
    --------
    >>> import carouseval as cv, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = pathlib.Path(folder) / "system.run"
    ...     _ = run.write_text("7 Q0 m1 1 0.9 mine\n7 Q0 m2 2 0.5 mine\n")
    ...     cv.read_run(run).rows()
    [(7, 'm1', 0.9), (7, 'm2', 0.5)]
    """
    require_choice("format", format, get_args(RunFormat))
    path = Path(path)
    if format == "auto" and is_table(path):
        hint = f"If it is a TREC run, read it with {setting('format', 'trec')}."
        return with_integer_ids(open_table(path, "scores", SCORES, hint=hint).collect(), "user_id", "item_id")
    try:
        with open_text(path) as file:
            lines = pl.Series("line", file.read().split("\n"), pl.String).to_frame().with_row_index("number", 1)
    except (OSError, EOFError) as error:
        raise DataError(f"run: {path}: {getattr(error, 'strerror', None) or error}.") from None
    except UnicodeDecodeError:
        raise DataError(f"run: {path} is not in UTF-8. Save it as UTF-8.") from None
    filled = lines.filter(pl.col("line").str.contains(r"\S"))
    if not filled.height:
        raise DataError(f"run: {path} is empty. {_FIELDS}")
    fields = filled.with_columns(pl.col("line").str.extract_groups(_RUN).alias("field")).unnest("field")
    number = pl.col("score").cast(pl.Float64, strict=False)
    bad = fields.filter(~number.is_finite().fill_null(False))
    if bad.height:
        first = bad.row(0, named=True)
        if first["score"] is None:
            problem, remedy = f"found {first['line'].strip()[:60]!r}", _FIELDS
        else:
            problem, remedy = f"the score is {first['score'][:60]!r}", f"A score must be a finite number. {_FIELDS}"
        more = f" ({bad.height:,} such lines)" if bad.height > 1 else ""
        raise DataError(f"run: {path}, line {first['number']}: {problem}{more}. {remedy}")
    return with_integer_ids(fields.select("user_id", "item_id", number), "user_id", "item_id")


def with_integer_ids(table: pl.DataFrame, *columns: str) -> pl.DataFrame:
    """Text files have no types: a column of ids that are all integers becomes one of integers."""
    for name in columns:
        if table[name].dtype == pl.String and table[name].str.contains(_INTEGER).all():
            table = table.with_columns(pl.col(name).cast(pl.Int64))
    return table


def scores_from_arrays(user_ids: ArrayLike, item_ids: ArrayLike, scores: ArrayLike) -> pl.DataFrame:
    """Make a table of scores from arrays with a row per user, as implicit and RecBole return their top items.

    Both return positions in their own matrices, which are not the ids of your tables: look the ids up first, as below.

    Parameters
    ----------
    user_ids : array-like of shape (users,)
        The ids of the users: integers or text, as in your other tables.
    item_ids : array-like of shape (users, k)
        The ids of each user's items: integers or text, as in your other tables. -1 marks a place without an item.
    scores : array-like of shape (users, k)
        The scores of those items. Places with a score of minus infinity or the lowest float32 are left out: implicit
        and RecBole mark items with it that they filtered out.

    Returns
    -------
    polars.DataFrame
        ``user_id, item_id, score``, one line per user and item.

    See Also
    --------
    carouseval.pages_from_scores : Turn scores into pages.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.scores_from_arrays(["ann", "bob"], [[3, 1], [2, -1]], [[0.9, 0.1], [0.4, 0.0]]).rows()
    [('ann', 3, 0.9), ('ann', 1, 0.1), ('bob', 2, 0.4)]

    What ``columns, scores = model.recommend(rows, matrix[rows], N=2)`` of implicit returns, where ``user_ids`` and
    ``item_ids`` are the ids of the matrix's rows and columns. (``N`` must be at most the number of items.)

    >>> import numpy as np
    >>> user_ids, item_ids = np.array(["ann", "bob"]), np.array([101, 102, 250])
    >>> rows, columns, scores = np.array([0, 1]), np.array([[2, 0], [1, 2]]), np.array([[0.9, 0.1], [0.4, 0.3]])
    >>> cv.scores_from_arrays(user_ids[rows], item_ids[columns], scores).rows()
    [('ann', 250, 0.9), ('ann', 101, 0.1), ('bob', 102, 0.4), ('bob', 250, 0.3)]
    """
    users, items, values = _array("user_ids", user_ids, 1), _array("item_ids", item_ids, 2), _array("scores", scores, 2)
    if items.shape != values.shape or len(users) != len(items):
        raise DataError(
            f"scores: user_ids has shape {users.shape}, item_ids {items.shape} and scores {values.shape}; expected "
            "(users,), (users, k) and (users, k)."
        )
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"scores: {error}. Scores are numbers.") from None
    filtered = (numbers == -np.inf) | (numbers == float(np.finfo(np.float32).min))
    has_item = ~(filtered | (items == -1))
    bad = np.argwhere(has_item & ~np.isfinite(numbers))
    if len(bad):
        row, place = bad[0]
        raise DataError(
            f"scores: row {row + 1}, place {place + 1} (user_id={users.tolist()[row]!r}) holds "
            f"{numbers[row, place]:g}. A score must be a finite number."
        )
    user = np.nonzero(has_item)[0]
    table = pl.DataFrame(
        [_ids("user_id", users[user]), _ids("item_id", items[has_item]), pl.Series("score", numbers[has_item])]
    )
    for column in ("user_id", "item_id"):
        if table[column].null_count():
            raise DataError(f"scores: column {column} has empty places. Every score needs a user id and an item id.")
    return table


def _array(name: str, values: ArrayLike, dimensions: int) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.asarray(values)
    except (TypeError, ValueError) as error:  # lists of different lengths
        raise DataError(f"scores: {name} is not an array: {str(error).rstrip('.')}.") from None
    if array.ndim != dimensions:
        shape = "(users,)" if dimensions == 1 else "(users, k)"
        raise DataError(f"scores: {name} has shape {array.shape}, expected {shape}.")
    return array


def _ids(name: str, ids: NDArray[Any]) -> pl.Series:
    """A column of ids, which must be integers or text."""
    try:
        series = pl.Series(name, ids.tolist() if ids.dtype.kind in "OUS" else ids)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise DataError(f"scores: {name}: {error}. Ids are integers or text.") from None
    if series.is_empty():
        return series
    if not (series.dtype.is_integer() or series.dtype == pl.String):
        raise DataError(f"scores: {name} holds {series.dtype}; ids are integers or text.")
    return series
