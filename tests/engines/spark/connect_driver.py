"""A client of Spark Connect and its server, a program of its own: ``python connect_driver.py FOLDER``.

It evaluates, compares and counts the tables of the folder, and writes what comes out there.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import carouseval as cv

GRID = cv.Grid(8, 12)


def session() -> SparkSession:
    builder = SparkSession.builder.remote("local[2]")
    for name in ("spark.driver.host", "spark.driver.bindAddress", "spark.connect.grpc.binding.address"):
        builder = builder.config(name, "127.0.0.1")
    return (
        builder.config("spark.sql.shuffle.partitions", "3")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def main(folder: Path) -> None:
    spark = session()
    names = ("new", "prod", "judgments", "items", "fixations")
    new, prod, judgments, items, fixations = (spark.read.parquet(str(folder / f"{name}.parquet")) for name in names)
    seen: dict[str, Any] = {"session": type(spark).__module__}
    result = cv.spark.evaluate(new, judgments, items, by="device", capacity="shown")
    result.collect().per_page.write_parquet(folder / "pages.parquet")
    seen |= {"mean": result.mean, "counts": result.counts}
    result.unpersist()
    compared = cv.spark.compare({"prod": prod, "new": new}, judgments, items, permutations=99)
    ranked = cv.spark.compare({"prod": prod, "new": new}, judgments, items, test="wilcoxon", collect=True)
    seen |= {"p": [one.pairs["p"].to_list() for one in (compared, ranked)]}
    seen |= {"examined": cv.spark.examination_counts(fixations, GRID).to_dict()}
    try:
        cv.spark.evaluate(new.withColumn("row", -new["row"]), judgments, items)
    except cv.DataError as error:
        seen["error"] = str(error)
    (folder / "seen.json").write_text(json.dumps(seen))
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
