"""Evaluation through Spark Connect, whose sessions have no Java of their own: the same results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.attention import examination_from_screens
from tests.engines.spark.connect_driver import GRID
from tests.engines.spark.light_spark import light_environment


@pytest.mark.deep
@pytest.mark.spark
@pytest.mark.needs("java")
def test_results_are_those_of_one_machine(tmp_path: Path) -> None:
    data = cv.sample(60, systems=["new", "prod"], seed=4, ids="int", missing=0.1)
    seen = pl.DataFrame({"screen": [1, 1, 2, 3], "row": [1, 2, 1, 1], "col": [1, 1, 1, 5]})
    for name, table in {**data.layouts, "judgments": data.judgments, "items": data.items, "fixations": seen}.items():
        pl.DataFrame(table).write_parquet(tmp_path / f"{name}.parquet")
    done = subprocess.run(
        [sys.executable, "-m", "tests.engines.spark.connect_driver", str(tmp_path)],
        env=os.environ
        | light_environment(tmp_path / "conf")
        | {"PYSPARK_PYTHON": sys.executable, "SPARK_TESTING": "1"},  # on a free port
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "seen.json").read_text())
    assert found["session"] == "pyspark.sql.connect.session"
    expected = cv.evaluate(data.layouts["new"], data.judgments, data.items, by="device", capacity="shown")
    assert (found["mean"], found["counts"]) == (expected.mean, expected.counts)
    assert_frame_equal(pl.read_parquet(tmp_path / "pages.parquet"), expected.per_page, check_row_order=False)
    systems = {name: data.layouts[name] for name in ("prod", "new")}
    compared = cv.compare(systems, data.judgments, data.items, permutations=99)
    ranked = cv.compare(systems, data.judgments, data.items, test="wilcoxon")
    assert found["p"] == [compared.pairs["p"].to_list(), ranked.pairs["p"].to_list()]
    assert found["examined"] == examination_from_screens(seen, GRID).to_dict()
    assert found["error"].startswith("layouts: column row, user_id ")
