"""One report of every result, written once, when it is asked for."""

from collections.abc import Callable
from functools import cache
from typing import Any

import carouseval as cv
from carouseval.results import Reported
from carouseval.show.report.kinds import report_html
from tests.reproduction import reproduction

COMMAND = "carouseval report prod=prod.parquet new=new.parquet judgments.parquet"


@cache
def data() -> cv.Sample:
    return cv.sample(60, systems=["prod", "new"])


@cache
def comparison() -> cv.Comparison:
    options: dict[str, Any] = {"by": "device", "baseline": "prod", "metrics": ["N2DCG_cat", "NDCG@10"]}
    return cv.compare(data().layouts, data().judgments, data().items, permutations=999, **options)


@cache
def explanation(system: str = "new") -> cv.Explanation:
    return cv.explain(data().layouts[system], data().judgments, data().items, by="device")


@cache
def sensitivity() -> cv.Sensitivity:
    return cv.sensitivity(data().layouts, data().judgments, data().items, discounts=["d_a", "d_t"])


@cache
def evaluation() -> cv.Evaluation:
    metrics = ["N2DCG_cat", "Coverage", "NDCG@10"]
    return cv.evaluate(data().layouts["new"], data().judgments, data().items, by="device", metrics=metrics)


def _compared() -> dict[str, Any]:
    explanations = {name: explanation(name) for name in ("prod", "new")}
    compared = {"explanations": explanations, "sensitivity": sensitivity()}
    return compared | {"notices": ["judgments: a warning."], "command": COMMAND}


RESULTS: dict[str, Callable[[], tuple[Reported, dict[str, Any]]]] = {  # each with what else belongs in its report
    "evaluation": lambda: (evaluation(), {"explanation": explanation()}),
    "evaluation alone": lambda: (evaluation(), {}),
    "comparison": lambda: (comparison(), _compared()),
    "comparison alone": lambda: (comparison(), {}),
    "explanation": lambda: (explanation(), {}),
    "sensitivity": lambda: (sensitivity(), {}),
    "reproduction": lambda: (reproduction(), {}),
}
NAMES = tuple(RESULTS)


@cache
def report(name: str) -> str:
    result, parts = RESULTS[name]()
    return report_html(result, None, parts)
