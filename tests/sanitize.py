"""What `make sanitize` runs: calls of kernels recorded in evaluations, then the tests that spend their time in kernels.

With the sanitized module and no other. The deep layer records more calls, and adds some evaluations themselves.
"""

import sys
from pathlib import Path

import pytest

from carouseval import _native
from tests.depth import DEEP
from tests.kernel_calls import replay

KERNEL_TESTS = [
    "tests/metrics/test_native_fuzz.py",
    "tests/metrics/test_native.py",
    "tests/metrics/test_gains.py",
    "tests/metrics/test_array_functions.py",
    "tests/metrics/test_ideal.py",
    "tests/metrics/test_chain_kernel.py",
    "tests/evaluation/test_candidate_ideals.py",
    "tests/evaluation/test_first_occurrence.py",
    "tests/comparison/test_merged_significance.py",
    "tests/comparison/test_significance.py",
    "tests/attention/test_rank_fit.py",
    "tests/paper/test_simulation.py",
]

# a third of the time, in code that the other tests reach too
DEEP_TESTS = [
    "tests/evaluation/test_first_occurrence.py::test_pages_of_genres_are_proven",
    "tests/evaluation/test_candidate_ideals.py::test_gaps_within_the_tolerance_are_accepted",
    "tests/metrics/test_array_functions.py::test_other_python_threads_run_meanwhile",
]

# hundreds of whole evaluations: nearly all of their time, many times that without sanitizers, is Python's and Polars'
EVALUATIONS = [f"tests/evaluation/test_evaluate_oracle.py::test_tiny_{case}[0]" for case in ("tables", "systems")]

if __name__ == "__main__":
    if not _native.sanitized:
        sys.exit(f"{_native.__file__} was built without sanitizers")
    print(f"{replay(Path(sys.argv[1])):,} recorded calls replayed", flush=True)
    left_out = [] if DEEP else [f"--deselect={test}" for test in DEEP_TESTS]
    tests = KERNEL_TESTS + EVALUATIONS * DEEP
    # not captured: a report comes just before its process ends
    sys.exit(pytest.main(["-q", "-n", "auto", "--capture=no", *left_out, *tests]))
