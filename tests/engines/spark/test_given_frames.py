"""What is said of Spark DataFrames and sessions before anything is scored: too many lines, too old, files left out."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval import extras
from carouseval.engines.spark.spark_files import read_tables
from carouseval.errors import CarousevalError, DataError
from carouseval.tables import sources
from carouseval.tables.kinds import KINDS
from carouseval.tables.kinds.text import SeparatedText
from tests.command_line import run
from tests.engines.spark.notices import ToSpark, with_notices
from tests.lowest_versions import PYPROJECT

LAYOUTS = {"user_id": ["u1", "u1", "u2"], "row": [1, 2, 1], "col": [1, 1, 1], "item_id": ["a", "b", "a"]}
LAYOUTS |= {"category": ["c", "d", "c"]}
JUDGMENTS = {"user_id": ["u1", "u2"], "item_id": ["b", "a"], "relevance": [2.0, 1.0]}


def test_frames_of_both_kinds_of_sessions() -> None:
    """Those of Spark Connect have a class of their own; the deep layer alone starts a server for one."""
    for module in ("pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe", "pyspark.sql.dataframe"):
        frame = type("DataFrame", (), {"__module__": module})
        assert sources.is_spark(frame())
        assert sources.is_spark(type("Own", (frame,), {"__module__": "own"})())
    for other in (pl.DataFrame(), "DataFrame", None, type("DataFrame", (), {"__module__": "pyspark.pandas"})()):
        assert not sources.is_spark(other)


def test_nothing_is_asked_of_java_but_to_start_it() -> None:
    """Sessions of Spark Connect have none of this."""
    source = Path(cv.__file__).parent
    of_java = re.compile(r"sparkContext|\b_sc\b|\b_jvm\b|\b_jdf\b|_jsparkSession|\.rdd\b")
    found = {path.name for path in source.rglob("*.py") if of_java.search(path.read_text(encoding="utf-8"))}
    assert found == {"spark_engine.py", "spark_progress.py"}


def test_one_machine_takes_small_frames(to_spark: ToSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_SPARK_LINES", 3)
    assert cv.evaluate(to_spark(LAYOUTS), to_spark(JUDGMENTS)).mean == cv.evaluate(LAYOUTS, JUDGMENTS).mean


@pytest.mark.parametrize("name", ["evaluate", "compare", "explain"])
def test_one_machine_refuses_many_lines(to_spark: ToSpark, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(sources, "MOST_SPARK_LINES", 2)
    layouts = to_spark(LAYOUTS)
    first = {"prod": layouts, "new": layouts} if name == "compare" else layouts
    with pytest.raises(DataError) as error:
        getattr(cv, name)(first, JUDGMENTS)
    assert str(error.value) == (
        f"{'prod: ' * (name == 'compare')}layouts: this Spark DataFrame has more than 2 lines, which would all come to "
        "this machine. Leave them in Spark: cv.spark.evaluate(layouts, judgments, items), or cv.spark.compare({'prod': "
        "layouts, 'new': layouts}, judgments, items). If they do fit, ask for them: layouts.toArrow()."
    )
    assert cv.evaluate(layouts.toArrow(), JUDGMENTS).mean == cv.evaluate(LAYOUTS, JUDGMENTS).mean


def test_many_lines_are_not_all_computed(spark: Any) -> None:
    far_too_many = spark.range(10**15)  # which would take years
    with pytest.raises(DataError, match="judgments: this Spark DataFrame has more than 1,000,000 lines"):
        cv.evaluate(LAYOUTS, far_too_many.selectExpr("id AS user_id", "id AS item_id"))


def test_too_old_versions(to_spark: ToSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyspark

    layouts, judgments = to_spark(LAYOUTS), to_spark(JUDGMENTS)
    monkeypatch.setattr(pyspark, "__version__", "3.5.7")
    needs = 'needs PySpark 4.0 or newer, found 3.5.7. Run: pip install --upgrade "carouseval[spark]"'
    for call in (
        lambda: cv.spark.evaluate(layouts, judgments),
        lambda: cv.spark.compare({"prod": layouts, "new": layouts}, judgments),
        lambda: cv.spark.examination_counts(layouts, cv.RECGAZE),
        lambda: cv.evaluate(LAYOUTS, judgments),
    ):
        with pytest.raises(CarousevalError) as error:
            call()
        assert str(error.value).endswith(needs)
    done = run("evaluate", "layouts", "judgments", "--engine", "spark")
    assert (done.returncode, done.stderr.strip()) == (2, f"carouseval: --engine spark {needs}")
    monkeypatch.undo()
    monkeypatch.setattr(layouts.sparkSession, "version", "3.5.7")
    with pytest.raises(CarousevalError, match=r"carouseval.spark needs Spark 4.0 or newer, found 3.5.7. Use"):
        cv.spark.evaluate(layouts, judgments)


def test_the_oldest_version_is_that_of_the_package() -> None:
    needs = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["spark"]
    assert f"pyspark>={extras.SPARK}" in needs


@pytest.fixture
def ignoring(spark: Any) -> Iterator[Any]:
    """A session that leaves out missing and damaged files."""
    settings = [f"spark.sql.files.{name}" for name in ("ignoreMissingFiles", "ignoreCorruptFiles")]
    for setting in settings:
        spark.conf.set(setting, "true")
    yield spark
    for setting in settings:
        spark.conf.unset(setting)


def test_files_that_spark_leaves_out_are_noticed(ignoring: Any, to_spark: ToSpark) -> None:
    layouts, judgments = to_spark(LAYOUTS), to_spark(JUDGMENTS)
    said = [
        f"spark.sql.files.{name} is true: where files of these tables are {what}, Spark leaves out their lines and "
        f"says nothing. Set it to false: spark.conf.set('spark.sql.files.{name}', False)."
        for name, what in (("ignoreMissingFiles", "missing"), ("ignoreCorruptFiles", "damaged"))
    ]
    cells = to_spark({"screen": [1], "row": [1], "col": [1]})
    for call in (
        lambda: cv.spark.evaluate(layouts, judgments),
        lambda: cv.spark.compare({"prod": layouts, "new": layouts}, judgments, permutations=9),
        lambda: cv.spark.examination_counts(cells, cv.RECGAZE),
    ):
        _, notices = with_notices(call)
        assert notices[:2] == said
    ignoring.conf.set("spark.sql.files.ignoreMissingFiles", "false")
    _, notices = with_notices(lambda: cv.spark.evaluate(layouts, judgments))
    assert said[0] not in notices
    assert said[1] in notices


def test_spark_reads_what_is_added_to_the_kinds_of_text(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "layouts.psv"
    pl.DataFrame(LAYOUTS).write_csv(path, separator="|")
    with pytest.raises(DataError, match=r"Spark reads \.parquet, \.csv, \.tsv, \.ndjson and \.json files, and folders"):
        read_tables(spark, {"layouts": str(path)})
    KINDS.append(SeparatedText("PSV", (".psv",), separator="|"))
    try:
        assert read_tables(spark, {"layouts": str(path)})["layouts"].toArrow().to_pydict()["item_id"] == ["a", "b", "a"]
    finally:
        KINDS.pop()


@pytest.mark.parametrize("kind", ["parquet", "csv", "ndjson"])
def test_our_own_reading_leaves_out_no_file(ignoring: Any, tmp_path: Path, kind: str) -> None:
    folder = tmp_path / f"layouts.{kind}"
    folder.mkdir()
    for part in ("one", "two"):
        getattr(pl.DataFrame(LAYOUTS), f"write_{kind}")(folder / f"{part}.{kind}")
    frame = read_tables(ignoring, {"layouts": str(folder)})["layouts"]
    assert frame.count() == 6
    (folder / f"two.{kind}").unlink()
    with pytest.raises(Exception, match=r"FILE_NOT_EXIST|does not exist"):
        frame.select("item_id").collect()


def test_our_own_reading_leaves_out_no_damaged_file(ignoring: Any, tmp_path: Path) -> None:
    folder = tmp_path / "layouts"
    folder.mkdir()
    for part in ("one", "two"):
        pl.DataFrame(LAYOUTS).write_parquet(folder / f"{part}.parquet")
    (folder / "two.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"layouts: .* cannot be read as Parquet"):
        read_tables(ignoring, {"layouts": str(folder)})
