"""What ``make test-deep`` runs: everything that the gate leaves out, with fresh seeds, in parts of at most an hour.

``PART="mutants fuzz"`` runs some of the parts. What ran, on which commit and with what result is kept in ``DEEP.md``.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.depth import fresh_seed
from tests.fuzz import KINDS
from tests.mutants.run import RECORD as MUTANTS

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_name("DEEP.md")
HEAD = """# The deep layer: what ran last

Written by `make test-deep`, which runs what the gate (`make test`) leaves out: all fixed seeds of generated cases and
as many that follow from the commit's hash, simulated worlds with known truth, the kernels under sanitizers also inside
whole evaluations, all mutants, long fuzz, and all tests, at the gate's seeds, with the lowest versions of dependencies.

| part | commit | started (UTC) | minutes | result |
|---|---|---|---|---|
"""
MAKE = ("make", "--no-print-directory")  # run by make, it would say which folder it leaves, last of all
LONGEST = 60  # minutes of a part
MOST_NAMED, LONGEST_CELL = 5, 400  # tests that failed; characters
# the folders of tests by part; "other" has the rest
FOLDERS = {
    "metrics": ("metrics", "attention", "behavior", "paper"),
    "evaluation": ("evaluation",),
    "comparison": ("comparison", "building"),
    "engines": ("engines",),
    "show": ("show",),
}
FUZZ = {"tables": 6_000, "files": 60_000, "arrays": 200_000, "strings": 200_000}  # a quarter of an hour on two cores


def parts(commit: str) -> dict[str, list[list[str]]]:
    """The commands of every part, for a commit's hash."""
    seed, workers = str(fresh_seed(commit)), str(os.cpu_count())
    assert {*FUZZ} == {*KINDS}
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--require-all"]
    tests = {part: [f"tests/{folder}" for folder in folders] for part, folders in FOLDERS.items()}
    elsewhere = [f"--ignore={folder}" for folders in tests.values() for folder in folders]
    return {
        **{part: [[*pytest, *folders]] for part, folders in tests.items()},
        "other": [[*pytest, *elsewhere, "tests"]],
        "mutants": [[*MAKE, "mutants"]],
        "fuzz": [
            [sys.executable, "-m", "tests.fuzz", kind, str(count), "--seed", seed, "--workers", workers]
            for kind, count in FUZZ.items()
        ],
        "sanitize": [[*MAKE, "sanitize"]],
        "lowest": [[*MAKE, "test-lowest", "LOWEST_TESTS=--with-deep tests"]],
    }


@dataclass(frozen=True)
class Run:
    """A line of the record."""

    part: str
    commit: str
    started: str
    minutes: str
    result: str

    def __str__(self) -> str:
        return f"| {self.part} | {self.commit} | {self.started} | {self.minutes} | {self.result} |"


def read_record(text: str) -> dict[str, Run]:
    """The last run of every part."""
    lines = (line for line in text.splitlines() if re.match(r"\| \w+ \| [0-9a-f]{7}", line))
    rows = (line.removeprefix("| ").removesuffix(" |").split(" | ", 4) for line in lines)
    return {row[0]: Run(*row) for row in rows}


def record(runs: Mapping[str, Run], parts: Sequence[str]) -> str:
    """The record of the last run of every part; one that has never been run says so."""
    return HEAD + "".join(f"{runs.get(part) or f'| {part} | | | | not run yet |'}\n" for part in parts)


def run_part(part: str, commands: Sequence[Sequence[str]], commit: str) -> tuple[Run, bool]:
    """Run the commands of a part; the line for the record, and whether all succeeded."""
    started, begin = datetime.now(UTC), time.monotonic()
    # mutants must die under the gate's own tests; on the lowest versions all tests run, with the gate's seeds
    layer = "" if part in ("mutants", "lowest") else commit
    environment = os.environ | {"CAROUSEVAL_DEEP": layer}
    endings, good = [], True
    for command in commands:
        print(f"--- {part}: {' '.join(command)}", flush=True)
        lines = []
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            for line in process.stdout or ():
                print(line, end="", flush=True)
                lines.append(line)
        good &= process.returncode == 0
        endings.append(ending(lines) if process.returncode == 0 else f"FAILED: {failure(lines)}")
    minutes = (time.monotonic() - begin) / 60
    if minutes > LONGEST:
        endings.append(f"OVER {LONGEST} MINUTES")
    name = commit[:7] + "+" * (commit.endswith("+") or head() != commit)  # files may have changed meanwhile
    return Run(part, name, f"{started:%Y-%m-%d %H:%M}", f"{minutes:.0f}", "; ".join(endings)), good


def ending(lines: Sequence[str]) -> str:
    """What a command says of itself at its end: pytest's counts, or how many cases a fuzzer tried."""
    counts = [
        line for line in lines if re.match(r"=* ?(\d+ (passed|failed|skipped|deselected|errors?)|no tests)\b", line)
    ]
    if counts:
        return re.sub(r" in [\d.]+s.*", "", counts[-1].strip("= \n"))
    outcomes = [line.split() for line in lines if re.match(r" *[\d,]+  \w", line)]
    if outcomes:
        cases = {" ".join(words): int(number.replace(",", "")) for number, *words in outcomes}
        violations = cases.get("VIOLATION", 0)
        return f"{sum(cases.values()):,} cases, {violations or 'no'} violation{'s' * (violations > 1)}"
    return _last_words(lines)


def failure(lines: Sequence[str]) -> str:
    """Why a command failed: its counts, with the first tests or cases that did; without any, its last words."""
    failed = [
        line.partition(" - ")[0].strip() for line in lines if re.match(r"(FAILED|ERROR)[ ,]|python -m tests\.", line)
    ]
    if not failed:
        return _last_words(lines)
    names = [name.removeprefix("FAILED ") for name in failed[:MOST_NAMED]]
    more = f" and {len(failed) - MOST_NAMED} more" if len(failed) > MOST_NAMED else ""
    return _one_cell(f"{ending(lines)}: {', '.join(names)}{more}")


def _last_words(lines: Sequence[str]) -> str:
    said = [line.strip() for line in lines if line.strip() and not re.match(r"make(\[\d+\])?: ", line)]
    return _one_cell(said[-1]) if said else "no output"


def _one_cell(text: str) -> str:
    """For a cell of the record, without the folders of a machine."""
    return re.sub(r"(?<![\w.])/([^\s/:'\"]+/)+", "", text).replace("|", "/")[:LONGEST_CELL]


def head() -> str:
    """The hash of the commit that is tested, with a plus where the tree differs from it."""
    records = [f":!{path.relative_to(ROOT).as_posix()}" for path in (RECORD, MUTANTS)]  # which the parts write
    commands = ["git", "rev-parse", "HEAD"], ["git", "status", "--porcelain", ".", *records]
    commit, changes = (subprocess.run(one, cwd=ROOT, capture_output=True, text=True, check=True) for one in commands)
    return commit.stdout.strip() + "+" * bool(changes.stdout)


def main(names: Sequence[str]) -> int:
    """Run the parts of these names, by default all, and write the record after each; 1 if one fails."""
    commit = head()
    known = parts(commit)
    if unknown := [name for name in names if name not in known]:
        print(f"there is no part {' or '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    print(f"commit {commit}, fresh seeds from {fresh_seed(commit)}", flush=True)
    all_good = True
    for name in names or known:
        run, good = run_part(name, known[name], commit)
        all_good &= good
        runs = (read_record(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}) | {name: run}
        RECORD.write_text(record(runs, [*known]), encoding="utf-8")
        print(f"--- {run}", flush=True)
    return int(not all_good)


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:]).split()))
