"""The lowest versions that pyproject.toml allows, as constraints for pip; `make test-lowest` installs them."""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def lowest_versions(pyproject: str) -> list[str]:
    """Pins such as ``polars==1.38.1``, one for each direct dependency: of the build, of users and of developers."""
    content = tomllib.loads(pyproject)
    project = content["project"]
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    pins = []
    for requirement in [*content["build-system"]["requires"], *project["dependencies"], *extras]:
        if requirement.startswith("carouseval["):  # an extra that names another
            continue
        match = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([0-9.]+)", requirement)
        if not match:
            raise ValueError(f"pyproject.toml: {requirement!r} must be a name and a lower bound, as in polars>=1.38.1.")
        pins.append(f"{match[1]}=={match[2]}")
    return pins


if __name__ == "__main__":
    print("\n".join(lowest_versions(PYPROJECT.read_text(encoding="utf-8"))))
