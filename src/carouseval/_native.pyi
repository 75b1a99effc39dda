"""Kernels of carouseval; use the functions of carouseval.metric, which check their arguments."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

OVERFLOW: int

def score(
    relevance: NDArray[Any], weights: NDArray[np.float64], gain: str, ideal: str, as_list: bool, threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]: ...
def gains(relevance: NDArray[np.float64], gain: str, threads: int) -> tuple[NDArray[np.float64], int]: ...
def category_ideal(
    gains: NDArray[np.float64], slots: NDArray[np.int64], weights: NDArray[np.float64], threads: int
) -> NDArray[np.float64]: ...
def candidate_ideals(
    gains: NDArray[np.float64],
    item_offsets: NDArray[np.int64],
    homes: NDArray[np.int32],
    home_offsets: NDArray[np.int64],
    slots: NDArray[np.int32],
    pinned: NDArray[np.int32],
    category_offsets: NDArray[np.int64],
    open: NDArray[np.int32],
    weights: NDArray[np.float64],
    once: bool,
    node_limit: int,
    threads: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]: ...
def correlations(
    candidates: NDArray[np.float64], target: NDArray[np.float64], threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def draw_pairs(
    seed: int, first: int, count: int, rows: int, cols: int, up_to: NDArray[np.uint64], top_grade: int, threads: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]: ...
def layout(
    relevance: NDArray[np.float64], weights: NDArray[np.float64], gain: str, ideal: str, threads: int
) -> tuple[NDArray[np.int64], int]: ...
def instruction_set() -> str: ...
def use_instruction_set(name: str) -> None: ...
