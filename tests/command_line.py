"""Commands as tests run them: in this process, where one takes a tenth of the time, or in one of their own."""

import io
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from pathlib import Path
from unittest import mock

from carouseval.cli import main

Done = subprocess.CompletedProcess[str]


def run(*arguments: str, stdin: str = "", cwd: Path | str = ".", env: Mapping[str, str] | None = None) -> Done:
    """What ``carouseval`` prints and ends with; each command is also run by :func:`run_process`, as users do."""
    streams = {"stdin": _stream(stdin), "stdout": _stream(), "stderr": _stream()}
    status: object = 0
    with (
        mock.patch.object(sys, "argv", ["carouseval", *arguments]),
        mock.patch.object(sys, "stdin", streams["stdin"]),
        mock.patch.object(sys, "stdout", streams["stdout"]),
        mock.patch.object(sys, "stderr", streams["stderr"]),
        mock.patch.dict(os.environ, env or {}, clear=env is not None),
        chdir(cwd),
        _warnings_of_a_new_process(),
        _signal_handlers_restored(),
    ):
        try:
            main()
        except SystemExit as end:
            status = end.code
    out, err = (_text(streams[name]) for name in ("stdout", "stderr"))
    if not isinstance(status, int | None):  # what sys.exit prints
        status, err = 1, f"{err}{status}\n"
    return Done(["carouseval", *arguments], status or 0, out, err)


def run_process(*arguments: str, stdin: str = "", cwd: Path | str = ".", env: Mapping[str, str] | None = None) -> Done:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "carouseval", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, cwd=cwd, env=env)


def _stream(text: str = "") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


@contextmanager
def _warnings_of_a_new_process() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        yield


@contextmanager
def _signal_handlers_restored() -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
