"""Paths of looks: read from tables, against counting by hand; their likelihood, against a loop; and scans recovered."""

import contextlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carouseval as cv
from carouseval.attention import (
    Paths,
    examination_from_screens,
    fit_paths,
    path_log_likelihood,
    paths_from_screens,
    read_recgaze,
)
from carouseval.attention.likelihood import LikelihoodFit
from carouseval.attention.path_fit import PathProblem
from carouseval.metrics.browsing.scan import MarkovScan
from tests.behavior.browsing_oracle import draw_scan, scan_start, scan_steps
from tests.command_line import run
from tests.paper.raw_logs import KEPT, A, B, aoi, event, final_click, movie, write

GRID = cv.Grid(rows=2, cols=3, page_size=2)
TABLE = "screen,row,col\na,1,1\na,1,3\nb,1.0,1\na,1,3\nb,2,2\na,1,1\n"


def read(folder: Path, text: str | bytes, **options: Any) -> Paths:
    path = folder / "pilot.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return paths_from_screens(path, **{"grid": GRID, **options})


def looks(paths: Paths) -> list[list[tuple[int, int]]]:
    """The cells of each screen, in order, rows and columns from 1."""
    out: list[list[tuple[int, int]]] = [[] for _ in range(int(paths.screen[-1]) + 1)]
    for screen, cell in zip(paths.screen.tolist(), paths.cell.tolist(), strict=True):
        row, col = divmod(cell, paths.grid.cols)
        out[screen].append((row + 1, col + 1))
    return out


def as_paths(screens: list[list[tuple[int, int]]], blank: int = 0, grid: cv.Grid = GRID, **options: Any) -> Paths:
    """Paths from cells counted from 1, with looks at one cell in a row as one."""
    screen, cell = [], []
    for number, cells in enumerate(screens):
        for place, (row, col) in enumerate(cells):
            if place == 0 or cells[place - 1] != (row, col):
                screen.append(number)
                cell.append((row - 1) * grid.cols + col - 1)
    return Paths("by hand", grid, np.array(screen), np.array(cell), len(screens) + blank, **options)


# --- tables ---


def test_looks_are_in_the_order_of_lines(tmp_path: Path) -> None:
    paths = read(tmp_path, TABLE)
    assert looks(paths) == [[(1, 1), (1, 3), (1, 1)], [(1, 1), (2, 2)]]  # twice in a row is once, again later is again
    assert (paths.name, paths.screens, paths.participant) == ("pilot", 2, None)
    named = read(tmp_path, TABLE, screens=5, name="lab")
    assert (named.name, named.screens, looks(named)) == ("lab", 5, looks(paths))


def test_time_comes_before_the_order_of_lines(tmp_path: Path) -> None:
    text = "time,screen,row,col\n10,a,2,1\n9.5,a,1,1\n1e1,a,2,2\n-3,a,1,3\n9.5,a,1,2\n"
    assert looks(read(tmp_path, text)) == [
        [(1, 3), (1, 1), (1, 2), (2, 1), (2, 2)]
    ]  # lines decide where times are equal


@given(st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_shuffled_lines_with_times_give_the_same_paths(tmp_path_factory: Any, random: Any) -> None:
    steps = [(screen, time, time // 2 % 2 + 1, (time * screen) % 3 + 1) for screen in (1, 2) for time in range(8)]
    folder = tmp_path_factory.mktemp("shuffled")

    def table() -> str:
        return "screen,time,row,col\n" + "".join(f"{','.join(map(str, step))}\n" for step in steps)

    expected = looks(read(folder, table()))
    random.shuffle(steps)
    assert looks(read(folder, table())) == expected


def test_participants_may_number_their_screens_anew(tmp_path: Path) -> None:
    lines = ["participant,screen,row,col", "q,1,1,1", "p,1,2,2", "q,2,1,3", "p,1,2,1", "q,1,1,2", "q,2,1,3"]
    paths = read(tmp_path, "\n".join(lines))
    assert looks(paths) == [[(2, 2), (2, 1)], [(1, 1), (1, 2)], [(1, 3)]]
    assert paths.participant is not None
    assert paths.participant.tolist() == [0, 1, 1]
    seen = paths.examination()
    assert (seen.screens, seen.participants) == (3, 2)


def test_a_screen_that_begins_where_another_ended_begins_anew(tmp_path: Path) -> None:
    assert looks(read(tmp_path, "screen,row,col\na,1,1\na,1,2\nb,1,2\nb,1,2\n")) == [[(1, 1), (1, 2)], [(1, 2)]]


@pytest.mark.parametrize("text", ["\ufeff" + TABLE, TABLE.replace("\n", "\r\n"), TABLE + "\n\n", TABLE[:-1]])
def test_forms_of_csv(tmp_path: Path, text: str) -> None:
    assert looks(read(tmp_path, text)) == [[(1, 1), (1, 3), (1, 1)], [(1, 1), (2, 2)]]


@pytest.mark.parametrize("kind", [pl.Int64, pl.Float64, pl.String, pl.UInt8])
def test_parquet_of_any_number_type(tmp_path: Path, kind: Any) -> None:
    frame = pl.DataFrame(
        {"time": [2, 1, 3], "screen": [7, 7, 8], "row": [1, 2, 2], "col": [3, 3, 3], "extra": ["", "", ""]}
    )
    frame.with_columns(pl.col("time", "row", "col").cast(kind)).write_parquet(tmp_path / "a table")
    assert looks(paths_from_screens(str(tmp_path / "a table"), GRID)) == [[(2, 3), (1, 3)], [(2, 3)]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TABLE + "b,3,1\n", r": column row, line 8: found '3'\. A row is an integer from 1 to 2 on the 2x3 grid\."),
        (TABLE + "b,0,1\nb,3,1\n", r": column row, line 8: found '0' \(2 such lines\)\."),
        (TABLE + "b,1,4\n", r": column col, line 8: found '4'\. A col is an integer from 1 to 3 on the 2x3 grid\."),
        (TABLE + "b,1.5,1\n", r": column row, line 8: found '1\.5'\."),
        (TABLE + "b,,1\n", r": column row, line 8: found nothing\."),
        (TABLE + ",1,1\n", r": column screen, line 8: found nothing\. Every line needs a screen\."),
        ("screen,row,col,participant\na,1,1,\n", r": column participant, line 2: found nothing\. Every line needs a"),
        (
            "screen,row,col,time\na,1,1,1\na,1,2,\n",
            r": column time, line 3: found nothing\. A time is a number, or",
        ),
        (
            "screen,row,col,time\na,1,1,noon\n",
            r": column time, line 2: found 'noon'\. A time is a number, or",
        ),
        ("screen,row,col,time\na,1,1,nan\na,1,1,inf\n", r": column time, line 2: found 'nan' \(2 such lines\)\."),
        (TABLE + "b,1", r": line 8 is cut off: it has 2 fields, the header has 3\."),
        ("", r" is empty\."),
        ("a,1,1\n", r": missing columns screen, row, col; it has a, 1, 1\. Write one line per fixation"),
        (b"PAR1screen", r" cannot be parsed as Parquet: "),
        (b"\xff\xfes\x00", r": missing columns .* It is not in UTF-8\. Save it as UTF-8\."),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(cv.DataError, match=r"pilot\.csv" + message):
        read(tmp_path, text)


def test_bad_parquet_is_refused(tmp_path: Path) -> None:
    frame = pl.DataFrame({"screen": [1, 1], "row": [1, 1], "col": [1, 2], "time": [1.0, None]})
    frame.write_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        cv.DataError, match=r"t\.parquet: column time, record 2: found nothing\. A time is a number, or"
    ):
        paths_from_screens(tmp_path / "t.parquet", GRID)


def test_the_number_of_screens_is_checked(tmp_path: Path) -> None:
    with pytest.raises(cv.DataError, match=r"column screen has 2 screens, but the number of screens is given as 1\."):
        read(tmp_path, TABLE, screens=1)
    with pytest.raises(cv.ParameterError, match=r"screens must be an integer of at least 1, found 0\."):
        read(tmp_path, TABLE, screens=0)
    with pytest.raises(cv.DataError, match=r"pilot has no fixations\. Write one line per fixation: screen, row, col\."):
        read(tmp_path, "screen,row,col\n")
    with pytest.raises(cv.DataError, match=r"none\.csv: No such file or directory\."):
        paths_from_screens(tmp_path / "none.csv", GRID)


def test_paths_are_checked_as_they_are_made() -> None:
    none, twice = np.zeros(0, np.int64), np.zeros(2, np.int64)
    with pytest.raises(cv.DataError, match=r"mine: every step needs a screen and a cell"):
        Paths("mine", GRID, none, none, 1)
    with pytest.raises(cv.DataError, match=r"mine: consecutive fixations on one cell are one step; drop the repeats\."):
        Paths("mine", GRID, twice, twice, 1)
    with pytest.raises(cv.DataError, match=r"mine: screen must be numbered 0, 1, 2, \.\.\. in ascending order"):
        Paths("mine", GRID, np.array([1, 0]), np.array([0, 1]), 2)
    with pytest.raises(cv.DataError, match=r"mine: cell must be numbered row by row from 0 on the"):
        Paths("mine", GRID, np.array([0]), np.array([99]), 1)
    with pytest.raises(cv.DataError, match=r"mine: participant must have an entry for each screen with steps"):
        Paths("mine", GRID, np.array([0]), np.array([0]), 1, np.array([0, 1]))
    mine = Paths("mine", GRID, np.array([0]), np.array([0]), 1)
    with pytest.raises(cv.ParameterError, match=r"takes Paths, then the discount; found MarkovScan first"):
        path_log_likelihood(MarkovScan(), mine)  # type: ignore[arg-type]
    with pytest.raises(cv.ParameterError, match=r"have a likelihood under d_scan only, found d_rcb\("):
        path_log_likelihood(mine, "d_rcb")
    assert path_log_likelihood(mine, "d_scan") == path_log_likelihood(mine, MarkovScan())
    with pytest.raises(cv.ParameterError, match=r"fit_paths needs scan paths, such as paths_from_screens"):
        fit_paths(np.ones((2, 3)))  # type: ignore[arg-type]


# --- what they come to ---

lines = st.lists(
    st.tuples(st.sampled_from("pq"), st.integers(1, 3), st.integers(1, 2), st.integers(1, 3)), min_size=1, max_size=25
)


@given(lines, st.booleans(), st.sampled_from([None, 9]))
@settings(max_examples=40)
def test_paths_count_like_screens(
    tmp_path_factory: Any, lines: list[tuple[str, int, int, int]], people: bool, screens: int | None
) -> None:
    names = ["participant", "screen", "row", "col"][not people :]
    text = ",".join(names) + "\n" + "".join(",".join(map(str, line[not people :])) + "\n" for line in lines)
    path = tmp_path_factory.mktemp("same") / "pilot.csv"
    path.write_text(text)
    ours = paths_from_screens(path, GRID, screens).examination()
    assert ours.to_dict() == examination_from_screens(path, GRID, screens).to_dict()


def test_steps_by_hand() -> None:
    """On 6 cells a step is 7 times the cell it leaves plus the one it leads to, 6 for away; a start leaves cell 6."""
    walk = PathProblem(as_paths([[(1, 1), (1, 2), (1, 1), (1, 2)], [(1, 2)], [(1, 1), (2, 3)]]))
    assert dict(zip(walk.kinds.tolist(), walk.counts.tolist(), strict=True)) == {
        0 * 7 + 1: 2,
        0 * 7 + 5: 1,
        1 * 7 + 0: 1,
        1 * 7 + 6: 2,
        5 * 7 + 6: 1,
        6 * 7 + 0: 2,
        6 * 7 + 1: 1,
    }


# --- likelihood ---


def by_loop(parameters: dict[str, float], grid: cv.Grid, screens: list[list[tuple[int, int]]], blank: int) -> float:
    """Screen by screen, look by look; staying at a cell is no step, and all others are that much likelier."""
    total = blank * math.log(1 - parameters["e"]) if blank else 0.0
    for cells in screens:
        total += math.log(scan_start(parameters, grid)[cells[0]])
        for here, there in zip(cells, [*cells[1:], None], strict=True):
            if here == there:
                continue
            steps = scan_steps(parameters, grid, here)
            stay = sum(step.probability for step in steps if step.to == here)
            total += math.log(sum(step.probability for step in steps if step.to == there) / (1 - stay))
    return total


SCAN = {
    "e": 0.85,
    "back": 0.3,
    "swipe": 0.25,
    "swipe_on": 0.5,
    "swipe_back": 0.4,
    "scroll": 0.3,
    "scroll_back": 0.15,
    "lost": 0.2,
    "leave": 0.2,
    "row_spread": 0.3,
    "page_spread": 0.5,
    "wrap": 1,
}


def drawn(
    grid: cv.Grid, people: int, seed: int, changed: dict[str, float] | None = None
) -> tuple[list[list[tuple[int, int]]], int]:
    """The looks of people drawn, counted from 1, and how many did not look at all."""
    paths = draw_scan(SCAN | (changed or {}), grid, np.random.default_rng(seed), people)
    there = [[(row + 1, col + 1) for row, col in path] for path in paths if path]
    return there, people - len(there)


@pytest.mark.parametrize(
    "grid",
    [GRID, cv.Grid(3, 5, page_size=2), cv.Grid(1, 3, page_size=3), cv.Grid(2, 1), cv.Grid(3, 5, page_size=(1, 2, 9))],
)
@pytest.mark.parametrize("changed", [{}, {"wrap": 0}, {"lost": 5.0, "back": 0.0}])
def test_the_likelihood_against_a_loop(grid: cv.Grid, changed: dict[str, float]) -> None:
    screens, blank = drawn(grid, 40, seed=1)
    parameters = SCAN | changed  # one may get lost under all of them, so that whatever was drawn can be
    expected = by_loop(parameters, grid, screens, blank)
    assert blank > 0
    assert path_log_likelihood(as_paths(screens, blank, grid), MarkovScan(**parameters)) == pytest.approx(
        expected, rel=1e-12
    )


def test_steps_away_from_a_cell_are_all_there_is() -> None:
    """The chances of all paths of up to many looks on two cells add up to 1."""
    grid, scan = cv.Grid(1, 2), MarkovScan(e=0.9, lost=0.3, leave=0.9, row_spread=0.5, back=0.4)
    total = 0.0
    for begin in (1, 2):
        path = [(1, begin)]
        for _ in range(40):
            total += math.exp(path_log_likelihood(as_paths([path], grid=grid), scan))
            path = [*path, (1, 3 - path[-1][1])]
    assert total == pytest.approx(0.9, rel=1e-9)  # the rest looks at nothing


def test_what_cannot_be_has_no_likelihood() -> None:
    scan = MarkovScan(lost=0)
    assert path_log_likelihood(as_paths([[(1, 1), (1, 2)]]), scan) > -math.inf
    assert path_log_likelihood(as_paths([[(1, 1), (2, 3)]]), scan) == -math.inf


# --- fits ---


@pytest.mark.parametrize("people", [None, 60])
def test_a_scan_is_recovered_from_the_paths_of_people(people: int | None) -> None:
    grid = cv.Grid(2, 6, page_size=2)  # of fewer than three swipe pages, swipe_on and wrap are known only together
    screens, blank = drawn(grid, 3000, seed=4)
    owner = None if people is None else np.arange(len(screens)) % people
    paths = as_paths(screens, blank, grid, participant=owner)
    fit = fit_paths(paths, ci=0.999)
    assert fit.converged
    assert fit.values["e"] == pytest.approx(len(screens) / 3000, abs=1e-6)
    for name, ends in fit.intervals.items():
        if name != "wrap":  # at its bound in truth, where it has no interval around it
            assert ends is not None
            assert ends.low < SCAN[name] < ends.high, name
            assert ends.high / ends.low < 1.6, name  # not for want of knowing anything
    assert fit.values["wrap"] > 0.8
    assert isinstance(fit.discount, MarkovScan)
    assert fit.log_likelihood == pytest.approx(path_log_likelihood(paths, fit.discount), rel=1e-12)
    assert fit.log_likelihood > path_log_likelihood(paths, MarkovScan(**SCAN))
    assert fit.saturated > fit.log_likelihood
    said = "clustered by participant (60 participants)" if people else "screens treated as independent, too narrow"
    assert said in fit.interval_method


def test_people_who_never_swipe_from_the_last_page_to_the_first() -> None:
    screens, blank = drawn(cv.Grid(2, 6, page_size=2), 2000, seed=5, changed={"wrap": 0})
    paths = as_paths(screens, blank, cv.Grid(2, 6, page_size=2))
    fit = fit_paths(paths)
    assert fit.log_likelihood > path_log_likelihood(paths, MarkovScan(**SCAN | {"wrap": 0})) - 1
    assert fit.values["wrap"] < 0.1


def test_one_screen_that_begins_elsewhere_does_not_spoil_the_others() -> None:
    """A scan begins on row 1, page 1; a screen that does not is refused, or weighs no more than others."""
    screens, blank = drawn(GRID, 1000, seed=6)
    usual = fit_paths(as_paths(screens, blank))
    with contextlib.suppress(cv.DataError):
        fit = fit_paths(as_paths([*screens, [(2, 1), (2, 2)]], blank))
        assert math.isfinite(fit.log_likelihood)
        assert fit.values["leave"] == pytest.approx(usual.values["leave"], rel=0.05)


def test_nothing_nearby_is_likelier() -> None:
    screens, blank = drawn(GRID, 500, seed=2)
    paths = as_paths(screens, blank)
    fit = fit_paths(paths)
    for name, value in fit.values.items():
        for factor in (0.97, 1 / 0.97):
            share = name in MarkovScan.decays + MarkovScan.shares
            moved = fit.values | {name: min(value * factor, 1.0) if share else value * factor}
            assert path_log_likelihood(paths, MarkovScan(**moved)) <= fit.log_likelihood + 1e-6, name


# --- RecGaze ---

FIXATIONS = [
    event(A, 1, 2, movie(1, 1)),
    event(A, 1, 1, movie(1, 3)),
    event(A, 1, 1, movie(1, 4)),  # at the same time: lines decide
    event(A, 1, 2.5, aoi("Genre", 2)),  # a heading is no movie
    event(A, 1, 3, movie(1, 1)),  # still there
    event(A, 1, 4, movie(2, 5), click=movie(1, 1)),
    event(A, 1, 5, movie(9, 9)),  # after the click
    event(A, 2, 1, movie(3, 6)),
    event(A, 2, 2, click=movie(3, 6)),
    event(A, 3, 1, movie(4, 4)),  # nothing clicked
    event(B, 1, 1, movie(10, 15)),
    event(B, 1, 2, movie(10, 14)),
    event(B, 1, 3, click=movie(10, 15)),
]
CLICKS = [final_click(A, 1), final_click(A, 2, KEPT[1]), final_click(B, 1)]
BRATISLAVA = [[(1, 3), (1, 4), (1, 1), (2, 5)], [(3, 6)]]


def test_looks_of_the_raw_logs_by_hand(tmp_path: Path) -> None:
    logs = read_recgaze(*write(tmp_path, FIXATIONS, CLICKS))
    assert looks(logs.paths("bratislava")) == BRATISLAVA
    assert looks(logs.paths("amsterdam")) == [[(10, 15), (10, 14)]]
    everybody = logs.paths("all")
    assert looks(everybody) == [*BRATISLAVA, [(10, 15), (10, 14)]]
    assert everybody.participant is not None
    assert everybody.participant.tolist() == [0, 0, 1]
    for group in ("bratislava", "amsterdam", "all"):
        paths = logs.paths(group)
        assert (paths.name, paths.grid, paths.screens) == (group, cv.RECGAZE, logs.groups[group].screens)
        np.testing.assert_array_equal(paths.examination().counts, logs.groups[group].counts)


def test_looks_are_saved_for_other_commands(tmp_path: Path) -> None:
    files = write(tmp_path, FIXATIONS, CLICKS)
    shown = run("recgaze", *map(str, files), "--out", str(tmp_path / "out"))
    assert shown.returncode == 0, shown.stderr
    table = tmp_path / "out" / "looks.parquet"
    frame = pl.read_parquet(table)
    assert frame.columns == ["participant", "screen", "time", "row", "col"]
    assert frame["participant"].unique().sort().to_list() == ["KInIT_1", "UvA_2"]
    first = frame.filter(participant="KInIT_1", screen=1)
    assert first.select("time", "row", "col").rows() == [(1, 1, 3), (1, 1, 4), (2, 1, 1), (3, 1, 1), (4, 2, 5)]
    assert looks(paths_from_screens(table, cv.RECGAZE)) == [*BRATISLAVA, [(10, 15), (10, 14)]]
    shown = run("examination", str(table), "--grid", "recgaze", "-f", "json")
    assert shown.returncode == 0, shown.stderr
    counted = json.loads(shown.stdout)
    assert counted["counts"] == json.loads((tmp_path / "out" / "all.json").read_text())["counts"]


def test_a_scan_is_fitted_to_saved_looks(tmp_path: Path) -> None:
    events = [
        event(f"KInIT_{user}", task, time, movie(row, col))
        for user in (1, 2, 3)
        for task in (1, 2)
        for time, (row, col) in enumerate([(1, 1), (1, 2), (1, 1), (2, task), (1, user)])
    ]
    events += [event(f"KInIT_{user}", task, 9, click=movie(1, 1)) for user in (1, 2, 3) for task in (1, 2)]
    clicks = [final_click(f"KInIT_{user}", task) for user in (1, 2, 3) for task in (1, 2)]
    logs = read_recgaze(*write(tmp_path, events, clicks))
    logs.save(tmp_path)
    shown = run("fit", str(tmp_path / "looks.parquet"), "--grid", "recgaze", "--model", "d_scan", "-f", "json")
    assert shown.returncode == 0, shown.stderr
    content = json.loads(shown.stdout)
    fit = fit_paths(logs.paths("bratislava"))
    assert content["parameters"] == pytest.approx(fit.discount.parameters, rel=1e-9)
    assert content["train"]["log_likelihood_per_path"] == pytest.approx(fit.log_likelihood / 6, rel=1e-9)
    assert "clustered by participant (3 participants)" in content["interval_method"]


@pytest.mark.parametrize(
    "times",
    [
        ["2026-01-31T12:00:00.250", "2026-01-31T12:00:00.500", "2026-01-31T11:59:59"],
        ["2026-01-31 12:00:00.250Z", "2026-01-31 12:00:00.500Z", "2026-01-31T13:59:59+02:00"],
        ["2026-01-31 12:00", "2026-01-31T12:01Z", "2026-01-31 11:59"],
        [1.25, 1.5, -3],
    ],
)
def test_times_are_numbers_or_dates(times: list[Any]) -> None:
    looks = {"screen": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], "time": [str(time) for time in times]}
    paths = paths_from_screens(looks, GRID)
    assert paths.cell.tolist() == [GRID.cols, 0, 1]
    frame = pl.DataFrame(looks)
    if "T" in str(times[0]) and "+" not in "".join(map(str, times)):
        frame = frame.with_columns(pl.col("time").str.to_datetime())  # as Parquet would have them
    assert paths_from_screens(frame, GRID).cell.tolist() == paths.cell.tolist()
    assert repr(paths).startswith("Paths('table', 3 steps on 1 screens")
    with pytest.raises(cv.DataError, match=r"table: missing column row; it has screen, col"):
        paths_from_screens({"screen": [1], "col": [1]}, GRID)
    with pytest.raises(cv.ParameterError, match=r"table must be a table .* or a path, found int\."):
        paths_from_screens(3, GRID)  # type: ignore[arg-type]


def test_blank_screens_are_no_participants() -> None:
    """One person's screens are no sample of people, however many screens are blank; e is a share of screens."""
    screens, _ = drawn(GRID, 150, seed=9)
    free = as_paths(screens, 20)
    count = free.screens_with_steps

    def with_people(people: Any) -> LikelihoodFit:
        return fit_paths(Paths("people", GRID, free.screen, free.cell, free.screens, people))

    one, several = with_people(np.zeros(count, np.int64)), with_people(np.arange(count) % 12)
    nobody = fit_paths(free)
    assert one.intervals == nobody.intervals
    assert one.interval_method == nobody.interval_method
    assert "(12 participants)" in several.interval_method
    assert any("of the 20 screens without any fixation are unknown" in text for text in several.limitations)
    ours, theirs = several.intervals["e"], nobody.intervals["e"]
    assert ours is not None
    assert theirs is not None
    assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.25)  # t in place of z, no more


def test_every_screen_has_a_look() -> None:
    screens, _ = drawn(GRID, 100, seed=10)
    fit = fit_paths(as_paths(screens, 0))
    assert "Every screen has a fixation, so that e is 1" in " ".join(fit.limitations)
    assert not any(said.startswith("e ") for said in fit.limitations + fit.interval_warnings)


@pytest.mark.parametrize(
    ("people", "message"),
    [
        ([-1, 0, 0], "participant must be numbered 0, 1, 2"),
        ([0, 2, 2], "participant must be numbered 0, 1, 2"),
        ([0.5, 1.7, 1], "participant must be a list of integers"),
    ],
)
def test_participants_are_numbered(people: list[Any], message: str) -> None:
    with pytest.raises(cv.DataError, match=message):
        Paths("x", GRID, np.array([0, 1, 2]), np.array([0, 1, 0]), 3, np.array(people))
    with pytest.raises(cv.DataError, match="screen must be a list of integers"):
        Paths("x", GRID, np.array([[0]]), np.array([[0]]), 1)


def test_a_spread_at_its_bound_does_not_blur_the_others() -> None:
    """People who always land at the edge: row_spread runs to 0, and says nothing about how often they scroll."""
    screens, _ = drawn(GRID, 600, seed=11, changed={"row_spread": 0.0, "lost": 0.0})
    free = as_paths(screens, 0)
    people = np.arange(free.screens_with_steps) % 30
    by_people = fit_paths(Paths("people", GRID, free.screen, free.cell, free.screens, people))
    nobody = fit_paths(free)
    assert by_people.intervals["row_spread"] is None
    for name in ("scroll", "swipe", "leave", "back"):
        ours, theirs = by_people.intervals[name], nobody.intervals[name]
        assert ours is not None
        assert theirs is not None
        # screens were dealt to people at random
        assert 0.5 < (ours.high - ours.low) / (theirs.high - theirs.low) < 1.8
