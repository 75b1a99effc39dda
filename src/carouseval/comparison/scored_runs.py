"""The runs of all systems of some users: read together, and scored by the same ideals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from carouseval.comparison.comparison_sums import ComparisonSums, OnGroup
from carouseval.comparison.pair_tests import PairTests
from carouseval.comparison.run_pages import RunPages
from carouseval.comparison.systems import Run, naming, require_same_ideals
from carouseval.comparison.user_scores import UserScores
from carouseval.errors import DataError
from carouseval.evaluation.losses import Losses
from carouseval.evaluation.mappings import added
from carouseval.evaluation.page_table import PageTable
from carouseval.evaluation.part import Part
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.score_part import Watcher, score_part
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.messages import setting
from carouseval.progress import Progress


@dataclass(frozen=True)
class ScoredRun:
    """A run of a system, scored."""

    pages: PageTable
    part: Part
    shown: RunPages | None  # what else a comparison must know of the run, if it was asked for


OnRun: TypeAlias = Callable[[Run, ScoredRun, Inputs, Losses | None], None]
"""What is told of a run while it can be read; its losses are known if it was to be explained."""


@dataclass(frozen=True)
class ComparisonPart:
    """What some users add to a comparison, and to the evaluation of every run."""

    runs: Mapping[Run, Part]
    sums: ComparisonSums

    def __add__(self, other: ComparisonPart) -> ComparisonPart:
        return ComparisonPart(added(self.runs, other.runs), self.sums + other.sums)


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
        judged, plan, shown = all_inputs[0].judged, all_inputs[0].plan, all_inputs[0].shown
        ideals = PageIdeals(judged, plan, shown, keeps_cells=explained is not None, progress=progress)
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
    shown = {run: scored.shown for run, scored in runs.items() if scored.shown is not None}
    parts = {run: scored.part for run, scored in runs.items()}
    left_out = {run: part.left_out for run, part in parts.items()}
    sums, scores = ComparisonSums.of(pages, shown, left_out, tests, plan, on_group)
    return ComparisonPart(parts, sums), scores


def _require_catalogue(inputs: Inputs) -> None:
    if inputs.plan.figures and inputs.judged.membership is None:
        raise DataError(
            f"layouts: missing column category, by which the catalogue of {', '.join(inputs.plan.figures)} is "
            f"collected. Add it, or give {setting('items')} (item_id, category)."
        )
