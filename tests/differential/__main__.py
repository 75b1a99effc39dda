"""The command: ``python -m tests.differential OLD NEW --cases 500``."""

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests import differential
from tests.differential.differences import Difference, differences
from tests.differential.expected import EXPECTED, Expected
from tests.differential.versions import Version, folder_of, read

_EXAMPLES = """examples:
  python -m tests.differential 984f752 HEAD               both are built, once, into build/differential
  python -m tests.differential OLD_SITE src --only compare,explain --seed 7
  python -m tests.differential OLD_SITE src --case compare:123     one case alone, with all its differences
"""


def _parser() -> argparse.ArgumentParser:
    kinds = "\n".join(f"  {name:12}{share:4}  {what}" for name, (share, what) in differential.KINDS.items())
    parser = argparse.ArgumentParser(
        "python -m tests.differential",
        description=f"{(differential.__doc__ or '').partition(chr(10))[0]}\n\nkinds of cases:\n{kinds}",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in ("old", "new"):
        parser.add_argument(name, metavar=name.upper(), help="a folder that holds carouseval, or a git revision")
    parser.add_argument(
        "--cases", type=int, default=1000, help="of the quickest kind; others have fewer (default 1000)"
    )
    parser.add_argument("--seed", type=int, default=0, help="other cases (default 0)")
    parser.add_argument("--only", metavar="KIND,...", help="these kinds alone")
    parser.add_argument("--spark", action="store_true", help="Spark too, which takes seconds a case")
    parser.add_argument("--case", metavar="KIND:NUMBER", help="this case alone")
    return parser


@dataclass
class Group:
    """The differences of a kind: how many, in which cases, and the largest of them, or the first."""

    example: Difference
    case: str
    cases: set[str] = field(default_factory=set)
    count: int = 0
    ulps: float = 0.0
    apart: float = 0.0

    def add(self, case: str, difference: Difference) -> None:
        """Count one more."""
        self.cases.add(case)
        self.count += 1
        if self.ulps < difference.ulps < float("inf"):
            self.example, self.case = difference, case
        self.ulps, self.apart = max(self.ulps, difference.ulps), max(self.apart, difference.apart)

    def __str__(self) -> str:
        sizes = "" if self.ulps == float("inf") else f", at most {self.ulps:.3g} ulps, {self.apart:.2g}"
        return f"{len(self.cases)} cases, {self.count} values{sizes}"


def main() -> int:
    """Run what the command line says; 1 if something differs that is not meant to."""
    options = _parser().parse_args()
    if options.case:
        kind, _, number = options.case.partition(":")
        plan = {kind: range(int(number), int(number) + 1)}
    else:
        plan = _numbers(options)
    versions = [Version(folder_of(options.old)), Version(folder_of(options.new))]
    groups: dict[str, Group] = {}
    meant: dict[str, Group] = {}
    ended: Counter[str] = Counter()
    repeat = f"python -m tests.differential {options.old} {options.new} --seed {options.seed} --case"
    for kind, numbers in plan.items():
        begin, same = time.monotonic(), 0
        for number in numbers:
            for version in versions:
                version.ask(kind, options.seed, number)
            old, new = (version.answer() for version in versions)
            same += old == new
            outcomes = read(new)
            if old != new or "process" in outcomes:
                _sort(f"{kind}:{number}", _found(read(old), outcomes), groups, meant)
            ended[_ending(kind, outcomes)] += 1
        seconds = time.monotonic() - begin
        print(f"{kind}: {len(numbers)} cases in {seconds:.0f} s, {same} the same to the bit", flush=True)
    for version in versions:
        version.close()
    _print(ended, groups, meant, repeat, full=bool(options.case))
    return int(bool(groups))


def _numbers(options: argparse.Namespace) -> dict[str, range]:
    only = options.only.split(",") if options.only else [kind for kind in differential.KINDS if kind != "spark"]
    if options.spark and "spark" not in only:
        only.append("spark")
    for kind in only:
        if kind not in differential.KINDS:
            sys.exit(f"there is no kind {kind!r}, but {', '.join(differential.KINDS)}")
    return {kind: range(max(1, options.cases * differential.KINDS[kind][0] // 100)) for kind in only}


def _ending(kind: str, outcomes: dict[str, Any]) -> str:
    """How the first call of a case ended."""
    first = next(iter(outcomes.values()))
    if not isinstance(first, dict):
        return f"{kind}, the process {first}"
    value = first.get("value")
    status = f"status {value['status']}" if isinstance(value, dict) and "status" in value else "a result"
    return f"{kind}, {'refused' if 'error' in first else status}"


def _found(old: dict[str, Any], new: dict[str, Any]) -> list[Difference]:
    """What differs; a process that ended, too, even if that of the other version did as well."""
    one, other = (str(outcomes.get("process", "a result")) for outcomes in (old, new))
    if one != "a result" or other != "a result":
        return [Difference("process", "outcome", one, other)]
    return list(differences(old, new))


def _sort(case: str, found: list[Difference], groups: dict[str, Group], meant: dict[str, Group]) -> None:
    for difference in found:
        expected: Expected | None = next((one for one in EXPECTED if one.covers(difference)), None)
        where, key = (groups, difference.kind) if expected is None else (meant, expected.reason)
        where.setdefault(key, Group(difference, case)).add(case, difference)


def _print(ended: Counter[str], groups: dict[str, Group], meant: dict[str, Group], repeat: str, *, full: bool) -> None:
    print("\nhow the first call of a case ended:")
    for ending, count in sorted(ended.items()):
        print(f"{count:8,}  {ending}")
    print("\ndifferences that are meant:" if meant else "\nno difference that is meant was found")
    for reason, group in meant.items():
        print(f"  {reason}: {group}\n    {group.case}: {group.example.where}")
        print(f"    old: {str(group.example.old)[:200]}\n    new: {str(group.example.new)[:200]}")
    print("\nother differences:" if groups else "\nno other differences")
    for kind, group in sorted(groups.items(), key=lambda one: -len(one[1].cases)):
        length = None if full else 300
        print(f"{kind}\n  {group}\n  {repeat} {group.case}")
        print(f"  old: {str(group.example.old)[:length]}\n  new: {str(group.example.new)[:length]}")


if __name__ == "__main__":
    sys.exit(main())
