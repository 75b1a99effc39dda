"""The command: ``python -m tests.fuzz tables 100000 --workers 2``."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests import fuzz
from tests.fuzz import cases

_EXAMPLES = """examples:
  python -m tests.fuzz tables 100000 --seed 1 --workers 2   100,000 cases; the exit status is 1 if one is a violation
  python -m tests.fuzz tables --seed 1 --case 12345         one of them alone, with all that is in it
  python -m tests.fuzz files 2>/dev/null                    without the panics that Polars prints
"""


def _parser() -> argparse.ArgumentParser:
    kinds = "\n".join(f"  {name:9}{what}" for name, what in fuzz.KINDS.items())
    parser = argparse.ArgumentParser(
        "python -m tests.fuzz",
        description=f"{fuzz.__doc__.partition(chr(10))[0]}\n\nkinds of input:\n{kinds}",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=fuzz.KINDS)
    parser.add_argument("cases", type=int, nargs="?", default=10_000, help="how many (default 10000)")
    parser.add_argument("--seed", type=int, default=0, help="other cases (default 0)")
    parser.add_argument("--start", type=int, default=0, help="the number of the first case (default 0)")
    parser.add_argument("--workers", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--case", type=int, metavar="NUMBER", help="run this case alone, in this process")
    return parser


def main() -> int:
    """Run what the command line says; 1 if there is a violation."""
    if len(sys.argv) == 1:
        _parser().print_help()
        return 0
    options = _parser().parse_args()
    return _replay(options) if options.case is not None else _run(options)


def _replay(options: argparse.Namespace) -> int:
    case = cases.draw(options.kind, options.seed, options.case)
    print(case, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        print(cases.kind_of(options.kind).check(case, Path(folder)))  # a violation ends in its traceback
    return 0


def _run(options: argparse.Namespace) -> int:
    outcomes: Counter[str] = Counter()
    begin = last = time.monotonic()
    numbers = range(options.start, options.start + options.cases)
    for case in cases.run_in_processes(options.kind, numbers, options.seed, options.workers):
        outcomes[case.outcome] += 1
        if case.violation:
            replay = f"python -m tests.fuzz {options.kind} --seed {options.seed} --case {case.number}"
            print(f"{replay}\n  {case.violation}".replace("\n", "\n  ").rstrip(), flush=True)
        if time.monotonic() - last > 10:
            last = time.monotonic()
            done, found = outcomes.total(), outcomes["VIOLATION"]
            print(f"{done:,} of {options.cases:,} cases, {last - begin:.0f} s, {found} violations", file=sys.stderr)
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:9,}  {outcome}")
    return int(outcomes["VIOLATION"] > 0)


if __name__ == "__main__":
    sys.exit(main())
