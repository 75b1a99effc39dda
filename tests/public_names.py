"""What users may call: every name of the package and of its rooms, with the methods and properties of classes."""

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import carouseval as cv

ROOMS = ("carouseval", *(f"carouseval.{name}" for name in dir(cv) if inspect.ismodule(getattr(cv, name))))


def exported() -> Iterator[tuple[str, str, Any]]:
    """(module, name, object) of every name in ``__all__``, modules and values left out."""
    for module in ROOMS:
        room = importlib.import_module(module)
        for name in getattr(room, "__all__", ()):
            value = getattr(room, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield module, name, value


def public_callables() -> dict[str, Any]:
    """Functions and classes by the shortest path to each."""
    paths: dict[str, Any] = {}
    for module, name, value in exported():
        if not any(value is known for known in paths.values()):
            paths[f"{module}.{name}"] = value
    return paths


def members(path: str, cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that a class, or a class of ours that it stands on, defines."""
    for name in dir(cls):
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("carouseval"):
            continue
        value = vars(owner)[name]
        value = getattr(value, "__func__", value)
        if inspect.isfunction(value) or isinstance(value, property) or hasattr(value, "attrname"):
            yield f"{path}.{name}", value
