"""What `make sanitize` runs: the tests that spend their time in kernels, with the sanitized module and no other."""

import sys

import pytest

from carouseval import _native

KERNEL_TESTS = (
    "tests/metrics",
    "tests/evaluation/test_candidate_ideals.py",
    "tests/evaluation/test_evaluate_oracle.py",
    "tests/evaluation/test_fuzz.py",
    "tests/evaluation/test_scoring_step.py",
    "tests/comparison/test_significance.py",
    "tests/attention/test_fit.py",
    "tests/attention/test_row_page_fit.py",
    "tests/study/test_simulation.py",
)

if __name__ == "__main__":
    if not _native.sanitized:
        sys.exit(f"{_native.__file__} was built without sanitizers")
    sys.exit(pytest.main(["-q", "-n", "auto", "--durations=12", "-p", "no:cacheprovider", *KERNEL_TESTS]))
