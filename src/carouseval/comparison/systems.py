"""The systems of a comparison: their layouts by run, and whether they share their ideals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from carouseval.comparison.result_columns import NAMES
from carouseval.errors import ParameterError, warn
from carouseval.evaluation.columns import Columns, of_metric
from carouseval.evaluation.outcomes import SCORED
from carouseval.evaluation.page_table import PageTable
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.systems import Run, naming, runs_of_system
from carouseval.messages import nested, setting
from carouseval.tables.added_errors import AddedError
from carouseval.tables.table import TableLike, in_memory
from carouseval.validation import did_you_mean

_PAGE_KEYS = (Columns.USER, Columns.PAGE)


def _in_memory(table: TableLike) -> Any:
    return in_memory(table, "layouts")


def all_runs(
    systems: Mapping[str, Any], baseline: str | None = None, open_table: Callable[[Any], Any] = _in_memory
) -> dict[Run, Any]:
    """The layouts of every run; names and the baseline are checked."""
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise ParameterError(
            f"{setting('systems')} must be a dict of at least two: {{'prod': layouts, 'new': layouts}}."
        )
    if baseline is not None and baseline not in systems:
        hint = f"{did_you_mean(str(baseline), systems)} Systems: {', '.join(map(str, systems))}."
        raise ParameterError(f"{setting('baseline')}: there is no system {baseline!r}.{hint}")
    runs: dict[Run, Any] = {}
    for name, layouts in systems.items():
        of_system = runs_of_system(name, layouts)
        if name in NAMES:
            raise ParameterError(f"{setting('systems')}: {name!r} is a column of the results; choose another name.")
        with naming(name):
            runs |= {run: open_table(table) for run, table in of_system.items()}
    return runs


def warn_of(notices: Mapping[str, Sequence[str]], systems: int) -> None:
    """Warn of each notice, and name the systems that it is about unless these are all."""
    for notice, names in notices.items():
        distinct = list(dict.fromkeys(names))
        warn(notice if len(distinct) == systems else f"{', '.join(distinct)}: {nested(notice)}")


@dataclass(frozen=True)
class _OtherIdeals:
    """Pages whose ideal is another one than in an earlier run."""

    pages: Mapping[
        tuple[int, int, int], tuple[int, Any]
    ]  # by metric, run and earlier run: how many, and the first user
    runs: Sequence[Run]
    kind = "other ideals"

    def __add__(self, other: "_OtherIdeals") -> "_OtherIdeals":
        pages = dict(self.pages)
        for key, (count, user) in other.pages.items():
            pages_so_far = pages.get(key, (0, user))
            pages[key] = pages_so_far[0] + count, min(pages_so_far[1], user)
        return replace(self, pages=pages)

    def __str__(self) -> str:
        _, user, key = min((key[0], user, key) for key, (_, user) in self.pages.items())  # of the first metric
        (_, place, before), (count, _) = key, self.pages[key]
        (name, run), (earlier, earlier_run) = self.runs[place], self.runs[before]
        of_run, other = (f" of run {run + 1}", f"run {earlier_run + 1}") if name == earlier else ("", earlier)
        pages = f"page{of_run} has" if count == 1 else f"pages{of_run} have"
        return (
            f"{name}: {count:,} {pages} a different ideal page than in {other}, first user_id={user!r}: pinned rows "
            "or grids differ. Pin the same rows in all systems, or none."
        )


def require_same_ideals(pages: Mapping[Run, PageTable], plan: ScoringPlan) -> None:
    """Refuse systems whose users have different ideal pages, as when they pin different rows."""
    frames = [table.frame for table in pages.values()]
    if plan.settings.candidates == "displayed":
        return
    keys = [key for key in _PAGE_KEYS if all(key in frame.columns for frame in frames)]
    ideals = {of_metric(Columns.METRIC_IDEAL, metric) for metric in plan.metrics}
    for number, column in enumerate(name for name in frames[0].columns if name in ideals):
        scored = pl.concat(
            frame.filter(pl.col(Columns.STATUS) == SCORED).select(*keys, ideal=column, result=place)
            for place, frame in enumerate(frames)
        ).drop_nulls("ideal")
        earlier = scored.select(*keys, pl.col("ideal", "result").first().over(keys).name.suffix(" before"))
        differs = (scored["ideal"] - earlier["ideal before"]).abs() > 1e-9 * scored["ideal"].abs()
        if differs.any():
            differing = scored.with_columns(earlier["result before"]).filter(differs)
            pairs = differing.group_by("result", "result before").agg(pl.len(), pl.col(Columns.USER).min()).iter_rows()
            counts = {(number, place, before): (count, user) for place, before, count, user in pairs}
            raise AddedError(_OtherIdeals(counts, tuple(pages)))
