"""Commands inside the tests' process print and end with what they do in one of their own, however often they run."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import run, run_process

PAGE = "0,3,1\n2,0\n"
CASES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "letters beyond ASCII": (["score", "-", "--format", "json"], {"stdin": "1,\u00e9\n"}),
    "a warning": (["score", "-"], {"stdin": "0,139\n"}),
    "an error of ours": (["score", "-", "--grid", "1x1"], {"stdin": PAGE}),
    "an error of the options": (["score", "--grid"], {}),
    "no such file": (["score", "missing\udcff.csv"], {}),
    "a folder": (["score", "."], {}),
    "help of some width": (["score", "--help"], {"env": {**os.environ, "COLUMNS": "50"}}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_command_is_the_same_in_both(name: str, tmp_path: Path) -> None:
    arguments, options = CASES[name]
    inside, again = (run(*arguments, cwd=tmp_path, **options) for _ in range(2))
    alone = run_process(*arguments, cwd=tmp_path, **options)
    for done in (inside, again):
        assert (done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout, alone.stderr)
