"""What Spark raises becomes one sentence; no session is needed for that."""

import pytest

from carouseval.errors import CarousevalError, DataError
from carouseval.spark.spark_errors import condition, reason, spark_errors

IN_PYTHON = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 3, in run
    import carouseval
ModuleNotFoundError: No module named 'carouseval'
"""


class JavaError(Exception):
    """As py4j raises it: the message is that of an object in Java."""

    class java_exception:  # noqa: N801
        @staticmethod
        def getMessage() -> str:  # noqa: N802
            return "[FAILED_READ_FILE.X] Could not read a.parquet.\nIf not, convert it. SQLSTATE: KD001"


def test_the_reason_is_one_line() -> None:
    assert reason(Exception(IN_PYTHON)) == "ModuleNotFoundError: No module named 'carouseval'"
    assert reason(JavaError("An error occurred while calling o89.")) == "Could not read a.parquet"
    missing = Exception("[PATH_NOT_FOUND] Path does not exist: file:/a. SQLSTATE: 42K03")
    assert (condition(missing), reason(missing)) == ("PATH_NOT_FOUND", "Path does not exist: file:/a")
    assert (condition(Exception("")), reason(KeyError())) == ("", "KeyError")


def test_errors_of_spark_are_errors_of_ours() -> None:
    from py4j.protocol import Py4JNetworkError
    from pyspark.errors import PySparkException

    with pytest.raises(CarousevalError) as error, spark_errors():
        raise PySparkException(message=IN_PYTHON)
    assert str(error.value) == "Spark stopped: ModuleNotFoundError: No module named 'carouseval'."
    with pytest.raises(CarousevalError) as error, spark_errors("scores cannot be written"):
        raise Py4JNetworkError("Answer from Java side is empty")
    ended = "its Java process ended. Is there enough memory? Raise spark.driver.memory."
    assert str(error.value) == f"scores cannot be written: {ended}"
    with pytest.raises(DataError, match=r"^layouts: wrong\.$"), spark_errors():
        raise DataError("layouts: wrong.")
