"""The settings ``tolerance`` and ``work``, what is said of ideals that are not proven, and progress meanwhile."""

import itertools
import math
import random
import re
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import polars as pl
import pytest

import carouseval as cv
from carouseval.evaluation.notices import not_proven, rows_not_proven
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.scoring import ideal_problems, page_ideals
from carouseval.evaluation.settings import Settings

GRID = cv.Grid(6, 5, page_size=2)
USERS, LIKED = 12, 40
NOTICE = r"(\d+) ideal pages? could not be proven optimal: .* too low by at most ([\d.]+)%\."


def hard_users() -> dict[str, pl.DataFrame]:
    """Users who like 40 items of two to four categories each, and pages that show some of them, a few twice."""
    rng = random.Random(5)
    categories = {f"i{n}": rng.sample("ABCDEFGHIJKL", rng.randint(2, 4)) for n in range(90)}
    layouts, judgments = [], []
    for user in range(USERS):
        liked = rng.sample(list(categories), LIKED)
        judgments += [(user, item, rng.randint(1, 3)) for item in liked]
        for row, category in enumerate(rng.sample("ABCDEFGHIJKL", 6), 1):
            shown = [item for item in liked if category in categories[item]][:5]
            layouts += [(user, row, col, item, category) for col, item in enumerate(shown, 1)]
    memberships = [(item, category) for item, several in categories.items() for category in several]
    return {
        "layouts": pl.DataFrame(layouts, schema=["user_id", "row", "col", "item_id", "category"], orient="row"),
        "judgments": pl.DataFrame(judgments, schema=["user_id", "item_id", "relevance"], orient="row"),
        "items": pl.DataFrame(memberships, schema=["item_id", "category"], orient="row"),
    }


TABLES: dict[str, Any] = hard_users()
CANDIDATES = TABLES["layouts"].rename({"category": "carousel"}).drop("row")


def evaluate(**settings: Any) -> cv.Evaluation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.DataWarning)
        return cv.evaluate(**TABLES, **({"grid": GRID} | settings))


def notices(function: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [text for warning in caught if "proven" in (text := str(warning.message))]


def test_by_default_ideals_are_proven() -> None:
    assert notices(lambda: cv.evaluate(**TABLES, grid=GRID)) == []
    assert evaluate().counts["bounded"] == 0


@pytest.mark.parametrize("candidates", ["judged", "displayed"])
@pytest.mark.parametrize("tolerance", [0.001, 0.01, 0.1])
def test_ideals_within_the_tolerance(candidates: str, tolerance: float) -> None:
    proven = evaluate(candidates=candidates)
    found = evaluate(candidates=candidates, tolerance=tolerance)
    best = found.per_page.get_column("N2DCG_cat.ideal_found", default=found.per_page["N2DCG_cat.ideal"])
    ideal, bound = proven.per_page["N2DCG_cat.ideal"], found.per_page["N2DCG_cat.ideal"]
    assert (best <= ideal * (1 + 1e-12)).all()
    assert (ideal <= bound * (1 + 1e-12)).all()
    assert (bound <= best * (1 + tolerance) * (1 + 1e-12)).all()
    if tolerance == 0.1:
        assert found.counts["bounded"] > USERS / 2


def test_more_work_bounds_ideals_more_closely() -> None:
    proven = evaluate().per_page["N2DCG_cat.ideal"]
    counts = []
    for work in (0, 0.01, 8000):
        found = evaluate(work=work)
        counts.append(found.counts["bounded"])
        assert (found.per_page["N2DCG_cat.ideal"] >= proven * (1 - 1e-12)).all()
    assert counts[0] >= USERS / 2
    assert sorted(counts, reverse=True) == counts
    assert counts[-1] == 0


@pytest.mark.parametrize("settings", [{}, {"work": 0}, {"work": 0.02}, {"tolerance": 0.02}])
def test_threads_do_not_matter(settings: dict[str, Any]) -> None:
    one, three = (evaluate(threads=threads, **settings) for threads in (1, 3))
    assert one.per_page.equals(three.per_page)


def largest_gap(per_page: pl.DataFrame) -> float:
    return float((1 - per_page["N2DCG_cat.ideal_found"] / per_page["N2DCG_cat.ideal"]).to_numpy().max())


@pytest.mark.parametrize(
    ("settings", "advice"),
    [
        ({"work": 0}, "use work=8000."),
        ({"work": 0, "tolerance": 0.001}, "use work=8000."),
        ({"tolerance": 0.1}, "use tolerance=0."),
    ],
)
def test_the_notice_states_the_largest_gap_and_what_to_do(settings: dict[str, Any], advice: str) -> None:
    found = evaluate(**settings)
    (text,) = notices(lambda: cv.evaluate(**TABLES, grid=GRID, **settings))
    match = re.match(NOTICE, text)
    assert match is not None
    assert int(match[1]) == found.counts["bounded"]
    gap = 100 * largest_gap(found.per_page)
    assert gap <= float(match[2]) <= gap + 0.02  # rounded up
    assert text.endswith(f" To prove more, {advice}")


def test_the_words_of_the_notice() -> None:
    start = "could not be proven optimal: the score there is 2DCG divided by a proven upper bound, and"
    low, more = f"{start} too low by at most", "To prove more, use"
    assert not_proven(1, 2e-5, Settings()) == f"1 ideal page {low} 0.01%. {more} work=80000."
    assert not_proven(3, 0.0123, Settings(tolerance=0.02)) == f"3 ideal pages {low} 1.23%. {more} tolerance=0."
    first = Settings(candidates="displayed", duplicates="first")  # this search has another limit
    assert not_proven(3, 1.0, first) == f"3 ideal pages {low} 100%."


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tolerance": 1}, "tolerance must be a finite number of at least 0 and below 1, found 1."),
        ({"tolerance": "1%"}, "tolerance must be a number, found '1%'."),
        ({"work": -1}, "work must be a finite number of at least 0 and at most 1e+12, found -1."),
        ({"work": float("inf")}, "work must be a finite number of at least 0 and at most 1e+12, found inf."),
    ],
)
def test_what_is_refused(settings: dict[str, Any], message: str) -> None:
    calls: list[Callable[..., Any]] = [
        lambda **more: cv.evaluate(**TABLES, **more),
        lambda **more: cv.marginal_gains(None, CANDIDATES, TABLES["judgments"], TABLES["items"], **more),
        lambda **more: cv.build_pages(CANDIDATES, TABLES["judgments"], TABLES["items"], **more),
    ]
    for call in calls:
        with pytest.raises(cv.ParameterError, match=f"^{re.escape(message)}$"):
            call(**settings)


def test_the_most_work_can_be_counted() -> None:
    assert ScoringPlan.of(Settings(work=1e12)).work_limit == 10**18
    assert ScoringPlan.of(Settings()).work_limit == 8 * 10**9
    assert evaluate(work=1e12).counts["bounded"] == 0


def test_built_pages_and_what_adds_say_it_too() -> None:
    wanted = notices(lambda: cv.evaluate(**TABLES, grid=GRID, work=0))
    arguments = CANDIDATES, TABLES["judgments"], TABLES["items"]
    assert notices(lambda: cv.build_pages(*arguments, rows=2, grid=GRID, work=0)) == wanted
    assert notices(lambda: cv.marginal_gains(None, *arguments, grid=GRID, work=0)) == wanted
    assert notices(lambda: cv.build_pages(*arguments, rows=2, grid=GRID)) == []
    with pytest.warns(cv.DataWarning, match=NOTICE):
        found = cv.marginal_gains(None, *arguments, grid=GRID, tolerance=0.1)
    assert found.counts["bounded"] == evaluate(tolerance=0.1).counts["bounded"] > 0
    assert (found.config["tolerance"], found.config["work"]) == (0.1, 8000)


def test_what_is_added_to_pages_with_pinned_rows_is_divided_by_their_own_bounds() -> None:
    pinned = TABLES["layouts"].filter(pl.col("row") <= 3).with_columns(pinned=pl.col("row") == 1)
    others = CANDIDATES.filter(pl.col("user_id") < 3)
    with pytest.warns(cv.DataWarning, match=NOTICE):
        found = cv.marginal_gains(pinned, others, TABLES["judgments"], TABLES["items"], grid=GRID, work=0)
    with pytest.warns(cv.DataWarning, match=NOTICE):
        pages = cv.evaluate(pinned, TABLES["judgments"], TABLES["items"], grid=GRID, work=0)
    assert found.score == pytest.approx(pages.mean["N2DCG_cat"])
    assert found.counts["bounded"] == pages.counts["bounded"]


ROWS = r"The best order of rows could not be proven on (\d+) pages: by at most ([\d.]+)% of the ideal page's 2DCG, "


def test_explain_says_where_the_loss_to_row_order_is_not_proven() -> None:
    proven = cv.explain(**TABLES, grid=GRID)
    assert notices(lambda: cv.explain(**TABLES, grid=GRID)) == []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cv.explain(**TABLES, grid=GRID, work=0)
    texts = [str(warning.message) for warning in caught]
    (match,) = filter(None, (re.match(ROWS, text) for text in texts))
    assert match.string.endswith(" too high. To prove more, use work=8000.")
    assert int(match[1]) > 0
    most = found.per_page["ideal"] * float(match[2]) / 100
    missed = proven.per_page["row_order"] - found.per_page["row_order"]
    assert (missed > 0.001).any()
    assert (missed <= most + 1e-9).all()


def test_the_limit_of_first_items_cannot_be_raised() -> None:
    text = rows_not_proven(2, 0.0123, Settings(duplicates="first"))
    assert re.match(ROWS, text)
    assert text.endswith("and the loss to the choice of items too high.")


@pytest.mark.parametrize("items_at_once", [1, 40, 150])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"work": 0.02},
        {"tolerance": 0.05, "candidates": "displayed"},
        {"candidates": "displayed", "duplicates": "first"},
        {"candidates": "displayed", "metrics": "N2DCG"},
        {"pinned": True},
    ],
)
def test_parts_do_not_matter(settings: dict[str, Any], items_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ideals are solved between two reports of progress, and if none is asked for."""
    settings = dict(settings)
    layouts = TABLES["layouts"].with_columns(pinned=settings.pop("pinned", False) & (pl.col("row") == 2))
    settings |= {"layouts": layouts, "grid": GRID, "judgments": TABLES["judgments"], "items": TABLES["items"]}
    steps: list[tuple[str, int, int]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.DataWarning)
        whole = cv.evaluate(**settings)
        monkeypatch.setattr(page_ideals, "_MOST_ITEMS", items_at_once)
        parts = cv.evaluate(**settings, threads=1, progress=lambda *step: steps.append(step))
        assert parts.per_page.equals(whole.per_page)
        if "metrics" not in settings:
            explained = cv.explain(**settings, progress=lambda *_: None)
            other = cv.explain(**settings)
            assert explained.per_page.equals(other.per_page)
            assert explained.cells.equals(other.cells)
    solving = [(done, total) for what, done, total in steps if what == "solving"]
    if "candidates" not in settings and items_at_once == 1:
        assert solving == [(done, USERS) for done in range(1, USERS + 1)]


def test_progress_advances_while_ideals_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_ideals, "_MOST_ITEMS", 2 * LIKED)
    monkeypatch.setattr(page_ideals, "_SLOW", math.inf)
    steps: list[tuple[str, int, int]] = []
    cv.evaluate(**TABLES, grid=GRID, threads=1, progress=lambda *step: steps.append(step))
    solving = [(done, total) for what, done, total in steps if what == "solving"]
    assert [done for done, _ in solving] == [2, 4, 6, 8, 10, 12]
    assert {total for _, total in solving} == {USERS}
    assert [what for what, _, _ in steps][-1] == "scoring"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.3, [2, 4, 6, 8, 10, 12]),
        (0.0, [2, 6, 12]),  # more at once where they are easy
        (9.0, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),  # fewer where they are hard
    ],
)
def test_parts_follow_the_time_they_take(seconds: float, expected: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0.0, seconds)
    monkeypatch.setattr(page_ideals, "time", mock.Mock(monotonic=lambda: next(clock)))
    monkeypatch.setattr(page_ideals, "_FIRST_ITEMS", 2 * LIKED)
    done: list[int] = []
    cv.evaluate(
        **TABLES, grid=GRID, threads=1, progress=lambda what, at, _: done.append(at) if what == "solving" else None
    )
    assert done == expected


def test_every_thread_has_an_ideal_to_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_ideals, "_MOST_ITEMS", 1)
    done: list[int] = []
    cv.evaluate(
        **TABLES, grid=GRID, threads=5, progress=lambda what, at, _: done.append(at) if what == "solving" else None
    )
    assert done == [5, 10, 12]


def test_whoever_is_told_of_progress_may_use_the_ideals(monkeypatch: pytest.MonkeyPatch) -> None:
    """None is solved twice."""
    monkeypatch.setattr(page_ideals, "_MOST_ITEMS", LIKED)
    solve, solved = ideal_problems.IdealProblems.solve, []

    def counted(problems: ideal_problems.IdealProblems, *arguments: Any, **named: Any) -> ideal_problems.IdealSolution:
        solved.append(len(problems.open))
        return solve(problems, *arguments, **named)

    monkeypatch.setattr(ideal_problems.IdealProblems, "solve", counted)
    evaluator = cv.Evaluator(TABLES["judgments"], TABLES["items"], grid=GRID, threads=1)
    few = TABLES["layouts"].filter(pl.col("user_id") % 3 > 0)
    inner: list[cv.Evaluation] = []

    def progress(what: str, done: int, total: int) -> None:
        if what == "solving" and not inner:
            inner.append(evaluator.evaluate(few))

    result = evaluator.evaluate(TABLES["layouts"], progress)
    assert sum(solved) == USERS
    assert result.per_page.equals(evaluate().per_page)
