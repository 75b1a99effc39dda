"""How pages are scored: which metrics on which grids, with what weights, by what rules."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.result_columns import names_by
from carouseval.evaluation.settings import Settings
from carouseval.messages import setting
from carouseval.metrics.gains import Gain, check_gain, gain_name
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.metric_base import Metric, SystemMetric
from carouseval.metrics.names import metric
from carouseval.metrics.page_stack import thread_count
from carouseval.settings import in_force

_LEAST_PAGE_MEMORY = 1 << 24


@dataclass(frozen=True, eq=False)
class ScoringPlan:
    """Settings made ready for scoring."""

    settings: Settings
    names: tuple[str, ...]  # of all metrics, as the user wrote them
    metrics: dict[str, Metric]  # those that score pages
    figures: dict[str, SystemMetric]  # those of the whole system
    grids: tuple[Grid, ...]
    grid_values: tuple[str, ...] | None  # the value of ``by`` that each grid is for; None: one grid for all
    gain: Gain
    threads: int
    _weights: dict[tuple[str, int], Array] = field(
        default_factory=dict, init=False
    )  # by metric and grid, once asked for

    @classmethod
    def of(cls, settings: Settings) -> "ScoringPlan":
        """Parse and check metrics and grids."""
        metrics = _metrics(settings.metrics)
        _check_clashes(settings.by_columns, metrics)
        grids, values = _grids(settings.grid, settings.by_columns)
        return cls(
            settings=settings,
            names=tuple(metrics),
            metrics={name: parsed for name, parsed in metrics.items() if not isinstance(parsed, SystemMetric)},
            figures={name: parsed for name, parsed in metrics.items() if isinstance(parsed, SystemMetric)},
            grids=grids,
            grid_values=values,
            gain=check_gain(settings.gain),
            threads=thread_count(settings.threads),
        )

    @cached_property
    def needs_categories(self) -> bool:
        """Whether an ideal page depends on the categories of items."""
        return self.settings.candidates == "judged" and any(
            parsed.ideal == "category" for parsed in self.metrics.values()
        )

    @property
    def grid_by_segment(self) -> dict[str, Grid] | None:
        """The grid of each value of ``by``; None where there is one for all."""
        return None if self.grid_values is None else dict(zip(self.grid_values, self.grids, strict=False))

    @cached_property
    def shapes(self) -> NDArray[np.int32]:
        """Rows and columns of every grid."""
        return np.array([grid.shape for grid in self.grids], np.int32)

    @cached_property
    def work_limit(self) -> int:
        """The most steps of the search for one ideal page."""
        return round(self.settings.work * 1_000_000)

    @property
    def line_memory(self) -> int:
        """Bytes for the lines of layouts; the rest of the memory is for the pages that are scored at once."""
        return int(self.settings.memory * 2**30 * 0.75)

    @property
    def page_memory(self) -> int:
        """Bytes for the pages that are scored at once; too few of them would take much longer."""
        return max(_LEAST_PAGE_MEMORY, int(self.settings.memory * 2**30 * 0.25))

    def weights(self, name: str, grid: int) -> Array:
        """The weight of every cell of a grid, by a metric; not to be written to."""
        if (name, grid) not in self._weights:
            weights = np.asarray((self.metrics | self.figures)[name].weights(self.grids[grid])).view()
            weights.flags.writeable = False
            self._weights[name, grid] = weights
        return self._weights[name, grid]

    def gain_of(self, name: str) -> Gain:
        """A metric's own gain, or that of the settings."""
        gain = self.metrics[name].gain
        return self.gain if gain is None else gain

    def config(self) -> dict[str, Any]:
        """Every setting in force, as plain values."""
        metrics = {name: (self.metrics | self.figures)[name] for name in self.names}
        grids = self.grid_by_segment
        special = {
            "metrics": {name: str(parsed) for name, parsed in metrics.items()},
            "grid": asdict(self.grids[0]) if grids is None else {value: asdict(grid) for value, grid in grids.items()},
            "gain": gain_name(self.gain),
            "by": list(self.settings.by_columns),
            "columns": dict(self.settings.columns or {}),
            "carousels": "none" if self.settings.carousels is None else "given",
        }
        return (
            in_force(self.settings)
            | special
            | {
                "discounts": {name: str(parsed.discount) for name, parsed in metrics.items() if parsed.has_discount},
                "ideals": {name: parsed.ideal for name, parsed in metrics.items() if parsed.ideal != "none"},
            }
        )


def _metrics(chosen: Any) -> dict[str, Metric]:
    """Metrics by the names that the user wrote."""
    if isinstance(chosen, set | frozenset | bytes | Iterator) or hasattr(chosen, "__array__"):
        raise ParameterError(f"{setting('metrics')} must be a name or a list of names, found {type(chosen).__name__}.")
    listed = chosen if isinstance(chosen, Sequence) and not isinstance(chosen, str) else [chosen]
    metrics: dict[str, Metric] = {}
    for given in listed:
        parsed = metric(given)
        name = given.strip() if isinstance(given, str) else str(parsed)
        if name in metrics:
            raise ParameterError(f"{setting('metrics')}: {name} is listed twice.")
        if name in schema.RESERVED:
            raise ParameterError(f"{setting('metrics')}: {name!r} is a column of the results; rename the function.")
        metrics[name] = parsed
    if not metrics:
        raise ParameterError(f"{setting('metrics')}: the list is empty; name at least one metric, such as 'N2DCG_cat'.")
    return metrics


def _check_clashes(by: Sequence[str], metrics: Mapping[str, Metric]) -> None:
    """Segments must not have the names of columns of the results."""
    for name in metrics if by else ():
        if clash := names_by(name) & set(by):
            raise ParameterError(
                f"{setting('by', min(clash))} is a column of the results; give your column another name."
            )


def _grids(grid: Any, by: Sequence[str]) -> tuple[tuple[Grid, ...], tuple[str, ...] | None]:
    """The grids, and the value of ``by`` that each is for.

    Where there are several, one more at the end is large enough for pages whose segment is unknown.
    """
    by_segment = isinstance(grid, Mapping)
    if by_segment and len(by) != 1:
        raise ParameterError(
            f"{setting('grid')}: a dict of grids needs {setting('by', 'column')}, one column whose values are its keys."
        )
    by_value = {_as_text(value): screen for value, screen in grid.items()} if by_segment else {"": grid}
    for screen in by_value.values():
        if not isinstance(screen, Grid):
            raise ParameterError(
                f"{setting('grid')} must be a carouseval.Grid, or a dict of them, found {type(screen).__name__}."
            )
        if screen.rows > schema.MOST_ROWS or screen.cols > schema.MOST_COLS:
            raise ParameterError(
                f"{setting('grid')}: at most {schema.MOST_ROWS:,} rows and {schema.MOST_COLS:,} columns are "
                f"allowed, found {screen}."
            )
    if not by_value or len(by_value) > 255:
        raise ParameterError(f"{setting('grid')} must hold from 1 to 255 grids, found {len(by_value)}.")
    grids = tuple(by_value.values())
    if not by_segment:
        return grids, None
    return (*grids, Grid(max(screen.rows for screen in grids), max(screen.cols for screen in grids))), tuple(by_value)


def _as_text(value: Any) -> str:
    """A segment's value as columns of any type are read."""
    if value is None:
        return "(none)"
    return str(value).lower() if isinstance(value, bool) else str(value)
