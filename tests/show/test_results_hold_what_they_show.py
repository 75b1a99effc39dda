"""Results hold what they show: while they are drawn no table is opened and no kernel called, and files may be gone."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest

import carouseval as cv
from carouseval import _native
from carouseval.evaluation.reading.inputs import JudgedSources
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.results import Reported
from carouseval.show.charts.kinds import kinds_of
from carouseval.show.report.document import without_figures
from carouseval.show.report.kinds import DETAILS, document_function
from carouseval.show.terminal.comparison import comparison as comparison_text
from carouseval.show.terminal.evaluation import evaluation as evaluation_text
from carouseval.show.terminal.explanation import explanation as explanation_text
from carouseval.tables import sources
from carouseval.tables.table import Table

SYSTEMS, GRID = ("prod", "new"), cv.Grid(2, 3, page_size=3, visible_rows=2)
KERNELS = [name for name in dir(_native) if type(getattr(_native, name)).__name__ == "nb_func"]


class ComputedError(Exception):
    """Something was read, solved or scored."""


def refuse(*_: Any, **__: Any) -> NoReturn:
    raise ComputedError


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, str]:
    """Sample tables in files: small pages, which are drawn fast, of items that have titles."""
    data = cv.sample(30, systems=[*SYSTEMS])
    small = {
        name: pages.filter(pl.col("row") <= GRID.rows, pl.col("col") <= GRID.cols)
        for name, pages in data.layouts.items()
    }
    titled = data.items.with_columns(title="The " + pl.col("item_id"))
    paths = {}
    for name, table in {**small, "judgments": data.judgments, "items": titled}.items():
        table.write_parquet(tmp_path / f"{name}.parquet")
        paths[name] = str(tmp_path / f"{name}.parquet")
    return paths


MAKERS: dict[str, Callable[[dict[str, str]], Reported]] = {
    "evaluation": lambda paths: cv.evaluate(paths["new"], paths["judgments"], paths["items"], grid=GRID, by="device"),
    "explanation": lambda paths: cv.explain(paths["new"], paths["judgments"], paths["items"], grid=GRID, by="device"),
    "comparison": lambda paths: cv.compare(
        {name: paths[name] for name in SYSTEMS}, paths["judgments"], paths["items"], grid=GRID, explain=True, test="t"
    ),
}


def terminal_text(result: Any) -> str:
    if isinstance(result, cv.Explanation):
        return explanation_text(result, 5, result.page()).plain
    return (evaluation_text if isinstance(result, cv.Evaluation) else comparison_text)(result).plain


def everything_shown(result: Reported) -> list[Any]:
    """All charts, the report as text and tables, what a terminal and a notebook show, and all formats."""
    charts = [result.chart(kind) for kind in kinds_of(type(result))]
    if isinstance(result, cv.Explanation):
        charts.append(result.chart("page", user_id=result.pages[1].user_id))
    texts = [terminal_text(result), result._repr_html_(), repr(result), result.to_json(), result.to_markdown()]
    document = without_figures(document_function(type(result))(result, DETAILS[0]))
    return [*((chart.title, chart.alt) for chart in charts), document, *texts]


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_computed_while_results_are_shown(
    name: str, tables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = everything_shown(MAKERS[name](tables))
    result = MAKERS[name](tables)
    for path in tables.values():
        Path(path).unlink()
    for kernel in KERNELS:
        monkeypatch.setattr(_native, kernel, refuse)
    for place, function in (
        (sources, "open_source"),
        (Table, "_frame"),
        (JudgedSources, "open_all"),
        (PageIdeals, "of_pages"),
        (PageIdeals, "cells_of_pages"),
    ):
        monkeypatch.setattr(place, function, refuse)
    assert everything_shown(pickle.loads(pickle.dumps(result))) == expected
    drawn = re.findall("<title id=[^>]*>The page of", result.report(tmp_path / "report.html").read_text("utf-8"))
    assert len(drawn) == {"evaluation": 0, "explanation": 4, "comparison": 2}[name]
    with pytest.raises(ComputedError):  # or nothing would have been noticed
        MAKERS[name](tables)


def test_a_page_that_is_not_held_is_read_again(tables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    result = MAKERS["explanation"](tables)
    assert isinstance(result, cv.Explanation)
    held, others = result.pages, result.worst["user_id"].to_list()[-3:]
    assert [view.user_id for view in held] == result.worst.filter(pl.col("dcg") > 0)["user_id"].to_list()[:3]
    assert result.page(held[1].user_id) is held[1]
    other = others[0]
    assert other not in [view.user_id for view in held]
    read = result.page(other)
    assert read.user_id == other
    assert result.chart("page", user_id=other).to_dict() == read.chart().to_dict()
    Path(tables["new"]).unlink()
    message = (
        r"^layouts: .*new\.parquet: No such file or directory\. "
        rf"The page of user_id='{other}' is not one that the explanation holds, so it is read again\.$"
    )
    for ask in (result.page, lambda user: result.chart("page", user_id=user)):
        with pytest.raises(cv.DataError, match=message):
            ask(other)
    assert result.page(held[2].user_id) is held[2]


def test_a_page_that_is_read_again_must_be_the_one_that_was_explained(tables: dict[str, str]) -> None:
    """Other lines under the same ids, as files that are written anew have, are no longer what per_page speaks of."""
    result = MAKERS["explanation"](tables)
    assert isinstance(result, cv.Explanation)
    user = result.worst["user_id"].to_list()[-1]
    before = result.page(user).values
    own, pages = pl.col("user_id") == user, pl.read_parquet(tables["new"])
    pages.filter(~own | (pl.col("col") == 1)).write_parquet(tables["new"])
    said = (
        f"layouts: the page of user_id='{user}' is not the one that was explained: the table has changed since. Call "
        "explain again."
    )
    for ask in (result.page, lambda user: result.chart("page", user_id=user)):
        with pytest.raises(cv.DataError) as refused:
            ask(user)
        assert str(refused.value) == said
    pages.write_parquet(tables["new"])
    assert result.page(user).values == before


def test_the_chart_of_a_page_that_is_named_is_looked_up_before_it_is_drawn(
    tables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawing takes the page it is given; what it does not hold is no part of it."""
    result = MAKERS["explanation"](tables)
    assert isinstance(result, cv.Explanation)
    drawn: list[Any] = []
    monkeypatch.setattr("carouseval.show.charts.kinds.result_chart", lambda *arguments: drawn.append(arguments))
    user = result.worst["user_id"].to_list()[-1]
    result.chart("page", user_id=user)
    ((view, kind, theme, options),) = drawn
    assert isinstance(view, cv.PageView)
    assert (view.user_id, kind, theme, options) == (user, None, "light", {})


def test_a_page_that_is_held_twice_is_drawn_once(tables: dict[str, str], tmp_path: Path) -> None:
    plain = MAKERS["explanation"](tables)
    assert isinstance(plain, cv.Explanation)
    assert plain.typical is not None
    other = plain.worst["user_id"][-1]
    wanted = [plain.pages[0].user_id, plain.typical.user_id, other, other]
    paths = tables["new"], tables["judgments"], tables["items"]
    report = cv.explain(*paths, grid=GRID, by="device", pages=wanted).report(tmp_path / "report.html")
    drawn = re.findall("<title id=[^>]*>The page of", report.read_text("utf-8"))
    assert len(drawn) == 3 + 1 + 1
