"""Every public function and class is documented as numpydoc has it: parameters, defaults, returns, an example.

A method without a docstring has that of the method it overrides.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString, Parameter

import carouseval as cv
from tests.public_names import members, public_callables

CALLABLES = public_callables()
MEMBERS = {path: value for name, cls in CALLABLES.items() if inspect.isclass(cls) for path, value in members(name, cls)}
OPTIONAL = ("optional", "default None")


def sections(value: Any) -> NumpyDocString:
    doc = inspect.getdoc(value.func if hasattr(value, "attrname") else value)
    assert doc, "has no docstring"
    parsed = NumpyDocString(doc)
    summary = " ".join(parsed["Summary"]).strip()
    assert summary.endswith((".", "?")), f"the summary must end with a full stop: {summary!r}"
    return parsed


def signature_of(value: Any) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(value).parameters.values())
    return [one for one in parameters if one.name not in ("self", "cls") and not one.name.startswith("_")]


def documented(entries: list[Parameter]) -> Iterator[Parameter]:
    """One entry per name: ``rows, cols : int`` documents two."""
    for entry in entries:
        for name in entry.name.split(","):
            yield Parameter(name.strip().lstrip("*"), entry.type, entry.desc)


def default_said(kind: str) -> str | None:
    found = re.search(r"\bdefault:? (.+)$", kind)
    return found.group(1).replace('"', "'") if found else None


def check_parameters(entries: list[Parameter], expected: list[inspect.Parameter]) -> None:
    known = list(documented(entries))
    assert [one.name for one in known] == [one.name for one in expected]
    for entry, parameter in zip(known, expected, strict=True):
        assert entry.type, f"{entry.name} has no type"
        assert "".join(entry.desc).strip(), f"{entry.name} has no description"
        default = parameter.default
        if default is inspect.Parameter.empty or type(default).__name__ == "_HAS_DEFAULT_FACTORY_CLASS":
            continue
        if default is None:
            assert entry.type.endswith(OPTIONAL) or default_said(entry.type), f"{entry.name} may be left out: say so"
        elif isinstance(default, (bool, int, float, str)):
            assert default_said(entry.type) == repr(default), f"{entry.name} has the default {default!r}"
        else:
            assert default_said(entry.type), f"{entry.name} has a default: say which"


def returns(value: Any) -> bool:
    return inspect.signature(value).return_annotation not in (None, "None", inspect.Signature.empty)


@pytest.mark.parametrize("path", CALLABLES)
def test_functions_and_classes_are_documented(path: str) -> None:
    value = CALLABLES[path]
    doc = sections(value)
    assert any(">>>" in line for line in doc["Examples"]), "has no example that runs"
    if inspect.isclass(value):
        if not issubclass(value, Exception) and not getattr(value, "_is_protocol", False):
            check_parameters(doc["Parameters"] or doc["Attributes"], signature_of(value))
        return
    check_parameters(doc["Parameters"], signature_of(value))
    assert doc["Returns"] or doc["Yields"] or not returns(value), "does not say what it returns"
    assert all("".join(entry.desc).strip() for entry in doc["Returns"]), "does not say what its result means"


def is_override(path: str) -> bool:
    """Whether a class that this one stands on has the method, too: an override may say only what differs there."""
    cls, _, name = path.rpartition(".")
    return sum(name in vars(base) for base in CALLABLES[cls].__mro__) > 1


@pytest.mark.parametrize("path", MEMBERS)
def test_methods_and_properties_are_documented(path: str) -> None:
    value = MEMBERS[path]
    doc = sections(value)
    is_complete = doc["Parameters"] or doc["Returns"] or not is_override(path)
    if inspect.isfunction(value) and is_complete:
        check_parameters(doc["Parameters"], signature_of(value))
        assert doc["Returns"] or doc["Yields"] or not returns(value), "does not say what it returns"


def defined(module: Path) -> Iterator[str]:
    """Classes, functions and type aliases that a file defines at its top and does not mark as private."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            yield ast.unparse(node.target)


def test_no_two_public_things_share_a_name() -> None:
    """Commands are named as what they call, and what runs on Spark as on one machine; no other names are shared."""
    homes: dict[str, list[str]] = {}
    source = Path(cv.__file__).parent
    for module in sorted(source.rglob("*.py")):
        for name in dict.fromkeys(defined(module)):  # overloads are one function
            namesake = module.parent.name in ("cli", "spark") and name == module.stem
            if not name.startswith("_") and not namesake:
                homes.setdefault(name, []).append(str(module.relative_to(source)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
