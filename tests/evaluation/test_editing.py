"""Single pages that are edited have the scores, losses and ideals of whole evaluations."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carouseval as cv
from carouseval.building.sample import Sample
from carouseval.errors import DataError, ParameterError
from carouseval.evaluation.editing.open_pages import OpenPages, PageName
from carouseval.evaluation.editing.page_rows import (
    Fillers,
    IdealCell,
    PageRow,
    arrange,
    lines_of_rows,
    rows_of_lines,
)
from carouseval.evaluation.settings import Settings


@cache
def sample(kind: str) -> tuple[Sample, dict[str, Any]]:
    data = cv.sample(users=25, kind="home" if kind == "home" else "genres", systems=["new", "prod"])
    settings = {"by": "device", "grid": data.grids, "carousels": data.carousels} if kind == "home" else {}
    return data, settings


def open_sample(kind: str, *, with_items: bool = True, **settings: Any) -> OpenPages:
    data, own = sample(kind)
    items = data.items if with_items else None
    return OpenPages({"new": data.layouts["new"]}, data.judgments, items, Settings(**(own | settings)))


def all_pages(pages: OpenPages) -> Iterator[PageName]:
    total, names = pages.find(0, "", 0, 10_000)
    assert total == len(names) == pages.counts()[0]
    yield from names


CASES: list[tuple[str, bool, dict[str, Any]]] = [
    ("home", True, {}),
    ("home", True, {"candidates": "displayed"}),
    ("home", True, {"metrics": ["N2DCG_cat(d_a)@3x5"], "gain": "linear"}),
    ("home", True, {"duplicates": "first", "capacity": "shown"}),
    ("home", True, {"duplicates": "every"}),
    ("genres", False, {}),
    ("genres", True, {"no_relevant": "zero"}),
    ("genres", True, {"metrics": ["N2DCG"]}),
    ("genres", True, {"metrics": ["RR"], "candidates": "displayed"}),
    ("genres", True, {"metrics": ["Recall@3x5"]}),
]


@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")  # about the sample, not about single pages
@pytest.mark.parametrize(("kind", "with_items", "settings"), CASES)
def test_scores_are_those_of_evaluate_to_the_last_digit(kind: str, with_items: bool, settings: dict[str, Any]) -> None:
    data, own = sample(kind)
    chosen = own | {"metrics": ["N2DCG_cat"]} | settings
    tables = data.layouts["new"], data.judgments, data.items if with_items else None
    expected = cv.evaluate(*tables, **chosen).per_page
    (metric,) = chosen["metrics"]
    has_ideal_page = metric.startswith("N2DCG_cat")
    losses = cv.explain(*tables, **chosen).per_page if has_ideal_page else None
    with open_sample(kind, with_items=with_items, **settings) as pages:
        for name in all_pages(pages):
            page = pages.page(0, name.code)
            result = pages.scorer(0, name.code, page.grid).score(page.rows)
            line = expected.row(by_predicate=pl.col("user_id") == name.user_id, named=True)
            assert (result.score, result.status) == (line[metric], line["status"])
            assert result.defects == ()
            assert (result.losses is not None) == has_ideal_page
            if losses is not None and result.losses is not None and result.score is not None:
                line = losses.row(by_predicate=pl.col("user_id") == name.user_id, named=True)
                if line["dcg"] is not None:
                    shares = {loss: line[loss] / line["ideal"] for loss in result.losses}
                    assert (result.value, result.ideal, result.losses) == (line["dcg"], line["ideal"], shares)


@pytest.mark.parametrize(("kind", "with_items", "settings"), [case for case in CASES if "metrics" not in case[2]])
def test_the_ideal_page_scores_1(kind: str, with_items: bool, settings: dict[str, Any]) -> None:
    with open_sample(kind, with_items=with_items, **settings) as pages:
        for name in all_pages(pages):
            page = pages.page(0, name.code)
            scorer = pages.scorer(0, name.code, page.grid)
            before = scorer.score(page.rows)
            if before.ideal and before.gap == 0 and before.status == "scored":
                ideal = scorer.ideal_rows(page.rows)
                after = scorer.score(ideal)
                assert after.score == 1.0
                assert after.ideal == pytest.approx(before.ideal, rel=1e-12)
                assert set(after.defects) <= {"At least one row has a gap."}  # where nothing is left to show
                assert [row.pinned for row in ideal if row.pinned] == [row.pinned for row in page.rows if row.pinned]


def test_an_edited_page_is_judged_by_the_tables_as_they_were_opened() -> None:
    with open_sample("genres", with_items=False) as pages:
        name = next(all_pages(pages))
        page = pages.page(0, name.code)
        scorer = pages.scorer(0, name.code, page.grid)
        first, second, *rest = page.rows
        swapped = [
            first._replace(items=(second.items[0], *first.items[1:])),
            second._replace(items=(first.items[0], *second.items[1:])),
            *rest,
        ]
        result = scorer.score(swapped)
        assert result.defects == ("At least one item is outside its row's category.",)
        assert result.outside == ((0, 0), (1, 0))
        assert result.ideal == scorer.score(page.rows).ideal


def test_settings_are_chosen_page_by_page() -> None:
    with open_sample("genres") as pages:
        name = next(all_pages(pages))
        page = pages.page(0, name.code)
        grid = cv.Grid(12, 20, page_size=4)
        scorer = pages.scorer(0, name.code, grid, metrics=("N2DCG_cat(d_rpb)",), candidates="displayed")
        data, _ = sample("genres")
        layouts = data.layouts["new"].filter(pl.col("user_id") == name.user_id)
        settings: dict[str, Any] = {"grid": grid, "metrics": ["N2DCG_cat(d_rpb)"], "candidates": "displayed"}
        expected = cv.evaluate(layouts, data.judgments, data.items, missing_pages="skip", **settings)
        assert scorer.score(page.rows).score == expected.mean["N2DCG_cat(d_rpb)"]
        assert scorer.weights.shape == (12, 20)
        again = pages.scorer(0, name.code, grid, metrics=("N2DCG_cat(d_rpb)",), candidates="displayed")
        assert again is scorer


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        ([], {}, "layouts: the page has no items; it must show at least one."),
        ([PageRow(0, False, (None, None))], {}, "layouts: the page has no items"),
        ([PageRow(0, False, (1,) * 16)], {}, "layouts: at least one cell lies outside the grid. Use a larger grid"),
        ([PageRow(0, False, (1, 1))], {"duplicates": "error"}, "layouts: at least one item is repeated on its page."),
    ],
)
def test_what_cannot_be_scored_is_refused(rows: list[PageRow], settings: dict[str, Any], message: str) -> None:
    with open_sample("genres") as pages:
        name = next(all_pages(pages))
        with pytest.raises(DataError) as error:
            pages.scorer(0, name.code, cv.RECGAZE, **settings).score(rows)
        assert message in str(error.value)


def test_metrics_that_single_pages_do_not_have_are_refused() -> None:
    data, _ = sample("genres")
    layouts = data.layouts["new"].drop("category")
    settings = Settings(metrics=["2DCG"])
    with OpenPages({"new": layouts}, data.judgments, None, settings) as pages:
        code = next(all_pages(pages)).code
        page = pages.page(0, code)
        with pytest.raises(ParameterError, match="Coverage is a number of a whole system; single pages have none"):
            pages.scorer(0, code, cv.RECGAZE, metrics=("Coverage",))
        with pytest.raises(DataError, match="no table gives the categories of items"):
            pages.scorer(0, code, cv.RECGAZE, metrics=("N2DCG_cat",))
        with pytest.raises(ParameterError, match=r"the ideal of 2DCG is not a page of carousels; use N2DCG_cat"):
            pages.scorer(0, code, cv.RECGAZE).ideal_rows(page.rows)
        displayed = pages.scorer(0, code, cv.RECGAZE, metrics=("N2DCG_cat",), candidates="displayed")
        assert displayed.score(displayed.ideal_rows(page.rows)).score == 1.0  # rows without labels
        assert "category" not in pages.layout(0, code, page.rows).columns


def test_pages_are_found_by_user_and_page() -> None:
    layouts = {
        "user_id": [7, 7, 17, 27],
        "page_id": ["home", "kids", "home", "Home"],
        "row": [1, 1, 1, 1],
        "col": [1, 1, 1, 2],
        "item_id": [1, 2, 3, 3],
        "category": ["a", "a", "a", "a"],
    }
    judgments = {"user_id": [7], "item_id": [2], "relevance": [2]}
    items = {"item_id": [1, 1, 2, 3], "category": ["a", "b", "a", "a"], "title": [None, "One", "Two", None]}
    with OpenPages({"x": layouts, "y": layouts}, judgments, items, Settings()) as pages:
        assert pages.counts() == [4, 4]
        assert [(page.user_id, page.page_id) for page in pages.find(0, "7", 1, 2)[1]] == [("7", "kids"), ("17", "home")]
        assert pages.find(0, "hom", 0, 9)[0] == 3
        assert pages.find(0, "(", 0, 9) == (0, [])
        kids = pages.look_up(1, "7", "kids")
        assert kids is not None
        assert pages.look_up(1, "7", None) == PageName(0, "7", "home")
        assert pages.look_up(1, "8", None) is None
        assert pages.neighbour(0, 3, 1) == 0
        assert pages.neighbour(0, 0, -1) == 3
        page = pages.page(1, kids.code)
        (item,) = page.rows[0].items
        assert item is not None
        assert (page.relevance[item], pages.title(item)) == (2.0, "Two")
        gap = pages.page(0, 3).rows[0].items
        assert gap[0] is None
        assert pages.title(gap[1] or 0) is None
        frame = pages.layout(1, kids.code, page.rows)
        assert frame.rows() == [(7, "kids", 1, 1, 2, "a")]
        assert not pages.has_page(0, 4)
        unjudged = pages.scorer(0, 3, cv.RECGAZE).score(pages.page(0, 3).rows)
        assert (unjudged.score, unjudged.status) == (None, "no_relevant")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"col": [1, 1, 1]}, "layouts: user_id='7': at least one cell appears twice. Each cell holds one item;"),
        ({"pinned": [True, False, True]}, "layouts: user_id='7': at least one row is only partly pinned."),
    ],
)
def test_pages_that_evaluate_refuses_are_refused(changes: dict[str, Any], message: str) -> None:
    layouts = {"user_id": [7, 7, 7], "row": [1, 1, 2], "col": [1, 2, 1], "item_id": [1, 2, 3], "category": list("aab")}
    judgments = {"user_id": [7], "item_id": [2], "relevance": [2]}
    with pytest.raises(DataError):
        cv.evaluate(layouts | changes, judgments)
    with OpenPages({"x": layouts | changes}, judgments, None, Settings()) as pages, pytest.raises(DataError) as error:
        pages.page(0, 0)
    assert str(error.value).startswith(message)


def test_large_tables_in_temporary_files_give_the_same_pages() -> None:
    with open_sample("genres") as in_memory, open_sample("genres", memory=1e-6) as in_files:
        for name in all_pages(in_memory):
            other = in_files.look_up(0, name.user_id, None)
            assert other is not None
            assert in_files.page(0, other.code).rows == in_memory.page(0, name.code).rows


CELLS = st.lists(st.none() | st.integers(0, 50), max_size=8).map(lambda items: [*items, 1])
ROWS = st.lists(st.builds(PageRow, st.none() | st.integers(0, 9), st.booleans(), CELLS.map(tuple)), min_size=1)


@given(ROWS)
def test_rows_and_lines_are_inverses(rows: list[PageRow]) -> None:
    lines = lines_of_rows(rows)
    assert rows_of_lines(lines) == rows
    shuffled = np.random.default_rng(0).permutation(lines)
    assert rows_of_lines(shuffled) == rows


def test_an_arrangement_keeps_pins_and_fills_gaps() -> None:
    rows = [PageRow(5, True, (1,)), PageRow(6, False, (2, 3, 4)), PageRow(7, False, (8,)), PageRow(9, False, (10, 11))]
    cells = [IdealCell(1, 0, 11, 9), IdealCell(2, 0, 20, 3), IdealCell(2, 2, 21, 3)]
    arranged = arrange(rows, [5, 6, 7, 9], cells, cv.Grid(4, 5), lambda _: Fillers([30, 20, 31], 9))
    assert arranged == [
        PageRow(5, True, (1,)),
        PageRow(9, False, (11, 10)),
        PageRow(3, False, (20, 30, 21)),
        PageRow(6, False, (2, 3, 4)),
    ]
    assert arrange(rows, [5, 6, 7, 9], cells, cv.Grid(4, 5))[2] == PageRow(3, False, (20, None, 21))


@pytest.mark.parametrize(("capacity", "length"), [(99, 4), (3, 3), (1, 1)])
def test_a_new_carousel_is_as_long_as_others_if_it_may(capacity: int, length: int) -> None:
    rows = [PageRow(6, False, (2, 3, 4, 5))]
    cells = [IdealCell(0, 0, 20, 3)]
    (row,) = arrange(rows, [6], cells, cv.Grid(1, 5), lambda _: Fillers([30, 31, 32, 33, 34], capacity))
    assert row == PageRow(3, False, (20, 30, 31, 32)[:length])


def test_the_ideal_page_drops_what_its_rows_may_not_show() -> None:
    with open_sample("genres") as pages:
        name = next(all_pages(pages))
        page = pages.page(0, name.code)
        scorer = pages.scorer(0, name.code, page.grid)
        first, second, *rest = page.rows
        swapped = [first._replace(items=second.items), second._replace(items=first.items), *rest]
        assert scorer.score(swapped).defects
        ideal = scorer.score(scorer.ideal_rows(swapped))
        assert (ideal.score, ideal.defects) == (1.0, ())
