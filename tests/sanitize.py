"""What `make sanitize` runs: calls of kernels recorded in evaluations, then the tests that spend their time in kernels.

With the sanitized module and no other. The deep layer adds the evaluations themselves.
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
    "tests/study/test_simulation.py",
]

if __name__ == "__main__":
    if not _native.sanitized:
        sys.exit(f"{_native.__file__} was built without sanitizers")
    print(f"{replay(Path(sys.argv[1])):,} recorded calls replayed", flush=True)
    tests = KERNEL_TESTS + ["tests/evaluation/test_evaluate_oracle.py"] * DEEP
    # not captured: a report comes just before its process ends
    sys.exit(pytest.main(["-q", "-n", "auto", "--capture=no", *tests]))
