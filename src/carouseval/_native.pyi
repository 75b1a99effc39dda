"""Kernels of carouseval; use the functions of carouseval.metrics, which check their arguments."""

import enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE: int
SEVERAL: int
UNLIMITED: int
sanitized: bool

class Gain(enum.Enum):
    EXP2 = 0
    LINEAR = 1

class Ideal(enum.Enum):
    NONE = 0
    CATEGORY = 1
    UNCONSTRAINED = 2

class InstructionSet(enum.Enum):
    BASELINE = 0
    AVX2 = 1

class Repeats(enum.Enum):
    BEST = 0
    FIRST = 1
    EVERY = 2

class Defect(enum.IntFlag):
    CELL_TWICE = 1
    OUTSIDE_GRID = 2
    GAP = 4
    SKIPPED_ROW = 8
    REPEATED_CATEGORY = 16
    OUTSIDE_CATEGORY = 32
    PINNED_IN_PART = 64
    OVER_CAPACITY = 128
    REPEATED_ITEM = 256
    UNJUDGED = 512
    PINNED_UNKNOWN = 1024

def score(
    relevance: NDArray[Any], weights: NDArray[np.float64], gain: Gain, ideal: Ideal, as_list: bool, threads: int
) -> tuple[NDArray[np.float64], bool, int, float, int]: ...
def ratio(total: NDArray[np.float64], best: NDArray[np.float64]) -> NDArray[np.float64]: ...
def gains(relevance: NDArray[np.float64], gain: Gain, threads: int) -> tuple[NDArray[np.float64], int]: ...
def candidate_ideals(
    gains: NDArray[np.float64],
    item_offsets: NDArray[np.int64],
    item_categories: NDArray[np.int32],
    item_category_offsets: NDArray[np.int64],
    slots: NDArray[np.int32],
    pinned: NDArray[np.int32],
    category_offsets: NDArray[np.int64],
    open: NDArray[np.int32],
    weights: NDArray[np.float64],
    tolerance: float,
    work_limit: int,
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
def first_copy_ideals(
    gains: NDArray[np.float64],
    item_offsets: NDArray[np.int64],
    item_rows: NDArray[np.int32],
    item_row_offsets: NDArray[np.int64],
    copies: NDArray[np.int32],
    slots: NDArray[np.int32],
    fixed: NDArray[np.bool_],
    row_offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    bound: NDArray[np.float64],
    start: NDArray[np.int32],
    width: int,
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def correlations(
    candidates: NDArray[np.float64], target: NDArray[np.float64], threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def draw_pairs(
    seed: int, first: int, count: int, rows: int, cols: int, up_to: NDArray[np.uint64], top_grade: int, threads: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]: ...
def sign_sums(
    differences: NDArray[np.int64], user: NDArray[np.uint64], permutations: int, seed: int, threads: int
) -> NDArray[np.int64]: ...
def resampled_sums(
    values: NDArray[np.float64], user: NDArray[np.uint64], resamples: int, seed: int, threads: int
) -> NDArray[np.float64]: ...
def exact_sums(
    values: NDArray[np.float64], before: NDArray[np.int32], column: NDArray[np.int32]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
def scan_chains(
    band: NDArray[np.float64],
    leave: NDArray[np.float64],
    start: NDArray[np.float64],
    lost: NDArray[np.float64],
    landing: NDArray[np.float64],
    cell: NDArray[np.int64],
    cells: int,
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def layout(
    relevance: NDArray[np.float64], weights: NDArray[np.float64], gain: Gain, ideal: Ideal, threads: int
) -> tuple[NDArray[np.int64], int]: ...
def instruction_set() -> InstructionSet: ...
def use_instruction_set(instruction_set: InstructionSet) -> None: ...

_Codes = NDArray[np.uint32]
_Index = NDArray[np.int64]
_Membership = tuple[_Index, _Codes, _Index, NDArray[np.uint64]]
_Carousels = tuple[NDArray[np.int32], NDArray[np.uint8], _Index, NDArray[np.uint64]]

class Ids:
    def __len__(self) -> int: ...
    def add_ints(self, ids: _Index, threads: int) -> tuple[_Codes, _Index]: ...
    def add_texts(self, stream: object, threads: int) -> tuple[_Codes, _Index]: ...

def scan_json(stream: object) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def text_hashes(stream: object) -> NDArray[np.uint64]: ...
def page_runs(lines: _Codes, pages: int) -> tuple[_Index, _Index] | None: ...
def sorted_lines(lines: _Codes, pages: int) -> tuple[_Codes, _Index, _Index]: ...
def shown_carousels(
    lines: _Codes, user: _Codes, grid: NDArray[np.uint8], grids: int, categories: int
) -> tuple[_Codes, NDArray[np.int32], NDArray[np.int32]]: ...
def read_pages(
    lines: _Codes,
    begin: _Index,
    end: _Index,
    pages: _Index,
    judgments: _Codes,
    user: _Codes,
    grid: NDArray[np.uint8],
    grids: NDArray[np.int32],
    judged_offsets: _Index,
    judged_item: _Codes,
    gaining: NDArray[np.uint8],
    membership: _Membership | None,
    carousels: _Carousels | None,
    labelled: bool,
    mark_lines: bool,
    threads: int,
) -> tuple[
    _Index,
    _Codes,
    NDArray[np.uint16],
    _Codes,
    NDArray[np.uint8],
    _Codes,
    _Codes,
    NDArray[np.uint16],
    NDArray[np.uint16],
]: ...
def score_hits(
    offsets: _Index,
    hits: _Codes,
    gain: NDArray[np.float64],
    weights: NDArray[np.float64],
    as_list: bool,
    repeats: Repeats,
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def gather_candidates(
    judgments: _Codes,
    user: _Codes,
    judged_offsets: _Index,
    judged_item: _Codes,
    gain: NDArray[np.float64],
    membership: _Membership,
    sizes: _Codes,
    carousels: _Carousels | None,
    pin_offsets: _Index,
    pins: _Codes,
    rows: int,
    cols: int,
) -> tuple[
    NDArray[np.float64],
    _Index,
    _Index,
    NDArray[np.int32],
    _Index,
    NDArray[np.int32],
    NDArray[np.int32],
    _Codes,
    _Index,
    NDArray[np.int32],
    NDArray[np.int32],
]: ...
def largest_first(
    offsets: _Index,
    gain: NDArray[np.float64],
    copies: NDArray[np.int32],
    weights: NDArray[np.float64],
    threads: int,
) -> NDArray[np.float64]: ...
def order_within(offsets: _Index, item: _Codes, rank: _Codes, threads: int) -> _Index: ...
def judged_twice(offsets: _Index, item: _Codes) -> _Index: ...
