"""Some users of all systems, scored apart from the other users; what is known of them adds up to a comparison."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import polars as pl

from carouseval.comparison.comparison_sums import ComparisonSums, Run, added_values
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.run_pages import RunPages
from carouseval.comparison.systems import naming, require_same_ideals
from carouseval.evaluation.parts import PartSums, part_sources, score_part
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import JudgedSources, OtherUsers, Reading
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.page_ideals import PageIdeals


@dataclass(frozen=True)
class ComparisonPart:
    """What some users add to a comparison, and to the evaluation of every run."""

    runs: Mapping[Run, PartSums]
    sums: ComparisonSums

    def __add__(self, other: "ComparisonPart") -> "ComparisonPart":
        return ComparisonPart(added_values(self.runs, other.runs), self.sums + other.sums)


def compare_part(
    tables: Mapping[str, pl.DataFrame],
    layouts: Mapping[Run, pl.DataFrame],
    items: pl.DataFrame | None,
    plan: ScoringPlan,
    tests: PairTests,
    others: OtherUsers,
) -> tuple[dict[Run, pl.DataFrame], ComparisonPart]:
    """Score the pages that all systems have for some users: the pages of each run, and what adds up."""
    sources = part_sources(tables, items, plan, others)
    pages = {run: RunPages() for run in layouts}
    with ExitStack() as stack:
        all_inputs = sources.inputs(_readings(stack, sources, layouts))
        ideals = PageIdeals(all_inputs[0].judged, all_inputs[0].plan, all_inputs[0].shown)
        frames, runs = {}, {}
        for run, inputs in zip(layouts, all_inputs, strict=True):
            with naming(*run):
                frames[run], runs[run] = score_part(inputs, ideals, pages[run].watch(inputs))
    evaluations = by_system({run: _evaluation(frame, plan) for run, frame in frames.items()})
    require_same_ideals(evaluations, plan)
    sums, _ = ComparisonSums.of(evaluations, by_system(pages), tests, plan)
    return frames, ComparisonPart(runs, sums)


def _readings(stack: ExitStack, sources: JudgedSources, layouts: Mapping[Run, pl.DataFrame]) -> list[Reading]:
    readings = []
    for run, table in layouts.items():
        with naming(*run):
            readings.append(stack.enter_context(sources.read(table, share=len(layouts))))
    return readings


def _evaluation(pages: pl.DataFrame, plan: ScoringPlan) -> Evaluation:
    return Evaluation(tuple(plan.metrics), pages, {}, {}, plan.settings.by_columns)


def by_system(by_run: Mapping[Run, Any]) -> dict[str, list[Any]]:
    """The values of the runs of every system, in their order."""
    systems: dict[str, list[Any]] = {}
    for (name, _), value in by_run.items():
        systems.setdefault(name, []).append(value)
    return systems
