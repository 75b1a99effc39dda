"""What `make sanitize` runs: the tests that spend their time in kernels, with the sanitized module and no other."""

import sys

import pytest

from carouseval import _native

KERNEL_TESTS = (
    "tests/metrics/test_native_fuzz.py",
    "tests/metrics/test_native.py",
    "tests/metrics/test_gains.py",
    "tests/metrics/test_array_functions.py",
    "tests/metrics/test_ideal.py",
    "tests/metrics/test_chain_kernel.py",
    "tests/evaluation/test_candidate_ideals.py",
    "tests/evaluation/test_first_occurrence.py",
    "tests/evaluation/test_evaluate_oracle.py",
    "tests/comparison/test_merged_significance.py",
    "tests/comparison/test_significance.py",
    "tests/attention/test_rank_fit.py",
    "tests/study/test_simulation.py",
)

if __name__ == "__main__":
    if not _native.sanitized:
        sys.exit(f"{_native.__file__} was built without sanitizers")
    # not captured: a report comes just before its process ends
    sys.exit(pytest.main(["-q", "-n", "auto", "--capture=no", *KERNEL_TESTS]))
