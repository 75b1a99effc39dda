"""What a sensitivity study varies of a metric, and how an order of systems agrees with the reference's."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from carouseval.comparison.crossed_effects import TIE
from carouseval.errors import ParameterError
from carouseval.evaluation.columns import Columns
from carouseval.evaluation.plan import ScoringPlan
from carouseval.messages import Message, nested
from carouseval.metrics.gain_names import GainName
from carouseval.metrics.grid import sizes_by_row
from carouseval.metrics.metric_base import Metric
from carouseval.metrics.names import metric

_OTHER_NUMBERS = "(These numbers differ in other systems or variations.)"


def variations_of(reference: Metric, plan: ScoringPlan, discounts: Sequence[str]) -> dict[tuple[str, str], Metric]:
    """The metrics with one choice changed; those equal to the reference or to an earlier one are left out."""
    if isinstance(discounts, str) or not discounts:
        raise ParameterError("discounts must be a list of at least one, such as ['d_rpd', 'd_a'].")
    grid, discount, cutoff, gain = plan.grids[0], reference.discount, reference.cutoff, reference.gain
    in_view = min(grid.visible_rows, grid.rows)
    screen = (in_view, min(max(sizes_by_row(grid)[:in_view]), grid.cols))  # the smallest cutoff that holds it
    half = (-(-grid.rows // 2), -(-grid.cols // 2))
    gain_in_force = plan.gain if gain is None else gain
    other_gain: GainName = "exp2" if gain_in_force == "linear" else "linear"
    metrics = {
        **{("discount", name): metric(reference.base, name, cutoff, gain) for name in discounts},
        ("ideal", "unconstrained"): metric("N2DCG", discount, cutoff, gain),
        ("gain", other_gain): metric(reference.base, discount, cutoff, other_gain),
        ("cutoff", f"first screen, {screen[0]}x{screen[1]}"): metric(reference.base, discount, screen, gain),
        ("cutoff", f"half the page, {half[0]}x{half[1]}"): metric(reference.base, discount, half, gain),
    }

    def identity(varied: Metric) -> tuple[Any, ...]:
        gain = plan.gain if varied.gain is None else varied.gain
        return varied.ideal, gain if isinstance(gain, str) else id(gain), varied.weights(grid).tobytes()

    distinct: dict[tuple[str, str], Metric] = {}
    seen = {identity(reference)}
    for variation, varied in metrics.items():
        if identity(varied) not in seen:
            seen.add(identity(varied))
            distinct[variation] = varied
    return distinct


def order_agreement(reference: dict[str, float], means: dict[str, float]) -> dict[str, Any]:
    """Kendall's tau-b between the order of systems and the reference's, the best system, and the pairs that swap."""
    agreements = reference_ties = ties = 0
    flips = []
    for system, other in itertools.combinations(reference, 2):
        before, after = reference[system] - reference[other], means[system] - means[other]
        reference_ties += abs(before) <= TIE
        ties += abs(after) <= TIE
        if min(abs(before), abs(after)) <= TIE or math.isnan(before * after):
            continue
        if before * after < 0:
            flips.append(f"{system}/{other}")
        else:
            agreements += 1
    pairs = len(reference) * (len(reference) - 1) // 2
    untied = math.sqrt((pairs - reference_ties) * (pairs - ties))
    tau = (agreements - len(flips)) / untied if untied > 0 else math.nan
    best = max(means, key=lambda name: means[name]) if not any(map(math.isnan, means.values())) else ""
    return {Columns.TAU: tau, Columns.BEST: best, Columns.FLIPS: ", ".join(flips)}


def merged_notices(notices: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """One of the notices that differ in numbers alone, as those about other systems or variations do.

    That with the largest share is given: what is too low by at most so much is so everywhere.
    """
    alike: dict[str, list[str]] = {}
    for notice in notices:
        alike.setdefault(re.sub(r"[\d.,]+|s\b", "", notice), []).append(notice)  # 1 page, 2 pages
    worst = {max(of_kind, key=_largest_share): len(of_kind) > 1 for of_kind in alike.values()}
    return {
        Message(f"{nested(notice)} {_OTHER_NUMBERS}") if others else notice: notices[notice]
        for notice, others in worst.items()
    }


def _largest_share(notice: str) -> float:
    return max(map(float, re.findall(r"([\d.]+)%", notice)), default=0.0)
