"""Names of a package that are imported when first used, so that ``import carouseval`` stays instant."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, tuple[str, ...]], rooms: tuple[str, ...] = ()
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """A package's ``__all__``, ``__getattr__`` and ``__dir__``: names by the module each lives in, and subpackages."""
    home_of = {name: f"{package}.{home}" for home, names in homes.items() for name in names}
    exported = sorted([*rooms, *home_of])

    def load(name: str) -> Any:
        if name in rooms:
            return importlib.import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return exported, load, lambda: [*exported, "__version__"] if rooms else exported
