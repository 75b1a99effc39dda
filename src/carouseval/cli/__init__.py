"""The command line: parses, calls and prints. One short file per command."""

import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import Any, NoReturn

_signal: signal.Signals | None = None  # what asked this process to end


def main() -> None:
    """Run ``carouseval``; errors that a user can fix end with one line on stderr and exit status 2.

    So do Ctrl-C and SIGTERM, with the status of the shell: 128 and the number of the signal.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    try:
        _run()
    finally:
        if _signal:  # whatever it led to: libraries may turn what _stop raises into errors of their own
            _exit_on_signal(_signal)


def _stop(number: int, _: object) -> NoReturn:
    """Unwind, so that temporary files are removed; what cannot be raised in a callback is not reported, either."""
    global _signal
    _signal = signal.Signals(number)
    sys.unraisablehook = lambda _: None
    raise KeyboardInterrupt


def _run() -> None:
    from carouseval.cli.app import app
    from carouseval.cli.wording import with_options
    from carouseval.errors import CarousevalError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # characters that a terminal cannot show become question marks
    warnings.showwarning = _show_warning
    try:
        app(prog_name="carouseval")
    except CarousevalError as error:
        _exit_with_error(with_options(str(error)))
    except MemoryError:
        _exit_with_error("not enough memory; try a smaller grid or fewer parameters at a time.")
    except BrokenPipeError:  # the reader of our output has closed it: discard what is left to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _exit_with_error(f"{error.filename or 'output'}: {error.strerror or error}.")


def _show_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    """Print a warning, also one of a library, as a single line."""
    from carouseval.cli.wording import with_options
    from carouseval.text_tables import printable_lines

    text = printable_lines(with_options(str(message)))
    print(f"carouseval: warning: {text}", file=sys.stderr)


def _exit_on_signal(number: signal.Signals) -> NoReturn:
    """End at once: threads of Polars that still run would print their panics, or abort a Python that is ending."""
    print(f"carouseval: {'interrupted' if number == signal.SIGINT else 'terminated'}", file=sys.stderr, flush=True)
    with suppress(OSError):
        sys.stdout.flush()
    os._exit(128 + number)


def _exit_with_error(message: str) -> NoReturn:
    from carouseval.text_tables import printable_lines

    if _signal:
        _exit_on_signal(_signal)
    print(f"carouseval: {printable_lines(message)}", file=sys.stderr)
    sys.exit(2)
