"""The significance tests of users' paired differences: what a test is (``contract.py``), and a file for each.

To add a test, write a file named as the test, like ``wilcoxon.py`` or, if sums over users are enough, ``bootstrap.py``,
and add its name to ``NamedTest``. All else asks the class: what ``test=`` and ``--test`` take, words of results,
weights, runs, and engines such as Spark. Nothing is imported here, for the command line to load fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, get_args

from carouseval.errors import ParameterError
from carouseval.validation import quoted

if TYPE_CHECKING:
    from carouseval.comparison.tests.contract import SignificanceTest

NamedTest: TypeAlias = Literal["permutation", "t", "wilcoxon", "bootstrap"]
"""A significance test of paired differences, by name."""

PERMUTATIONS = 10_000  # sign flips or resamples, by default
_NAMES = (*get_args(NamedTest), "crossed t")  # the last is no choice: others turn into it where runs vary
_registered: dict[str, SignificanceTest] = {}
_T = TypeVar("_T", bound="SignificanceTest")


def listed_tests() -> list[SignificanceTest]:
    """The tests that ``test=`` takes by name."""
    names = [*get_args(NamedTest), *(name for name in _registered if name not in _NAMES)]
    return [test for name in names if (test := known_test(name))]


def known_test(name: str) -> SignificanceTest | None:
    """The test of a name; None if there is none, as for the name of a function."""
    if name in _NAMES and name not in _registered:
        import_module(_module(name))  # which registers it
        if name not in _registered:
            raise ImportError(f"{_module(name)} registers no test {name!r}.")
    return _registered.get(name)


def result_test(name: str) -> SignificanceTest:
    """The test that a result names; of a function, what is true of all functions."""
    from carouseval.comparison.tests.function import FunctionTest

    return known_test(name) or FunctionTest(name)


def register_test(test: type[_T]) -> type[_T]:
    """Class decorator that makes a test available by its name.

    Registering the same class again, as in a notebook, replaces it.
    """
    made = _checked(test)
    name, known = made.name, _registered.get(made.name)
    is_ours = name in _NAMES and test.__module__ != _module(name)
    again = (test.__module__, test.__qualname__)
    if is_ours or (known and (type(known).__module__, type(known).__qualname__) != again):
        raise ParameterError(f"register_test: there is a test {name!r}; choose another name.")
    _registered[name] = made
    return test


def _checked(test: type[SignificanceTest]) -> SignificanceTest:
    """The test of a class that says what results and other tests ask of it."""
    from carouseval.comparison.tests.contract import MeansTest, SignificanceTest

    if not isinstance(test, type) or not issubclass(test, SignificanceTest):
        raise ParameterError(
            f"register_test takes a class derived from MergedTest, MeansTest or ColumnTest, found {quoted(test)}."
        )
    if missing := sorted(getattr(test, "__abstractmethods__", ())):
        raise ParameterError(f"register_test: {test.__name__} must define {' and '.join(missing)}.")
    made = test()
    for label in ("name", "words"):
        text = getattr(made, label, None)
        if not isinstance(text, str) or not text:
            raise ParameterError(f"register_test: {test.__name__} needs {label} = '...', found {quoted(text)}.")
    if (turned := made.over_runs()) is not None and not isinstance(turned, MeansTest):
        raise ParameterError(
            f"register_test: over_runs of {test.__name__} must return a MeansTest, the only kind that knows how runs "
            f"vary, or None, found {type(turned).__name__}."
        )
    return made


def _module(name: str) -> str:
    return f"{__name__}.{name.replace(' ', '_')}"
