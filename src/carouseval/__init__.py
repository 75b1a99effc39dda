"""Offline evaluation of pages of carousels: the metric of "Revisiting N2DCG" (CIKM '26), exact and fast.

>>> import carouseval as cv
>>> page = [[3, 0, 1], [0, 2]]  # relevance; a row is a carousel, and carousels may differ in length
>>> round(cv.n2dcg_cat(page), 4)
0.9597
"""

from typing import TYPE_CHECKING

import carouseval.forks  # noqa: F401  # forks are watched from now on, before any table is read
from carouseval.lazy_names import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from carouseval import attention as attention
    from carouseval import behavior as behavior
    from carouseval import building as building
    from carouseval import charts as charts
    from carouseval import comparison as comparison
    from carouseval import discounts as discounts
    from carouseval import errors as errors
    from carouseval import evaluation as evaluation
    from carouseval import metrics as metrics
    from carouseval import paper as paper
    from carouseval import spark as spark
    from carouseval.building.event_judgments import EventJudgments as EventJudgments
    from carouseval.building.event_judgments import judgments_from_events as judgments_from_events
    from carouseval.building.from_scores import pages_from_scores as pages_from_scores
    from carouseval.building.greedy_page import BuiltPages as BuiltPages
    from carouseval.building.greedy_page import build_pages as build_pages
    from carouseval.building.marginal_gain import MarginalGains as MarginalGains
    from carouseval.building.marginal_gain import marginal_gains as marginal_gains
    from carouseval.building.run_files import read_run as read_run
    from carouseval.building.run_files import scores_from_arrays as scores_from_arrays
    from carouseval.building.sample import Sample as Sample
    from carouseval.building.sample import sample as sample
    from carouseval.comparison.compare import compare as compare
    from carouseval.comparison.comparison import Comparison as Comparison
    from carouseval.comparison.power_analysis import PowerAnalysis as PowerAnalysis
    from carouseval.comparison.power_analysis import users_needed as users_needed
    from carouseval.comparison.sensitivity import Sensitivity as Sensitivity
    from carouseval.comparison.sensitivity import sensitivity as sensitivity
    from carouseval.errors import CarousevalError as CarousevalError
    from carouseval.errors import DataError as DataError
    from carouseval.errors import DataWarning as DataWarning
    from carouseval.errors import ParameterError as ParameterError
    from carouseval.errors import ParseError as ParseError
    from carouseval.evaluation.check import check as check
    from carouseval.evaluation.check_result import Check as Check
    from carouseval.evaluation.evaluate import Evaluator as Evaluator
    from carouseval.evaluation.evaluate import evaluate as evaluate
    from carouseval.evaluation.explain import explain as explain
    from carouseval.evaluation.explanation import Explanation as Explanation
    from carouseval.evaluation.page_view import PageView as PageView
    from carouseval.evaluation.results import Evaluation as Evaluation
    from carouseval.evaluation.tables_from_layouts import carousels_from_layouts as carousels_from_layouts
    from carouseval.evaluation.tables_from_layouts import items_from_layouts as items_from_layouts
    from carouseval.metrics.array_functions import dcg2d as dcg2d
    from carouseval.metrics.array_functions import n2dcg as n2dcg
    from carouseval.metrics.array_functions import n2dcg_cat as n2dcg_cat
    from carouseval.metrics.grid import DESKTOP as DESKTOP
    from carouseval.metrics.grid import PHONE as PHONE
    from carouseval.metrics.grid import RECGAZE as RECGAZE
    from carouseval.metrics.grid import TV as TV
    from carouseval.metrics.grid import Grid as Grid
    from carouseval.metrics.ideal import ideal_dcg2d as ideal_dcg2d
    from carouseval.metrics.ideal import ideal_layout as ideal_layout
    from carouseval.metrics.names import metric as metric
    from carouseval.paper.reproduce import Reproduction as Reproduction
    from carouseval.paper.reproduce import reproduce as reproduce
    from carouseval.paper.simulation import Study as Study
    from carouseval.paper.simulation import simulate as simulate
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "building.event_judgments": ("EventJudgments", "judgments_from_events"),
            "building.from_scores": ("pages_from_scores",),
            "building.greedy_page": ("BuiltPages", "build_pages"),
            "building.marginal_gain": ("MarginalGains", "marginal_gains"),
            "building.run_files": ("read_run", "scores_from_arrays"),
            "building.sample": ("Sample", "sample"),
            "comparison.compare": ("compare",),
            "comparison.comparison": ("Comparison",),
            "comparison.power_analysis": ("PowerAnalysis", "users_needed"),
            "comparison.sensitivity": ("Sensitivity", "sensitivity"),
            "errors": ("CarousevalError", "DataError", "DataWarning", "ParameterError", "ParseError"),
            "evaluation.check": ("check",),
            "evaluation.check_result": ("Check",),
            "evaluation.evaluate": ("Evaluator", "evaluate"),
            "evaluation.explain": ("explain",),
            "evaluation.explanation": ("Explanation",),
            "evaluation.page_view": ("PageView",),
            "evaluation.results": ("Evaluation",),
            "evaluation.tables_from_layouts": ("carousels_from_layouts", "items_from_layouts"),
            "metrics.grid": ("DESKTOP", "Grid", "PHONE", "RECGAZE", "TV"),
            "metrics.ideal": ("ideal_dcg2d", "ideal_layout"),
            "metrics.names": ("metric",),
            "metrics.array_functions": ("dcg2d", "n2dcg", "n2dcg_cat"),
            "paper.reproduce": ("Reproduction", "reproduce"),
            "paper.simulation": ("Study", "simulate"),
        },
        subpackages=(
            "attention",
            "behavior",
            "building",
            "charts",
            "comparison",
            "discounts",
            "errors",
            "evaluation",
            "metrics",
            "paper",
            "spark",
        ),
    )
