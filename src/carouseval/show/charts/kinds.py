"""Which charts each result has, its default first: the one list behind ``chart(kind)`` and ``--chart-kind``.

To add a chart, write a function of (result, options) in a file beside this one and name it here: results, help texts
and commands have it from then on. Nothing is imported until a chart is drawn, for the command line to load fast.
"""

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from carouseval.errors import ParameterError
from carouseval.validation import did_you_mean, require_choice

if TYPE_CHECKING:
    from carouseval.show.charts.chart import Chart

Theme: TypeAlias = Literal["light", "dark"]
"""The colours of a chart."""


class Kind(NamedTuple):
    """A chart of a result."""

    function: str  # its module in carouseval, and its name
    shows: str  # what it draws, in a few words

    def load(self) -> "Callable[..., Chart]":
        """The function that draws it."""
        module, _, name = self.function.rpartition(".")
        function: Callable[..., Chart] = getattr(import_module(f"carouseval.{module}"), name)
        return function


# by the name of the result's class, or of one of its bases
KINDS: dict[str, dict[str, Kind]] = {
    "Evaluation": {
        "distribution": Kind("show.charts.evaluation.score_distribution", "the scores of users"),
        "means": Kind("show.charts.evaluation.mean_intervals", "means by metric and segment"),
    },
    "Comparison": {
        "differences": Kind("show.charts.comparison.difference_intervals", "differences between systems"),
        "systems": Kind("show.charts.comparison.system_intervals", "the means of systems"),
        "users": Kind("show.charts.comparison.user_differences", "how the scores of users differ"),
    },
    "Sensitivity": {"matrix": Kind("show.charts.comparison.sensitivity_matrix", "the order of systems by variation")},
    "PowerAnalysis": {"users": Kind("show.charts.comparison.planned_users", "differences by the number of users")},
    "Explanation": {
        "waterfall": Kind("show.charts.explanation.loss_waterfall", "from the ideal page to the score"),
        "losses": Kind("show.charts.explanation.loss_cells", "losses by cell"),
        "gains": Kind("show.charts.explanation.gain_cells", "gains by cell"),
        "page": Kind("show.charts.page.page_of", "one page beside its ideal"),
    },
    "PageView": {"page": Kind("show.charts.page.page_picture", "a page beside its ideal")},
    "PageScore": {
        "page": Kind("show.charts.page_scores.page_relevances", "the page beside its ideal"),
        "weights": Kind("show.charts.page_scores.weight_map", "the weights of its cells"),
    },
    "MarginalGains": {"gains": Kind("show.charts.building.carousel_gains", "what each carousel adds")},
    "BuiltPages": {"rows": Kind("show.charts.building.built_rows", "what each row adds")},
    "PageSummary": {"categories": Kind("show.charts.building.shown_categories", "where categories are shown")},
    "EventJudgments": {"grades": Kind("show.charts.building.judgment_grades", "how many judgments have each grade")},
    "Examination": {"heatmap": Kind("show.charts.attention.examination_heatmap", "how often cells are examined")},
    "RecgazeLogs": {"heatmap": Kind("paper.figures.charts.group_heatmaps", "how often each group examines cells")},
    "FitReport": {
        "fit": Kind("show.charts.fit.fit_chart", "the data beside the model"),
        "weights": Kind("show.charts.attention.fitted_weights", "the weights of the fitted discount"),
    },
    "FormSelection": {"forms": Kind("show.charts.attention.compared_forms", "how well forms fit")},
    "Study": {"agreement": Kind("paper.figures.charts.study_agreement", "how often discounts agree with attention")},
    "CeilingStudy": {"ceiling": Kind("paper.figures.charts.ceiling_figure", "how close a discount can come")},
    "Reproduction": {
        "figure2": Kind("paper.figures.charts.figure2", "the paper's Figure 2: fitted discounts and test data"),
        "figure1": Kind("paper.figures.charts.figure1", "the paper's Figure 1: patterns of attention"),
        "agreement": Kind("paper.figures.charts.table2_agreement", "the paper's Table 2"),
        "examination": Kind("paper.figures.charts.both_groups", "the data"),
        "discounts": Kind("paper.figures.charts.fitted_discounts", "the weights of discounts"),
        "ceiling": Kind("paper.figures.charts.ceiling_of_paper", "how close a discount can come"),
        "fit": Kind("paper.figures.charts.fit_of_paper", "d_rpb and the ceiling beside the test data"),
    },
}


def kinds_of(result: type) -> dict[str, Kind]:
    """The charts of a result's class; none for a result that is a table of text."""
    return next((KINDS[base.__name__] for base in result.__mro__ if base.__name__ in KINDS), {})


def listed_kinds() -> str:
    """The charts of each result that has several."""
    return " ".join(f"{name}: {', '.join(kinds)}." for name, kinds in KINDS.items() if len(kinds) > 1)


def result_chart(result: object, kind: str | None, theme: Theme, options: Mapping[str, Any]) -> "Chart":
    """A chart of a result, of its first kind by default."""
    kinds = kinds_of(type(result))
    if not kinds:
        raise ParameterError(f"a {type(result).__name__} has no chart.")
    kind = next(iter(kinds)) if kind is None else require_choice("kind", kind, tuple(kinds))
    draw = kinds[kind].load()
    takes = list(inspect.signature(draw).parameters)[1:]
    for name in options:
        if name not in takes:
            known = f"takes {', '.join(takes)}" if takes else "takes no options"
            hint = did_you_mean(name, takes)
            raise ParameterError(f"a chart of kind {kind!r} {known}, found {name!r}.{hint}")
    return draw(result, **options).with_theme(theme)
