"""Every kernel with random, extreme and damaged arguments, on every instruction set; made for `make sanitize`.

Whatever comes in, a kernel answers with the same bits on all instruction sets and threads, or refuses; the sanitizers
see to it that it reads and writes nothing but its arrays.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.random import Generator

from carouseval import _native

Arguments = dict[str, Any]
ROUNDS, DAMAGES = 25, 60
REFUSALS = (TypeError, ValueError, OverflowError)
SIZES = (0, 1, 2, 7, 8, 9, 17, 64, 65)
ODD = (0.0, -0.0, 5e-324, 1e-310, 1.0, 1e300, np.inf, -np.inf, np.nan, -1.0, 1023.5, 1024.0)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = _native.instruction_set()
    yield
    _native.use_instruction_set(before)


def size(rng: Generator, least: int = 0, most: int = 65) -> int:
    return int(rng.choice([n for n in SIZES if least <= n <= most]))


def numbers(rng: Generator, *shape: int, odd: float = 0.05) -> Any:
    """Mostly small numbers, whole in half of the cases; some of the odd ones."""
    values = rng.random(shape) * 5
    values = np.rint(values) if rng.random() < 0.5 else values
    if rng.random() < 0.5:
        values = np.where(rng.random(shape) < odd, rng.choice(ODD, shape), values)
    return values


def gains(rng: Generator, *shape: int) -> Any:
    scale = rng.choice([1.0, 1.0, 5e-324, 1e-300, 1e300])
    return np.where(rng.random(shape) < 0.3, 0.0, rng.integers(1, 4, shape) + rng.integers(0, 2) * rng.random()) * scale


def weights(rng: Generator, rows: int, cols: int) -> Any:
    kind = rng.integers(3)
    values = rng.random((rows, cols)) if kind else np.ones((rows, cols))
    return np.sort(values, axis=0)[::-1].copy() if kind == 1 else values


def offsets(rng: Generator, lists: int, most: int = 4) -> Any:
    return np.concatenate([[0], np.cumsum(rng.integers(0, most + 1, lists))]).astype(np.int64)


def codes(rng: Generator, count: int, below: int, *, unknown: bool = True) -> Any:
    found = rng.integers(0, max(below, 1), count).astype(np.uint32)
    return np.where(rng.random(count) < 0.1, np.uint32(_native.NONE), found) if unknown else found


def member(rng: Generator, options: Any) -> Any:
    return list(options)[rng.integers(len(options))]


def score(rng: Generator) -> Arguments:
    rows, cols = size(rng, 1, 17), size(rng, 1)
    pages = numbers(rng, size(rng), rows, cols, odd=0.01)
    pages[rng.random(pages.shape) < rng.choice([0, 0.2])] = np.nan
    kind = member(rng, [np.float64, np.float32, np.uint8, np.int64])
    with np.errstate(all="ignore"):
        pages = pages.astype(kind) if kind in (np.float64, np.float32) else np.nan_to_num(pages, posinf=9).astype(kind)
    as_list = bool(rng.random() < 0.3)
    more = (0, 0) if as_list else rng.integers(0, 3, 2)
    return {
        "relevance": pages,
        "weights": weights(rng, rows + int(more[0]), cols + int(more[1])),
        "gain": member(rng, _native.Gain),
        "ideal": member(rng, _native.Ideal),
        "as_list": as_list,
    }


def ratio(rng: Generator) -> Arguments:
    count = size(rng)
    return {"total": numbers(rng, count), "best": numbers(rng, count)}


def layout(rng: Generator) -> Arguments:
    arguments = score(rng)
    del arguments["as_list"]
    rows, cols = arguments["relevance"].shape[1:]
    return arguments | {
        "relevance": arguments["relevance"].astype(np.float64),
        "weights": weights(rng, rows + 1, cols),
        "ideal": member(rng, [_native.Ideal.CATEGORY, _native.Ideal.UNCONSTRAINED]),
    }


def cell_gains(rng: Generator) -> Arguments:
    return {
        "relevance": numbers(rng, int(rng.choice([*SIZES, 1023, 1024, 1025, 5000]))),
        "gain": member(rng, _native.Gain),
    }


def candidate_ideals(rng: Generator) -> Arguments:
    sets, rows, cols = size(rng, most=17), size(rng, 1, 9), size(rng, 1, 17)
    categories = rng.integers(0, 13, sets)
    items = np.where(categories > 0, rng.integers(0, 20, sets), 0)
    held = rng.integers(0, 4, items.sum())
    among = np.repeat(np.repeat(categories, items), held)
    pinned = np.full(categories.sum(), -1, np.int32)
    first = np.concatenate([[0], np.cumsum(categories)])
    for begin, count in zip(first, categories, strict=False):
        if count and rng.random() < 0.4:
            pinned[begin + rng.integers(count)] = rng.integers(rows)
    return {
        "gains": gains(rng, int(items.sum())),
        "item_offsets": np.concatenate([[0], np.cumsum(items)]),
        "item_categories": np.floor(rng.random(len(among)) * among).astype(np.int32),
        "item_category_offsets": np.concatenate([[0], np.cumsum(held)]).astype(np.int64),
        "slots": rng.integers(-1, 20, len(pinned)).astype(np.int32),
        "pinned": pinned,
        "category_offsets": first,
        "open": rng.integers(-1, rows + 3, sets).astype(np.int32),
        "weights": weights(rng, rows, cols),
        "tolerance": float(rng.choice([0.0, 0.01, 1.0])),
        "work_limit": int(rng.choice([0, 1_000, 1_000_000])),
    }


def first_copy_ideals(rng: Generator) -> Arguments:
    pages, rows, cols = size(rng, most=17), int(rng.choice([3, 5, 12])), size(rng, 1, 9)
    heights = rng.integers(0, rows + 1, pages)
    items = np.where(heights > 0, rng.integers(0, 20, pages), 0)
    slots = rng.integers(0, cols + 1, heights.sum()).astype(np.int32)
    first, left = np.concatenate([[0], np.cumsum(heights)]), slots.copy()
    item_rows, copies, held = [], [], []
    for page, count in enumerate(items):
        for _ in range(count):
            with_room = np.flatnonzero(left[first[page] : first[page + 1]] > 0)
            chosen = rng.permutation(with_room)[: rng.integers(0, 4)]
            some = rng.integers(1, 1 + np.minimum(2, left[first[page] + chosen]))
            left[first[page] + chosen] -= some.astype(np.int32)
            item_rows += chosen.tolist()
            copies += some.tolist()
            held.append(len(chosen))
    return {
        "gains": gains(rng, int(items.sum())),
        "item_offsets": np.concatenate([[0], np.cumsum(items)]),
        "item_rows": np.array(item_rows, np.int32),
        "item_row_offsets": np.concatenate([[0], np.cumsum(held)]).astype(np.int64),
        "copies": np.array(copies, np.int32),
        "slots": slots,
        "fixed": rng.random(len(slots)) < 0.1,
        "row_offsets": first,
        "weights": np.minimum(1.0, weights(rng, rows, cols)),
        "bound": rng.choice([1.0, 1e6, np.inf], pages),
        "start": rng.integers(-1, rows + 1, len(slots)).astype(np.int32),
        "width": int(rng.choice([0, 1, 20, 1000])),
    }


def correlations(rng: Generator) -> Arguments:
    n = size(rng)
    return {"candidates": numbers(rng, int(rng.choice([0, 1, 130])), n), "target": numbers(rng, n)}


def draw_pairs(rng: Generator) -> Arguments:
    cols = size(rng, 1)
    chances = np.sort(rng.integers(0, 2**64, cols, dtype=np.uint64, endpoint=False))
    return {
        "seed": int(rng.integers(2**63)),
        "first": int(rng.choice([0, 5, 2**63 - 1])),
        "count": size(rng),
        "rows": size(rng, 1, 17),
        "cols": cols,
        "up_to": chances,
        "top_grade": int(rng.choice([1, 2, 255])),
    }


def sign_sums(rng: Generator) -> Arguments:
    users, pairs = size(rng), size(rng, most=17)
    most = int(rng.choice([3, 2**61 // max(users, 1)]))
    return {
        "differences": rng.integers(-most, most, (users, pairs)),
        "user": rng.integers(0, 2**64, users, dtype=np.uint64),
        "permutations": int(rng.choice([0, 1, 63, 64, 65, 2500])),
        "seed": int(rng.integers(2**63)),
    }


def resampled_sums(rng: Generator) -> Arguments:
    users = size(rng)
    return {
        "values": numbers(rng, users, size(rng, most=17)),
        "user": rng.integers(0, 2**64, users, dtype=np.uint64),
        "resamples": int(rng.choice([0, 1, 3, 4, 5, 513, 2500])),
        "seed": int(rng.integers(2**63)),
    }


def exact_sums(rng: Generator) -> Arguments:
    columns, products = size(rng, 1, 9), size(rng, most=17)
    before = [int(rng.integers(-1, place)) if rng.random() < 0.7 else -1 for place in range(products)]
    return {
        "values": numbers(rng, size(rng), columns, odd=0.0) * 10.0 ** rng.choice([0, 0, 200, -200]),
        "before": np.array(before, np.int32),
        "column": rng.integers(0, columns, products, dtype=np.int32),
    }


def scan_chains(rng: Generator) -> Arguments:
    count, states, reach, cells = size(rng, most=9), size(rng), int(rng.integers(0, 9)), size(rng, 1, 17)
    band = rng.random((count, states, 2 * reach + 1)) * (rng.random((count, states, 2 * reach + 1)) < 0.7)
    if rng.random() < 0.2:
        band = numbers(rng, *band.shape)
    by_state = {name: rng.random((count, states)) for name in ("leave", "start", "lost", "landing")}
    if rng.random() < 0.5:
        by_state["lost"][:] = 0
    return {"band": band, **by_state, "cell": rng.integers(-1, cells, states), "cells": cells}


def lines(rng: Generator, pages: int, count: int) -> Any:
    place = rng.integers(0, 12, count) << 16 | rng.integers(0, 14, count)
    pinned = rng.integers(0, 2, count) << 31
    columns = [rng.integers(0, pages, count), codes(rng, count, 30), codes(rng, count, 6), place | pinned]
    return np.stack(columns, axis=1).astype(np.uint32)


def page_runs(rng: Generator) -> Arguments:
    pages = size(rng, 1)
    found = lines(rng, pages, size(rng))
    return {"lines": found if rng.random() < 0.5 else found[np.argsort(found[:, 0])], "pages": pages}


def membership(rng: Generator) -> Any:
    shared, personal = offsets(rng, 30, 3), offsets(rng, 12)
    own = [np.sort(rng.integers(0, 30, n) << 32 | rng.integers(0, 8, n)) for n in np.diff(personal)]
    pairs = np.concatenate([np.empty(0, np.int64), *own]).astype(np.uint64)
    return shared, codes(rng, shared[-1], 8), personal, pairs


def carousels(rng: Generator) -> Any:
    if rng.random() < 0.3:
        return None
    categories, users = size(rng, 0, 9), offsets(rng, 12)
    capacity = rng.choice([0, 1, 3, 20, _native.UNLIMITED], categories).astype(np.int32)
    own = [np.unique(rng.integers(0, 9, n)) << 32 | rng.integers(0, 6) for n in np.diff(users)]
    counts = np.cumsum([0, *map(len, own)])
    lines = np.concatenate([np.empty(0, np.int64), *own]).astype(np.uint64)
    return capacity, rng.integers(0, 2, categories).astype(np.uint8), counts, lines


def shown_carousels(rng: Generator) -> Arguments:
    arguments = page_runs(rng)
    pages = arguments["pages"]
    return {
        "lines": arguments["lines"],
        "user": codes(rng, pages, 14),
        "grid": rng.integers(0, 2, pages).astype(np.uint8),
        "grids": 2,
        "categories": size(rng, 0, 9),
    }


def judged(rng: Generator) -> Arguments:
    groups = offsets(rng, 12, 9)
    return {"judged_offsets": groups, "judged_item": codes(rng, groups[-1], 30)}


def read_pages(rng: Generator) -> Arguments:
    arguments = page_runs(rng)
    pages = arguments["pages"]
    sorted_lines, begin, end = _native.sorted_lines(**arguments)
    known = judged(rng)
    return {
        "lines": sorted_lines,
        "begin": begin,
        "end": end,
        "pages": np.flatnonzero(rng.random(pages) < 0.8),
        "judgments": codes(rng, pages, 14),
        "user": codes(rng, pages, 14),
        "grid": rng.integers(0, 2, pages).astype(np.uint8),
        "grids": np.array([[10, 15], [3, 5]], np.int32),
        **known,
        "gaining": rng.integers(0, 2, len(known["judged_item"])).astype(np.uint8),
        "membership": membership(rng) if rng.random() < 0.7 else None,
        "carousels": carousels(rng),
        "labelled": bool(rng.random() < 0.5),
        "mark_lines": bool(rng.random() < 0.5),
    }


def score_hits(rng: Generator) -> Arguments:
    groups, (rows, cols) = offsets(rng, size(rng), 9), rng.integers(1, 9, 2)
    count = int(groups[-1])
    place = rng.integers(1, rows + 1, count) << 16 | rng.integers(1, cols + 1, count)
    hits = [rng.integers(0, 6, count), place, rng.integers(0, rows * cols, count)]
    return {
        "offsets": groups,
        "hits": np.stack(hits, axis=1).astype(np.uint32),
        "gain": numbers(rng, 6),
        "weights": weights(rng, int(rows), int(cols)),
        "as_list": bool(rng.random() < 0.5),
        "repeats": member(rng, _native.Repeats),
    }


def gather_candidates(rng: Generator) -> Arguments:
    problems, known = size(rng), judged(rng)
    pins = offsets(rng, problems, 2)
    return {
        "judgments": codes(rng, problems, 14),
        "user": codes(rng, problems, 14),
        **known,
        "gain": numbers(rng, len(known["judged_item"])),
        "membership": membership(rng),
        "sizes": rng.integers(0, 9, 8).astype(np.uint32),
        "carousels": carousels(rng),
        "pin_offsets": pins,
        "pins": np.stack(
            [rng.integers(0, 9, pins[-1]), codes(rng, pins[-1], 9), rng.integers(0, 9, pins[-1])], axis=1
        ).astype(np.uint32),
        "rows": int(rng.integers(0, 9)),
        "cols": int(rng.integers(0, 9)),
    }


def largest_first(rng: Generator) -> Arguments:
    groups = offsets(rng, size(rng), 40)
    return {
        "offsets": groups,
        "gain": numbers(rng, groups[-1]),
        "copies": rng.integers(-1, 4, groups[-1]).astype(np.int32),
        "weights": np.sort(rng.random(size(rng)))[::-1],
    }


def order_within(rng: Generator) -> Arguments:
    groups = offsets(rng, size(rng), 40)
    return {
        "offsets": groups,
        "item": codes(rng, groups[-1], 30, unknown=False),
        "rank": rng.integers(0, 30, 30).astype(np.uint32),
    }


def judged_twice(rng: Generator) -> Arguments:
    return {name: value for name, value in order_within(rng).items() if name != "rank"}


def text_hashes(rng: Generator) -> Arguments:
    return {"stream": texts(rng).__arrow_c_stream__()}


def scan_json(rng: Generator) -> Arguments:
    pieces = ["{", "}", "[", "]", ",", ":", '"a"', '"b"', '"a', "\\", '\\"', '"', "1", " ", "ü"]
    lines = ["".join(rng.choice(pieces, rng.integers(40))) for _ in range(size(rng))]
    return {"stream": pl.Series(lines, dtype=pl.String).__arrow_c_stream__()}


STREAMS = ("text_hashes", "scan_json")  # what they are given can be read once
MAKERS: dict[str, Callable[[Generator], Arguments]] = {
    made.__name__: made
    for made in (
        score, ratio, layout, candidate_ideals, first_copy_ideals, correlations, draw_pairs, sign_sums,
        resampled_sums, exact_sums, scan_chains,
        page_runs, shown_carousels, read_pages, score_hits, gather_candidates, largest_first,
        order_within, judged_twice, text_hashes, scan_json,
    )
} | {"gains": cell_gains, "sorted_lines": page_runs}  # fmt: skip


def test_every_kernel_is_fuzzed() -> None:
    functions = {name for name, value in vars(_native).items() if callable(value) and not inspect.isclass(value)}
    assert functions - {"instruction_set", "use_instruction_set"} == set(MAKERS)


def answer(name: str, arguments: Arguments) -> Any:
    """The arrays a kernel answers with, or the kind of its refusal."""
    try:
        found = getattr(_native, name)(**arguments)
    except REFUSALS as refusal:
        return type(refusal)
    parts = found if isinstance(found, tuple) else (found,)
    bad = name in ("score", "gains", "layout") and parts[-1] >= 0
    return parts[-1:] if bad else parts  # past a bad cell values are left as they were


def takes_threads(name: str) -> bool:
    return "threads:" in str(getattr(_native, name).__doc__)


@pytest.mark.parametrize("name", MAKERS)
def test_instruction_sets_and_threads_agree(name: str) -> None:
    rng = np.random.default_rng(list(name.encode()))
    answered = 0
    for _ in range(ROUNDS):
        arguments, first = MAKERS[name](rng), None
        for chosen in _native.InstructionSet:
            try:
                _native.use_instruction_set(chosen)
            except ValueError:
                continue
            for threads in (1, 3, 0) if takes_threads(name) else (None,):
                if name in STREAMS and first is not None:
                    continue
                again = answer(name, arguments if threads is None else arguments | {"threads": threads})
                first = again if first is None else first
                np.testing.assert_equal(again, first)
        answered += isinstance(first, tuple)
    assert answered > ROUNDS / 4, "most of these arguments should be accepted"


def damaged(rng: Generator, value: Any) -> Any:
    """Something like a value that no caller should pass."""
    if isinstance(value, tuple):
        at = int(rng.integers(len(value)))
        return (*value[:at], damaged(rng, value[at]), *value[at + 1 :])
    if not isinstance(value, np.ndarray):
        return member(rng, [None, "exp2", -1, 0, 3, 2.5, 2**70, True, np.int64(1)])
    ways: list[Callable[[], Any]] = [
        lambda: value[:-1],
        lambda: value[1:],
        lambda: value[:0],
        lambda: value[::2],
        lambda: value[::-1],
        lambda: value[..., :-1],
        lambda: np.asfortranarray(value),
        lambda: np.repeat(value, 2, axis=0),
        lambda: value[None],
        lambda: value.reshape(-1),
        lambda: value.astype(np.float32),
        lambda: value.astype(np.int16),
        lambda: value.astype(">f8"),
        lambda: value.astype(object),
        lambda: value.tolist(),
        lambda: None,
    ]
    if value.dtype == np.float64:
        ways += [lambda: np.where(rng.random(value.shape) < 0.1, rng.choice(ODD, value.shape), value)] * 8
    if value.dtype == np.int64 and value.ndim == 1:  # offsets, most of them
        ways += [lambda: value + 1, lambda: -value, lambda: rng.permutation(value), lambda: value * 2**40] * 2
    with np.errstate(all="ignore"):
        return member(rng, ways)()


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.filterwarnings("ignore")  # NumPy's, about the damage
def test_damaged_arguments_are_refused_or_harmless(name: str) -> None:
    rng = np.random.default_rng(list(b"damaged " + name.encode()))
    for round_ in range(DAMAGES):
        arguments = MAKERS[name](rng)
        one = list(arguments)[round_ % len(arguments)]
        threads = {"threads": 2} if takes_threads(name) else {}
        answer(name, arguments | threads | {one: damaged(rng, arguments[one])})


def texts(rng: Generator) -> pl.Series:
    words = ["", "a", "exactly 12 b", "thirteen byte", "ü" * 40, "\0", "x" * 5000]
    return pl.Series([member(rng, words) + str(rng.integers(9)) for _ in range(size(rng))], dtype=pl.String)


@pytest.mark.parametrize("kind", [pl.String, pl.Int64])
def test_ids_of_any_kind_and_size(kind: Any) -> None:
    rng = np.random.default_rng(7)
    ids, known = _native.Ids(), dict[Any, int]()
    for threads in (1, 3) * ROUNDS:
        most = int(rng.choice([99, 2**63 - 1]))
        some = texts(rng) if kind == pl.String else pl.Series(rng.integers(-most, most, size(rng)))
        stream = some.__arrow_c_stream__()
        found, firsts = ids.add_texts(stream, threads) if kind == pl.String else ids.add_ints(some.to_numpy(), threads)
        assert [some[int(at)] for at in firsts] == [one for one in dict.fromkeys(some) if one not in known]
        for one in some:
            known.setdefault(one, len(known))
        assert found.tolist() == [known[one] for one in some]
    assert len(ids) == len(known)


def test_streams_of_other_kinds_are_refused() -> None:
    for bad in (None, "text", pl.Series([1]).__arrow_c_stream__(), object()):
        with pytest.raises((TypeError, ValueError)):
            _native.text_hashes(bad)
        with pytest.raises((TypeError, ValueError)):
            _native.Ids().add_texts(bad, 1)
