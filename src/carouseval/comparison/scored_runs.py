"""The runs of all systems of some users: read together, scored by the same ideals, and their evaluations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeAlias

from carouseval.comparison.comparison_sums import ComparisonSums, OnGroup
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.run_pages import RunPages
from carouseval.comparison.systems import require_same_ideals, warn_of
from carouseval.comparison.user_scores import UserScores
from carouseval.errors import DataError, warn
from carouseval.evaluation.evaluate import Watcher, finish_evaluation, score_part
from carouseval.evaluation.exact_sums import AddsUp
from carouseval.evaluation.explain import explain_scored
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.losses import Losses
from carouseval.evaluation.notices import notify_of_over_capacity
from carouseval.evaluation.page_table import PageTable, ScoredPages, Table
from carouseval.evaluation.part import Part
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.systems import Run, naming
from carouseval.messages import Message, setting
from carouseval.progress import Progress
from carouseval.tables.table import Table as GivenTable


@dataclass(frozen=True)
class ScoredRun:
    """A run of a system, scored."""

    pages: PageTable
    part: Part
    shown: RunPages | None  # what else a comparison must know of the run, if it was asked for


OnRun: TypeAlias = Callable[[Run, ScoredRun, Inputs, Losses | None], None]
"""What is told of a run while it can be read; its losses are known if it was to be explained."""


@dataclass(frozen=True)
class ComparisonPart(AddsUp):
    """What some users add to a comparison, and to the evaluation of every run."""

    runs: Mapping[Run, Part]
    sums: ComparisonSums


def score_runs(
    sources: JudgedSources,
    layouts: Mapping[Run, Any],
    progress: Progress | None = None,
    *,
    compared: bool = True,
    explained: str | None = None,
    on_run: OnRun | None = None,
) -> dict[Run, ScoredRun]:
    """Score the pages of all runs; ``on_run`` is called with each while it can be read.

    All layouts are read before any is scored: what the pages of all systems show decides what ideals may show. Unless
    runs are ``compared``, nothing but their scores is found out. The first run of each system is also ``explained`` by
    a metric, if one is given.
    """
    runs, order = {}, [*layouts]
    with sources.open_all([*layouts.values()], progress, naming=lambda place: naming(*order[place])) as all_inputs:
        _require_catalogue(all_inputs[0])
        judged, plan, shown_carousels = all_inputs[0].judged, all_inputs[0].plan, all_inputs[0].shown
        ideals = PageIdeals(judged, plan, shown_carousels, keeps_cells=explained is not None, progress=progress)
        for run, inputs in zip(layouts, all_inputs, strict=True):
            with naming(*run):
                ideals.forget_pages()
                watchers: list[Watcher] = []
                of_run = RunPages() if compared else None
                if of_run is not None:
                    watchers.append(partial(of_run.watch, inputs))
                losses = Losses(inputs, explained, ideals) if explained is not None and run[1] == 0 else None
                if losses is not None:
                    watchers.append(losses.begin)
                runs[run] = ScoredRun(*score_part(inputs, ideals, progress, watchers), of_run)
                if on_run is not None:
                    on_run(run, runs[run], inputs, losses)
    return runs


def sum_up(
    runs: Mapping[Run, ScoredRun], tests: PairTests, plan: ScoringPlan, on_group: OnGroup | None = None
) -> tuple[ComparisonPart, UserScores]:
    """What these users add to a comparison, and their scores."""
    pages = {run: scored.pages for run, scored in runs.items()}
    require_same_ideals(pages, plan)
    run_pages = {run: scored.shown for run, scored in runs.items() if scored.shown is not None}
    parts = {run: scored.part for run, scored in runs.items()}
    left_out = {run: part.left_out for run, part in parts.items()}
    sums, scores = ComparisonSums.of(pages, run_pages, left_out, tests, plan, on_group)
    return ComparisonPart(parts, sums), scores


def _require_catalogue(inputs: Inputs) -> None:
    if inputs.plan.figures and inputs.judged.membership is None:
        raise DataError(
            f"layouts: missing column category, by which the catalogue of {', '.join(inputs.plan.figures)} is "
            f"collected. Add it, or give {setting('items')} (item_id, category)."
        )


@dataclass
class RunResults(Generic[Table]):
    """Evaluations by system; what needs attention is collected with the systems that it is about."""

    plan: ScoringPlan
    evaluations: dict[str, list[Evaluation[Table]]] = field(default_factory=dict)
    explanations: dict[str, Explanation] = field(default_factory=dict)  # of the first runs, if they were asked for
    notices: dict[str, list[str]] = field(default_factory=dict)
    parts: list[Part] = field(default_factory=list)

    def add(
        self, run: Run, part: Part, pages: ScoredPages[Table], tables: Mapping[str, GivenTable]
    ) -> Evaluation[Table]:
        """Make the evaluation of a run."""
        evaluation = finish_evaluation(part, pages, self.plan, tables, self.notify(run))
        self.evaluations.setdefault(run[0], []).append(evaluation)
        self.parts.append(part)
        return evaluation

    def notify(self, run: Run) -> Callable[[str], None]:
        """What is to be called with what needs attention in a run."""

        def notify(notice: str) -> None:
            self.notices.setdefault(Message(notice), []).append(run[0])

        return notify

    def warn(self) -> None:
        """Warn of everything that was collected."""
        warn_of(self.notices, len(self.evaluations))
        self.warn_of_over_capacity()

    def warn_of_over_capacity(self) -> None:
        """Warn of ideal pages that hold more than pages do: runs share them, and the last one knows all of them."""
        notify_of_over_capacity(self.parts[-1].rows, self.parts[0].tables, warn)


def evaluate_runs(
    sources: JudgedSources,
    layouts: Mapping[Run, Any],
    progress: Progress | None = None,
    *,
    compared: bool = False,
    explained: str | None = None,
) -> tuple[RunResults[Any], dict[Run, ScoredRun]]:
    """Score and evaluate all runs on this machine, and explain the first of each system by a metric, if given."""
    results: RunResults[Any] = RunResults(sources.plan)

    def on_run(run: Run, scored: ScoredRun, inputs: Inputs, losses: Losses | None) -> None:
        evaluation = results.add(run, scored.part, scored.pages, inputs.tables)
        if losses is not None:
            explanation = explain_scored(inputs, losses, evaluation, layouts[run], results.notify(run))
            results.explanations[run[0]] = explanation

    return results, score_runs(sources, layouts, progress, compared=compared, explained=explained, on_run=on_run)
