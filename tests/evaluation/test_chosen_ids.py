"""Ids chosen to collide cost no more than others, and no result depends on the key that sees to it."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from carouseval import _native
from carouseval.building.sample import write_sample

# Hashes without a key, as tables of ids once had them.
MULTIPLIER, WORD_MULTIPLIER, CODE_MULTIPLIER = 0xD6E8FEB86659FD93, 0x9FB21C651E98DF25, 0x9E3779B97F4A7C15


def mixed(x: Any) -> Any:
    for _ in range(2):
        x = (x ^ (x >> np.uint64(32))) * np.uint64(MULTIPLIER)
    return x ^ (x >> np.uint64(32))


def unmixed(x: Any) -> Any:
    """The inverse of ``mixed``: undo its steps from last to first."""
    for _ in range(2):
        x = (x ^ (x >> np.uint64(32))) * np.uint64(pow(MULTIPLIER, -1, 2**64))
    return x ^ (x >> np.uint64(32))


def integers(count: int) -> Any:
    """All in one slot, with different upper halves."""
    ids = unmixed(np.arange(count, dtype=np.uint64) << np.uint64(32))
    assert not (mixed(ids) & np.uint64(0xFFFFFFFF)).any()
    return ids.view(np.int64)


def texts(count: int) -> Any:
    """Texts of eight digits and letters, all in 64 neighbouring slots of 16,384."""
    numbers = np.arange(300 * count, dtype=np.uint64)
    digits = numbers[:, None] >> np.arange(0, 40, 5, dtype=np.uint64) & np.uint64(31)
    letters = np.frombuffer(b"0123456789abcdefghijklmnopqrstuv", np.uint8)[digits]
    words = letters.view(np.uint64)[:, 0]
    hashes = (words ^ np.uint64(8)) * np.uint64(WORD_MULTIPLIER)
    hashes = mixed(hashes ^ (hashes >> np.uint64(29)))
    return letters.view("S8")[:, 0][hashes % np.uint64(16_384) < 64][:count].astype(str)


def codes(count: int) -> Any:
    """Codes, all in 64 neighbouring slots of 16,384."""
    numbers = np.arange(300 * count, dtype=np.uint64)
    slots = numbers * np.uint64(CODE_MULTIPLIER) >> np.uint64(32)
    return numbers[slots % np.uint64(16_384) < 64][:count].astype(np.uint32)


def add_integers(ids: Any) -> None:
    assert len(_native.Ids().add_ints(ids, 1)[1]) == len(ids)


def add_texts(ids: Any) -> None:
    assert len(_native.Ids().add_texts(pl.Series(ids).__arrow_c_stream__(), 1)[1]) == len(ids)


def find_repeats(items: Any) -> None:
    assert len(_native.judged_twice(np.array([0, len(items)]), items)) == 0


@pytest.mark.parametrize(("work", "choose"), [(add_integers, integers), (add_texts, texts), (find_repeats, codes)])
def test_chosen_ids_cost_no_more_than_others(work: Callable[[Any], None], choose: Callable[[int], Any]) -> None:
    """Without a key they take more than twenty times as long."""
    chosen = choose(8000)
    assert len(chosen) == 8000
    others = np.random.default_rng(0).permutation(2**20)[:8000]
    others = np.char.zfill(others.astype(str), 8) if choose is texts else others.astype(chosen.dtype)

    def seconds(ids: Any) -> float:
        begin = time.perf_counter()
        work(ids)
        return time.perf_counter() - begin

    times = [(seconds(chosen), seconds(others)) for _ in range(30)]
    slow, usual = np.min(times, axis=0)
    assert slow < 3 * usual


EVALUATION = """
import hashlib, sys
import carouseval as cv
folder = sys.argv[1]
result = cv.evaluate(folder + "/layouts-new.parquet", folder + "/judgments.parquet", folder + "/items.parquet")
scores = result.per_page.write_json() + result.per_user.write_json()
print(result.mean["N2DCG_cat"].hex(), hashlib.sha256(scores.encode()).hexdigest())
"""


def test_results_do_not_depend_on_the_key(tmp_path: Path) -> None:
    """Every process draws a key of its own."""
    write_sample(tmp_path, users=300)
    runs = [
        subprocess.run([sys.executable, "-c", EVALUATION, str(tmp_path)], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert runs[0].stdout == runs[1].stdout != ""
