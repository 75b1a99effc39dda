"""What Spark raises becomes one sentence; no session is needed for that."""

import pytest
from carouseval.spark.spark_errors import condition, executor_errors, reason, spark_errors

from carouseval.errors import CarousevalError, DataError

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
    lost = (
        "Job aborted due to stage failure: Task 0 in stage 6.0 failed 4 times, most recent failure: Lost task 0.3 in "
    )
    assert reason(Exception(f"{lost}stage 6.0 (TID 9) (h executor 0): java.io.IOException: full")) == (
        "java.io.IOException: full"
    )
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


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (
            IN_PYTHON,
            "executors cannot run carouseval: No module named 'carouseval'. Their Python, ",
        ),
        (
            'IOException: Cannot run program "./environment/bin/python": error=2',
            "executors cannot run carouseval: Cannot ",
        ),
        (
            "x\nImportError: carouseval is 0.1 there and 0.2 here, in call a",
            "carouseval is 0.1 there and 0.2 here. Their ",
        ),
        ("SparkException: Python worker exited unexpectedly (crashed)", "Raise spark.executor.memoryOverhead (Python)"),
    ],
)
def test_what_is_wrong_with_executors_is_said_with_its_remedy(raised: str, said: str) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(CarousevalError) as error, executor_errors():
        raise PySparkException(message=raised)
    assert said in str(error.value)
    with pytest.raises(PySparkException, match="my own"), executor_errors():
        raise PySparkException(message="ValueError: my own")
