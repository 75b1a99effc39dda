"""The command line: parses, calls and prints. One short file per command."""

import os
import signal
import sys
import warnings
from typing import Any


def main() -> None:
    """Run ``carouseval``; errors a user can put right end with one line on stderr and exit status 2."""
    from carouseval.cli.app import app
    from carouseval.cli.messages import as_typed
    from carouseval.errors import CarousevalError, DataError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character gets a question mark
    warnings.showwarning = _show_warning
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an ordinary end, which leaves no temporary file behind
    try:
        app(prog_name="carouseval")
    except CarousevalError as error:
        _leave(as_typed(str(error), data=isinstance(error, DataError)))
    except MemoryError:
        _leave("there is not enough memory for this; try a smaller grid or fewer parameters at a time.")
    except BrokenPipeError:
        _leave(None)  # whoever read our output has seen enough
    except OSError as error:
        _leave(f"{error.filename or 'output'}: {error.strerror or error}.")


def _show_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
    """What somebody should look at, in one line; a warning of a library too."""
    from carouseval.cli.messages import as_typed

    print(f"carouseval: warning: {as_typed(str(message), data=True)}", file=sys.stderr)


def _leave(message: str | None) -> None:
    if message:
        print(f"carouseval: {message}", file=sys.stderr)
    else:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be flushed goes nowhere
    sys.exit(2 if message else 1)
