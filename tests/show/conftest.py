"""Results are computed once for all tests, and forgotten at the end."""

from collections.abc import Iterator

import pytest

from tests.show.charts import sample_results
from tests.show.report import sample_reports


@pytest.fixture(scope="session", autouse=True)
def forget_results() -> Iterator[None]:
    """Drop the results: their kernels must not outlive the interpreter."""
    yield
    for value in [*vars(sample_results).values(), *vars(sample_reports).values()]:
        if hasattr(value, "cache_clear"):
            value.cache_clear()
