"""Categories that each user has alone: they stay with their users, however many these are."""

import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.engines.spark import engine, personal_carousels
from carouseval.engines.spark.report_lines import report_of as report_of_spark
from tests.depth import gate_or_deep
from tests.engines.spark.notices import ToSpark, with_notices
from tests.engines.spark.test_evaluate import assert_same


def tables(users: int) -> dict[str, pl.DataFrame]:
    """Two rows for each user: a category of everyone, and one of their own."""
    rng = np.random.default_rng(users)
    user = np.repeat(np.arange(users), 8)
    row, col = np.tile(np.repeat([1, 2], 4), users), np.tile(np.arange(4) + 1, 2 * users)
    own = [f"for {one}" for one in user]
    layouts = pl.DataFrame({"user_id": user, "row": row, "col": col}).with_columns(
        item_id=np.where(row == 1, rng.permuted(np.tile(np.arange(40), (users, 1)), axis=1)[:, :8].ravel(), 100 + col),
        category=pl.when(pl.col("row") == 1).then(pl.lit("top")).otherwise(pl.Series(own)),
    )
    judged = pl.DataFrame(
        {"user_id": np.repeat(np.arange(users), 6), "item_id": np.tile([1, 2, 101, 102, 103, 104], users)}
    )
    mine = layouts.filter(pl.col("row") == 2).select("item_id", "category", "user_id")
    items = pl.concat(
        [pl.DataFrame({"item_id": np.arange(40), "category": "top", "user_id": None}), mine], how="vertical_relaxed"
    )
    carousels = mine.select("category", "user_id").unique(maintain_order=True).with_columns(capacity=3, personal=True)
    shared = pl.DataFrame({"category": ["top"], "user_id": None, "capacity": 4, "personal": None})
    return {
        "layouts": layouts,
        "judgments": judged.with_columns(relevance=pl.Series(rng.integers(1, 4, judged.height).astype(float))),
        "items": items,
        "carousels": pl.concat([shared, carousels], how="vertical_relaxed"),
    }


@pytest.mark.parametrize(
    ("capacity", "given"),
    [
        ("grid", ()),
        ("grid", ("items", "carousels")),
        ("shown", ("items", "carousels")),
        *(
            pytest.param(capacity, (one,), marks=pytest.mark.deep)
            for capacity in ("grid", "shown")
            for one in ("items", "carousels")
        ),
        pytest.param("shown", (), marks=pytest.mark.deep),
    ],
)
def test_many_are_known_to_their_users_alone(
    to_spark: ToSpark, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], capacity: str
) -> None:
    monkeypatch.setattr(personal_carousels, "_MANY", 0)
    data = tables(12)
    settings: dict[str, Any] = {"capacity": capacity, "grid": cv.Grid(3, 4), "invalid": "count"}
    if "carousels" in given:
        settings["carousels"] = data["carousels"]
    items = data["items"] if "items" in given else None
    assert_same(to_spark, data["layouts"], data["judgments"], items, lines_at_once=20, **settings)


def test_one_that_another_user_is_shown_is_known_to_all(to_spark: ToSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_carousels, "_MANY", 0)
    data = tables(12)
    data["layouts"] = data["layouts"].with_columns(pl.col("category").replace({"for 5": "for 7"}))
    settings: dict[str, Any] = {"grid": cv.Grid(3, 4), "carousels": data["carousels"]}
    with pytest.raises(cv.DataError, match="'for 7' is for other users only"):
        cv.evaluate(data["layouts"], data["judgments"], **settings)
    settings["carousels"] = to_spark(data["carousels"])
    with pytest.raises(cv.DataError, match="'for 7' is for other users only"):
        cv.spark.evaluate(to_spark(data["layouts"]), to_spark(data["judgments"]), lines_at_once=20, **settings)


@pytest.mark.parametrize("with_items", [pytest.param(True, marks=pytest.mark.deep), False])
def test_the_driver_does_not_hear_of_them(to_spark: ToSpark, monkeypatch: pytest.MonkeyPatch, with_items: bool) -> None:
    monkeypatch.setattr(personal_carousels, "_MANY", 0)
    reported: list[list[int]] = []  # by number of users: what each pass reports

    def report_of(results: Any) -> Any:
        report = report_of_spark(results)
        reported[-1].append(len(pickle.dumps(report)))
        return report

    monkeypatch.setattr(engine, "report_of", report_of)
    for users in (30, gate_or_deep(120, 600)):
        reported.append([])
        data = tables(users)
        frames = {name: to_spark(table) for name, table in data.items()}
        settings: dict[str, Any] = {"grid": cv.Grid(3, 4), "carousels": frames["carousels"]}
        items = frames["items"] if with_items else None
        result, _ = with_notices(
            lambda: cv.spark.evaluate(frames["layouts"], frames["judgments"], items, invalid="count", **settings)  # noqa: B023
        )
        result.unpersist()
    few, many = reported
    assert len(few) == len(many) >= 2
    assert all(now < 1.2 * before for before, now in zip(few, many, strict=True))
