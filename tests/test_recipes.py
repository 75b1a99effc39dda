"""The recipes of CONTRIBUTING.md, each carried out as it stands there, in a copy of the package, and used."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import carouseval as cv

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Twelve recipes")[2].partition("\n## ")[0]
TABLE = dict(re.findall(r"^\| (an? [^|]+) \| (.+) \|$", TEXT, re.MULTILINE))
RECIPES = {title.strip(): text for title, text in re.findall(r"^### (.+?)\n(.*?)(?=^### |\Z)", TEXT, re.M | re.S)}
BLOCK = re.compile(r"^```(python|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"# (src/\S+), (a new file|at the end)\n")
NOT_YET = {"a choice model"}


def carry_out(recipe: str, folder: Path) -> set[str]:
    """Do what a recipe says to the sources in a folder; the files that it touches."""
    touched = set()
    for kind, block in BLOCK.findall(recipe):
        if kind == "diff":
            head, _, lines = block.partition("\n")
            name = head.removeprefix("--- ")
            text = (folder / name).read_text(encoding="utf-8")
            old, new = (
                "".join(f"{line[1:]}\n" for line in lines.splitlines() if line[0] in signs) for signs in (" -", " +")
            )
            assert text.count(old) == 1, f"{name} has these lines {text.count(old)} times:\n{old}"
            (folder / name).write_text(text.replace(old, new), encoding="utf-8")
        else:
            place = PLACE.match(block)
            assert place, f"the block does not say where it belongs:\n{block}"
            name, code = place[1], block[place.end() :]
            is_new = place[2] == "a new file"
            assert (folder / name).exists() != is_new, f"{name}: {place[2]}"
            with (folder / name).open("a", encoding="utf-8") as file:
                file.write(code if is_new else f"\n\n{code}")
        touched.add(name.removeprefix("src/carouseval/"))
    return touched


def listed_files(cell: str) -> list[str]:
    """The files and folders that a line of the table names."""
    return re.findall(r"`([\w/]+(?:\.py|/))`", cell)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package with everything that the recipes add."""
    folder = tmp_path_factory.mktemp("copy")
    package = Path(cv.__file__).parent
    shutil.copytree(package, folder / "src" / "carouseval", ignore=shutil.ignore_patterns("__pycache__"))
    for recipe in RECIPES.values():
        carry_out(recipe, folder)
    return folder


def test_the_table_lists_the_recipes() -> None:
    assert len(TABLE) == 12
    assert [title.lower() for title in RECIPES] == [name for name in TABLE if name not in NOT_YET]


@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_touches_what_the_table_says(title: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    touched = carry_out(RECIPES[title], tmp_path)
    cell = TABLE[title[0].lower() + title[1:]]
    places = listed_files(cell)
    in_code = {"evaluation/evaluate.py", "comparison/finish.py", "evaluation/per_page.py"}  # the code that acts on it
    assert len(touched - in_code) <= 2
    for name in touched - in_code:
        assert any(name.startswith(place) for place in places) or f"{Path(name).parent}/`" in cell, (name, cell)


def test_what_recipes_add_works(copy: Path) -> None:
    """In Python, on the command line and on a process pool: ``recipes/carried_out.py`` runs in the copy."""
    environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["tests/recipes/carried_out.py"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(RECIPES)} passed" in done.stdout  # a test for each
    assert {*re.findall(r"^def test_(\w+)", (ROOT / "tests/recipes/carried_out.py").read_text(), re.MULTILINE)} == {
        title.partition(" ")[2].replace(" ", "_") for title in RECIPES
    }


@pytest.mark.deep
def test_type_checkers_accept_what_recipes_add(copy: Path) -> None:
    added = re.findall(r"# (src/\S+), a new file", TEXT)
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-error-summary", *added]
    done = subprocess.run(
        command, cwd=copy, env=os.environ | {"MYPYPATH": str(copy / "src")}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
