"""Time of the report of a comparison, as a ratio of the comparison's own time in the same run, and its size.

.venv/bin/python benchmarks/report.py            part of `make bench`; five systems on 100,000 pages each
.venv/bin/python benchmarks/report.py --quick    fewer pages
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import carouseval as cv

SYSTEMS = tuple(cv.sample(2).layouts)
_T = TypeVar("_T")


def timed(work: Callable[[], _T]) -> tuple[_T, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer pages")
    pages = 10_000 if parser.parse_args().quick else 100_000
    with tempfile.TemporaryDirectory() as folder:
        systems = {name: Path(folder) / f"{name}.parquet" for name in SYSTEMS}
        for name, path in systems.items():  # one at a time, so that they need not all fit into memory
            data = cv.sample(pages, systems=[name])
            data.layouts[name].write_parquet(path)
        judgments, items = data.judgments, data.items
        del data
        comparison, compared = timed(lambda: cv.compare(systems, judgments, items, by="device"))
        path = Path(folder) / "report.html"
        _, alone = timed(partial(comparison.report, path))
        del comparison
        explained, compared_and_explained = timed(
            lambda: cv.compare(systems, judgments, items, by="device", explain=True)
        )
        _, reported = timed(partial(explained.report, path))
        print(f"carouseval {cv.__version__}, {len(SYSTEMS)} systems on {pages:,} pages each")
        print("Time over that of the comparison:")
        print(f"  report                               {alone / compared:.2f}")
        print(f"  report with what each system loses   {reported / compared:.2f} ({path.stat().st_size:,} bytes)")
        print(f"  finding out what each system loses   {compared_and_explained / compared - 1:.2f}")


if __name__ == "__main__":
    main()
