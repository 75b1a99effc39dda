"""One of every result that has charts, computed once."""

from functools import cache
from typing import Any

import polars as pl

import carouseval as cv
from carouseval.building.page_summary import PageSummary
from carouseval.metrics.page_score import score_page
from carouseval.result_base import Charted

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


@cache
def results() -> dict[str, Charted]:
    """One of every class that has charts."""
    judgments, items = data().judgments, data().items
    counts = cv.attention.recgaze_counts("bratislava")
    events = {"user_id": [1, 1, 2], "item_id": [7, 8, 7], "minutes": [30.0, 0.5, 4.0]}
    found = [
        cv.evaluate(data().layouts["new"], judgments, items, by="device"),
        comparison(),
        comparison().plan(0.02),
        cv.sensitivity(data().layouts, judgments, items, discounts=["d_a", "d_t"]),
        explanation(),
        explanation().page(),
        score_page([[0, 0, 1, 3], [2, 0, 1]], ["N2DCG_cat", "Precision"]),
        cv.what_adds(None, candidates(), judgments, items),
        cv.build_pages(candidates(), judgments, items, rows=4),
        PageSummary.of(data().layouts["new"], {}),
        cv.judgments_from_events(events, "minutes", grades=(1, 10, 45)),
        counts,
        cv.attention.RecgazeLogs({"bratislava": counts}, {}, (), pl.DataFrame()),
        cv.attention.fit_discount(cv.attention.FitData.read("bratislava"), "d_mir"),
        cv.attention.choose_form(counts, forms=["rows and columns", "six"]),
        cv.simulate(["d_a", "d_rpd"], truth=counts, trials=200),
        cv.reproduce(),
    ]
    reproduction: Any = found[-1]
    found.append(reproduction.ceiling_study)
    return {type(result).__name__: result for result in found}
