"""The paired-layout study: two arrangements of the same carousels, and which one each discount prefers.

In each trial every category gets Binomial(items, share) relevant items, at least one and not all; two layouts then
shuffle the rows and the items within rows. The truth is 2DCG under examination frequencies; a discount agrees when it
prefers the layout that the truth prefers.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from carouseval.attention.examination import Examination, Share
from carouseval.errors import ParameterError
from carouseval.messages import setting
from carouseval.metrics.array_functions import dcg2d
from carouseval.metrics.cutoffs import page_weights
from carouseval.metrics.discount_base import as_discount
from carouseval.metrics.discounts import Discount, Empirical
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.ideal import ideal_dcg2d
from carouseval.paper.draws import Draws, LayoutPairs
from carouseval.paper.simulation_settings import Mode, SimulationSettings, Stream
from carouseval.paper.study import DiscountAgreement, Study, Threshold
from carouseval.paper.truth import Truth, grid_of_truth, read_truth
from carouseval.settings import takes

_TIE = 1e-12  # relative; differences this small come from summing the same weights in another order


@takes(SimulationSettings)
def simulate(
    discounts: Sequence[str | Discount] = SimulationSettings.discounts,
    truth: Truth = SimulationSettings.truth,
    mode: Mode = SimulationSettings.mode,
    trials: int = SimulationSettings.trials,
    seed: int = SimulationSettings.seed,
    stream: Stream = SimulationSettings.stream,
    grid: Grid | None = None,
    thresholds: Sequence[str | float | Fraction] = SimulationSettings.thresholds,
    share: float = SimulationSettings.share,
    categories: int | None = None,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Run the paired-layout study of "Revisiting N2DCG" (Table 2).

    Each trial draws carousels and two layouts of them. A discount agrees with the truth when it prefers the layout
    that the truth prefers; pairs on which the truth or any discount has a tie are left out.

    Parameters
    ----------
    progress : callable, optional
        Called with (done, total) as the study proceeds.

    Returns
    -------
    Study
        Agreement with the truth for every threshold and discount.

    Examples
    --------
    >>> import carouseval as cv
    >>> study = cv.simulate(["d_a", "d_rpd"], truth=cv.attention.recgaze_counts("amsterdam"), trials=500)
    >>> [f"{line.agreement.value:.2f}" for line in study.thresholds[0].comparisons]
    ['0.79', '0.91']
    """
    SimulationSettings(mode=mode, trials=trials, seed=seed, stream=stream, share=share, categories=categories)
    trials, seed = int(trials), int(seed)
    judged = [as_discount(discount) for discount in discounts]
    if not judged:
        raise ParameterError(f"{setting('discounts')} must name at least one discount.")
    if isinstance(truth, str):
        truth = read_truth(truth, grid)
    grid = grid or grid_of_truth(truth)
    rows = grid.rows if categories is None else categories
    if grid.cols < 2:
        raise ParameterError(
            f"simulate needs a grid of at least 2 columns: a row holds relevant and other items; found {grid}."
        )
    levels = sorted({_fraction(level) for level in thresholds} | {Fraction(0)})
    tally = _Tally(_Judge(truth, judged, grid, rows), levels)
    draw = Draws(mode == "graded", rows, grid.cols, share)
    chunks = draw.as_in_paper(seed, trials) if stream == "paper" else draw.fast(seed, trials, threads)
    done = 0
    for layouts in chunks:
        tally.add(layouts)
        done += len(layouts[0])
        if progress:
            progress(done, trials)
    name = truth.name if isinstance(truth, Examination) else str(as_discount(truth))
    reported = [_fraction(level) for level in thresholds]
    return Study(mode, stream, trials, seed, grid, name, int(tally.pairs[0]), tally.result(judged, reported))


class _Judge:
    """The truth and the discounts as weight tables; counts stay integers, so that the truth is decided exactly.

    Categories in excess of the grid's rows are put on extra rows of weight 0: they are not shown, but the ideal page
    may use them.
    """

    def __init__(self, truth: Truth, judged: Sequence[Discount], grid: Grid, categories: int) -> None:
        self.exact = isinstance(truth, Examination)
        reference = Empirical(truth.counts) if isinstance(truth, Examination) else as_discount(truth)
        below = max(0, categories - grid.rows)

        def table(discount: Discount) -> Empirical:
            return Empirical(np.pad(page_weights(discount, grid), [(0, below), (0, 0)]))

        self.truth, self.judged = table(reference), [table(discount) for discount in judged]
        self.grid = Grid(grid.rows + below, grid.cols)

    def difference(self, discount: Discount, layouts: LayoutPairs) -> Array:
        """2DCG of the first layout minus that of the second, 0 where they tie."""
        first, second = (dcg2d(layout, discount, self.grid) for layout in layouts)
        difference: Array = first - second
        if not (self.exact and discount is self.truth):
            difference[np.abs(difference) <= _TIE * np.maximum(first, second)] = 0.0
        return difference

    def ideal(self, layouts: LayoutPairs) -> Array:
        best: Array = ideal_dcg2d(layouts[0], self.truth, self.grid)
        return best


class _Tally:
    """Counts per threshold and discount, added up chunk by chunk."""

    def __init__(self, judge: _Judge, levels: Sequence[Fraction]) -> None:
        self.judge, self.levels = judge, levels
        self.pairs = np.zeros(len(levels), np.int64)
        self.counts = np.zeros((len(levels), len(judge.judged), 4), np.int64)  # in the order of DiscountAgreement

    def add(self, layouts: LayoutPairs) -> None:
        truth = self.judge.difference(self.judge.truth, layouts)
        prefers = np.array([np.sign(self.judge.difference(discount, layouts)) for discount in self.judge.judged])
        decided = (truth != 0) & (prefers != 0).all(axis=0)
        ideal = self.judge.ideal(layouts)
        right = prefers == np.sign(truth)
        first = right[0]
        outcomes = np.stack([right, right & ~first, ~right & ~first, ~right & first], axis=1)
        for level, at_least in enumerate(self.levels):
            counted = decided & self._differ(np.abs(truth), ideal, at_least)
            self.pairs[level] += counted.sum()
            self.counts[level] += (counted & outcomes).sum(axis=2)

    def _differ(self, difference: Array, ideal: Array, at_least: Fraction) -> NDArray[np.bool_]:
        """difference / ideal >= at_least: in integers where the truth is exact, else within rounding."""
        scaled, bound = difference * at_least.denominator, ideal * at_least.numerator
        reached: NDArray[np.bool_] = scaled >= (bound if self.judge.exact else bound * (1 - _TIE))
        return reached

    def result(self, judged: Sequence[Discount], thresholds: Sequence[Fraction]) -> tuple[Threshold, ...]:
        return tuple(self._threshold(judged, at_least, self.levels.index(at_least)) for at_least in thresholds)

    def _threshold(self, judged: Sequence[Discount], at_least: Fraction, level: int) -> Threshold:
        pairs, counts = int(self.pairs[level]), self.counts[level].tolist()
        lines = (
            DiscountAgreement(discount, *(Share(count, pairs) for count in line))
            for discount, line in zip(judged, counts, strict=True)
        )
        return Threshold(at_least, pairs, tuple(lines))


def _fraction(level: str | float | Fraction) -> Fraction:
    """The decimal as written: "0.1" is one tenth, not the nearest float."""
    text = str(level)
    try:
        value = Fraction(text) if len(text) <= 12 and "e" not in text.lower() else Fraction(-1)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if not 0 <= value < 1 or value.denominator > 10**6:
        raise ParameterError(
            f"{setting('thresholds')} must be decimals from 0 to below 1, such as 0.05, found {level!r}."
        )
    return value
