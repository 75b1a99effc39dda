"""What ``make mutants`` runs: mutations of a copy of the sources, one at a time, for each of which a test must fail.

A mutation is a mistake that a person could make and that changes a published number or a decision; the lists beside
this file have one file per part of the package. A mutant that survives shows that a test is missing.
"""

import fnmatch
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[2]
LISTS = sorted(Path(__file__).parent.glob("*.toml"))
RECORD = Path(__file__).with_name("RECORD.md")
TIME_LIMIT = 120  # seconds for one test: a mutant that runs on and on counts as killed
KILLED, SURVIVED = "killed by ", "SURVIVED"


@dataclass(frozen=True)
class Mutant:
    """A mistake in one place of one file, and the test that must fail because of it."""

    room: str  # the list that it stands in
    name: str
    mistake: str
    file: str
    old: str
    new: str
    killed_by: str  # pytest's id of a test

    @property
    def is_native(self) -> bool:
        return self.file.startswith("native/")

    def text(self) -> str:
        """The file with the mistake; a ValueError if the list is out of date."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"stale: {self.file} has the old text {text.count(self.old)} times, not once")
        return text.replace(self.old, self.new)


def read_mutants(patterns: Sequence[str] = ("*",)) -> list[Mutant]:
    """The mutants of all lists whose names match a pattern."""
    return [
        Mutant(path.stem, name, **fields)
        for path in LISTS
        for name, fields in tomllib.loads(path.read_text(encoding="utf-8")).items()
        if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]


class Copy:
    """The sources and the compiled module in a folder of their own, where mistakes do no harm."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._package = folder, folder / "src" / "carouseval"
        folder.mkdir(parents=True, exist_ok=True)
        for part in ("src", "native"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "_native*.so"))
        shutil.copy(ROOT / "CMakeLists.txt", folder)
        installed = importlib.util.find_spec("carouseval._native")
        assert installed is not None
        self._module = str(installed.origin)
        shutil.copy(self._module, self._package)

    def run(self, tests: Sequence[str], seconds: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run tests of this repository on the copy."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        return self._python("-m", "pytest", *options, *tests, seconds=seconds)

    def outcome(self, mutant: Mutant) -> str:
        """What becomes of a mutant; the copy is as before afterwards."""
        try:
            mutated = mutant.text()
        except ValueError as error:
            return str(error)
        path = self._folder / mutant.file
        original = path.read_text(encoding="utf-8")
        path.write_text(mutated, encoding="utf-8")
        try:
            self._compile_or_import(mutant)
            status = self.run([mutant.killed_by], TIME_LIMIT).returncode
        except subprocess.CalledProcessError:
            return "invalid: cannot be compiled or imported"
        except subprocess.TimeoutExpired:
            return f"{KILLED}the time limit"
        finally:
            path.write_text(original, encoding="utf-8")
            shutil.copy(self._module, self._package)
        # any other status: pytest found no such test, could not import it, or crashed
        outcomes = {0: SURVIVED, 1: f"{KILLED}{mutant.killed_by}"}
        return outcomes.get(status, f"invalid: pytest ended with status {status}")

    def _compile_or_import(self, mutant: Mutant) -> None:
        """Make sure that the mutant is a program: any test fails without one."""
        if not mutant.is_native:
            module = ".".join(Path(mutant.file).with_suffix("").parts[1:])
            self._python("-c", f"import {module}").check_returncode()
            return
        build = self._folder / "build"
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "CAROUSEVAL_HAS_V3": "OFF",  # kernels for one instruction set compile in half the time
            "Python_EXECUTABLE": sys.executable,
            "nanobind_DIR": self._python("-m", "nanobind", "--cmake_dir").stdout.strip(),
        }
        defined = [f"-D{name}={value}" for name, value in options.items()]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where pip puts cmake and ninja
        for arguments in (["-G", "Ninja", "-S", self._folder, "-B", build, *defined], ["--build", build]):
            command = ["cmake", *map(str, arguments)]
            subprocess.run(command, env=os.environ | {"PATH": path}, check=True, capture_output=True)
        (module_file,) = build.glob("_native*")
        shutil.copy(module_file, self._package)

    def _python(self, *arguments: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(self._folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds)


def record(outcomes: dict[Mutant, str]) -> str:
    """The outcome of all mutants in Markdown."""
    died = sum(outcome.startswith(KILLED) for outcome in outcomes.values())
    lines = [
        "# Mutants and the tests that kill them",
        "",
        f"Written by `make mutants`: {died} of {len(outcomes)} mutants were killed. The lists beside it define them.",
    ]
    for room in dict.fromkeys(mutant.room for mutant in outcomes):
        lines += ["", f"## {room}", "", "| mutant | mistake | outcome |", "|---|---|---|"]
        rows = [(mutant.name, mutant.mistake, outcome) for mutant, outcome in outcomes.items() if mutant.room == room]
        lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def with_record(outcomes: Mapping[Mutant, str]) -> dict[Mutant, str]:
    """The outcomes of all mutants: those that were not run have the last one that is on record, if there is one."""
    rows = re.findall(r"^\| (\S+) \| (.*) \| (.*) \|$", RECORD.read_text(encoding="utf-8"), flags=re.MULTILINE)
    before = {(name, mistake): outcome for name, mistake, outcome in rows}
    known = {mutant: before.get((mutant.name, mutant.mistake), "not run") for mutant in read_mutants()}
    return {mutant: outcomes.get(mutant, outcome) for mutant, outcome in known.items()}


def main(patterns: Sequence[str]) -> int:
    """Run the mutants whose names match, all of them by default; 1 unless every one is killed."""
    mutants = read_mutants(patterns or ["*"])
    if not mutants:
        print(f"no mutant is called {' or '.join(patterns)}", file=sys.stderr)
        return 1
    outcomes: dict[Mutant, str] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        print(f"preparing {len(mutants)} mutants and their tests", file=sys.stderr)
        workers = min(len(mutants), os.cpu_count() or 1)
        copies = SimpleQueue[Copy]()  # each for one mutant at a time
        for number in range(workers):
            copies.put(Copy(Path(folder) / str(number)))

        def outcome(mutant: Mutant) -> str:
            copy = copies.get()
            try:
                return copy.outcome(mutant)
            finally:
                copies.put(copy)

        unmutated = Copy(Path(folder) / "unmutated").run(sorted({mutant.killed_by for mutant in mutants}))
        if unmutated.returncode:
            print(f"tests fail without any mutation:\n{unmutated.stdout}{unmutated.stderr}", file=sys.stderr)
            return 1
        with ThreadPoolExecutor(workers) as pool:
            for number, (mutant, found) in enumerate(zip(mutants, pool.map(outcome, mutants), strict=True), 1):
                outcomes[mutant] = found
                print(f"{mutant.name}: {found}", flush=True)
                print(f"{number} of {len(mutants)}", file=sys.stderr)
    RECORD.write_text(record(with_record(outcomes)), encoding="utf-8")
    alive = [mutant.name for mutant, outcome in outcomes.items() if not outcome.startswith(KILLED)]
    print(f"{len(mutants) - len(alive)} of {len(mutants)} mutants killed; not killed: {', '.join(alive) or 'none'}")
    return int(bool(alive))


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]).split()))
