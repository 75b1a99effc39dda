"""Importing the names of a package when they are first used, so that ``import carouseval`` stays instant."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, tuple[str, ...]], subpackages: tuple[str, ...] = ()
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """A package's ``__all__``, ``__getattr__`` and ``__dir__``, from the names of each module and the subpackages.

    Modules are named within the package, or from ``carouseval`` on.
    """
    module_of = {
        name: module if module.startswith("carouseval.") else f"{package}.{module}"
        for module, names in modules.items()
        for name in names
    }
    exported = sorted([*subpackages, *module_of])

    def load(name: str) -> Any:
        if name in subpackages:
            return importlib.import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module_of[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return exported, load, lambda: [*exported, "__version__"] if subpackages else exported
