"""The systems of a comparison: their layouts, checked, read together and scored by the same ideals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import polars as pl

from carouseval.added_errors import AddedError
from carouseval.comparison.result_columns import NAMES
from carouseval.comparison.run_pages import RunPages
from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.evaluate import build_evaluation, decide_outcomes, score_pages
from carouseval.evaluation.explain import Losses
from carouseval.evaluation.explanation import Explanation
from carouseval.evaluation.notices import overfull
from carouseval.evaluation.outcomes import SCORED
from carouseval.evaluation.page_lookup import look_up_page
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import JudgedSources
from carouseval.evaluation.reading.page_batch import PageBatch
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.metrics.validation import did_you_mean
from carouseval.progress import Progress
from carouseval.tables import TableLike, in_memory

_PAGE_KEYS = (Columns.USER, Columns.PAGE)
Systems: TypeAlias = Mapping[str, TableLike | Sequence[TableLike]]
"""The layouts of each system by its name; a list of layouts where a system has several runs."""


@dataclass(frozen=True)
class SystemExplanations:
    """What the first run of each system loses by a metric."""

    metric: str
    by_system: dict[str, Explanation] = field(default_factory=dict)


def runs_by_system(systems: Systems, baseline: str | None = None) -> dict[str, list[TableLike]]:
    """The layouts of every system, one table per run; names and the baseline are checked."""
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise ParameterError("systems must be a dict of at least two: {'prod': layouts, 'new': layouts}.")
    if baseline is not None and baseline not in systems:
        hint = f"{did_you_mean(str(baseline), systems)} Systems: {', '.join(map(str, systems))}."
        raise ParameterError(f"baseline: there is no system {baseline!r}.{hint}")
    runs = {}
    for name, layouts in systems.items():
        if not isinstance(name, str) or not name:
            raise ParameterError(f"systems: names must be non-empty strings, found {name!r}.")
        if name in NAMES:
            raise ParameterError(f"systems: {name!r} is a column of the results; choose another name.")
        tables: list[Any] = list(layouts) if isinstance(layouts, list | tuple) else [layouts]
        if not tables:
            raise ParameterError(f"systems: {name} has no layouts.")
        with naming(name):
            runs[name] = [in_memory(table, "layouts") for table in tables]
    return runs


def warn_of(notices: Mapping[str, Sequence[str]], systems: int) -> None:
    """Warn of each notice, and name the systems that it is about unless these are all."""
    for notice, names in notices.items():
        distinct = list(dict.fromkeys(names))
        warn(notice if len(distinct) == systems else f"{', '.join(distinct)}: {notice}")


def evaluate_systems(
    runs: Mapping[str, Sequence[TableLike]],
    judgments: TableLike,
    items: TableLike | None,
    plan: ScoringPlan,
    progress: Progress | None,
    pages: Mapping[str, Sequence[RunPages]] | None = None,
    notices: dict[str, list[str]] | None = None,
    explanations: SystemExplanations | None = None,
) -> dict[str, list[Evaluation]]:
    """The evaluation of every run of every system; ``pages`` collect what else is to be known of each run.

    All layouts are read before any is scored: what the pages of all systems show decides what ideals may show. Notices
    are added to ``notices``, with the systems that each is about; by default they are warned of. ``explanations``
    collect what the first run of each system loses.
    """
    sources = JudgedSources(judgments, items, plan)
    tables = [(name, table) for name, of_system in runs.items() for table in of_system]
    evaluations: dict[str, list[Evaluation]] = {name: [] for name in runs}
    collected: dict[str, list[str]] = {} if notices is None else notices
    layouts, name_of = [table for _, table in tables], lambda place: naming(tables[place][0])
    with sources.open_all(layouts, progress, naming=name_of) as all_inputs:
        if plan.figures and all_inputs[0].judged.membership is None:
            raise DataError(
                f"layouts: missing column category, by which the catalogue of {', '.join(plan.figures)} is collected. "
                "Add it, or give items (item_id, category)."
            )
        judged, shown = all_inputs[0].judged, all_inputs[0].shown
        ideals = PageIdeals(judged, plan, shown, keeps_cells=explanations is not None, progress=progress)
        for (name, table), inputs in zip(tables, all_inputs, strict=True):
            with naming(name):
                ideals.forget_pages()
                outcomes, watchers = decide_outcomes(inputs), []
                if pages is not None:
                    watchers.append(pages[name][len(evaluations[name])].watch(inputs))
                losses = None
                if explanations is not None and not evaluations[name]:
                    losses = Losses(inputs, explanations.metric, ideals)
                    watchers.append(losses.begin(outcomes))
                scores = score_pages(inputs, progress, ideals, partial(_call_all, watchers))
                found: list[str] = []
                evaluation = build_evaluation(inputs, outcomes, scores, found.append)
                evaluations[name].append(evaluation)
                if explanations is not None and losses is not None:
                    losses.notify_of_gaps(found.append)
                    view = partial(look_up_page, inputs.judged_tables, ideals, table, explanations.metric)
                    explanations.by_system[name] = losses.explanation(evaluation, view)
                for notice in found:
                    collected.setdefault(notice, []).append(name)
        if notices is None:
            warn_of(collected, len(runs))
        overfull(ideals, all_inputs[0], warn)
    return evaluations


def _call_all(watchers: Sequence[Callable[[PageBatch], None]], batch: PageBatch) -> None:
    for watch in watchers:
        watch(batch)


@contextmanager
def naming(system: str, run: int = 0) -> Iterator[None]:
    """Name the system in errors about the tables of one of its runs; an empty name is left out."""
    try:
        yield
    except DataError as error:
        if not system:
            raise
        raise NamedError((system, run), error) from None


class NamedError(DataError):
    """An error about the tables of one run of a system."""

    def __init__(self, run: tuple[str, int], error: DataError) -> None:
        super().__init__(f"{run[0]}: {error}")
        self.run, self.error = run, error


@dataclass(frozen=True)
class _OtherIdeals:
    """Pages whose ideal is another one than in an earlier run."""

    pages: Mapping[
        tuple[int, int, int], tuple[int, Any]
    ]  # by metric, run and earlier run: how many, and the first user
    runs: Sequence[tuple[str, int]]
    kind = "other ideals"

    def __add__(self, other: "_OtherIdeals") -> "_OtherIdeals":
        pages = dict(self.pages)
        for key, (count, user) in other.pages.items():
            own = pages.get(key, (0, user))
            pages[key] = own[0] + count, min(own[1], user)
        return replace(self, pages=pages)

    def __str__(self) -> str:
        _, user, key = min((key[0], user, key) for key, (_, user) in self.pages.items())  # of the first metric
        (_, place, before), (count, _) = key, self.pages[key]
        (name, run), (earlier, earlier_run) = self.runs[place], self.runs[before]
        own, other = (f" of run {run + 1}", f"run {earlier_run + 1}") if name == earlier else ("", earlier)
        pages = f"page{own} has" if count == 1 else f"pages{own} have"
        return (
            f"{name}: {count:,} {pages} a different ideal page than in {other}, first user_id={user!r}: pinned rows "
            "or grids differ. Pin the same rows in all systems, or none."
        )


def require_same_ideals(evaluations: Mapping[str, Sequence[Evaluation]], plan: ScoringPlan) -> None:
    """Refuse systems whose users have different ideal pages, as when they pin different rows."""
    results = [(name, run, result) for name, runs in evaluations.items() for run, result in enumerate(runs)]
    first = results[0][2]
    if plan.settings.candidates == "displayed":
        return
    keys = [key for key in _PAGE_KEYS if all(key in result.per_page.columns for *_, result in results)]
    ideals = {of_metric(Columns.METRIC_IDEAL, metric) for metric in first.metrics}
    for at, column in enumerate(name for name in first.per_page.columns if name in ideals):
        pages = pl.concat(
            result.per_page.filter(pl.col(Columns.STATUS) == SCORED).select(*keys, ideal=column, result=place)
            for place, (*_, result) in enumerate(results)
        ).drop_nulls("ideal")
        earlier = pages.select(*keys, pl.col("ideal", "result").first().over(keys).name.suffix(" before"))
        differs = (pages["ideal"] - earlier["ideal before"]).abs() > 1e-9 * pages["ideal"].abs()
        if differs.any():
            odd = pages.with_columns(earlier["result before"]).filter(differs)
            pairs = odd.group_by("result", "result before").agg(pl.len(), pl.col(Columns.USER).min()).iter_rows()
            found = {(at, place, before): (count, user) for place, before, count, user in pairs}
            raise AddedError(_OtherIdeals(found, tuple((name, run) for name, run, _ in results)))


def left_out(results: Sequence[Evaluation], users: int, metric: str) -> int:
    """The users who are left out of a system's mean: those without a score in some run."""
    if len(results) == 1:
        return results[0].left_out(metric)
    return pl.concat([result.per_page.select(Columns.USER) for result in results])[Columns.USER].n_unique() - users
