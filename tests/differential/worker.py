"""A process of one version: reads cases, one a line, and answers each with its outcomes in a line of JSON."""

import contextlib
import faulthandler
import json
import os
import random
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TextIO

import carouseval as cv
from tests.differential import building_calls, calls, command_calls
from tests.differential.outcomes import Outcomes

RUN: dict[str, calls.Kind] = {
    "arrays": calls.arrays,
    "texts": calls.texts,
    "evaluate": calls.evaluate,
    "compare": calls.compare,
    "explain": calls.explain,
    "check": calls.check,
    "building": building_calls.building,
    "files": calls.files,
    "sensitivity": calls.sensitivity,
    "show": calls.show,
    "commands": command_calls.commands,
    "spark": calls.spark,
}
MOST_SECONDS = 300  # of a case, after which the process ends
_PROCESS = re.compile(r" at 0x[0-9a-f]+|(?<=\bId\()\d+")  # addresses, and numbers of threads


def main() -> None:
    """Answer until there are no more cases."""
    package = Path(sys.argv[1])
    if not Path(cv.__file__ or "").is_relative_to(package):
        sys.exit(f"carouseval is imported from {cv.__file__}, not from {package}")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints
    folder = Path(tempfile.mkdtemp(prefix="differential-"))
    try:
        _answer(answers, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer(answers: TextIO, folder: Path) -> None:
    for line in sys.stdin:
        kind, seed, number = json.loads(line)
        place = folder / "case"
        place.mkdir()
        faulthandler.dump_traceback_later(MOST_SECONDS, exit=True)
        outcomes = Outcomes(place)
        with contextlib.chdir(place):
            RUN[kind](random.Random(f"{kind}/{seed}/{number}"), outcomes)
        faulthandler.cancel_dump_traceback_later()
        text = json.dumps(outcomes.found).replace(str(place), "FOLDER")
        answers.write(_PROCESS.sub("", text) + "\n")
        answers.flush()
        shutil.rmtree(place)


if __name__ == "__main__":
    main()
