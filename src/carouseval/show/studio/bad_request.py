"""What is wrong with a request, and checks of the values in it."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

_T = TypeVar("_T")


class BadRequestError(Exception):
    """A request that is answered with a status of 4xx and one message."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message: str = message
        self.status: int = status


def parse_json(body: bytes) -> Mapping[str, Any]:
    """The JSON object that a body holds."""
    try:
        content = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # also text that is not UTF-8, and integers of too many digits
        raise BadRequestError("the request is not JSON.") from None
    return require_object("the request", content)


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def require_object(name: str, value: Any) -> Mapping[str, Any]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise BadRequestError(f"{name} must be a JSON object, found {_kind(value)}.")
    return value


def require_list(name: str, value: Any, most: int) -> Sequence[Any]:
    """A list that is not too long."""
    if not isinstance(value, list):
        raise BadRequestError(f"{name} must be a list, found {_kind(value)}.")
    if len(value) > most:
        raise BadRequestError(f"{name} must have at most {most:,} entries, found {len(value):,}.")
    return value


def require_integer(name: str, value: Any, low: int, high: int) -> int:
    """An integer from low to high."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadRequestError(f"{name} must be an integer from {low:,} to {high:,}, found {_kind(value)}.")
    return value


def require_number(name: str, value: Any) -> float:
    """A finite number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not -1e100 < value < 1e100 or math.isnan(value):
        raise BadRequestError(f"{name} must be a finite number, found {_kind(value)}.")
    return float(value)


def require_word(name: str, value: Any, words: Sequence[str]) -> str:
    """One of several words."""
    if not isinstance(value, str) or value not in words:
        raise BadRequestError(f"{name} must be one of {', '.join(words)}, found {_kind(value)}.")
    return value


def require_text(name: str, value: Any, longest: int = 1000) -> str:
    """A text that is not too long."""
    if not isinstance(value, str) or len(value) > longest:
        raise BadRequestError(f"{name} must be text of at most {longest:,} characters, found {_kind(value)}.")
    return value


def require_flag(name: str, value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise BadRequestError(f"{name} must be true or false, found {_kind(value)}.")
    return value


def query_integer(name: str, text: str | None, default: int, low: int, high: int) -> int:
    """An integer of a query string."""
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 15):
        raise BadRequestError(f"{name} must be an integer from {low:,} to {high:,}, found {_kind(text)}.")
    return require_integer(name, int(text), low, high)


def _kind(value: Any) -> str:
    """A value for a message: short ones in full, of others what they are."""
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**20):
        return json.dumps(value)
    if isinstance(value, str):
        return repr(value) if len(value) <= 40 else f"{value[:40]!r}..."
    return {dict: "an object", list: "a list", int: "a larger integer"}.get(type(value), type(value).__name__)
