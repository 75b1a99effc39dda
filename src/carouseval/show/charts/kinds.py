"""Which charts each result has, its default first; to add one, write a function and name it here."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args

from carouseval.attention.examination import Examination
from carouseval.attention.fit_report import FitReport
from carouseval.attention.model_selection import FormSelection
from carouseval.attention.recgaze_logs import RecgazeLogs
from carouseval.building.event_judgments import EventJudgments
from carouseval.building.greedy_page import BuiltPages
from carouseval.building.marginal_gain import MarginalGains
from carouseval.building.page_summary import PageSummary
from carouseval.comparison.comparison import Comparison
from carouseval.comparison.plan import Plan
from carouseval.comparison.sensitivity import Sensitivity
from carouseval.errors import ParameterError
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.page_view import PageView
from carouseval.evaluation.results import Evaluation
from carouseval.metrics.page_score import PageScore
from carouseval.metrics.validation import did_you_mean, require_choice
from carouseval.show.charts.attention import compared_forms, examination_heatmap, fitted_weights, group_heatmaps
from carouseval.show.charts.building import built_rows, carousel_gains, judgment_grades, shown_categories
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.choices import PaperFigure, Theme
from carouseval.show.charts.comparison import difference_intervals, planned_users, system_intervals, user_differences
from carouseval.show.charts.evaluation import mean_intervals, score_distribution
from carouseval.show.charts.explanation import gain_cells, loss_cells, loss_waterfall
from carouseval.show.charts.fit import fit_chart
from carouseval.show.charts.page import page_of, page_picture
from carouseval.show.charts.page_scores import page_relevances, weight_map
from carouseval.show.charts.paper.agreement import agreement
from carouseval.show.charts.paper.figures import ceiling_figure, paper_figure
from carouseval.show.charts.sensitivity import sensitivity_matrix
from carouseval.study.ceiling_study import CeilingStudy
from carouseval.study.reproduce import Reproduction
from carouseval.study.simulation import Study

KINDS: dict[type, dict[str, Callable[..., Chart]]] = {
    Evaluation: {"distribution": score_distribution, "means": mean_intervals},
    Comparison: {"differences": difference_intervals, "systems": system_intervals, "users": user_differences},
    Sensitivity: {"matrix": sensitivity_matrix},
    Plan: {"users": planned_users},
    Explanation: {"waterfall": loss_waterfall, "losses": loss_cells, "gains": gain_cells, "page": page_of},
    PageView: {"page": page_picture},
    PageScore: {"page": page_relevances, "weights": weight_map},
    MarginalGains: {"gains": carousel_gains},
    BuiltPages: {"rows": built_rows},
    PageSummary: {"categories": shown_categories},
    EventJudgments: {"grades": judgment_grades},
    Examination: {"heatmap": examination_heatmap},
    RecgazeLogs: {"heatmap": group_heatmaps},
    FitReport: {"fit": fit_chart, "weights": fitted_weights},
    FormSelection: {"forms": compared_forms},
    Study: {"agreement": lambda study: agreement({study.mode: study})},
    CeilingStudy: {"ceiling": ceiling_figure},
    Reproduction: {name: partial(paper_figure, name=name) for name in get_args(PaperFigure)},
}


def result_chart(result: object, kind: str | None, theme: Theme, options: Mapping[str, Any]) -> Chart:
    """A chart of a result, of its first kind by default."""
    kinds = next((KINDS[base] for base in type(result).__mro__ if base in KINDS), None)
    if kinds is None:
        raise ParameterError(f"a {type(result).__name__} has no chart.")
    kind = next(iter(kinds)) if kind is None else require_choice("kind", kind, tuple(kinds))
    draw = kinds[kind]
    takes = [] if isinstance(draw, partial) else list(inspect.signature(draw).parameters)[1:]
    for name in options:
        if name not in takes:
            known = f"takes {', '.join(takes)}" if takes else "takes no options"
            hint = did_you_mean(name, takes)
            raise ParameterError(f"a chart of kind {kind!r} {known}, found {name!r}.{hint}")
    return draw(result, **options).with_theme(theme)
