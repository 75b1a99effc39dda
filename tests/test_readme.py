"""The Python and command lines of the README and of attention.md do what they say."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np

import carouseval as cv
from carouseval.building.sample import sample
from carouseval.cli.app import app
from tests.command_line import run, run_process
from tests.reproduction import reproduced_once

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ATTENTION = (ROOT / "docs" / "attention.md").read_text(encoding="utf-8")


def test_python_blocks_run() -> None:
    data = sample(20, systems=["new", "prod"])
    names: dict[str, Any] = {
        "cv": cv,
        "pages": np.ones((4, 3, 4)),
        "examination_table": np.ones((3, 4)),
        "layouts": data.layouts["new"],
        "judgments": data.judgments,
        "items": data.items,
        "systems": data.layouts,
    }
    blocks = re.findall(r"```python\n(.*?)```", README + ATTENTION, flags=re.DOTALL)
    assert len(blocks) == 10
    for block in blocks:
        exec(block, names)
    assert f"{cv.n2dcg_cat(names['page']):.5f}"[:5] in README
    scores = {name: names[name].mean["N2DCG_cat"] for name in ("judged", "displayed")} | {"arrays": names["arrays"]}
    for name, score in scores.items():
        assert f"| `{name}` | {score:.2f} |" in README
    (caption,) = re.findall(r"^judged\.caption  # (.*)", README, flags=re.MULTILINE)
    assert re.match(".*".join(map(re.escape, caption.split("..."))), names["judged"].caption)


def test_command_lines_run(tmp_path: Path) -> None:
    commands = re.findall(r"^(carouseval .*?)(?:  +#.*)?$", README + ATTENTION, flags=re.MULTILINE)
    assert commands
    seen = np.argwhere(np.random.default_rng(0).random((200, 4, 8)) < 1 / np.arange(2, 34).reshape(4, 8))
    lines = [f"{screen},{row + 1},{col + 1},{screen % 9}" for screen, row, col in seen]
    (tmp_path / "screens.csv").write_text("\n".join(["screen,row,col,participant", *lines]))
    (tmp_path / "page.csv").write_text((ROOT / "examples" / "page.csv").read_text())
    data = sample(50, systems=["new"])  # the first users of the demo
    data.judgments.rename({"relevance": "score"}).write_parquet(tmp_path / "scores.parquet")
    data.layouts["new"].rename({"category": "carousel"}).drop("row").write_parquet(tmp_path / "candidates.parquet")
    tried = set()
    for command in commands:
        arguments = ["1000" if word == "10000000" else word for word in shlex.split(command)[1:]]
        arguments += ["--users", "50"] * (arguments[0] == "sample")
        with reproduced_once():
            done = (run if arguments[0] in tried else run_process)(*arguments, cwd=tmp_path)  # each as users do, once
        tried.add(arguments[0])
        assert done.returncode == 0, f"{command}: {done.stderr}"
    commands_there_are = {command.callback.__name__ for command in app.registered_commands if command.callback}
    assert commands_there_are - tried == {"judgments", "recgaze", "studio"}  # whose own tests do that


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"^make (\w+)", README + CONTRIBUTING, flags=re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_contributings_files_exist() -> None:
    """The map names what is there."""
    package = ROOT / "src" / "carouseval"
    everywhere = {
        path.name for path in [*package.rglob("*"), *(ROOT / "native").rglob("*"), *(ROOT / "tests").rglob("*")]
    }
    without_code = re.sub(r"```.*?```", "", CONTRIBUTING, flags=re.DOTALL)  # test_recipes.py carries that out
    for name in re.findall(r"[\w/.*]+\.(?:py|h|cpp)\b", without_code):
        if "*" in name:
            assert any(path.match(name) for path in package.rglob("*.py")), name
        elif "/" in name:
            places = (ROOT, package, package / "evaluation")
            assert any((place / name).exists() for place in places), name
        else:
            assert name in everywhere, name
