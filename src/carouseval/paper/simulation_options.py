"""The words that the study's options take, and the defaults; the command line reads them without NumPy."""

from typing import Literal, TypeAlias, get_args

Mode: TypeAlias = Literal["binary", "graded"]
Stream: TypeAlias = Literal["paper", "fast"]
MODES: tuple[Mode, ...] = get_args(Mode)
STREAMS: tuple[Stream, ...] = get_args(Stream)
DISCOUNTS = ("d_a", "d_rpd")
TRUTH = "amsterdam"
THRESHOLDS = ("0", "0.01", "0.02", "0.05", "0.1")
