"""A version of the package, in a process of its own that runs cases."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "differential"


def folder_of(version: str) -> Path:
    """The folder to import a version from: one that is given, or one that a git revision is built into, once."""
    given = Path(version)
    if (given / "carouseval" / "__init__.py").exists():
        return given.resolve()
    found = subprocess.run(
        ["git", "rev-parse", "--verify", f"{version}^{{commit}}"], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode:
        sys.exit(f"{version} is neither a folder that holds carouseval nor a git revision")
    commit = found.stdout.strip()
    installed = BUILD / commit[:12]
    if not installed.exists():
        print(f"building {version} into {installed}", file=sys.stderr)
        sources, target = BUILD / f"{commit[:12]}-sources", BUILD / f"{commit[:12]}-partial"
        for folder in (sources, target):  # what a build that was ended has left
            shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["git", "clone", "-q", "--no-checkout", str(ROOT), str(sources)], check=True)
        subprocess.run(["git", "checkout", "-q", commit], cwd=sources, check=True)
        options = ["--no-build-isolation", "--no-deps", "--target", str(target), str(sources)]
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *options], check=True)
        target.rename(installed)
        shutil.rmtree(sources)
    return installed


class Version:
    """A process of one version, which is started again where it has ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None

    def ask(self, kind: str, seed: int, number: int) -> None:
        """Begin a case."""
        if self._process is None:
            environment = {
                **os.environ,
                "PYTHONPATH": f"{self._folder}{os.pathsep}{ROOT}",
                "PYTHONHASHSEED": "0",
                "COLUMNS": "120",
                "POLARS_MAX_THREADS": "1",
                "CAROUSEVAL_THREADS": "1",
                "PYSPARK_PYTHON": sys.executable,
            }
            command = [sys.executable, "-m", "tests.differential.worker", str(self._folder)]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env=environment,
            )
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([kind, seed, number]) + "\n")
        self._process.stdin.flush()

    def answer(self) -> str:
        """The outcomes of the case, as JSON; or how the process ended."""
        assert self._process is not None
        assert self._process.stdout is not None
        if line := self._process.stdout.readline():
            return line
        status, self._process = self._process.wait(), None
        return json.dumps({"process": f"ended with status {status}"})

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.communicate()


def read(answer: str) -> Any:
    """The outcomes that a version answers with."""
    return json.loads(answer)
