"""The constraints of `make test-lowest` pin every direct dependency to its lower bound."""

import pytest

from tests.lowest_versions import PYPROJECT, lowest_versions

PROJECT = """
[build-system]
requires = ["nanobind>=2.4"]
[project]
dependencies = ["polars>=1.38.1", "vl-convert-python>=1.7"]
[project.optional-dependencies]
show = ["altair>=5.4"]
all = ["carouseval[show]"]
dev = ["pyright[nodejs]>=1.1.400"]
"""


def test_each_lower_bound_is_a_pin() -> None:
    pins = ["nanobind==2.4", "polars==1.38.1", "vl-convert-python==1.7", "altair==5.4", "pyright==1.1.400"]
    assert lowest_versions(PROJECT) == pins


@pytest.mark.parametrize("requirement", ["polars", "polars<2", "polars>=1.38.1,<2", "polars==1.38.1"])
def test_a_dependency_without_a_plain_lower_bound_is_refused(requirement: str) -> None:
    message = rf"^pyproject\.toml: '{requirement}' must be a name and a lower bound, as in polars>=1\.38\.1\.$"
    with pytest.raises(ValueError, match=message):
        lowest_versions(PROJECT.replace("polars>=1.38.1", requirement))


def test_every_dependency_of_the_project_has_a_lower_bound() -> None:
    names = [pin.partition("==")[0] for pin in lowest_versions(PYPROJECT.read_text(encoding="utf-8"))]
    assert {"nanobind", "polars", "pytest"} <= {*names}  # of the build, of users and of developers
    assert len(names) == len({*names})
