"""Recommenders' output as tables of scores: TREC run files, and arrays of the top items of each user."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from carouseval.errors import DataError
from carouseval.evaluation.schema import SCORES
from carouseval.file_kinds import open_text
from carouseval.metrics.validation import require_choice
from carouseval.table_files import is_table
from carouseval.tables import open_table

FORMATS = ("auto", "trec")
_RUN = r"^\s*(?P<user_id>\S+)\s+\S+\s+(?P<item_id>\S+)\s+\S+\s+(?P<score>\S+)\s+\S.*$"
_FIELDS = "A line of a TREC run is: user Q0 item rank score tag."
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"  # written as a number is printed, and of 64 bits


def read_run(path: str | Path, format: str = "auto") -> pl.DataFrame:
    r"""The scores of a run file: ``user_id, item_id, score``.

    A TREC run holds ``user Q0 item rank score tag`` on each line, with spaces or tabs between. Scores count, the rank
    is not looked at, as in trec_eval (which breaks ties by descending item id, where pages ascend). Ids of a column
    that are all whole numbers become integers; else they are text. The file may be compressed (.gz).

    "auto" reads tables (.parquet, .csv, .tsv, .ndjson) with those three columns, and all other files as TREC runs.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = Path(folder) / "system.run"
    ...     _ = run.write_text("7 Q0 m1 1 0.9 mine\n7 Q0 m2 2 0.5 mine\n")
    ...     read_run(run).rows()
    [(7, 'm1', 0.9), (7, 'm2', 0.5)]
    """
    require_choice("format", format, FORMATS)
    path = Path(path)
    if format == "auto" and is_table(path):
        hint = "If it is a TREC run, read it with format='trec'."
        return _with_whole_ids(open_table(path, "scores", SCORES, hint=hint).collect())
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
    read = filled.with_columns(pl.col("line").str.extract_groups(_RUN).alias("field")).unnest("field")
    number = pl.col("score").cast(pl.Float64, strict=False)
    bad = read.filter(~number.is_finite().fill_null(False))
    if bad.height:
        first = bad.row(0, named=True)
        if first["score"] is None:
            what, remedy = f"found {first['line'].strip()[:60]!r}", _FIELDS
        else:
            what, remedy = f"the score is {first['score'][:60]!r}", f"A score is a finite number. {_FIELDS}"
        more = f" ({bad.height:,} such lines)" if bad.height > 1 else ""
        raise DataError(f"run: {path}, line {first['number']}: {what}{more}. {remedy}")
    return _with_whole_ids(read.select("user_id", "item_id", number))


def _with_whole_ids(scores: pl.DataFrame) -> pl.DataFrame:
    """Text has no type of its own: ids that are whole numbers everywhere become integers."""
    for name in ("user_id", "item_id"):
        if scores[name].dtype == pl.String and scores[name].str.contains(_WHOLE).all():
            scores = scores.with_columns(pl.col(name).cast(pl.Int64))
    return scores


def scores_from_arrays(user_ids: Any, item_ids: Any, scores: Any) -> pl.DataFrame:
    """``user_id, item_id, score`` from arrays with a row per user, as implicit and RecBole give their top items.

    Parameters
    ----------
    user_ids
        One id per row: integers or text.
    item_ids, scores
        Of shape (users, k). A place without an item is left out: one of item -1, or of a score that says "never" (minus
        infinity, or the lowest float32), as where implicit and RecBole filter items seen before.

    Examples
    --------
    >>> scores_from_arrays(["ann", "bob"], [[3, 1], [2, -1]], [[0.9, 0.1], [0.4, 0.0]]).rows()
    [('ann', 3, 0.9), ('ann', 1, 0.1), ('bob', 2, 0.4)]
    """
    users, items, values = _array("user_ids", user_ids, 1), _array("item_ids", item_ids, 2), _array("scores", scores, 2)
    if items.shape != values.shape or len(users) != len(items):
        raise DataError(
            f"scores: user_ids has shape {users.shape}, item_ids {items.shape} and scores {values.shape}; wanted are "
            "(users,), (users, k) and (users, k)."
        )
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"scores: {error}. Scores are numbers.") from None
    never = (numbers == -np.inf) | (numbers == float(np.finfo(np.float32).min))
    held = ~(never | (items == -1))
    bad = np.argwhere(held & ~np.isfinite(numbers))
    if len(bad):
        row, place = bad[0]
        user, found = users.tolist()[row], numbers[row, place]
        raise DataError(
            f"scores: row {row + 1}, place {place + 1} (user_id={user!r}) holds {found:g}. A score is a finite number."
        )
    owner = np.nonzero(held)[0]
    table = pl.DataFrame(
        [_ids("user_id", users[owner]), _ids("item_id", items[held]), pl.Series("score", numbers[held])]
    )
    for column in ("user_id", "item_id"):
        if table[column].null_count():
            raise DataError(f"scores: column {column} holds nothing in some places. Every score needs both ids.")
    return table


def _array(name: str, given: Any, dimensions: int) -> Any:
    try:
        array = np.asarray(given)
    except (TypeError, ValueError) as error:  # lists of different lengths
        raise DataError(f"scores: {name} is no array: {error}.") from None
    if array.ndim != dimensions:
        shape = "(users,)" if dimensions == 1 else "(users, k)"
        raise DataError(f"scores: {name} has shape {array.shape}, wanted is {shape}.")
    return array


def _ids(name: str, ids: Any) -> pl.Series:
    """Arrays of objects hold whatever they hold; ids are integers or text."""
    try:
        series = pl.Series(name, ids.tolist() if ids.dtype.kind in "OUS" else ids)
    except (TypeError, pl.exceptions.PolarsError) as error:
        raise DataError(f"scores: {name}: {error}. Ids are integers or text.") from None
    if series.is_empty():
        return series
    if not (series.dtype.is_integer() or series.dtype == pl.String):
        raise DataError(f"scores: {name} holds {series.dtype}; ids are integers or text.")
    return series
