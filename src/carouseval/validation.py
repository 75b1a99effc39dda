"""Checks of arguments; each error names the argument, its range and the value found."""

import difflib
import itertools
import math
import re
import sys
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from carouseval.errors import ParameterError, ParseError
from carouseval.messages import setting

_LONGEST_NAME = 10_000  # characters of the name of a metric or a discount
_DEEPEST_NAME = 20  # brackets inside one another
LARGEST_SIZE = 999_999_999  # of grids, cutoffs and whatever else counts cells: products of two are 64-bit integers
_QUOTED = 60
_LARGEST = sys.float_info.max
_Choice = TypeVar("_Choice", bound=str)


def quoted(value: Any) -> str:
    """The ``repr`` of a value for a message, of which it shows at most 60 characters.

    >>> quoted("d_rpd"), len(quoted("d" * 1_000_000))
    ("'d_rpd'", 65)
    """
    if isinstance(value, str | bytes) and len(value) > _QUOTED:
        return f"{value[:_QUOTED]!r}..."
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # more digits, or lists inside lists, than Python prints
        return f"a very large {type(value).__name__}"
    if isinstance(value, str | bytes):
        return text
    text = " ".join(text.split())  # arrays are printed in several lines
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}..."


def subject(name: str) -> str:
    """What is checked: a setting if that is all the name says."""
    return setting(name) if name.isidentifier() else name


def require_int(name: str, value: Any, at_least: int, at_most: int | None = None) -> int:
    """An integer (``3`` or ``np.int64(3)``, not ``3.5`` or ``True``) in range."""
    number: Any = value
    valid = isinstance(value, Integral) and not isinstance(value, bool) and number >= at_least
    if not valid or (at_most is not None and number > at_most):
        bounds = f"of at least {at_least}" if at_most is None or not valid else f"of at most {at_most:,}"
        raise ParameterError(f"{subject(name)} must be an integer {bounds}, found {quoted(value)}.")
    return int(value)


def parse_size(text: str) -> int | None:
    """An integer from 1 to ``LARGEST_SIZE`` from its digits; None for any other text."""
    match = re.fullmatch(r"0*([1-9][0-9]{0,8})", text.strip())
    return int(match[1]) if match else None


def require_float(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    below: float = math.inf,
) -> float:
    """A finite number in range. Integers stay ``int``, so that they print as they were written."""
    real: Any = value
    finite = isinstance(value, Real) and not isinstance(value, bool) and -_LARGEST <= real <= _LARGEST
    if not finite or value <= above or value < at_least or value > at_most or value >= below:
        bounds = [f"above {above:g}"] * (above > -math.inf) + [f"at least {at_least:g}"] * (at_least > -math.inf)
        bounds += [f"at most {at_most:g}"] * (at_most < math.inf) + [f"below {below:g}"] * (below < math.inf)
        range_text = " and ".join(bounds)
        preposition = " of " if range_text.startswith("at ") else " " if bounds else ""
        raise ParameterError(
            f"{subject(name)} must be a finite number{preposition}{range_text}, found {quoted(value)}."
        )
    return int(value) if isinstance(value, Integral) and abs(int(value)) < 2**53 else float(value)


def require_choice(name: str, value: Any, choices: Sequence[_Choice], alternative: str = "") -> _Choice:
    """One of the choices; else an error that lists them, and an ``alternative`` that is not a word."""
    if isinstance(value, str) and value in choices:
        return cast(_Choice, value)
    listed = [*map(repr, choices), *([alternative] if alternative else [])]
    options = f"{', '.join(listed[:-1])} or {listed[-1]}" if len(listed) > 1 else listed[0]
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    raise ParameterError(f"{subject(name)} must be {options}, found {quoted(value)}.{hint}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` Did you mean 'd_rpd'?``, or nothing when no known word is similar."""
    if len(word) > _QUOTED:
        return ""
    by_lower = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.5)
    return f" Did you mean {by_lower[matches[0]]!r}?" if matches else ""


def unmatched_brackets(text: str) -> str:
    """``the brackets do not match: 2 opened, 1 closed``, or nothing when they do."""
    opened, closed = text.count("("), text.count(")")
    return f"the brackets do not match: {opened} opened, {closed} closed" if opened != closed else ""


def check_name(what: str, text: str) -> None:
    """Refuse names that are too long, or nested too deeply, to be parsed part by part."""
    if len(text) > _LONGEST_NAME:
        raise ParseError(
            f"{subject(what)} {quoted(text)} has {len(text):,} characters; names have at most {_LONGEST_NAME:,}."
        )
    depths = itertools.accumulate((letter in "([{") - (letter in ")]}") for letter in text)
    if max(depths, default=0) > _DEEPEST_NAME:
        raise ParseError(f"{subject(what)} {quoted(text)} has more than {_DEEPEST_NAME} brackets inside one another.")


def split_outside_brackets(text: str, separator: str) -> list[str]:
    """The parts of a text between separators that are not inside brackets; empty parts are dropped."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")  # square brackets may be part of a table's name
        if letter == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]
