"""Pages beyond what the page draws are cut, and ideals beyond what can be proven in time are bounded; both are said."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

import carouseval as cv
from carouseval.evaluation.settings import Settings
from carouseval.show.studio import messages
from carouseval.show.studio import workspace as module
from carouseval.show.studio.server import create_app
from carouseval.show.studio.uploads import Uploads
from carouseval.show.studio.workspace import StudioTables, Workspace
from tests.show.studio.conftest import ADDRESS, PORT
from tests.show.studio.test_interface import CHOICES


@contextmanager
def studio_of(
    layouts: pl.DataFrame, judgments: pl.DataFrame, items: pl.DataFrame | None, **options: Any
) -> Iterator[tuple[TestClient, dict[str, Any]]]:
    """A studio with these tables, and the question about the score of their first page."""
    settings = Settings(**options)
    workspace, uploads = Workspace(StudioTables({"new": layouts}, judgments, items, settings, ""), settings), Uploads()
    with TestClient(create_app(workspace, uploads, PORT), base_url=ADDRESS, headers={"origin": ADDRESS}) as client:
        page = client.get("/api/page").json()
        question = {"data": workspace.revision, "system": 0, "code": page["code"], "rows": page["rows"]}
        yield client, question | {"choices": CHOICES}
    uploads.close()
    workspace.close()


def large_tables() -> tuple[pl.DataFrame, pl.DataFrame]:
    """A page whose last row is 201 and whose last column is 501; three of its items are relevant."""
    cells = [(row, 1) for row in range(1, 202)] + [(1, col) for col in range(2, 502)]
    layouts = pl.DataFrame(cells, schema=["row", "col"], orient="row").with_columns(
        user_id=1, item_id=pl.int_range(pl.len()), category="row"
    )
    return layouts, pl.DataFrame({"user_id": 1, "item_id": [3, 200, 700], "relevance": [1, 2, 3]})


def test_the_upper_left_of_a_page_that_is_too_large_is_scored() -> None:
    layouts, judgments = large_tables()
    with studio_of(layouts, judgments, None, grid=cv.Grid(250, 501)) as (client, question):
        page = client.get("/api/page").json()
        assert [len(page["rows"]), len(page["rows"][0]["items"])] == [200, 500]
        assert (page["screen"]["rows"], page["screen"]["cols"]) == (200, 500)
        assert page["notice"] == (
            "This screen has 250 rows and 501 columns. Drawn, scored and exported are its first 200 rows and 500 "
            "columns, as if it ended there; use carouseval explain for the whole."
        )
        score = client.post("/api/score", json=question).json()
        assert client.post("/api/weights", json=question).status_code == 200
    part = layouts.filter(pl.col("row") <= 200, pl.col("col") <= 500)
    items = layouts.select("item_id", "category")
    assert score["score"] == cv.evaluate(part, judgments, items, grid=cv.Grid(200, 500)).mean["N2DCG_cat"]


def test_a_page_of_the_largest_screen_is_whole() -> None:
    layouts, judgments = large_tables()
    layouts = layouts.filter(pl.col("row") <= 200, pl.col("col") <= 500)
    with studio_of(layouts, judgments, None, grid=cv.Grid(200, 500)) as (client, _):
        assert client.get("/api/page").json()["notice"] is None


@cache
def hard_tables() -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """A page of items with three categories each, whose ideal is far from proven after a few steps."""
    random = np.random.default_rng(0)
    categories = np.concatenate([random.choice(16, 3, replace=False) for _ in range(200)])
    items = pl.DataFrame({"item_id": np.repeat(np.arange(200), 3), "category": categories})
    shown = items.filter(pl.col("category") < 10).group_by("category", maintain_order=True).head(15)
    layouts = shown.select(
        "item_id", "category", user_id=1, row=pl.col("category") + 1, col=pl.int_range(1, pl.len() + 1).over("category")
    )
    judged = random.choice(200, 80, replace=False)
    return layouts, pl.DataFrame({"user_id": 1, "item_id": judged, "relevance": random.integers(1, 5, 80)}), items


def test_a_bounded_ideal_is_said_with_its_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WORK", 0.01)
    with studio_of(*hard_tables()) as (client, question):
        answer = client.post("/api/score", json=question).json()
    assert answer["bounded"] is True
    with pytest.warns(cv.DataWarning, match="could not be proven optimal") as warnings:
        evaluation = cv.evaluate(*hard_tables(), work=0.01)
    assert answer["score"] == evaluation.mean["N2DCG_cat"]
    gap = next(word for word in str(warnings[0].message).split() if word.endswith("%."))
    assert answer["notices"] == [
        "The ideal page could not be proven optimal: the score is divided by a proven upper bound, and too low by at "
        f"most {gap} To prove more, start the studio with --work 80000."
    ]


def test_more_work_is_not_suggested_where_it_does_not_help() -> None:
    (notice,) = messages._bound_notices(0.015, Settings(candidates="displayed", duplicates="first"))
    assert notice.endswith("too low by at most 1.5%.")
    assert messages._bound_notices(0.0, Settings()) == []


@pytest.mark.parametrize(
    ("work", "rows", "items", "limit"),
    [
        (8000.0, 10, 10, 1000.0),
        (8000.0, 10, 2000, 250.0),
        (8000.0, 200, 2000, 62.5),
        (8000.0, 10, 0, 1000.0),
        (5.0, 10, 10, 5.0),
        (80_000.0, 200, 2000, 80_000.0),
    ],
)
def test_the_work_for_an_ideal_is_limited_unless_more_is_asked_for(
    work: float, rows: int, items: int, limit: float
) -> None:
    layouts = pl.DataFrame({"user_id": [1, 1], "row": 1, "col": [1, 2], "item_id": [0, 1], "category": "new"})
    judgments = pl.DataFrame({"item_id": np.arange(max(items, 1)), "relevance": 1})
    judgments = judgments.with_columns(user_id=pl.lit(1 if items else 2))
    settings = Settings(work=work, grid=cv.Grid(rows, 15))
    workspace = Workspace(StudioTables({"new": layouts}, judgments, None, settings, ""), settings)
    scorer = workspace.scorer(0, 0, workspace.offer.read(CHOICES))
    assert scorer.plan.settings.work == limit
    workspace.close()
