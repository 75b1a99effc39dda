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
HOME_PAGE = (EXAMPLES / "home_page.md").read_text(encoding="utf-8")
DRAW, *COMMANDS = re.findall(r"^carouseval (.*)$", HOME_PAGE, flags=re.MULTILINE)


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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the first command of the home pages writes."""
    folder = tmp_path_factory.mktemp("examples")
    run(DRAW, folder)
    return folder / "home"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command.split()[:2]))
def test_commands_of_the_home_pages_run(command: str, home: Path) -> None:
    output = run(command, home)
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


def test_python_of_the_home_pages_runs(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", HOME_PAGE, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    assert "prod" in capsys.readouterr().out
    data, settings = names["home"], names["settings"]
    tables = (home / f"{name}.csv" for name in ("layouts-new", "judgments", "items"))
    from_files = cv.evaluate(*tables, **settings | {"carousels": home / "carousels.csv"})
    from_frames = cv.evaluate(data.layouts["new"], data.judgments, data.items, **settings)
    assert from_files.mean == from_frames.mean
