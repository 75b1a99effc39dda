"""Examination counts on Spark against one machine, on generated logs: to the last digit, with the same errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.attention import examination_from_screens
from carouseval.errors import DataError, ParameterError

ToSpark = Callable[[Any], Any]
GRID = cv.Grid(4, 6)


def fixations(seed: int, kind: Any = pl.String) -> pl.DataFrame:
    """Participants with a few or with many fixations, of whom some number their screens alike."""
    rng = np.random.default_rng(seed)
    lines = 3_000
    participant = rng.zipf(1.7, lines).clip(max=40)
    frame = pl.DataFrame(
        {
            "participant": participant,
            "screen": rng.integers(1, 9, lines),
            "row": rng.integers(1, 5, lines),
            "col": rng.integers(1, 7, lines),
            "device": "tv",
        }
    )
    return frame.with_columns(pl.col("participant", "screen").cast(kind))


@pytest.mark.parametrize(
    ("lines_at_once", "kind"),
    [
        (100, pl.String),
        (1_000_000, pl.Int64),
        pytest.param(100, pl.Int64, marks=pytest.mark.deep),
        pytest.param(1_000_000, pl.String, marks=pytest.mark.deep),
    ],
)
def test_counts_are_those_of_one_machine(to_spark: ToSpark, kind: Any, lines_at_once: int) -> None:
    table = fixations(1, kind)
    expected = examination_from_screens(table, GRID)
    found = cv.spark.examination_counts(to_spark(table), GRID, collect=True, lines_at_once=lines_at_once)
    assert found.to_dict() == expected.to_dict()  # also of each participant, in the same order
    totals = cv.spark.examination_counts(to_spark(table), GRID, lines_at_once=lines_at_once)
    assert totals.to_dict() == expected.to_dict() | {"by_participant": None}


def test_screens_of_unknown_participants_and_empty_screens(to_spark: ToSpark) -> None:
    table = fixations(2).select(pl.concat_str("participant", "screen", separator="/").alias("screen"), "row", "col")
    on_spark = to_spark(table.with_columns(pl.col("row").cast(pl.Float64)))
    expected = examination_from_screens(table, GRID, name="lab")
    assert expected.participants is None
    assert cv.spark.examination_counts(on_spark, GRID, name="lab", lines_at_once=70).to_dict() == expected.to_dict()
    more = examination_from_screens(table, GRID, screens=1_000)
    assert cv.spark.examination_counts(on_spark, GRID, screens=1_000).to_dict() == more.to_dict()
    with_ids = fixations(3)
    known = examination_from_screens(with_ids, GRID, screens=1_000)
    assert known.by_participant is None  # those of empty screens are unknown
    found = cv.spark.examination_counts(to_spark(with_ids), GRID, 1_000, collect=True)
    assert found.to_dict() == known.to_dict()


def test_errors_are_those_of_one_machine(to_spark: ToSpark) -> None:
    table = fixations(4)
    for wrong, screens in (
        (table.drop("col"), None),
        (table.with_columns(screen=pl.lit(1.5)), None),
        (table.head(0), None),
        (table, 3),
    ):
        with pytest.raises(DataError) as expected:
            examination_from_screens(wrong, GRID, screens)
        with pytest.raises(DataError) as found:
            cv.spark.examination_counts(to_spark(wrong), GRID, screens)
        assert str(found.value) == str(expected.value)
    with pytest.raises(ParameterError, match="table must be a Spark DataFrame, found DataFrame"):
        cv.spark.examination_counts(table, GRID)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="lines_at_once must be"):
        cv.spark.examination_counts(to_spark(table), GRID, lines_at_once=0)


def test_a_wrong_line_is_named_by_its_participant_or_screen(to_spark: ToSpark) -> None:
    table = pl.DataFrame({"participant": ["p", "q"], "screen": [1, 2], "row": [1, 5], "col": [1, 1]})
    remedy = "A row is an integer from 1 to 4 on the 4x6 grid."
    with pytest.raises(DataError) as error:
        cv.spark.examination_counts(to_spark(table), GRID)
    assert str(error.value) == f"table: column row, participant 'q': found 5. {remedy}"
    with pytest.raises(DataError) as error:
        cv.spark.examination_counts(to_spark(table.drop("participant")), GRID)
    assert str(error.value) == f"table: column row, screen 2: found 5. {remedy}"
