"""Long calls end soon after a signal, wherever they are, and leave no temporary folder."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from carouseval import _native
from carouseval.evaluation.reading.packed_lines import FileLines
from tests.depth import pairs

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
start()
_native.sign_sums(np.ones((len(users), 4), np.int64), users, 2**22, 0, {threads})
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
solve(gains, [[int(k), (7 * int(k) + 1) % 9000] for k in range(9000)], weights, 10**12)
""",
    "one order of rows": """
rows, cols = 60, 15
shown = np.arange(rows * cols) % 150
item_rows = np.argsort(shown, kind="stable") // cols
weights = np.sort(rng.random((rows, 1)), axis=0)[::-1] * np.ones(cols)
start()
while True:  # a page takes a second
    _native.first_copy_ideals(
        rng.random(150), np.array([0, 150]), item_rows.astype(np.int32), np.arange(0, 901, 6),
        np.ones(900, np.int32), np.full(rows, cols, np.int32), np.zeros(rows, bool), np.array([0, rows]), weights,
        np.full(1, np.inf), np.full(rows, -1, np.int32), 100_000, {threads},
    )
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


def stopped(code: str, by: signal.Signals, folder: Path, delay: float = 0.5) -> tuple[float, int, str]:
    """Signal a process some time after it has started; how long it then takes to end, its exit status and errors."""
    process = subprocess.Popen(
        [sys.executable, "-c", START + code],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(delay)
    assert process.poll() is None, process.communicate()
    begin = time.monotonic()
    process.send_signal(by)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    return time.monotonic() - begin, process.returncode, errors


@pytest.mark.parametrize(("name", "threads"), pairs(KERNELS, [1, 3]))
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


# each goes on for minutes; tables are written before the start
RUN = """
import sys
from carouseval.building.sample import write_sample
from carouseval.cli import main
write_sample(r"{tables}", users=500, systems=["new", "prod"])
import carouseval.evaluation.evaluate, carouseval.evaluation.reading.packed_lines as packed
scoring = sys.modules["carouseval.evaluation.evaluate"]
tables = [r"{tables}/judgments.parquet", "--items", r"{tables}/items.parquet"]
new, prod = r"{tables}/layouts-new.parquet", r"{tables}/layouts-prod.parquet"
"""
SCORING = """
score = scoring.score
def score_forever(judged, pages, plan, ideals):
    start()
    while True:
        score(judged, pages, plan)
scoring.score = score_forever
"""
SPILLING_COMMAND = """
add = packed.FileLines.add
def add_forever(self, lines):
    start()
    while True:
        add(self, lines)
packed.FileLines.add = add_forever
"""
LIBRARY_ERROR = """
def score_forever(judged, pages, plan, ideals):
    start()
    try:
        while True:
            pass
    except BaseException:
        raise ValueError("what a library makes of it") from None
scoring.score = score_forever
"""
ON_FIRST_CALL = """
import <module>
called = <module>.<name>
def announced(*arguments, **options):
    start()
    return called(*arguments, **options)
<module>.<name> = announced
"""


def on_first_call(module: str, name: str) -> str:
    """Where the work begins: a signal before that would find nothing to stop."""
    return ON_FIRST_CALL.replace("<module>", module).replace("<name>", name)


NATIVE, SAMPLE = "carouseval._native", ("carouseval.building.sample", "open_output")
FIT = '"fit", "all", "--discount", "d_rpb", "--bootstrap", "1000000", "--out", r"{out}/old.json"'
COMMANDS = {
    "evaluate, in a library": (LIBRARY_ERROR, '"evaluate", new, *tables'),
    "evaluate, solving": (SCORING, '"evaluate", new, *tables, "--per-page", r"{out}/old.parquet"'),
    "evaluate, spilling": (
        SPILLING_COMMAND,
        '"evaluate", new, *tables, "--memory", "1e-6", "--out", r"{out}/old.json"',
    ),
    "compare": (
        on_first_call(NATIVE, "sign_sums"),
        '"compare", "a=" + new, "b=" + prod, *tables, "--permutations", "1000000000"',
    ),
    "explain": (SCORING, '"explain", new, *tables'),
    "simulate": (on_first_call(NATIVE, "draw_pairs"), '"simulate", "--trials", "2000000000"'),
    "simulate in the authors' order": (
        on_first_call("carouseval.paper.draws", "Draws.as_in_paper"),
        '"simulate", "--trials", "2000000000", "--stream", "paper"',
    ),
    "fit": (on_first_call("carouseval.attention.discount_fit", "bootstrap_fit"), FIT),
    "sample": (on_first_call(*SAMPLE), '"sample", r"{out}/many", "--users", "50000000"'),
    "sample over old files": (
        on_first_call(*SAMPLE),
        '"sample", r"{out}", "--users", "50000000", "--format", "csv"',
    ),
}


@pytest.mark.parametrize(("command", "by"), pairs(COMMANDS, [signal.SIGINT, signal.SIGTERM]))
def test_commands_end_with_one_line_and_leave_nothing(command: str, by: signal.Signals, tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("tables", "out", "temporary")}
    folders["out"].mkdir()
    folders["temporary"].mkdir()
    for name in ("old.parquet", "old.json", "items.csv"):
        (folders["out"] / name).write_text("old")
    begin, arguments = COMMANDS[command]
    code = f"{RUN}{begin}\nsys.argv = ['carouseval', {arguments}]\nmain()\n"
    for name, folder in folders.items():
        code = code.replace(f"{{{name}}}", str(folder))
    seconds, status, errors = stopped(code, by, folders["temporary"], delay=0.3)
    word = "interrupted" if by == signal.SIGINT else "terminated"
    assert (status, errors) == (128 + by, f"carouseval: {word}\n")
    assert seconds < 3  # half a second on an idle machine
    assert not list(folders["temporary"].iterdir())
    assert {path.name: path.read_text() for path in folders["out"].iterdir()} == dict.fromkeys(
        ["old.parquet", "old.json", "items.csv"], "old"
    )


def test_the_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of processes that still run stay, as does what has another name."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "carouseval-mine").mkdir()
    with FileLines(2):
        running = {*tmp_path.iterdir()}
        _, status, errors = stopped(SPILLING, signal.SIGKILL, tmp_path)
        assert (status, errors) == (-signal.SIGKILL, "")
        (left,) = {*tmp_path.iterdir()} - running
        assert any(file.stat().st_size for file in left.iterdir())
        with FileLines(2):
            assert not left.exists()
            assert len({*tmp_path.iterdir()} - running) == 1
            assert running < {*tmp_path.iterdir()}
    assert {path.name for path in tmp_path.iterdir()} == {"carouseval-mine"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["score", "--help"], ["simulate", "--trials", "100", "--format", "csv"]]
)
def test_a_reader_that_closes_its_pipe_is_no_error(arguments: list[str]) -> None:
    """As in ``carouseval simulate | head -1``."""
    process = subprocess.Popen(
        [sys.executable, "-m", "carouseval", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(60) == 1
