"""Tables on Spark have the columns that are declared, and one more as soon as it is."""

import importlib
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.comparison.result_columns import COMPARISON_TABLES
from carouseval.comparison.result_columns import PER_USER as COMPARED_USERS
from carouseval.engines.contract import arranged
from carouseval.evaluation.result_columns import EVALUATION_TABLES, PER_PAGE, PER_USER
from carouseval.evaluation.result_table import Present, ResultColumn, When
from tests.engines.spark.notices import ToSpark

IDS: dict[str, Any] = {"user_id": pl.String(), "page_id": pl.String()}


def spark_fields(types: dict[str, Any]) -> list[tuple[str, Any]]:
    from carouseval.engines.spark.engine import _signed, spark_type

    return [(name, spark_type(kind)) for name, kind in _signed(types).items()]


def fields_of(frame: Any) -> list[tuple[str, Any]]:
    return [(field.name, field.dataType) for field in frame.schema.fields]


def test_every_column_has_a_type_in_spark() -> None:
    pytest.importorskip("pyspark")
    for table in (*EVALUATION_TABLES, *COMPARISON_TABLES):
        assert spark_fields({one.name: one.kind for one in table.columns if one.kind is not None})


def test_tables_have_what_is_declared(to_spark: ToSpark) -> None:
    data = cv.sample(10, systems=["new", "prod"], seed=1, pages=2, devices=True)
    layouts = {
        name: to_spark(pl.DataFrame(lines).with_columns(importance=1.0 + pl.col("row") * 0))
        for name, lines in data.layouts.items()
    }
    given = to_spark(data.judgments), to_spark(data.items)
    settings: dict[str, Any] = {"metrics": ["N2DCG_cat", "Hit@3x5"], "by": "device", "weight": "importance"}
    settings |= {"missing_pages": "skip", "grid": cv.Grid(rows=20, cols=24, page_size=5)}
    metrics = {"N2DCG_cat": [When.IDEAL, When.UNPROVEN, When.WEIGHT], "Hit@3x5": [When.WEIGHT]}
    present = Present(["device"], metrics, holds=[When.PAGE_IDS, When.WEIGHT])
    comparison = cv.spark.compare(layouts, *given, test="t", **settings)
    evaluation = comparison.evaluations["new"][0]
    assert fields_of(evaluation.per_page) == spark_fields(PER_PAGE.types(present, IDS))
    assert fields_of(evaluation.per_user) == spark_fields(PER_USER.types(present, IDS))
    assert fields_of(comparison.per_user) == spark_fields(COMPARED_USERS.types(present, IDS))
    comparison.unpersist()


@pytest.fixture
def one_more(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A column that the table of pages makes, here and on executors; a function declares it, here and there."""
    evaluate = importlib.import_module("carouseval.engines.spark.engine")
    before, is_declared = PER_PAGE.columns, []

    def declare() -> None:
        object.__setattr__(PER_PAGE, "columns", (*before, ResultColumn("answer", pl.Int64(), "the answer")))
        is_declared.append(True)

    plain = evaluate.map_partitions

    def map_partitions(lines: Any, work: Any, types: Any) -> Any:
        declared = bool(is_declared)

        def with_one_more(batches: Any) -> Any:  # which goes to executors as it is
            import polars as pl

            from carouseval.evaluation import per_page
            from carouseval.evaluation.result_columns import PER_PAGE
            from carouseval.evaluation.result_table import ResultColumn

            made, columns = per_page._attributes, PER_PAGE.columns

            def attributes(inputs: Any, entries: Any) -> Any:
                return [*made(inputs, entries), pl.Series("answer", [42] * len(entries.user))]

            per_page._attributes = attributes
            if declared:
                new = ResultColumn("answer", pl.Int64(), "the answer")
                object.__setattr__(PER_PAGE, "columns", (*columns, new))
            try:
                yield from work(batches)
            finally:
                per_page._attributes = made
                object.__setattr__(PER_PAGE, "columns", columns)

        return plain(lines, with_one_more, types)

    monkeypatch.setattr(evaluate, "map_partitions", map_partitions)
    yield declare
    object.__setattr__(PER_PAGE, "columns", before)


def test_a_declared_column_arrives(to_spark: ToSpark, one_more: Any) -> None:
    """It takes its declaration and what makes it, and nothing of Spark's."""
    one_more()
    data = cv.sample(10, systems=["new"], seed=1)
    result = cv.spark.evaluate(to_spark(data.layouts["new"]), to_spark(data.judgments), to_spark(data.items))
    assert result.per_page.columns[-1] == "answer"
    pages = result.collect().per_page
    assert pages["answer"].to_list() == [42] * 10
    result.unpersist()


def test_a_column_that_is_not_declared_is_no_longer_dropped(to_spark: ToSpark, one_more: Any) -> None:
    from pyspark.errors import PythonException

    data = cv.sample(10, systems=["new"], seed=1)
    with pytest.raises(PythonException, match=r"Evaluation\.per_page: column 'answer' is not declared for it"):
        cv.spark.evaluate(to_spark(data.layouts["new"]), to_spark(data.judgments), to_spark(data.items))


def test_engines_send_no_column_that_was_not_promised() -> None:
    said = r"^columns new: not promised to the engine\. Declare them in result_columns\.py\.$"
    with pytest.raises(TypeError, match=said):
        arranged(pl.DataFrame({"user_id": ["u"], "new": [1]}), {"user_id": pl.String()})
