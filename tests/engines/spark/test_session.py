"""What an evaluation leaves behind in the session of the user, and what it takes from there."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import carouseval as cv
from carouseval.engines.spark import engine
from tests.depth import gate_or_deep

DATA = cv.sample(12, systems=["new", "prod"], seed=4)
CALLS = gate_or_deep(4, 8)  # by four threads


@pytest.fixture
def session(spark: Any) -> Any:
    return spark.newSession()


def frames(session: Any, system: str = "new") -> list[Any]:
    tables = (DATA.layouts[system], DATA.judgments, DATA.items)
    return [session.createDataFrame(table.to_arrow()) for table in tables]


def kept(session: Any) -> int:
    return len(session.sparkContext._jsc.getPersistentRDDs())


def test_configuration_stays_as_it_was_with_several_threads(session: Any) -> None:
    before = session.conf.getAll
    tables = frames(session)

    def mean(_: int) -> Any:
        result = cv.spark.evaluate(*tables)
        result.unpersist()
        return result.mean

    expected = cv.evaluate(DATA.layouts["new"], DATA.judgments, DATA.items).mean
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(mean, range(CALLS))) == [expected] * CALLS
    assert session.conf.getAll == before
    with pytest.raises(cv.DataError):
        cv.spark.evaluate(*tables, grid=cv.Grid(2, 2))
    assert session.conf.getAll == before
    key = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    session.conf.set(key, "false")
    mean(0)
    assert session.conf.get(key) == "false"


def test_files_that_changed_are_scored_again(session: Any, tmp_path: Path) -> None:
    path = tmp_path / "layouts.parquet"
    _, judgments, items = frames(session)
    results = []
    for system in ("new", "prod"):
        DATA.layouts[system].write_parquet(path)
        results.append(cv.spark.evaluate(session.read.parquet(str(path)), judgments, items))
        assert results[-1].mean == cv.evaluate(DATA.layouts[system], DATA.judgments, DATA.items).mean
    for result in results:
        result.unpersist()


def test_nothing_is_kept_after_an_error(session: Any) -> None:
    before = kept(session)
    layouts, judgments, items = frames(session)
    for given in (items, None):
        with pytest.raises(cv.DataError):
            cv.spark.evaluate(layouts, judgments, given, grid=cv.Grid(2, 2))
        broken = layouts.withColumn("row", layouts.row + _raised("broken on purpose"))
        with pytest.raises(Exception, match="broken on purpose"):
            cv.spark.evaluate(broken, judgments, given)
    assert kept(session) == before


def _raised(message: str) -> Any:
    from pyspark.sql import functions as F  # noqa: N812

    return F.raise_error(F.lit(message)).cast("int")


def test_executors_with_another_version_are_refused(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "__version__", "9.9")
    with pytest.raises(cv.CarousevalError, match=r"carouseval is \S+ there and 9\.9 here\. Their Python"):
        cv.spark.evaluate(*frames(session))
