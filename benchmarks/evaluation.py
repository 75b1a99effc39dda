"""Speed of `evaluate` on tables, as ratios against rivals measured in the same run.

.venv/bin/python benchmarks/evaluation.py            part of `make bench`; about two minutes
.venv/bin/python benchmarks/evaluation.py --large    also a million pages (150 million lines), with peak memory
"""

import argparse
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy.optimize import linear_sum_assignment

import carouseval as cv
from carouseval.building.sample import write_sample
from timing import interleaved

ROWS, COLS, CATEGORIES, PER_CATEGORY, JUDGED = 10, 15, 40, 250, 20
WEIGHTS = cv.discounts.parse("d_rpd").weights(cv.RECGAZE)


def write_tables(folder: Path, users: int, first: int = 0, ids: str = "int") -> None:
    """Pages of 10x15, 20 judgments a user of which 8 are shown, one category for each item."""
    rng = np.random.default_rng(first)
    shown = np.argsort(rng.random((users, CATEGORIES)), axis=1)[:, :ROWS]
    start = rng.integers(0, PER_CATEGORY, (users, ROWS, 1))
    items = shown[..., None] * PER_CATEGORY + (start + 7 * np.arange(COLS)) % PER_CATEGORY
    cells = ROWS * COLS
    layouts = pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(first, first + users), cells),
            "row": np.tile(np.repeat(np.arange(1, ROWS + 1, dtype=np.int32), COLS), users),
            "col": np.tile(np.arange(1, COLS + 1, dtype=np.int32), users * ROWS),
            "item_id": items.ravel(),
            "category": np.repeat(shown.ravel(), COLS),
        }
    )
    judged = items.reshape(users, cells)[:, rng.permutation(cells)[:8]]
    others = rng.integers(0, CATEGORIES * PER_CATEGORY, (users, JUDGED - 8))
    judgments = pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(first, first + users), JUDGED),
            "item_id": np.concatenate([judged, others], axis=1).ravel(),
            "relevance": rng.integers(0, 4, users * JUDGED).astype(float),
        }
    ).unique(["user_id", "item_id"], maintain_order=True)
    catalogue = np.arange(CATEGORIES * PER_CATEGORY)
    listed = pl.DataFrame({"item_id": catalogue, "category": catalogue // PER_CATEGORY})
    if ids == "text":
        letters = {"user_id": "u", "item_id": "m", "category": "c"}
        layouts, judgments, listed = (
            frame.with_columns(
                (pl.lit(letter) + pl.col(name).cast(pl.String).str.zfill(7)).alias(name)
                for name, letter in letters.items()
                if name in frame.columns
            )
            for frame in (layouts, judgments, listed)
        )
    layouts.write_parquet(folder / f"layouts-{first:09}.parquet")
    judgments.write_parquet(folder / f"judgments-{first:09}.parquet")
    listed.write_parquet(folder / "items.parquet")


def shuffle(folder: Path) -> Path:
    shuffled = folder / "shuffled.parquet"
    lines = pl.read_parquet(folder / "layouts-000000000.parquet")
    lines.sample(fraction=1, shuffle=True, seed=1).write_parquet(shuffled)
    return shuffled


def evaluate(layouts: Any, folder: Path, **options: Any) -> cv.Evaluation:
    return cv.evaluate(layouts, str(folder / "judgments-*.parquet"), folder / "items.parquet", **options)


def scan_and_join(layouts: Path, folder: Path) -> pl.DataFrame:
    judgments = pl.scan_parquet(folder / "judgments-*.parquet")
    return pl.scan_parquet(layouts).join(judgments, on=["user_id", "item_id"], how="left").collect(engine="streaming")


def scipy_loop(folder: Path, users: int) -> float:
    """One pandas merge, then user by user: 2DCG, the judged ideal by a sort and SciPy's assignment."""
    keep = [("user_id", "<", users)]
    layouts = pd.read_parquet(folder / "layouts-000000000.parquet", filters=keep)
    judgments = pd.read_parquet(folder / "judgments-000000000.parquet", filters=keep)
    items = pd.read_parquet(folder / "items.parquet")
    shown = layouts.merge(judgments, on=["user_id", "item_id"], how="left")
    weights = WEIGHTS[shown["row"] - 1, shown["col"] - 1]
    shown["value"] = (np.exp2(shown["relevance"].fillna(0.0)) - 1) * weights
    dcg = shown.groupby("user_id")["value"].sum()
    heavy = -np.sort(-WEIGHTS, axis=1)
    scores = []
    for user, mine in judgments.merge(items, on="item_id").groupby("user_id"):
        table = np.zeros((mine["category"].nunique(), ROWS))
        for k, (_, group) in enumerate(mine.groupby("category")):
            gains = -np.sort(-(np.exp2(group["relevance"].to_numpy()) - 1))[:COLS]
            table[k] = heavy[:, : len(gains)] @ gains
        best = table[linear_sum_assignment(table, maximize=True)].sum()
        if best > 0:
            scores.append(dcg.get(user, 0.0) / best)
    return float(np.mean(scores))


def against_the_join(folder: Path, ids: str) -> None:
    grouped = folder / "layouts-000000000.parquet"
    for order, path in (("grouped by user", grouped), ("shuffled", shuffle(folder))):
        ours, rival = interleaved(partial(evaluate, path, folder), partial(scan_and_join, path, folder), repeats=3)
        times = f"{ours / rival:5.2f}x the time of the bare scan and join ({ours:.2f} s, {rival:.2f} s)"
        print(f"  {ids:4} ids, {order:16} {times}")


def against_scipy(folder: Path, users: int, sample: int) -> None:
    start = time.perf_counter()
    mean = scipy_loop(folder, sample)
    rival = (time.perf_counter() - start) / sample
    lines = pl.scan_parquet(folder / "layouts-000000000.parquet").filter(pl.col("user_id") < sample)
    judged = pl.scan_parquet(folder / "judgments-000000000.parquet").filter(pl.col("user_id") < sample)
    found = cv.evaluate(lines, judged, folder / "items.parquet").mean["N2DCG_cat"]
    assert abs(found - mean) < 1e-12, (found, mean)
    start = time.perf_counter()
    evaluate(folder / "layouts-000000000.parquet", folder)
    ours = (time.perf_counter() - start) / users
    print(f"  {rival / ours:.0f}x faster than a pandas merge and a SciPy assignment per user ({sample:,} users timed)")


def growth(folder: Path, sizes: list[int], memory: float) -> None:
    """Time and peak memory in processes of their own."""
    program = (
        "import sys, time, carouseval as cv\n"
        "start = time.perf_counter()\n"
        "r = cv.evaluate(sys.argv[1] + '/layouts-*.parquet', sys.argv[1] + '/judgments-*.parquet',"
        " sys.argv[1] + '/items.parquet', memory=float(sys.argv[2]))\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1]\n"
        "print(time.perf_counter() - start, int(peak) / 2**20)"
    )
    written = 0
    for users in sizes:
        while written < users:
            step = min(100_000, users - written)
            write_tables(folder, step, written)
            written += step
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder), str(memory)], capture_output=True, text=True, check=True
        )
        seconds, peak = map(float, done.stdout.split())
        print(f"  {users:>9,} pages: {seconds:6.2f} s, {1e6 * seconds / users:5.1f} us a page, peak {peak:.2f} GiB")


def multi_category(folder: Path, users: int) -> None:
    """Realistic items: up to three categories each, so that nearly every ideal couples rows."""
    files = write_sample(folder, users, systems=["new"])
    start = time.perf_counter()
    result = cv.evaluate(files.layouts["new"], files.judgments, files.items)
    seconds = time.perf_counter() - start
    print(f"  {users:,} pages: {users / seconds:,.0f} a second, {result.counts['bounded']} not proven")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=100_000)
    parser.add_argument("--large", action="store_true", help="up to a million pages")
    options = parser.parse_args()
    for ids in ("int", "text"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_tables(folder, options.users, ids=ids)
            if ids == "int":
                print(f"N2DCG_cat of {options.users:,} pages of {ROWS}x{COLS}, {JUDGED} judgments each, from Parquet:")
            against_the_join(folder, ids)
            if ids == "int":
                against_scipy(folder, options.users, min(options.users, 2000))
    with tempfile.TemporaryDirectory() as name:
        print("Items of up to three categories, each counting once (sample data):")
        multi_category(Path(name), min(options.users, 20_000))
    with tempfile.TemporaryDirectory() as name:
        sizes = [10_000, 100_000] + [1_000_000] * options.large
        print("Growth, with 4 GiB for lines:")
        growth(Path(name), sizes, 4.0)


if __name__ == "__main__":
    main()
