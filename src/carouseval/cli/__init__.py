"""The command line: parses, calls and prints. One short file per command."""

import sys


def main() -> None:
    """Run ``carouseval``; errors a user can put right end with one line on stderr and exit status 2."""
    from carouseval.cli.app import app
    from carouseval.errors import CarousevalError

    try:
        app(prog_name="carouseval")
    except CarousevalError as error:
        print(f"carouseval: {error}", file=sys.stderr)
        sys.exit(2)
