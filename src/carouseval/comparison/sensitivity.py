"""Does the order of systems survive another discount, ideal, gain or cutoff?"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from carouseval.comparison.compare import Systems, system_runs
from carouseval.comparison.significance import TIE
from carouseval.errors import ParameterError
from carouseval.evaluation import schema
from carouseval.evaluation.evaluate import Evaluator, items_of
from carouseval.evaluation.layouts import Progress
from carouseval.metrics.gains import Gain
from carouseval.metrics.grid import RECGAZE, Grid
from carouseval.metrics.names import AnyMetric, metric
from carouseval.result_base import Result
from carouseval.tables import TableLike

DISCOUNTS = ("d_rpd", "d_rpb", "d_mul", "d_add", "d_mir", "d_a", "d_t")


@dataclass(frozen=True, eq=False)
class Sensitivity(Result):
    """The systems' means under every variation of one reference, and how the order changes.

    ``table`` has a line for each variation: what is varied, the means by system, Kendall's tau with the reference's
    order, and the pairs of systems that change places.
    """

    systems: tuple[str, ...]  # best first, by the reference
    table: pl.DataFrame
    config: dict[str, Any]

    @property
    def heading(self) -> str:
        """The sentence."""
        return self.summary

    @cached_property
    def summary(self) -> str:
        """Whether the order holds, in a sentence."""
        varied = self.table.filter(pl.col("varied") != "reference")
        swapped = varied.filter(pl.col("flips") != "")
        order = self._order()
        if swapped.is_empty():
            return f"The order {order} is the same under all {varied.height} variations."
        pairs = sorted({pair for text in swapped["flips"] for pair in text.split(", ")})
        best = varied.filter(pl.col("best") != self.systems[0]).height
        leads = (
            f"{self.systems[0]} leads under all of them"
            if not best
            else f"{self.systems[0]} does not lead under {best}"
        )
        return (
            f"The order {order} changes under {swapped.height} of {varied.height} variations; {leads}. "
            f"Changing places: {', '.join(pairs)}."
        )

    def _order(self) -> str:
        means = self.table.row(0, named=True)
        told = self.systems[0]
        for one, other in itertools.pairwise(self.systems):
            told += f" {'=' if abs(means[one] - means[other]) <= TIE else '>'} {other}"
        return told

    def to_frame(self) -> pl.DataFrame:
        """The table."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """The sentence and the table as plain values."""
        lines = [
            {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in row.items()}
            for row in self.table.to_dicts()
        ]
        return {"summary": self.summary, "variations": lines, "config": self.config}


def sensitivity(
    systems: Systems,
    judgments: TableLike,
    items: TableLike | None = None,
    grid: Grid = RECGAZE,
    *,
    discounts: Sequence[str] = DISCOUNTS,
    gain: Gain = "exp2",
    columns: schema.ColumnNames = None,
    progress: Progress = None,
    **policies: Any,
) -> Sensitivity:
    """Judge systems by N2DCG_cat, then with one thing changed at a time.

    The first of ``discounts`` is the reference's; then come the other discounts, the unconstrained ideal, arrangement
    alone (``candidates="displayed"``), linear gains, and cutoffs at the first screen and at half the page. ``policies``
    are those of :func:`carouseval.evaluate`.
    """
    if not isinstance(grid, Grid):
        raise ParameterError("grid: sensitivity takes one grid for all pages.")
    runs = system_runs(systems)
    everything = [layouts for several in runs.values() for layouts in several]
    listed = items_of(*everything, columns=columns) if items is None else items
    variations = _variations(grid, discounts, gain)
    lines: list[dict[str, Any]] = []
    for candidates in ("judged", "displayed"):
        mine = {key: one for key, one in variations.items() if (key[0] == "candidates") == (candidates == "displayed")}
        options: dict[str, Any] = policies | {"candidates": candidates}
        evaluator = Evaluator(judgments, listed, list(mine.values()), grid, gain, columns=columns, **options)
        means = {
            name: [evaluator.evaluate(layouts, progress).mean for layouts in several] for name, several in runs.items()
        }
        for (varied, name), one in zip(mine, evaluator.metrics, strict=True):
            of_system = {system: sum(mean[one] for mean in several) / len(several) for system, several in means.items()}
            lines.append({"varied": varied, "variation": name} | of_system)
    reference = {system: lines[0][system] for system in runs}
    told = [line | _agreement(reference, {system: line[system] for system in runs}) for line in lines]
    order = tuple(sorted(runs, key=lambda name: (-reference[name], name)))
    return Sensitivity(order, pl.DataFrame(told, infer_schema_length=None), {"grid": str(grid), **policies})


def _variations(grid: Grid, discounts: Sequence[str], gain: Gain) -> dict[tuple[str, str], AnyMetric]:
    """The reference first; what comes to the same as an earlier one is left out."""
    if isinstance(discounts, str) or not discounts:
        raise ParameterError("discounts must be a list of at least one, such as ['d_rpd', 'd_a'].")
    first, *others = discounts
    screen = (min(grid.visible_rows, grid.rows), min(grid.page_size, grid.cols))
    half = (-(-grid.rows // 2), -(-grid.cols // 2))
    other_gain = "exp2" if gain == "linear" else "linear"
    all_of_them: dict[tuple[str, str], AnyMetric] = {
        ("reference", f"N2DCG_cat({first})"): metric("N2DCG_cat", discount=first),
        **{("discount", name): metric("N2DCG_cat", discount=name) for name in others},
        ("ideal", "unconstrained"): metric("N2DCG", discount=first),
        ("gain", other_gain): metric("N2DCG_cat", discount=first, gain=other_gain),
        ("cutoff", f"first screen, {screen[0]}x{screen[1]}"): metric("N2DCG_cat", discount=first, cutoff=screen),
        ("cutoff", f"half the page, {half[0]}x{half[1]}"): metric("N2DCG_cat", discount=first, cutoff=half),
    }
    found: dict[tuple[str, str], AnyMetric] = {}
    for key, one in all_of_them.items():
        if one not in found.values():
            found[key] = one
    return found | {("candidates", "displayed"): metric("N2DCG_cat", discount=first)}


def _agreement(reference: dict[str, float], means: dict[str, float]) -> dict[str, Any]:
    """How the order of systems under a variation agrees with the reference's; ties count as neither."""
    agree = flips = before_ties = after_ties = 0
    swapped = []
    for one, other in itertools.combinations(reference, 2):
        before, after = reference[one] - reference[other], means[one] - means[other]
        before_ties += abs(before) <= TIE
        after_ties += abs(after) <= TIE
        if min(abs(before), abs(after)) <= TIE or math.isnan(before * after):
            continue
        if before * after < 0:
            flips += 1
            swapped.append(f"{one}/{other}")
        else:
            agree += 1
    pairs = len(reference) * (len(reference) - 1) // 2
    known = math.sqrt((pairs - before_ties) * (pairs - after_ties))  # Kendall's tau-b: ties count on neither side
    tau = (agree - flips) / known if known > 0 else math.nan
    best = max(means, key=lambda name: means[name]) if not any(map(math.isnan, means.values())) else ""
    return {"tau": tau, "best": best, "flips": ", ".join(swapped)}
