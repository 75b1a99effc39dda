"""A Spark session on this machine, shared by all tests that one worker runs."""

import gc
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

from tests.engines.spark.light_spark import LIGHT

SPARK_TESTS = [
    pytest.mark.spark,
    pytest.mark.needs("java"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # of PySpark 4.0
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            for mark in SPARK_TESTS:
                item.add_marker(mark)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in LIGHT.items():
        builder = builder.config(name, value)
    session = (
        builder.config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")  # they stay three, however small
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture
def to_spark(spark: Any) -> Iterator[Callable[[Any], Any]]:
    """Turns a table into a Spark DataFrame."""
    yield lambda table: spark.createDataFrame(pl.DataFrame(table).to_arrow())
    gc.collect()  # so that what PySpark leaves open is not found in another test
