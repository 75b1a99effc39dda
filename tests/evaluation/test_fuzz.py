"""Damaged tables: an error of ours or a right answer, never a traceback, a wrong number or a crash."""

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import carouseval as cv
from carouseval.building.sample import sample
from tests.evaluation.table_oracle import RefusedError, evaluate_tables

DATA = sample(3, items=40, categories=4, grid=cv.Grid(3, 4), judgments=8, systems=["new"], seed=5)
GRID = cv.Grid(3, 4)
TABLES = {"layouts": DATA.layouts["new"].drop("device"), "judgments": DATA.judgments, "items": DATA.items}
HEALTH = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]

ODD = [
    "",
    "x",
    "0",
    "-1",
    "1.5",
    "1e400",
    "nan",
    "inf",
    "7",
    "007",
    '"',
    '""',
    ",",
    "\n",
    "\r\n",
    "\x00",
    "é",
    "null",
    "[1]",
]


def outcome(paths: dict[str, Any], **options: Any) -> cv.Evaluation | None:
    """The result, or None where it is refused in our own words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.DataWarning)
        try:
            result = cv.evaluate(**paths, grid=GRID, **options)
        except cv.CarousevalError as error:
            refused = str(error)
        else:
            refused = ""
    if refused:
        assert refused.partition(":")[0] in TABLES  # it is named
        return None
    scores = result.per_page["N2DCG_cat"].drop_nulls()
    assert scores.is_finite().all()
    return result


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return {name: frame.write_csv() for name, frame in TABLES.items()}


@settings(max_examples=150, suppress_health_check=HEALTH, deadline=None)
@given(data=st.data())
def test_csv_with_a_changed_cell(data: st.DataObject, texts: dict[str, str], tmp_path: Path) -> None:
    """One cell changed: read by the book, the oracle and we come to the same."""
    name = data.draw(st.sampled_from(sorted(TABLES)))
    frame = TABLES[name].cast(pl.String)
    line, column = data.draw(st.integers(0, frame.height - 1)), data.draw(st.sampled_from(frame.columns))
    value = data.draw(
        st.sampled_from(["u000001", "m00001", "Comedy", "1", "2", "3", "4.0", "5", "0", "-1", "", "x", "1.5", "nan"])
    )
    rows = frame.to_dicts()
    rows[line][column] = value
    paths: dict[str, Any] = {}
    for each, table in TABLES.items():
        paths[each] = tmp_path / f"{each}.csv"
        (pl.DataFrame(rows, schema=frame.schema) if each == name else table).write_csv(paths[each])
    found = outcome(paths)
    wanted = by_the_book({**{each: table.cast(pl.String).to_dicts() for each, table in TABLES.items()}, name: rows})
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        assert found.mean["N2DCG_cat"] == pytest.approx(wanted, rel=1e-12)


def by_the_book(tables: dict[str, list[dict[str, Any]]]) -> float | None:
    """What the oracle says of tables of text; None where something does not read."""
    layouts, judgments, items = [], [], []
    try:
        for line in tables["layouts"]:
            row, col = float(line["row"]), float(line["col"])
            if not (row >= 1 and col >= 1 and row % 1 == 0 and col % 1 == 0 and row <= 3 and col <= 4):
                return None
            layouts.append({**line, "row": int(row), "col": int(col)})
        for line in tables["judgments"]:
            if not 0 <= float(line["relevance"]) < float("inf"):
                return None
            judgments.append({**line, "relevance": float(line["relevance"])})
        items = tables["items"]
    except ValueError:
        return None
    if any(value in ("", None) for table in (layouts, judgments, items) for line in table for value in line.values()):
        return None
    weights = cv.discounts.parse("d_rpd").weights(GRID).tolist()
    try:
        found = evaluate_tables(layouts, judgments, items, metrics=[("N2DCG_cat", weights)], rows=3, cols=4, smart=True)
    except RefusedError:
        return None
    return float(found["mean"]["N2DCG_cat"])


@settings(max_examples=200, suppress_health_check=HEALTH, deadline=None)
@given(data=st.data())
def test_csv_with_changed_bytes(data: st.DataObject, texts: dict[str, str], tmp_path: Path) -> None:
    name = data.draw(st.sampled_from(sorted(TABLES)))
    text = texts[name]
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + data.draw(st.sampled_from(ODD)) + text[at + data.draw(st.integers(0, 12)) :]
    paths: dict[str, Any] = {}
    for each in TABLES:
        paths[each] = tmp_path / f"{each}.csv"
        paths[each].write_bytes((text if each == name else texts[each]).encode())
    outcome(paths)


@settings(max_examples=150, suppress_health_check=HEALTH, deadline=None)
@given(data=st.data(), kind=st.sampled_from(["parquet", "ndjson"]))
def test_other_files_with_changed_bytes(data: st.DataObject, kind: str, tmp_path: Path) -> None:
    name = data.draw(st.sampled_from(sorted(TABLES)))
    paths: dict[str, Any] = {}
    for each, table in TABLES.items():
        paths[each] = tmp_path / f"{each}.{kind}"
        getattr(table, f"write_{kind}")(paths[each])
    content = bytearray(paths[name].read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    paths[name].write_bytes(bytes(content if data.draw(st.booleans()) else content[:cut]))
    outcome(paths)


VALUES = st.one_of(
    st.none(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=3),
    st.booleans(),
    st.lists(st.integers(0, 3), max_size=2),
)


@settings(max_examples=200, suppress_health_check=HEALTH, deadline=None)
@given(data=st.data())
def test_frames_of_anything(data: st.DataObject) -> None:
    tables: dict[str, Any] = dict(TABLES)
    name = data.draw(st.sampled_from(sorted(tables)))
    column = data.draw(st.sampled_from(tables[name].columns))
    height = tables[name].height
    values = data.draw(st.lists(VALUES, min_size=1, max_size=4))
    try:
        changed = pl.Series(column, (values * height)[:height], strict=data.draw(st.booleans()))
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return
    tables[name] = tables[name].with_columns(changed)
    outcome(tables)
