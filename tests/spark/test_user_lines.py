"""How the stream of lines is cut into parts: between users, wherever batches end."""

from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from carouseval.spark.user_lines import StreamColumns

COLUMNS = StreamColumns({"judgments": {"c0": "user_id"}, "layouts": {"c0": "user_id", "c1": "row"}})


@pytest.mark.parametrize("seed", range(20))
def test_parts_hold_whole_users_and_all_lines(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lines_of_user = rng.choice([1, 2, 5, 40], rng.integers(1, 30))
    user = np.repeat(np.sort(rng.choice(10**6, len(lines_of_user), replace=False)) - 500_000, lines_of_user)
    table = rng.integers(0, 2, len(user))
    hashes = rng.integers(-(2**63), 2**63, len(user))
    lines = pa.table({"__user__": user, "__table__": table.astype(np.int8), "c0": user, "c1": np.arange(len(user))})
    lines = lines.append_column("__line__", pa.array(hashes))
    batches = lines.to_batches(max_chunksize=int(rng.integers(1, 20)))
    at_once = int(rng.integers(1, 60))
    parts, reads = zip(*COLUMNS.parts(iter(batches), at_once), strict=True)
    for name, number in (("judgments", 0), ("layouts", 1)):
        found = reduce(add, (read[name] for read in reads))
        own = hashes[table == number].tolist()
        assert (found.count, found.hashes) == (len(own), sum(own) % 2**64)
        joined = pl.concat([part[name] for part in parts])
        assert joined["user_id"].to_list() == user[table == number].tolist()
    users = [set(part["judgments"]["user_id"]) | set(part["layouts"]["user_id"]) for part in parts]
    assert sum(map(len, users)) == len(set.union(*users))  # nobody is in two parts
    largest = max(lines_of_user) + at_once + 20
    assert all(part["judgments"].height + part["layouts"].height <= largest for part in parts)


def test_a_partition_without_lines_has_no_parts() -> None:
    assert list(COLUMNS.parts(iter([]), 10)) == []


def test_lines_in_any_order_are_cut_anywhere() -> None:
    user = np.random.default_rng(0).integers(0, 5, 100)
    lines = pa.table({"__user__": user, "__table__": np.ones(100, np.int8), "c0": user, "c1": np.arange(100)})
    lines = lines.append_column("__line__", lines.column("c1"))
    anywhere = replace(COLUMNS, whole_users=False)
    parts = [tables for tables, _ in anywhere.parts(iter(lines.to_batches(max_chunksize=8)), 20)]
    assert pl.concat([part["layouts"] for part in parts])["row"].to_list() == list(range(100))
    assert [part["layouts"].height for part in parts] == [24, 24, 24, 24, 4]
