"""Explanations on Spark against one machine, to the bit."""

from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.engines import kept_pages
from tests.engines.spark.notices import ToSpark, with_notices


def test_the_same_explanation(to_spark: ToSpark) -> None:
    data = cv.sample(25, systems=["new"], seed=3, pages=2, devices=True, missing=0.1)
    grid = cv.Grid(rows=20, cols=24, page_size=5)
    tables: tuple[Any, Any, Any] = data.layouts["new"], data.judgments, data.items
    user = pl.DataFrame(data.layouts["new"])["user_id"][-1]
    expected, said = with_notices(lambda: cv.explain(*tables, by="device", pages=[user], grid=grid))
    found, said_there = with_notices(
        lambda: cv.spark.explain(*map(to_spark, tables), by="device", pages=[user], grid=grid, lines_at_once=700)
    )
    assert said_there == said
    assert found.to_dict() == expected.to_dict()
    for table in ("per_page", "cells", "rows"):
        assert_frame_equal(getattr(found, table), getattr(expected, table), check_exact=True)
    for view in (*expected.pages, expected.typical, *expected.named):
        assert view is not None
        assert_frame_equal(found.page(view.user_id, view.page_id).shown, view.shown, check_exact=True)
    others = {view.user_id for view in (*expected.pages, expected.typical, *expected.named) if view is not None}
    with pytest.raises(cv.ParameterError, match="has no tables to read pages from, only those that it holds"):
        found.page(next(one for one in expected.per_page["user_id"] if one not in others))


def test_too_many_pages_do_not_come(to_spark: ToSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    data = cv.sample(5, systems=["new"], seed=3)
    monkeypatch.setattr(kept_pages, "MOST_PAGES", 4)
    with pytest.raises(
        cv.ParameterError, match=r"explain lists all pages, which stay in Spark: 5 pages\. Explain some"
    ):
        cv.spark.explain(to_spark(data.layouts["new"]), to_spark(data.judgments), to_spark(data.items))
