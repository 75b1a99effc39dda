"""``--engine spark``: the same command with tables that Spark reads, and a session that ends with it."""

import logging
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from carouseval.cli.options import choice_parser
from carouseval.cli.spark_progress import watched
from carouseval.errors import CarousevalError, DataError, ParseError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from carouseval.evaluation.results import Evaluation

EngineName: TypeAlias = Literal["local", "spark"]
EngineOption: TypeAlias = Annotated[
    EngineName,
    typer.Option(
        parser=choice_parser(EngineName),
        help="Where tables are read and pages are scored: on this machine, or by Spark.",
    ),
]
MasterOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="<address>",
        help="Where Spark runs: 'local[2]' for two cores of this machine, or a cluster such as spark://host:7077. "
        "Default: what spark-submit or Spark's configuration says.",
    ),
]
_FOLDER = "With --engine spark, a path without an ending is a folder of .parquet files, which Spark writes."
_FILE = "to this .parquet, .csv or .ndjson file"
PagesOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="<path>", help=f"Write every page's scores {_FILE}. {_FOLDER}")
]
UsersOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="<path>", help=f"Write every user's scores {_FILE}. {_FOLDER}")
]
_LOOPBACK = "127.0.0.1"
_OF_SPARK = "org.apache.spark.SparkException: "
_JAVA = "--engine spark needs Java 17 or newer"


def check_engine(engine: EngineName, master: str | None) -> None:
    """Refuse, before any work is done, an engine that is not installed."""
    from carouseval.extras import require_extra, require_pyspark

    if engine == "spark":
        require_extra("spark", "--engine spark")
        require_pyspark("--engine spark")
    elif master is not None:
        raise ParseError("--master is an option of Spark: use it with --engine spark.")


def is_folder(engine: EngineName, path: str | None) -> bool:
    """Whether Spark writes a folder: a path that ends with a slash, or whose name has no ending."""
    return engine == "spark" and path is not None and (path.endswith("/") or not Path(path).suffix)


def evaluate_on_spark(
    tables: Mapping[str, str | None],
    settings: Mapping[str, Any],
    master: str | None,
    *,
    per_page: str | None,
    per_user: str | None,
    collect: bool,
) -> "Evaluation[Any]":
    """Evaluate on Spark, and write scores of pages and users to folders.

    With ``collect``, all pages are brought to this machine, for results that need them.
    """
    from carouseval.engines.evaluate import evaluate_on
    from carouseval.engines.spark.engine import SparkEngine
    from carouseval.engines.spark.spark_errors import spark_errors
    from carouseval.engines.spark.spark_files import read_tables
    from carouseval.evaluation.settings import Settings

    if per_page is not None and per_user is not None and PurePosixPath(per_page) == PurePosixPath(per_user):
        raise DataError(f"{per_page} is given for two outputs; use a different folder for each.")
    paths = {name: path for name, path in tables.items() if path is not None}
    if settings["carousels"] is not None:
        paths["carousels"] = settings["carousels"]
    with spark_session(master) as session, spark_errors():
        for folder in (per_page, per_user):
            _require_new(session, folder)
        frames = read_tables(session, paths, settings["columns"])
        on_spark = Settings(**dict(settings) | {"carousels": frames.get("carousels")})
        print(f"carouseval: evaluating on Spark {session.version}", file=sys.stderr, flush=True)
        given = frames["layouts"], frames["judgments"], frames.get("items")
        result = evaluate_on(SparkEngine(), *given, on_spark)
        for folder, scores in ((per_page, result.per_page), (per_user, result.per_user)):
            if folder is not None:
                _write_folder(folder, scores)
        return result.collect() if collect else result


def _require_new(session: "SparkSession", folder: str | None) -> None:
    """Refuse a folder that exists, wherever Spark sees it, before any work is done."""
    from carouseval.engines.spark.spark_errors import condition, reason, spark_exceptions

    if folder is None:
        return
    try:  # of one path that does not exist, Spark would log the stack
        session.read.load([folder, folder], format="text", recursiveFileLookup=True)
    except spark_exceptions() as error:
        if condition(error) == "PATH_NOT_FOUND":
            return
        raise CarousevalError(f"{folder} cannot be written: {reason(error)}.") from None
    raise DataError(f"{folder} exists; Spark writes to a new folder. Remove it, or give another.")


def _write_folder(folder: str, scores: "DataFrame") -> None:
    from carouseval.engines.spark.spark_errors import spark_errors

    with spark_errors(f"{folder} cannot be written"):
        scores.write.parquet(folder)


@contextmanager
def spark_session(master: str | None) -> Iterator["SparkSession"]:
    """The session of this process, if it has one; otherwise one that is started quietly and stopped at the end."""
    from pyspark.sql import SparkSession

    with warnings.catch_warnings(), _no_log():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark JVM", RuntimeWarning)  # on a signal
        if active := SparkSession.getActiveSession():
            yield active
            return
        session = _start(master)
        try:
            with watched(session):
                yield session
        finally:
            with suppress(Exception):  # its Java process may have ended
                session.stop()


@contextmanager
def _no_log() -> Iterator[None]:
    """Without Python's log, in which the way to Java puts the stack of every Ctrl-C."""
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(before)


def _start(master: str | None) -> "SparkSession":
    from pyspark.sql import SparkSession

    from carouseval.engines.spark.spark_errors import spark_exceptions

    builder: Any = SparkSession.builder.appName("carouseval")
    if master is not None:
        builder = builder.master(master)
    if "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ:  # spark-submit, or a server, runs Spark
        return _with_our_signals(builder)
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # rather than any python3
        for name in ("spark.driver.host", "spark.driver.bindAddress"):
            builder = builder.config(name, _LOOPBACK)
        builder = builder.config("spark.ui.enabled", "false")  # which would listen on every network
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    if shutil.which(java) is None:
        raise CarousevalError(f"{_JAVA}, and {java} was not found. Install it, or set JAVA_HOME to where it is.")
    print("carouseval: starting Spark", file=sys.stderr, flush=True)
    with tempfile.TemporaryFile() as log:
        try:
            with _stderr_to(log):
                session = _with_our_signals(builder.config("spark.log.level", "OFF"))
        except spark_exceptions() as error:
            raise CarousevalError(_start_error(error, log, master)) from None
    context = session.sparkContext
    if str(context.master).startswith("local"):  # 200 tasks, as for a cluster, would take minutes
        session.conf.set("spark.sql.shuffle.partitions", str(4 * context.defaultParallelism))
    return session


def _start_error(error: Exception, log: IO[bytes], master: str | None) -> str:
    """Why Spark did not start: what its Java process last said, if that is what ended."""
    from carouseval.engines.spark.spark_errors import condition, reason

    where = "" if master is None else f" on {master}"
    if condition(error) != "JAVA_GATEWAY_EXITED":
        problem = reason(error)
        if "stopped SparkContext" in problem:  # given up by the time that it was needed
            problem = "no cluster answers there, or it refused the application"
        return f"Spark did not start{where}: {problem}."
    log.seek(0)
    lines = [line.strip() for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    problem = next((line for line in lines if "Error" in line or "Exception" in line), lines[-1] if lines else "")
    problem = problem.rstrip(".")
    if _OF_SPARK in problem:
        return f"Spark did not start{where}: {problem.partition(_OF_SPARK)[2]}."
    return f"Spark did not start: {problem or 'its Java process ended'}. {_JAVA}."


def _with_our_signals(builder: Any) -> "SparkSession":
    """Start, and take Ctrl-C back from PySpark, so that it ends this process as it ends others.

    Signals wait until then: a Java process whose parent ends while it starts would run forever.
    """
    handlers = {int(number): signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    received: list[int] = []
    for number in handlers:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        session: SparkSession = builder.getOrCreate()
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number in received:
        signal.raise_signal(number)
    return session


@contextmanager
def _stderr_to(file: IO[bytes]) -> Iterator[None]:
    """Give processes that are started here another standard error, for good: Java's warnings are of no use."""
    sys.stderr.flush()
    own = os.dup(2)
    os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(own, 2)
        os.close(own)
