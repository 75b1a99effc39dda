"""Files are written completely or not at all, and keep the permissions and links that their owner has given them."""

import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import carouseval as cv
from carouseval.tables.writing import _unfinished, atomic_folder, check_outputs, write_atomically, write_frame

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits, signals, permissions and links of POSIX")

FRAME = pl.DataFrame({"a": [1, 2]})
SET_UP = """
import os, resource, signal, sys
from pathlib import Path
import polars as pl
import carouseval as cv
from carouseval.tables.writing import write_atomically, write_frame
from carouseval.building.sample import write_sample

folder = Path(sys.argv[1])
frame = pl.DataFrame({"a": range(100_000), "b": [str(7919 * i) for i in range(100_000)]})
data = cv.sample(200, systems=["new"])

def attempt(write):
    try:
        print(write())
    except cv.DataError as error:
        print(error)
"""
FULL_DISK = """
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for suffix in ("parquet", "csv", "ndjson"):
    attempt(lambda: write_frame(folder / f"new.{suffix}", frame))
    attempt(lambda: write_frame(folder / f"old.{suffix}", frame))
attempt(lambda: write_atomically(folder / "text.md", "x" * 100_000))
for format in ("parquet", "csv", "ndjson"):
    attempt(lambda: write_sample(folder / "sample", 200, systems=["new"], format=format))
"""
FULL_TMPDIR = """
resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
attempt(lambda: cv.evaluate(data.layouts["new"], data.judgments, data.items, memory=1e-6))
"""
FEW_FILES = """
expected = cv.evaluate(data.layouts["new"], data.judgments, data.items)
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 10,) * 2)
spilled = cv.evaluate(data.layouts["new"], data.judgments, data.items, memory=1e-6)
print(spilled.per_page.equals(expected.per_page))
"""
WRITERS = """
from carouseval.attention import recgaze_counts

result = cv.evaluate(data.layouts["new"], data.judgments, data.items)
chart = cv.charts.heatmap(recgaze_counts("all").frequencies, "All", cv.RECGAZE, "share of screens")
name = sys.argv[2]
kind = name.partition(".")[2]
if kind in ("parquet", "csv", "ndjson"):
    write = lambda: write_frame(folder / name, frame)
elif kind in ("json", "md", "tex"):
    write = lambda: result.save(folder / name)
elif kind in ("svg", "png", "pdf", "html"):
    write = lambda: chart.save(folder / name)
else:
    write = lambda: write_sample(folder / name, 200, systems=["new"], format="csv")
"""
KILLED = {
    "inside a write": """
# the system ends the process, as it would with SIGKILL, at the first write beyond the limit
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
write()
""",
    "before the file is in place": """
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write()
""",
}


def run(code: str, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SET_UP + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ | environment)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_full_disk_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    """A limit on the size of files fails at the same calls as a full disk."""
    for suffix in ("parquet", "csv", "ndjson"):
        write_frame(tmp_path / f"old.{suffix}", FRAME)
    before = content(tmp_path)
    done = run(FULL_DISK, tmp_path)
    names = [f"{age}.{suffix}" for suffix in ("parquet", "csv", "ndjson") for age in ("new", "old")]
    expected = [f"{tmp_path / name} cannot be written: File too large." for name in (*names, "text.md")]
    *lines, parquet, csv, ndjson = done.stdout.splitlines()
    assert (lines, done.stderr) == (expected, "")
    assert csv == ndjson == f"{tmp_path / 'sample'} cannot be written: File too large."
    # where the end of a Parquet file does not fit, Polars does not say why
    assert parquet.startswith(f"{tmp_path / 'sample'} cannot be written: ")
    assert parquet.endswith(("File too large.", "transport error. Is the disk full?"))
    assert content(tmp_path) == before
    assert not (tmp_path / "sample").exists()


def test_a_full_tmpdir_is_an_error_that_names_it(tmp_path: Path) -> None:
    done = run(FULL_TMPDIR, tmp_path, TMPDIR=str(tmp_path))
    assert (done.stdout, done.stderr) == (
        f"a temporary file in {tmp_path} cannot be written: File too large. Free some space, set TMPDIR to another "
        "folder, or raise the setting memory.\n",
        "",
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
def test_few_open_files_are_enough_for_tables_beyond_the_memory(tmp_path: Path) -> None:
    done = run(FEW_FILES, tmp_path)
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.parametrize(
    ("kind", "when"),
    [
        *((kind, "inside a write") for kind in (".parquet", ".json", ".svg", "")),
        # written as one of those is
        *(pytest.param(kind, "inside a write", marks=pytest.mark.deep) for kind in (".csv", ".ndjson", ".md", ".html")),
        *((kind, "before the file is in place") for kind in (".csv", "")),
    ],
)
def test_a_killed_writer_leaves_the_old_file_and_the_next_one_removes_the_rest(
    tmp_path: Path, kind: str, when: str
) -> None:
    old = tmp_path / (f"old{kind}" if kind else "sample/layouts-new.csv")
    old.parent.mkdir(exist_ok=True)
    old.write_text("old")
    (old.parent / ".old.csv.mine.part").touch()  # a name like ours, but not ours
    output = f"old{kind}" if kind else "sample"
    assert run(WRITERS + KILLED[when], tmp_path, output).returncode in (-signal.SIGKILL, -signal.SIGXFSZ)
    left = {path.name for path in old.parent.iterdir()} - {".old.csv.mine.part", old.name}
    assert len(left) == 1 + (when != "inside a write" and not kind)
    assert all(name.startswith(".") and "part" in name for name in left)
    assert old.read_text() == "old"
    done = run(WRITERS + "write()", tmp_path, output)
    assert (done.returncode, done.stderr) == (0, "")
    assert old.stat().st_size > 100
    assert {path.name for path in old.parent.glob(".*")} == {".old.csv.mine.part"}


def test_files_that_are_being_written_stay(tmp_path: Path) -> None:
    with atomic_folder(tmp_path) as folder, _unfinished(tmp_path / "same.csv") as unfinished:
        unfinished.write_text("first")
        (folder / "other.csv").write_text("first")
        with atomic_folder(tmp_path) as second:
            write_frame(second / "new.csv", FRAME)
        write_frame(tmp_path / "same.csv", FRAME)
    assert {path.name for path in tmp_path.iterdir()} == {"same.csv", "new.csv", "other.csv"}
    assert (tmp_path / "same.csv").read_text() == "first"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o666])
def test_an_existing_file_keeps_its_permissions(tmp_path: Path, bits: int) -> None:
    for name in ("old.csv", "old.md", "in_folder.csv"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(bits)
    write_frame(tmp_path / "old.csv", FRAME)
    write_atomically(tmp_path / "old.md", "text")
    with atomic_folder(tmp_path) as folder:
        write_frame(folder / "in_folder.csv", FRAME)
    assert {path.name: mode(path) for path in tmp_path.iterdir()} == dict.fromkeys(
        ["old.csv", "old.md", "in_folder.csv"], bits
    )
    assert min(path.stat().st_size for path in tmp_path.iterdir()) > 0


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    assert mode(write_frame(tmp_path / "new.csv", FRAME)) == mode(tmp_path / "other")


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "links").mkdir()
    targets = [tmp_path / "real" / name for name in ("old.csv", "new.csv", "in_folder.csv")]
    targets[0].write_text("old")
    links = [tmp_path / "links" / target.name for target in targets]
    for link, target in zip(links, targets, strict=True):
        link.symlink_to(target)
    for link in links[:2]:
        assert write_frame(link, FRAME) == link
    with atomic_folder(tmp_path / "links") as folder:
        write_frame(folder / "in_folder.csv", FRAME)
    for link, target in zip(links, targets, strict=True):
        assert link.is_symlink()
        assert not target.is_symlink()
        assert pl.read_csv(target).equals(FRAME)
    assert len(list(tmp_path.rglob("*.*"))) == 6  # nothing else


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "loop.csv"
    link.symlink_to(link)
    with pytest.raises(cv.DataError, match=r"loop\.csv cannot be written: it is a link that leads to itself\."):
        write_frame(link, FRAME)
    assert link.is_symlink()


@pytest.mark.parametrize("inputs", ["tables", "tables/*.csv", "tables/sub/../*.csv"])
def test_inputs_in_a_folder_are_not_overwritten(inputs: str, tmp_path: Path) -> None:
    (tmp_path / "tables" / "sub").mkdir(parents=True)
    table = write_frame(tmp_path / "tables" / "one.csv", FRAME)
    with pytest.raises(cv.DataError, match=r"one\.csv is one of the input tables; write to another file\."):
        check_outputs(table, inputs=[tmp_path / inputs])
    check_outputs(tmp_path / "tables" / "new.csv", inputs=[tmp_path / inputs, None])


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "folder.csv").mkdir()
    for name, reason in {
        "pipe": "it is not a regular file",
        "folder": "it is a folder. Give a file to write to",
    }.items():
        with pytest.raises(cv.DataError, match=rf"{name}\.csv cannot be written: {reason}\."):
            write_frame(tmp_path / f"{name}.csv", FRAME)
    assert (tmp_path / "pipe.csv").is_fifo()


def test_all_files_are_written_here() -> None:
    """Whoever writes a file on its own forgets the full disk.

    Samples are written in parts, inside an atomic folder; uploads into a temporary one; exports of the studio nowhere.
    """
    source = Path(cv.__file__).parent
    writes = re.compile(
        r"\.(write_(parquet|csv|ndjson|json|text|bytes)|sink_\w+|touch|save_image)\b|open\([^)]*[\"'][wax]\+?b?[\"']"
    )
    writers = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        for line in path.read_text().splitlines()
        if writes.search(line) and not line.lstrip().startswith((">>>", "..."))
    }
    studio = {"show/studio/routes.py", "show/studio/uploads.py"}
    assert writers == {"tables/writing.py", "building/sample.py", "evaluation/reading/packed_lines.py"} | studio
