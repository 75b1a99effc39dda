"""One of every result that has charts, computed once, when it is asked for."""

from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl

import carouseval as cv
from carouseval.building.page_summary import PageSummary
from carouseval.metrics.page_score import score_page
from carouseval.results import Charted
from tests.reproduction import reproduction

ITEMS = {"item_id": [10, 11, 12], "category": ["new", "new", "drama"]}
LAYOUTS = {"user_id": [1, 1, 1], "row": [1, 1, 2], "col": [1, 2, 1], **ITEMS}
JUDGMENTS = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
NOT_RELEVANT = {"user_id": [1], "item_id": [11], "relevance": [0]}


@cache
def data() -> cv.Sample:
    return cv.sample(60, systems=["prod", "new", "random"])


@cache
def comparison() -> cv.Comparison:
    metrics = ["N2DCG_cat", "NDCG@10"]
    options: dict[str, Any] = {"by": "device", "baseline": "prod", "test": "t", "metrics": metrics}
    return cv.compare(data().layouts, data().judgments, data().items, **options)


@cache
def explanation() -> cv.Explanation:
    return cv.explain(data().layouts["new"], data().judgments, data().items)


@cache
def candidates() -> pl.DataFrame:
    return data().layouts["new"].select("user_id", "col", "item_id", "category", carousel="category")


def _counts() -> cv.attention.Examination:
    return cv.attention.recgaze_counts("bratislava")


EVENTS = {"user_id": [1, 1, 2], "item_id": [7, 8, 7], "minutes": [30.0, 0.5, 4.0]}
RESULTS: dict[str, Callable[[], Charted]] = {
    "Evaluation": lambda: cv.evaluate(data().layouts["new"], data().judgments, data().items, by="device"),
    "Comparison": comparison,
    "PowerAnalysis": lambda: comparison().plan(0.02),
    "Sensitivity": lambda: cv.sensitivity(data().layouts, data().judgments, data().items, discounts=["d_a", "d_t"]),
    "Explanation": explanation,
    "PageView": lambda: explanation().page(),
    "PageScore": lambda: score_page([[0, 0, 1, 3], [2, 0, 1]], ["N2DCG_cat", "Precision"]),
    "MarginalGains": lambda: cv.marginal_gains(None, candidates(), data().judgments, data().items),
    "BuiltPages": lambda: cv.build_pages(candidates(), data().judgments, data().items, rows=4),
    "PageSummary": lambda: PageSummary.of(data().layouts["new"], {}),
    "EventJudgments": lambda: cv.judgments_from_events(EVENTS, "minutes", grades=(1, 10, 45)),
    "Examination": _counts,
    "RecgazeLogs": lambda: cv.attention.RecgazeLogs({"bratislava": _counts()}, {}, (), pl.DataFrame()),
    "SearchReport": lambda: cv.attention.fit_discount(cv.attention.FitData.read("bratislava"), "d_mir"),
    "FormSelection": lambda: cv.attention.choose_form(_counts(), forms=["rows and columns", "six"]),
    "Study": lambda: cv.simulate(["d_a", "d_rpd"], truth=_counts(), trials=200),
    "Reproduction": reproduction,
    "CeilingStudy": lambda: reproduction().ceiling_study,
}


@cache
def result_of(name: str) -> Charted:
    """A result by the name of its class. One at a time: a worker that draws a few need not compute them all."""
    found = RESULTS[name]()
    assert type(found).__name__ == name
    return found
