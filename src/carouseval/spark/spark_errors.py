"""What Spark raises, as errors of our own: one sentence instead of the stack of a Java process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from carouseval.errors import CarousevalError, DataError

_CONDITION = re.compile(r"^\[(?P<name>[A-Z_.0-9]+)\] ")
_STATE = re.compile(r"\s*SQLSTATE: \w+$")


@contextmanager
def spark_errors(prefix: str = "Spark stopped") -> Iterator[None]:
    """Turn what Spark raises into a ``CarousevalError`` that begins with a prefix."""
    from py4j.protocol import Py4JNetworkError

    try:
        yield
    except spark_exceptions() as error:
        if own := raised_message(error):
            raise DataError(own) from None
        if isinstance(error, Py4JNetworkError):
            raise CarousevalError(
                f"{prefix}: its Java process ended. Is there enough memory? Raise spark.driver.memory."
            ) from None
        raise CarousevalError(f"{prefix}: {reason(error)}.") from None


def spark_exceptions() -> tuple[type[Exception], ...]:
    """Everything that Spark, or the way to its Java process, raises."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JError


def raised_message(error: Exception) -> str:
    """The message of ``raise_error`` in a query, which is ours; else empty."""
    if condition(error) != "USER_RAISED_EXCEPTION":
        return ""
    parameters: Mapping[str, str] | None = getattr(error, "getMessageParameters", dict)()
    return (parameters or {}).get("errorMessage", "")


def condition(error: Exception) -> str:
    """Spark's name for a kind of error, such as ``PATH_NOT_FOUND``; empty if it has none."""
    match = _CONDITION.match(_text(error))
    return match["name"] if match else ""


def reason(error: Exception) -> str:
    """What went wrong, in one line without its full stop: of an error in Python, that error."""
    lines = _text(error).splitlines()
    at = next((at for at, line in enumerate(lines) if "Traceback (most recent call last)" in line), None)
    if at is not None:
        lines = [line for line in lines[at + 1 :] if line.strip() and not line.startswith((" ", "\t"))]
    first = lines[0] if lines else type(error).__name__
    return _STATE.sub("", _CONDITION.sub("", first)).strip().rstrip(".")


def _text(error: Exception) -> str:
    java = getattr(error, "java_exception", None)  # of py4j, whose own text begins with the name of a method
    return str(java.getMessage() if java is not None else error).strip()
