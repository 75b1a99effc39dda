"""What Spark raises, as errors of our own: one sentence instead of the stack of a Java process."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from carouseval.errors import CarousevalError, DataError
from carouseval.messages import setting

_CONDITION = re.compile(r"^\[(?P<name>[A-Z_.0-9]+)\] ")
_STATE = re.compile(r"\s*SQLSTATE: \w+$")
_LOST_TASK = re.compile(r"^Job aborted due to stage failure: .*? \(TID \d+\) \(.*?\): ")
# what a Python that lacks something, or is another one, says of itself
_OTHER_PYTHON = re.compile(
    r"No module named '[^']+'|carouseval\.spark needs [\w, ]+ not installed"
    r"|carouseval is [\w.+]+ there and [\w.+]+ here"
    r'|Cannot run program "[^"]+"|Python in worker has different version: \S+ than that in driver: [^,]+'
)
_SAME_PYTHON = (
    "Their Python, PYSPARK_PYTHON, needs the version and the packages of the driver's. Install them there, or send an "
    "environment along with --archives."
)
_DIED = ("Python worker exited unexpectedly", "ExecutorLostFailure", "java.lang.OutOfMemoryError")
_TOO_LITTLE_MEMORY = (
    "an executor, or its Python process, ended again and again. Is there enough memory? Raise "
    f"spark.executor.memoryOverhead (Python) or spark.executor.memory (Java), or lower {setting('lines_at_once')}."
)


@contextmanager
def spark_errors(prefix: str = "Spark stopped") -> Iterator[None]:
    """Turn what Spark raises into a ``CarousevalError`` that begins with a prefix."""
    from py4j.protocol import Py4JNetworkError

    try:
        yield
    except spark_exceptions() as error:
        if message := raised_message(error):
            raise DataError(message) from None
        if isinstance(error, Py4JNetworkError):
            raise CarousevalError(
                f"{prefix}: its Java process ended. Is there enough memory? Raise spark.driver.memory."
            ) from None
        raise CarousevalError(f"{prefix}: {reason(error)}.") from None


@contextmanager
def executor_errors() -> Iterator[None]:
    """Say what to do where executors lack the package, have another, or die; other errors stay as Spark raises them."""
    try:
        yield
    except spark_exceptions() as error:
        if match := _OTHER_PYTHON.search(_text(error)):
            raise CarousevalError(f"executors cannot run carouseval: {match[0]}. {_SAME_PYTHON}") from error
        if any(sign in _text(error) for sign in _DIED):
            raise CarousevalError(_TOO_LITTLE_MEMORY) from error
        raise


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
    traceback = next((number for number, line in enumerate(lines) if "Traceback (most recent call last)" in line), None)
    if traceback is not None:
        lines = [line for line in lines[traceback + 1 :] if line.strip() and not line.startswith((" ", "\t"))]
    first = lines[0] if lines else type(error).__name__
    return _STATE.sub("", _CONDITION.sub("", _LOST_TASK.sub("", first))).strip().rstrip(".")


def _text(error: Exception) -> str:
    java = getattr(error, "java_exception", None)  # of py4j, whose own text begins with the name of a method
    return str(java.getMessage() if java is not None else error).strip()
