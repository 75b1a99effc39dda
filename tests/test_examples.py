"""The example scripts run, from the first cell to the last, and so do the commands of the example pages."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import carouseval as cv

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
HOME_PAGE = EXAMPLES / "home_page"
HOME_README = (HOME_PAGE / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^carouseval (.*)$", HOME_README, flags=re.MULTILINE)


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_run(script: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "error", str(script)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout


def run(command: str, folder: Path) -> str:
    arguments = [sys.executable, "-m", "carouseval", *shlex.split(command)]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=folder, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_home_pages_are_those_the_command_writes(tmp_path: Path) -> None:
    run(COMMANDS[0], tmp_path)
    written = {path.name: path.read_bytes() for path in (tmp_path / "examples" / "home_page").iterdir()}
    committed = {path.name: path.read_bytes() for path in HOME_PAGE.glob("*.csv")}
    assert written.keys() == committed.keys()
    for name, content in written.items():
        assert content == committed[name].replace(b"\r\n", b"\n"), name
    assert sum(map(len, committed.values())) < 300_000


@pytest.mark.parametrize("command", COMMANDS[1:], ids=lambda command: " ".join(command.split()[:2]))
def test_commands_of_the_home_pages_run(command: str) -> None:
    output = run(command, HOME_PAGE)
    assert output
    if "perfect" in command:
        assert re.search(r"N2DCG_cat +1\.0000", output)


def test_the_home_pages_of_the_front_page(tmp_path: Path) -> None:
    """What the README prints is what its commands print."""
    front_page = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(
        r"\*\*Pages as they are\.\*\*.*?```console\n(.*?)```\n```\n(.*?)```", front_page, flags=re.DOTALL
    )
    assert section is not None
    draw, evaluate = (command.removeprefix("carouseval ") for command in section[1].splitlines())
    run(draw, tmp_path)
    assert section[2] in run(evaluate, tmp_path)


def test_python_of_the_home_pages_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", HOME_README, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    assert "prod" in capsys.readouterr().out
    home, settings = names["home"], names["settings"]
    from_files = cv.evaluate(
        HOME_PAGE / "layouts-new.csv", HOME_PAGE / "judgments.csv", HOME_PAGE / "items.csv",
        **settings | {"carousels": HOME_PAGE / "carousels.csv"},
    )  # fmt: skip
    from_frames = cv.evaluate(home.layouts["new"], home.judgments, home.items, **settings)
    assert from_files.mean == from_frames.mean
