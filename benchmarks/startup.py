"""Time to the first answer, in fresh processes, as ratios against what no program of this kind can do without.

.venv/bin/python benchmarks/startup.py           part of `make bench`
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from carouseval.cli.app import app
from timing import interleaved

COMMAND = str(Path(sys.executable).with_name("carouseval"))
# bytecode may be written, so that after the first run nothing is compiled
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def process(*words: str) -> Callable[[], Any]:
    return partial(subprocess.run, words, check=True, capture_output=True, env=ENVIRONMENT)


def python(code: str) -> Callable[[], Any]:
    return process(sys.executable, "-c", code)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    repeats = 7 if parser.parse_args().quick else 21

    print("The command line, whole processes; rival: python -c 'import typer, rich'")
    commands = [[str(command.callback and command.callback.__name__), "--help"] for command in app.registered_commands]
    for words in (["--help"], ["--version"], *commands):
        ours, rival = interleaved(process(COMMAND, *words), python("import typer, rich"), repeats, median)
        print(f"  {' '.join(['carouseval', *words]):32} {ours / rival:5.2f}x the rival   (goal: at most 2x)")

    print("\nImports, beyond a bare interpreter; rival: import numpy")
    bare, _ = interleaved(python("pass"), python("import numpy"), repeats, median)
    for code in ("import carouseval", "from carouseval import n2dcg_cat"):
        ours, numpy = interleaved(python(code), python("import numpy"), repeats, median)
        print(f"  {code:32} {(ours - bare) / (numpy - bare):5.2f}x the rival   (goal: at most 2x)")


if __name__ == "__main__":
    main()
