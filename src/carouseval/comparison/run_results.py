"""The evaluations of all runs, made of their parts, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic

from carouseval.comparison.scored_runs import ScoredRun, score_runs
from carouseval.comparison.systems import Run, warn_of
from carouseval.errors import warn
from carouseval.evaluation.chosen_pages import ChosenPages
from carouseval.evaluation.explain import finish_explanation
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.finish import finish_evaluation
from carouseval.evaluation.losses import Losses
from carouseval.evaluation.notices import notify_of_overfull
from carouseval.evaluation.page_lookup import look_up_page
from carouseval.evaluation.page_table import ScoredPages, Table
from carouseval.evaluation.part import Part
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.results import Evaluation
from carouseval.messages import Message
from carouseval.progress import Progress
from carouseval.tables.table import Table as GivenTable


@dataclass
class RunResults(Generic[Table]):
    """Evaluations by system; what needs attention is collected with the systems that it is about."""

    plan: ScoringPlan
    evaluations: dict[str, list[Evaluation[Table]]] = field(default_factory=dict)
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
        self.warn_of_overfull()

    def warn_of_overfull(self) -> None:
        """Warn of ideal pages that hold more than pages do: runs share them, and the last one knows all of them."""
        notify_of_overfull(self.parts[-1].rows, self.parts[0].tables, warn)


@dataclass
class ExplainedRuns:
    """What the first run of each system loses by a metric."""

    metric: str
    layouts: Mapping[Run, Any]
    explanations: dict[str, Explanation] = field(default_factory=dict)

    def add(
        self, run: Run, inputs: Inputs, losses: Losses, evaluation: Evaluation, notify: Callable[[str], None]
    ) -> None:
        """Explain a run while it can be read."""
        scored = evaluation.pages.collect()
        chosen = ChosenPages.of(scored.frame, self.metric)
        frame, part = losses.part(scored, chosen)
        view = partial(look_up_page, inputs.judged_tables, losses.ideals, self.layouts[run], self.metric)
        self.explanations[run[0]] = finish_explanation(
            self.metric, frame, part, chosen, losses.scale, evaluation, inputs.plan, notify, view
        )


def evaluate_runs(
    sources: JudgedSources,
    layouts: Mapping[Run, Any],
    progress: Progress | None = None,
    *,
    compared: bool = False,
    explained: ExplainedRuns | None = None,
) -> tuple[RunResults[Any], dict[Run, ScoredRun]]:
    """Score and evaluate all runs on this machine."""
    results: RunResults[Any] = RunResults(sources.plan)

    def on_run(run: Run, scored: ScoredRun, inputs: Inputs, losses: Losses | None) -> None:
        evaluation = results.add(run, scored.part, scored.pages, inputs.tables)
        if explained is not None and losses is not None:
            explained.add(run, inputs, losses, evaluation, results.notify(run))

    metric = None if explained is None else explained.metric
    scored = score_runs(sources, layouts, progress, compared=compared, explained=metric, on_run=on_run)
    return results, scored
