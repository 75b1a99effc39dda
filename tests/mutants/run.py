"""What ``make mutants`` runs: mutations of a copy of the sources, one at a time, for each of which a test must fail.

A mutation is a mistake that a person could make and that changes a published number or a decision; the lists beside
this file have one file per part of the package. A mutant that survives shows that a test is missing.
"""

import fnmatch
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
        mutated = text.replace(self.old, self.new)
        if not self.is_native:
            compile(mutated, self.file, "exec")  # or else every test would fail
        return mutated


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

    def __init__(self, folder: Path, *, native: bool) -> None:
        self._folder, self._build = folder, folder / "build"
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "_native*.so"))
        if native:
            shutil.copytree(ROOT / "native", folder / "native")
            shutil.copy(ROOT / "CMakeLists.txt", folder)
            self._configure()
            self._compile()
            (built,) = self._build.glob("_native*")
            self._module = Path(shutil.copy(built, folder))
        else:
            installed = importlib.util.find_spec("carouseval._native")
            assert installed is not None
            self._module = Path(str(installed.origin))
        shutil.copy(self._module, folder / "src" / "carouseval")

    def _configure(self) -> None:
        nanobind = subprocess.run(
            [sys.executable, "-m", "nanobind", "--cmake_dir"], check=True, capture_output=True, text=True
        )
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "CAROUSEVAL_HAS_V3": "OFF",  # kernels for one instruction set compile in half the time
            "Python_EXECUTABLE": sys.executable,
            "nanobind_DIR": nanobind.stdout.strip(),
        }
        defined = [f"-D{name}={value}" for name, value in options.items()]
        self._cmake("-G", "Ninja", "-S", str(self._folder), "-B", str(self._build), *defined)

    def _compile(self) -> None:
        """Build the module from the copied kernels."""
        self._cmake("--build", str(self._build))
        for module in self._build.glob("_native*"):
            shutil.copy(module, self._folder / "src" / "carouseval")

    def _cmake(self, *arguments: str) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # where pip puts cmake and ninja
        subprocess.run(["cmake", *arguments], env=os.environ | {"PATH": path}, check=True, capture_output=True)

    def run(self, tests: Sequence[str], seconds: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run tests of this repository on the copy."""
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        environment = os.environ | {"PYTHONPATH": str(self._folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", *options, *tests]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds)

    def outcome(self, mutant: Mutant) -> str:
        """What becomes of a mutant; the copy is as before afterwards."""
        try:
            mutated = mutant.text()
        except (ValueError, SyntaxError) as error:
            return str(error)
        path = self._folder / mutant.file
        original = path.read_text(encoding="utf-8")
        path.write_text(mutated, encoding="utf-8")
        try:
            if mutant.is_native:
                self._compile()
            status = self.run([mutant.killed_by], TIME_LIMIT).returncode
        except subprocess.CalledProcessError:
            return "invalid: does not compile"
        except subprocess.TimeoutExpired:
            return f"{KILLED}the time limit"
        finally:
            path.write_text(original, encoding="utf-8")
            shutil.copy(self._module, self._folder / "src" / "carouseval")
        # any other status: pytest found no such test, could not import it, or crashed
        outcomes = {0: SURVIVED, 1: f"{KILLED}{mutant.killed_by}"}
        return outcomes.get(status, f"invalid: pytest ended with status {status}")


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


def main(patterns: Sequence[str]) -> int:
    """Run the mutants whose names match, all of them by default; 1 unless every one is killed."""
    mutants = read_mutants(patterns or ["*"])
    if not mutants:
        print(f"no mutant is called {' or '.join(patterns)}", file=sys.stderr)
        return 1
    outcomes: dict[Mutant, str] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        print(f"preparing {len(mutants)} mutants and their tests", file=sys.stderr)
        copy = Copy(Path(folder), native=any(mutant.is_native for mutant in mutants))
        unmutated = copy.run(sorted({mutant.killed_by for mutant in mutants}))
        if unmutated.returncode:
            print(f"tests fail without any mutation:\n{unmutated.stdout}{unmutated.stderr}", file=sys.stderr)
            return 1
        for number, mutant in enumerate(mutants, 1):
            outcomes[mutant] = copy.outcome(mutant)
            print(f"{mutant.name}: {outcomes[mutant]}", flush=True)
            print(f"{number} of {len(mutants)}", file=sys.stderr)
    if len(mutants) == len(read_mutants()):
        RECORD.write_text(record(outcomes), encoding="utf-8")
    alive = [mutant.name for mutant, outcome in outcomes.items() if not outcome.startswith(KILLED)]
    print(f"{len(mutants) - len(alive)} of {len(mutants)} mutants killed; not killed: {', '.join(alive) or 'none'}")
    return int(bool(alive))


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]).split()))
