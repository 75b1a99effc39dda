"""How far a call walks through the package: files entered, and hops from one file to another.

A hop is a call, of a function or method, from code of one file into another; a property counts, a comprehension does
not. Counted on the smallest tables, where nothing repeats by the number of lines.
"""

import argparse
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import carouseval as cv

PACKAGE = str(Path(cv.__file__).parent)
TABLES: dict[str, Any] = {
    "layouts": {
        "user_id": [1, 1, 2],
        "row": [1, 1, 1],
        "col": [1, 2, 1],
        "item_id": [10, 11, 11],
        "category": ["new"] * 3,
    },
    "judgments": {"user_id": [1, 1, 2], "item_id": [11, 12, 11], "relevance": [1, 3, 2]},
    "items": {"item_id": [10, 11, 12], "category": ["new"] * 3},
}


class Walk:
    """Counts while the profiler calls it."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.hops: Counter[tuple[str, str]] = Counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(PACKAGE) or frame.f_code.co_name.startswith("<"):
            return
        self.files.add(name)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(PACKAGE):
            caller = caller.f_back
        before = "" if caller is None else caller.f_code.co_filename
        if before != name:
            self.hops[before, name] += 1

    def of(self, call: Callable[[], object]) -> "Walk":
        sys.setprofile(self)
        try:
            call()
        finally:
            sys.setprofile(None)
        return self


def calls(folder: Path) -> dict[str, Callable[[], object]]:
    one = TABLES["layouts"]
    other = one | {"item_id": [11, 10, 10]}
    tables = TABLES["judgments"], TABLES["items"]
    comparison = cv.compare({"a": one, "b": other}, *tables, permutations=99)
    return {
        "evaluate": lambda: cv.evaluate(one, *tables),
        "compare": lambda: cv.compare({"a": one, "b": other}, *tables, permutations=99),
        "explain": lambda: cv.explain(one, *tables),
        "report": lambda: comparison.report(folder / "report.html"),
    }


def spark_calls() -> dict[str, Callable[[], object]]:
    import pandas as pd
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    layouts, judgments, items = (spark.createDataFrame(pd.DataFrame(TABLES[name])) for name in TABLES)
    return {"spark.evaluate": lambda: cv.spark.evaluate(layouts, judgments, items)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spark", action="store_true", help="also cv.spark.evaluate, as seen by the driver")
    parser.add_argument("--hops", metavar="CALL", help="list the hops of a call by their files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, call in (calls(Path(folder)) | (spark_calls() if options.spark else {})).items():
            call()  # what is imported, parsed and kept once is not counted
            walk = Walk().of(call)
            print(f"{name}: {len(walk.files)} files, {sum(walk.hops.values()):,} hops")
            for (before, after), count in walk.hops.most_common() if name == options.hops else ():
                print(f"{count:7}  {before.removeprefix(PACKAGE)} -> {after.removeprefix(PACKAGE)}")


if __name__ == "__main__":
    main()
