"""What pages are judged by: judgments, their gains by each metric, the categories of items, and carousels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading import membership
from carouseval.evaluation.reading.carousels import Carousels, read_carousels
from carouseval.evaluation.reading.ids import Codebook
from carouseval.evaluation.reading.judgments import Judgments, gains_of, read_judgments
from carouseval.evaluation.reading.membership import Membership
from carouseval.metrics.grid import Array
from carouseval.tables.table import Table


@dataclass(frozen=True, eq=False)
class JudgedData:
    """Judgments, gains, memberships and carousels as arrays, for any thread, process or executor."""

    judgments: Judgments
    gains: Mapping[str, Array]  # of every judgment, by each metric
    membership: Membership | None  # None: no table gives categories
    carousels: Carousels

    @cached_property
    def gaining(self) -> NDArray[np.uint8]:
        """Which judgments have a positive gain by any of the metrics."""
        gaining = np.zeros(len(self.judgments.item), np.uint8)
        for gains in self.gains.values():
            gaining |= (gains > 0).astype(np.uint8)
        return gaining

    def relevant_items(self, metric: str | None = None) -> NDArray[np.int64]:
        """How many items of each judgment set are relevant, by one metric or by any."""
        if metric not in self._relevant:
            gaining = self.gaining if metric is None else self.gains[metric] > 0
            sums = np.concatenate([[0], np.cumsum(gaining, dtype=np.int64)])
            offsets = self.judgments.offsets
            self._relevant[metric] = np.asarray(sums[offsets[1:]] - sums[offsets[:-1]])
        return self._relevant[metric]

    @cached_property
    def _relevant(self) -> dict[str | None, NDArray[np.int64]]:
        """Those computed so far."""
        return {}


def read_judged(
    tables: Mapping[str, Table],
    codebook: Codebook,
    plan: ScoringPlan,
    *,
    needed: bool = True,
    elsewhere: pl.DataFrame | None = None,
) -> JudgedData:
    """Read and check judgments, which must have lines where they are ``needed``, and items and carousels, if any.

    For ``elsewhere`` see :func:`read_carousels`.
    """
    judgments = read_judgments(tables["judgments"], codebook, plan, needed=needed)
    items = membership.from_table(tables["items"], codebook) if "items" in tables else None
    kinds = [table.id_types["category"] for table in tables.values() if "category" in table.names]
    carousels = read_carousels(
        tables.get("carousels"),
        plan.settings.capacity,
        codebook,
        kinds[0] if kinds else None,
        len(plan.grids),
        elsewhere,
    )
    gains = metric_gains(judgments, plan, tables["judgments"])
    if not gains:  # figures alone: users with relevant items are still counted
        gains[""] = gains_of(judgments, plan.gain, tables["judgments"], plan.threads)
    return JudgedData(judgments, gains, items, carousels)


def metric_gains(judgments: Judgments, plan: ScoringPlan, table: Table) -> dict[str, Array]:
    """The gain of every judgment, by each metric of a plan; ``table`` holds the judgments, for messages."""
    by_gain: dict[str | int, Array] = {}
    gains = {}
    for name, metric in plan.metrics.items():
        gain = plan.gain_of(name)
        key = gain if isinstance(gain, str) else id(gain)  # a function need not be hashable
        if key not in by_gain:
            by_gain[key] = gains_of(judgments, gain, table, plan.threads)
        gains[name] = metric.item_gains(by_gain[key])
    return gains
