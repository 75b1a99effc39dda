"""Long calls end soon after a signal, wherever they are, and leave no temporary folder."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from carouseval import _native

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

START = """
import numpy as np
import polars as pl
import carouseval as cv
from carouseval import _native
from tests.metrics.test_native_limits import coupled_set, solve
rng = np.random.default_rng(0)
def start() -> None:
    print("started", flush=True)
"""
# two long texts in turn, a million times
TEXTS = """
texts = pl.Series(["a" * 2**20, "b" * 2**20]).gather(np.arange(2**20) % 2)
"""
# each would take minutes
KERNELS = {
    "permutations": """
users = np.arange(100_000, dtype=np.uint64)
differences, least = np.ones((len(users), 4), np.int64), np.ones(4, np.int64)
start()
_native.sign_flips(differences, users, least, 2**30, 0, {threads})
""",
    "resamples": """
users = np.arange(100_000, dtype=np.uint64)
start()
_native.resampled_sums(np.ones((len(users), 4)), users, 2**20, 0, {threads})
""",
    "one page of many rows": """
pages, weights = rng.random((1, 9000, 2)), rng.random((9000, 2))
start()
_native.score(pages, weights, _native.Gain.LINEAR, _native.Ideal.CATEGORY, False, {threads})
""",
    "one search": """
gains, weights = rng.random(9000), rng.random((60, 3))
start()
solve(gains, [[int(k), (7 * int(k) + 1) % 9000] for k in range(9000)], weights, 10_000)
""",
    "new ids": f"""{TEXTS}
start()
_native.Ids().add_texts(texts.__arrow_c_stream__(), {{threads}})
""",
    "known ids": f"""{TEXTS}
ids = _native.Ids()
ids.add_texts(texts[:2].__arrow_c_stream__(), 1)
start()
ids.add_texts(texts.__arrow_c_stream__(), {{threads}})
""",
    "hashes of ids": f"""{TEXTS}
start()
_native.text_hashes(texts.__arrow_c_stream__())
""",
    "a wide scan": """
start()
cv.discounts.MarkovScan().weights(cv.Grid(1, 7000))
""",
}


def stopped(code: str, by: signal.Signals, folder: Path) -> tuple[float, int, str]:
    """Signal a process once it has started; how long it then takes to end, its exit status and what it says."""
    process = subprocess.Popen(
        [sys.executable, "-c", START + code],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    assert process.poll() is None, process.communicate()
    begin = time.monotonic()
    process.send_signal(by)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    return time.monotonic() - begin, process.returncode, errors


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_can_be_stopped(name: str, threads: int, tmp_path: Path) -> None:
    seconds, status, errors = stopped(KERNELS[name].format(threads=threads), signal.SIGINT, tmp_path)
    assert status == -signal.SIGINT, errors
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert seconds < 10


def test_interrupted_ids_add_nothing() -> None:
    """A signal handler that raises in the middle; those that do not may not add to the same ids."""
    ids, many = _native.Ids(), np.random.default_rng(0).permutation(20_000_000)
    inside: list[str] = []

    def interrupt(*_: object) -> None:
        try:
            ids.add_ints(many, 1)
        except RuntimeError as error:
            inside.append(str(error))
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.06)
        with pytest.raises(TimeoutError):
            ids.add_ints(many, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert inside == ["another call is adding ids"]
    assert len(ids) == 0
    codes, firsts = ids.add_ints(many[[5, 3, 5, 0]], 1)
    assert codes.tolist() == [0, 1, 0, 2]
    assert firsts.tolist() == [0, 1, 3]


SPILLING = """
from carouseval.evaluation.reading.packed_lines import FileLines
lines = np.zeros((100_000, 4), np.uint32)
with FileLines(64) as files:
    start()
    while True:
        files.add(lines)
"""


def test_spilling_can_be_stopped(tmp_path: Path) -> None:
    seconds, status, errors = stopped(SPILLING, signal.SIGINT, tmp_path)
    assert status == -signal.SIGINT, errors
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert seconds < 10
    assert not list(tmp_path.iterdir())


# alarms after 0 to 4 milliseconds: while the folder is made, filled and removed
ALARMS = """
import signal, tempfile
from pathlib import Path
import numpy as np
from carouseval.evaluation.reading.packed_lines import FileLines
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
folder, lines, interrupted = Path(tempfile.gettempdir()), np.zeros((500, 4), np.uint32), 0
for attempt in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-5 + attempt % 100 * 4e-5)
        with FileLines(16) as files:
            files.add(lines)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
signal.setitimer(signal.ITIMER_REAL, 0)
print(interrupted, len(list(folder.iterdir())))
"""


def test_an_interrupt_at_any_time_leaves_no_folder(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", ALARMS], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    interrupted, left = map(int, done.stdout.split())
    assert interrupted > 0
    assert left == 0


def test_a_terminated_command_leaves_no_folder(tmp_path: Path) -> None:
    """SIGTERM while an evaluation spills: the exit status of schedulers, and nothing in TMPDIR."""
    code = f"""
import sys
import carouseval.evaluation.reading.packed_lines as packed
from carouseval.building.sample import write_sample
from carouseval.cli import main
write_sample({str(tmp_path / "tables")!r}, users=2000)
add = packed.FileLines.add
def add_forever(self, lines):
    start()
    while True:
        add(self, lines)
packed.FileLines.add = add_forever
tables = {str(tmp_path / "tables")!r}
sys.argv = ["carouseval", "evaluate", tables + "/layouts-new.parquet", tables + "/judgments.parquet",
            "--items", tables + "/items.parquet", "--memory", "0.0001"]
main()
"""
    (tmp_path / "temporary").mkdir()
    seconds, status, errors = stopped(code, signal.SIGTERM, tmp_path / "temporary")
    assert (status, errors) == (143, "")
    assert seconds < 10
    assert not list((tmp_path / "temporary").iterdir())
