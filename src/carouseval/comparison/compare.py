"""Which system is better, and is the difference significant? Systems are paired by user and share their ideals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from carouseval.comparison.comparison import Comparison
from carouseval.comparison.comparison_sums import PairKey, PairPart
from carouseval.comparison.finish import finish_comparison
from carouseval.comparison.pair_tests import PairTests, PairUsers
from carouseval.comparison.result_columns import NAMES
from carouseval.comparison.scored_runs import evaluate_runs, sum_up
from carouseval.comparison.settings import ComparisonDict, ComparisonSettings
from carouseval.comparison.systems import all_runs
from carouseval.comparison.user_scores import HeldUsers
from carouseval.errors import ParameterError
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import JudgedSources
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.systems import Systems, by_system
from carouseval.messages import setting
from carouseval.progress import Progress
from carouseval.settings import checked_settings, takes
from carouseval.tables.table import TableLike


@takes(ComparisonSettings, Settings)
def compare(
    systems: Systems,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    explain: bool = False,
    progress: Progress | None = None,
    **settings: Unpack[ComparisonDict],
) -> Comparison:
    """Compare systems on the same users and against the same ideal pages, with significance tests.

    Parameters
    ----------
    systems : dict of str to TableLike
        The layouts of each system by its name: ``{"prod": layouts, "new": layouts}``. A list of layouts holds several
        runs of one system, such as models trained with different seeds, on the same users; see ``runs``.
    judgments : TableLike
        Lines of ``user_id, item_id, relevance`` (+ ``page_id``), as for :func:`carouseval.evaluate`.
    items : TableLike, optional
        Lines of ``item_id, category``. By default the pairs that appear in the layouts of any system.
    explain : bool, default False
        Also find out what the first run of each system loses by the first ``N2DCG_cat`` among the metrics, as
        :func:`carouseval.explain` does, against the ideals of the comparison; a report then has it.
    progress : Progress, optional
        A function called with (what, done, total) while tables are read and scored.

    Returns
    -------
    Comparison
        The mean of each system and the difference, interval and p-value of each pair.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.sample(200, systems=["new", "random"])
    >>> result = cv.compare(data.layouts, data.judgments, data.items, baseline="random", permutations=999)
    >>> result.pairs.select("system", "p", "significant").row(0)
    ('new', 0.001, True)
    """
    choices, options = checked_settings("compare", settings, ComparisonSettings, Settings)
    plan = ScoringPlan.of(options)
    layouts = all_runs(systems, choices.baseline)
    tests = PairTests.of(choices, plan, {name: len(of_system) for name, of_system in by_system(layouts).items()})
    check_names(plan)
    sources = JudgedSources(judgments, items, plan)
    explained = _explained(plan) if explain else None
    runs, scored = evaluate_runs(sources, layouts, progress, compared=True, explained=explained)
    runs.warn()
    p: dict[PairKey, float] = {}

    def test(group: Mapping[PairKey, PairPart], users: Sequence[PairUsers]) -> None:
        p.update(zip(group, tests.p_values(users, [part.sums for part in group.values()]), strict=True))

    part, scores = sum_up(scored, tests, plan, test)
    return finish_comparison(
        runs.evaluations,
        part.sums,
        tests,
        plan,
        lambda _: p,
        HeldUsers(scores.table(tests.metrics)),
        runs.explanations,
    )


def _explained(plan: ScoringPlan) -> str:
    """The metric by which losses are explained."""
    metric = next((name for name, metric in plan.metrics.items() if metric.ideal == "category"), None)
    if metric is None:
        raise ParameterError(
            f"{setting('explain', True)} needs N2DCG_cat among the {setting('metrics')}, found {', '.join(plan.names)}."
        )
    return metric


def check_names(plan: ScoringPlan) -> None:
    """Refuse names that would clash, and figures that cannot be tested."""
    for name in plan.settings.by_columns:
        if name in NAMES:
            raise ParameterError(f"{setting('by', name)} is a column of the results; give your column another name.")
    if not plan.metrics:
        raise ParameterError(
            f"{setting('metrics')}: a figure of a whole system cannot be tested user by user, found "
            f"{', '.join(plan.figures)}. Add a metric of pages, such as 'N2DCG_cat'."
        )
