"""How pages are scored: which metrics on which grids, with what weights, by what rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.settings import Settings
from carouseval.metrics.gains import Gain, check_gain, gain_name
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.metric_base import Metric, SystemMetric
from carouseval.metrics.names import metric
from carouseval.metrics.page_stack import thread_count


@dataclass(frozen=True, eq=False)
class ScoringPlan:
    """Settings made ready for scoring."""

    settings: Settings
    metrics: dict[str, Metric]  # those of pages, by the names asked for
    figures: dict[str, SystemMetric]  # those of the whole system
    asked: tuple[str, ...]  # all of them, in the order asked for
    grids: tuple[Grid, ...]
    grid_values: tuple[str, ...] | None  # the value of ``by`` that each grid is for; None: one grid for all
    gain: Gain
    threads: int

    @classmethod
    def of(cls, settings: Settings) -> "ScoringPlan":
        """Parse metrics and grids; what cannot be used is refused."""
        metrics = _metrics(settings.metrics)
        _check_clashes(settings.by_columns, metrics)
        grids, values = _grids(settings.grid, settings.by_columns)
        return cls(
            settings=settings,
            metrics={name: one for name, one in metrics.items() if not isinstance(one, SystemMetric)},
            figures={name: one for name, one in metrics.items() if isinstance(one, SystemMetric)},
            asked=tuple(metrics),
            grids=grids,
            grid_values=values,
            gain=check_gain(settings.gain),
            threads=thread_count(settings.threads),
        )

    @property
    def needs_categories(self) -> bool:
        """Whether some ideal page must know what belongs to which category."""
        return self.settings.candidates == "judged" and any(one.ideal == "category" for one in self.metrics.values())

    @property
    def shapes(self) -> NDArray[np.int32]:
        """Rows and columns of every grid."""
        return np.array([grid.shape for grid in self.grids], np.int32)

    def weights(self, name: str, grid: int) -> Array:
        """What a metric's cells weigh on a grid."""
        return (self.metrics | self.figures)[name].weights(self.grids[grid])

    def gain_of(self, name: str) -> Gain:
        """The gain that a metric counts with: its own, or the one in force."""
        own = self.metrics[name].gain
        return self.gain if own is None else own

    def config(self) -> dict[str, Any]:
        """Every setting in force, as plain values."""
        metrics = {name: (self.metrics | self.figures)[name] for name in self.asked}
        grids = [asdict(grid) for grid in self.grids]
        special = {
            "metrics": {name: str(one) for name, one in metrics.items()},
            "grid": grids[0] if self.grid_values is None else dict(zip(self.grid_values, grids, strict=False)),
            "gain": gain_name(self.gain),
            "by": list(self.settings.by_columns),
            "columns": dict(self.settings.columns or {}),
        }
        config = {one.name: getattr(self.settings, one.name) for one in fields(self.settings)} | special
        return config | {"discounts": {name: str(one.discount) for name, one in metrics.items() if one.has_discount}}


def _metrics(asked: Any) -> dict[str, Metric]:
    """Metrics by the names asked for."""
    if isinstance(asked, set | frozenset | bytes | Iterator) or hasattr(asked, "__array__"):
        raise ParameterError(f"metrics must be a name or a list of names, found {type(asked).__name__}.")
    several = asked if isinstance(asked, Sequence) and not isinstance(asked, str) else [asked]
    metrics: dict[str, Metric] = {}
    for one in several:
        parsed = metric(one)
        name = one.strip() if isinstance(one, str) else str(parsed)
        if name in metrics:
            raise ParameterError(f"metrics: {name} is asked for twice.")
        if name in schema.RESERVED:
            raise ParameterError(f"metrics: {name!r} is a name that results use themselves; rename the function.")
        metrics[name] = parsed
    if not metrics:
        raise ParameterError("metrics: none is asked for; name at least one, such as 'N2DCG_cat'.")
    return metrics


def _check_clashes(by: Sequence[str], metrics: Mapping[str, Metric]) -> None:
    """Segments must not go by the names of the results' own columns."""
    for name in metrics:
        taken = {
            name,
            *(f"{name}.{part}" for part in ("dcg", "ideal", "ideal_found", "bounded", "low", "high", "weight")),
        }
        if clash := taken & set(by):
            raise ParameterError(
                f"by={min(clash)!r} is a name that results use themselves; give the column another name."
            )


def _grids(grid: Any, by: Sequence[str]) -> tuple[tuple[Grid, ...], tuple[str, ...] | None]:
    """The grids, and the value of ``by`` that each is for.

    Where there are several, one more at the end has room for whatever pages of nobody's segment show.
    """
    several = isinstance(grid, Mapping)
    if several and len(by) != 1:
        raise ParameterError("grid: several grids need by='column', whose values say which page has which.")
    named = {_as_text(key): each for key, each in grid.items()} if several else {"": grid}
    for each in named.values():
        if not isinstance(each, Grid):
            raise ParameterError(f"grid must be a carouseval.Grid, or a dict of them, found {type(each).__name__}.")
        if each.rows > schema.MOST_ROWS or each.cols > schema.MOST_COLS:
            raise ParameterError(
                f"grid: at most {schema.MOST_ROWS:,} rows and {schema.MOST_COLS:,} columns, found {each}."
            )
    if not named or len(named) > 255:
        raise ParameterError(f"grid: from 1 to 255 grids, found {len(named)}.")
    grids = tuple(named.values())
    if not several:
        return grids, None
    return (*grids, Grid(max(one.rows for one in grids), max(one.cols for one in grids))), tuple(named)


def _as_text(value: Any) -> str:
    """A segment's value as columns of any type are read."""
    if value is None:
        return "(none)"
    return str(value).lower() if isinstance(value, bool) else str(value)
