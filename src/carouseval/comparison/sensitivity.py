"""Does the order of systems survive another discount, ideal, gain or cutoff?"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import polars as pl

from carouseval.comparison.compare import Systems, all_items, system_runs
from carouseval.comparison.significance import TIE
from carouseval.errors import ParameterError
from carouseval.evaluation.evaluate import Evaluator
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.results import Evaluation
from carouseval.evaluation.settings import Candidates, Settings, SettingsDict, takes_settings
from carouseval.metrics.choices import GainName
from carouseval.metrics.metric_base import Metric
from carouseval.metrics.names import metric
from carouseval.progress import Progress
from carouseval.result_base import Result, plain
from carouseval.tables import TableLike

DISCOUNTS = ("d_rpd", "d_rpb", "d_mul", "d_add", "d_mir", "d_a", "d_t")


@dataclass(frozen=True, eq=False)
class Sensitivity(Result):
    """The systems' means under every variation of one reference, and how the order changes.

    ``table`` has a line for each variation (and segment): what is varied, the means by system, Kendall's tau with the
    reference's order, and the pairs of systems that change places.
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
        varied = self._overall().filter(pl.col("varied") != "reference")
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

    def _overall(self) -> pl.DataFrame:
        """The lines of all users."""
        by = self.config["by"]
        return self.table.filter(pl.col(name) == "(all)" for name in by) if by else self.table

    def _order(self) -> str:
        means = self._overall().row(0, named=True)
        told = self.systems[0]
        for one, other in itertools.pairwise(self.systems):
            told += f" {'=' if abs(means[one] - means[other]) <= TIE else '>'} {other}"
        return told

    def to_frame(self) -> pl.DataFrame:
        """The table."""
        return self.table

    def to_dict(self) -> dict[str, Any]:
        """The sentence and the table as plain values."""
        return plain({"summary": self.summary, "variations": self.table.to_dicts(), "config": self.config})


@takes_settings
def sensitivity(
    systems: Systems,
    judgments: TableLike,
    items: TableLike | None = None,
    *,
    discounts: Sequence[str] = DISCOUNTS,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Sensitivity:
    """Judge systems by one metric, then with one thing changed at a time.

    The reference is ``metrics``, an ``N2DCG_cat`` of any discount and cutoff, under the settings given; then come other
    discounts, the unconstrained ideal, the other gain, cutoffs at the first screen and at half the page, and the other
    kind of candidates.

    Parameters
    ----------
    systems, judgments, items, progress
        As in :func:`carouseval.compare`.
    discounts
        Those to try beside the reference's.
    """
    chosen = Settings.named("sensitivity", settings)
    plan = ScoringPlan.of(chosen)
    name, *others = plan.names
    if others or name not in plan.metrics or plan.metrics[name].ideal != "category":
        found = ", ".join(plan.names)
        raise ParameterError(f"metrics: sensitivity varies one N2DCG_cat, of any discount and cutoff, found {found}.")
    if plan.grid_values is not None:
        raise ParameterError("grid: sensitivity takes one grid for all pages.")
    runs = system_runs(systems)
    listed = all_items(items, runs, ScoringPlan.of(replace(chosen, candidates="judged")))
    reference, variations = plan.metrics[name], _variations(plan.metrics[name], plan, discounts)
    other: Candidates = "displayed" if chosen.candidates == "judged" else "judged"
    asked = {chosen.candidates: {("reference", reference.full_name): reference} | variations}
    asked |= {other: {("candidates", other): reference}}
    lines: list[dict[str, Any]] = []
    for candidates, mine in asked.items():
        options = settings | {"candidates": candidates, "metrics": list(mine.values())}
        evaluator = Evaluator(judgments, listed, **options)
        results = {
            name: [evaluator.evaluate(layouts, progress) for layouts in several] for name, several in runs.items()
        }
        for key, one in zip(mine, mine.values(), strict=True):
            lines += _lines(key, str(one), results, chosen.by_columns)
    return Sensitivity(
        systems=_order(runs, lines[0]),
        table=_compared(lines, list(runs), chosen.by_columns),
        config=plan.config() | {"discounts_tried": list(discounts)},
    )


def _lines(
    key: tuple[str, str], metric: str, results: Mapping[str, Sequence[Evaluation]], by: Sequence[str]
) -> list[dict[str, Any]]:
    """The systems' means under one variation, over all users and in each segment; runs are averaged."""
    means: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for system, several in results.items():
        for one in several:
            whole = dict.fromkeys(by, "(all)") | {metric: one.mean[metric]}
            for row in (whole, *one.segment_means.iter_rows(named=True)):
                of_segment = means.setdefault(tuple(row[column] for column in by), {})
                of_segment.setdefault(system, []).append(row[metric])
    lines = []
    for segment, by_system in means.items():
        line: dict[str, Any] = dict(zip(by, segment, strict=True))
        line |= dict(zip(("varied", "variation"), key, strict=True))
        averaged = {name: sum(some) / len(some) for name, some in by_system.items()}
        lines.append(line | {name: averaged.get(name, math.nan) for name in results})
    return lines


def _compared(lines: Sequence[dict[str, Any]], systems: Sequence[str], by: Sequence[str]) -> pl.DataFrame:
    """Every line beside the order that the reference gives in its segment."""
    references = {tuple(line[name] for name in by): line for line in lines if line["varied"] == "reference"}
    told = []
    for line in lines:
        reference = references[tuple(line[name] for name in by)]
        means = ({name: one[name] for name in systems} for one in (reference, line))
        told.append(line | _agreement(*means))
    return pl.DataFrame(told, infer_schema_length=None)


def _order(systems: Iterable[str], reference: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(systems, key=lambda name: (-reference[name], name)))


def _variations(reference: Metric, plan: ScoringPlan, discounts: Sequence[str]) -> dict[tuple[str, str], Metric]:
    """One thing changed at a time; what comes to the same as the reference or an earlier one is left out."""
    if isinstance(discounts, str) or not discounts:
        raise ParameterError("discounts must be a list of at least one, such as ['d_rpd', 'd_a'].")
    grid, discount, cutoff, gain = plan.grids[0], reference.discount, reference.cutoff, reference.gain
    screen = (min(grid.visible_rows, grid.rows), min(grid.page_size, grid.cols))
    half = (-(-grid.rows // 2), -(-grid.cols // 2))
    in_force = plan.gain if gain is None else gain
    other_gain: GainName = "exp2" if in_force == "linear" else "linear"
    all_of_them = {
        **{("discount", name): metric(reference.base, name, cutoff, gain) for name in discounts},
        ("ideal", "unconstrained"): metric("N2DCG", discount, cutoff, gain),
        ("gain", other_gain): metric(reference.base, discount, cutoff, other_gain),
        ("cutoff", f"first screen, {screen[0]}x{screen[1]}"): metric(reference.base, discount, screen, gain),
        ("cutoff", f"half the page, {half[0]}x{half[1]}"): metric(reference.base, discount, half, gain),
    }

    def comes_to(one: Metric) -> tuple[Any, ...]:
        gain = plan.gain if one.gain is None else one.gain
        return one.ideal, gain if isinstance(gain, str) else id(gain), one.weights(grid).tobytes()

    found: dict[tuple[str, str], Metric] = {}
    known = {comes_to(reference)}
    for key, one in all_of_them.items():
        if comes_to(one) not in known:
            known.add(comes_to(one))
            found[key] = one
    return found


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
