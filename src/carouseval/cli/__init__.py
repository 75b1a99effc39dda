"""The command line: parses, calls and prints. One short file per command."""

import os
import signal
import sys
import warnings
from typing import Any, NoReturn


def main() -> None:
    """Run ``carouseval``; errors that a user can fix end with one line on stderr and exit status 2.

    So do Ctrl-C and SIGTERM, with the status of the shell: 128 and the number of the signal.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # an exit that removes temporary files
    try:
        _run()
    except KeyboardInterrupt:  # Typer has not begun, or has ended
        _exit_on_signal(signal.SIGINT)
    except SystemExit as end:
        for number in (signal.SIGINT, signal.SIGTERM):
            if end.code == 128 + number:
                _exit_on_signal(number)
        raise


def _run() -> None:
    from carouseval.cli.app import app
    from carouseval.cli.messages import with_option_names
    from carouseval.errors import CarousevalError, DataError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # characters that a terminal cannot show become question marks
    warnings.showwarning = _show_warning
    try:
        app(prog_name="carouseval")
    except CarousevalError as error:
        _exit_with_error(with_option_names(str(error), data=isinstance(error, DataError)))
    except MemoryError:
        _exit_with_error("not enough memory; try a smaller grid or fewer parameters at a time.")
    except BrokenPipeError:  # the reader of our output has closed it: discard what is left to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        _exit_with_error(f"{error.filename or 'output'}: {error.strerror or error}.")


def _show_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    """Print a warning, also one of a library, as a single line."""
    from carouseval.cli.messages import with_option_names
    from carouseval.text_tables import printable_lines

    text = printable_lines(with_option_names(str(message), data=True))
    print(f"carouseval: warning: {text}", file=sys.stderr)


def _exit_on_signal(number: signal.Signals) -> NoReturn:
    print(f"carouseval: {'interrupted' if number == signal.SIGINT else 'terminated'}", file=sys.stderr)
    sys.exit(128 + number)


def _exit_with_error(message: str) -> NoReturn:
    from carouseval.text_tables import printable_lines

    print(f"carouseval: {printable_lines(message)}", file=sys.stderr)
    sys.exit(2)
