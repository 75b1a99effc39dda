"""The compiled module: folders include one way, kernels stay apart from the door, and its page of the map is true."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
FOLDERS = {"core": set[str](), "score": {"core"}, "tables": {"core"}, "search": {"core", "score"}}
FILES = {path.relative_to(NATIVE).as_posix(): path for path in NATIVE.rglob("*") if path.suffix in {".h", ".cpp"}}
DOOR = sorted(name for name in FILES if name.endswith(".cpp") and name != "kernels.cpp")


def included(name: str, form: str = '"([^"]+)"') -> list[str]:
    return re.findall(rf"^#include {form}$", FILES[name].read_text(encoding="utf-8"), flags=re.MULTILINE)


def reached(name: str) -> set[str]:
    """A file and all that it includes, directly or not."""
    files, waiting = {name}, [name]
    while waiting:
        new = set(included(waiting.pop())) - files
        files |= new
        waiting += new
    return files


def rows_of_the_map() -> Iterator[tuple[str, list[str]]]:
    """Of every row: the file, and what it includes."""
    folder = ""
    for line in (NATIVE / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            folder = line.removeprefix("## ") if line.endswith("/") else ""
        elif match := re.fullmatch(r"\| `(\S+)` \| .+ \| (.*) \|", line):
            names = re.findall("`(.+?)`", match[2])
            yield folder + match[1], [name if "/" in name else folder + name for name in names]


def test_the_map_is_true() -> None:
    rows = list(rows_of_the_map())
    assert sorted(name for name, _ in rows) == sorted(FILES)
    assert dict(rows) == {name: included(name) for name in FILES}


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_include_one_way(folder: str) -> None:
    files = [name for name in FILES if name.startswith(f"{folder}/")]
    assert files
    for name in files:
        assert {other.rpartition("/")[0] for other in included(name)} <= FOLDERS[folder] | {folder}, name


def test_kernels_share_nothing_between_instruction_sets() -> None:
    """Code of ``std::vector``, say, might be linked from the copy for another instruction set."""
    for name in reached("kernels.cpp"):
        assert not {"vector", "string", "deque", "nanobind/nanobind.h"} & set(included(name, "<(.+)>")), name
        if name not in {"kernels.h", "score/problems.h", "search/problems.h"}:
            assert "\nnamespace {\n" in FILES[name].read_text(encoding="utf-8"), name


@pytest.mark.parametrize("name", DOOR)
def test_the_door_calls_kernels_through_their_table(name: str) -> None:
    kernels = {file for file in reached("kernels.cpp") if file.startswith(("score/", "search/"))}
    assert reached(name) & kernels <= {"score/problems.h", "search/problems.h"}
