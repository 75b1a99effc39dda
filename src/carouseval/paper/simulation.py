"""The paired-layout study: two arrangements of the same carousels, and which one each discount prefers.

In each trial every category gets Binomial(items, share) relevant items, at least one and not all; two layouts then
shuffle the rows and the items within rows. The truth is 2DCG under examination frequencies; a discount agrees when it
prefers the layout that the truth prefers.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
from carouseval.paper.simulation_options import DISCOUNTS, MODES, STREAMS, THRESHOLDS, TRUTH, Mode, Stream
from carouseval.paper.truth import Truth, own_grid, read_truth
from carouseval.results import Result
from carouseval.validation import require_choice, require_float, require_int

if TYPE_CHECKING:
    import polars as pl


_TIE = 1e-12  # relative; differences this small come from summing the same weights in another order


@dataclass(frozen=True)
class DiscountAgreement:
    """How often one discount agrees with the truth, and how it differs from the first discount on the same pairs.

    Attributes
    ----------
    discount : Discount
        The discount.
    agreement : Share
        Pairs on which it prefers the layout that the truth prefers.
    corrected : Share
        Pairs on which the first discount is wrong and this one right.
    both_wrong : Share
        Pairs on which both are wrong.
    regressions : Share
        Pairs on which the first discount is right and this one wrong.
    """

    discount: Discount
    agreement: Share
    corrected: Share
    both_wrong: Share
    regressions: Share

    @property
    def shares(self) -> dict[str, Share]:
        """The four shares by name."""
        return {name: getattr(self, name) for name in ("agreement", "corrected", "both_wrong", "regressions")}


@dataclass(frozen=True)
class Threshold:
    """Results on pairs whose true scores differ by at least a given share of the ideal score.

    Attributes
    ----------
    at_least : Fraction
        The smallest difference counted.
    pairs : int
        Pairs that differ by that much.
    comparisons : tuple of DiscountAgreement
        One for each discount, in the order given.
    """

    at_least: Fraction
    pairs: int
    comparisons: tuple[DiscountAgreement, ...]


@dataclass(frozen=True)
class Study(Result):
    """Result of a paired-layout study, with everything that determines it.

    Attributes
    ----------
    mode : {"binary", "graded"}
        How relevant items are graded.
    stream : {"paper", "fast"}
        How layouts were drawn.
    trials : int
        Pairs of layouts drawn.
    seed : int
        Seed of the draws.
    grid : Grid
        The grid of the layouts.
    truth : str
        Name of what the discounts are compared with.
    pairs : int
        Pairs on which neither the truth nor any discount has a tie.
    thresholds : tuple of Threshold
        Results, one entry for each smallest difference asked for.

    Examples
    --------
    >>> import carouseval as cv
    >>> study = cv.simulate(["d_a", "d_rpd"], truth=cv.attention.recgaze_counts("amsterdam"), trials=100)
    >>> study
    Study(d_a agrees on 77.0%, d_rpd on 91.0% of 100 pairs; truth amsterdam, 100 binary trials)
    >>> study.to_frame().columns[:4]
    ['difference at least', 'pairs', 'discount', 'agreement']
    """

    mode: Mode
    stream: Stream
    trials: int
    seed: int
    grid: Grid
    truth: str
    pairs: int
    thresholds: tuple[Threshold, ...]

    @property
    def heading(self) -> str:
        """What was simulated, in a sentence."""
        what = f"{self.trials:,} {self.mode} trials, {self.stream} stream, seed {self.seed}, truth {self.truth}"
        first = self.thresholds[0].comparisons[0].discount.short
        return f"{what}; agreement with 95% Wilson intervals, the other columns relative to {first}"

    def __repr__(self) -> str:
        agreements = [(one.discount.short, one.agreement.value) for one in self.thresholds[0].comparisons]
        (name, value), *others = agreements
        shares = ", ".join([f"{name} agrees on {value:.1%}", *(f"{other} on {share:.1%}" for other, share in others)])
        pairs = f"{self.thresholds[0].pairs:,} pairs"
        return f"Study({shares} of {pairs}; truth {self.truth}, {self.trials:,} {self.mode} trials)"

    def to_frame(self) -> "pl.DataFrame":
        """Agreement with intervals for every threshold and discount.

        Returns
        -------
        polars.DataFrame
            One row per threshold and discount.
        """
        import polars as pl

        return pl.DataFrame(
            {
                "difference at least": f"{float(row.at_least):g}",
                "pairs": row.pairs,
                "discount": one.discount.short,
                "agreement": one.agreement.value,
                "low": one.agreement.interval[0],
                "high": one.agreement.interval[1],
                "corrected": one.corrected.value,
                "both wrong": one.both_wrong.value,
                "regressions": one.regressions.value,
            }
            for row in self.thresholds
            for one in row.comparisons
        )

    def to_dict(self) -> dict[str, Any]:
        """The study as plain values, ready for JSON.

        Returns
        -------
        dict
            Settings, the number of pairs and the results by threshold.
        """
        return {
            "mode": self.mode,
            "stream": self.stream,
            "trials": self.trials,
            "seed": self.seed,
            "grid": asdict(self.grid),
            "truth": self.truth,
            "pairs": self.pairs,
            "thresholds": [
                {
                    "at_least": float(row.at_least),
                    "pairs": row.pairs,
                    "discounts": [
                        {
                            "discount": str(one.discount),
                            **{
                                name: {"share": share.value, "low": share.interval[0], "high": share.interval[1]}
                                for name, share in one.shares.items()
                            },
                        }
                        for one in row.comparisons
                    ],
                }
                for row in self.thresholds
            ],
        }


def simulate(
    discounts: Sequence[str | Discount] = DISCOUNTS,
    truth: Truth = TRUTH,
    mode: Mode = "binary",
    trials: int = 20_000,
    seed: int = 42,
    stream: Stream = "fast",
    grid: Grid | None = None,
    thresholds: Sequence[str | float | Fraction] = THRESHOLDS,
    share: float = 0.15,
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
    discounts : sequence of str or Discount, default ("d_a", "d_rpd")
        Discounts to compare with the truth; corrections and regressions are relative to the first.
    truth : Examination, str or Discount, default "amsterdam"
        Examination counts, which are compared exactly in integers, or any discount, with ties within 1e-12; as text a
        group of RecGaze, a file of counts, or the name of a discount. By default the counts of the paper's test set.
    mode : {"binary", "graded"}, default "binary"
        Relevant items have relevance 1 ("binary") or 1 to 5 ("graded").
    trials : int, default 20000
        Pairs of layouts to draw.
    seed : int, default 42
        The same seed gives the same pairs.
    stream : {"paper", "fast"}, default "fast"
        "paper" repeats the authors' random draws one by one. "fast" draws in chunks, each trial from a random stream
        of its own, so that results do not depend on threads or chunks.
    grid : Grid, optional
        The screen. By default the grid of ``truth`` if it is a table, else :data:`carouseval.RECGAZE`.
    thresholds : sequence of str, float or Fraction, default ("0", "0.01", "0.02", "0.05", "0.1")
        Smallest differences of the true scores, as shares of the ideal score, for which results are reported.
    share : float, default 0.15
        Expected share of relevant items, above 0 and at most 1.
    categories : int, optional
        Carousels to draw, by default as many as the grid has rows. Of more, each layout shows as many as fit.
    threads : int, optional
        Most threads to use with ``stream="fast"``; by default all cores.
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
    >>> [f"{one.agreement.value:.2f}" for one in study.thresholds[0].comparisons]
    ['0.79', '0.91']
    """
    require_choice("mode", mode, MODES)
    require_choice("stream", stream, STREAMS)
    trials, seed = require_int("trials", trials, 1), require_int("seed", seed, 0)
    if seed >= 2**64:
        raise ParameterError(f"{setting('seed')} must be below 2^64, found {seed}.")
    share = require_float("share", share, above=0, at_most=1)
    judged = [as_discount(one) for one in discounts]
    if not judged:
        raise ParameterError(f"{setting('discounts')} must name at least one discount.")
    if isinstance(truth, str):
        truth = read_truth(truth, grid)
    grid = grid or own_grid(truth)
    rows = grid.rows if categories is None else require_int("categories", categories, 1)
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
        one, other = (dcg2d(layout, discount, self.grid) for layout in layouts)
        difference: Array = one - other
        if not (self.exact and discount is self.truth):
            difference[np.abs(difference) <= _TIE * np.maximum(one, other)] = 0.0
        return difference

    def ideal(self, layouts: LayoutPairs) -> Array:
        best: Array = ideal_dcg2d(layouts[0], self.truth, self.grid)
        return best


class _Tally:
    """Counts per threshold and discount, added up chunk by chunk."""

    def __init__(self, judge: _Judge, levels: Sequence[Fraction]) -> None:
        self.judge, self.levels = judge, levels
        self.pairs = np.zeros(len(levels), np.int64)
        self.right = np.zeros((len(levels), len(judge.judged)), np.int64)
        self.both_wrong, self.corrected, self.regressions = (np.zeros_like(self.right) for _ in range(3))

    def add(self, layouts: LayoutPairs) -> None:
        truth = self.judge.difference(self.judge.truth, layouts)
        prefers = np.array([np.sign(self.judge.difference(one, layouts)) for one in self.judge.judged])
        decided = (truth != 0) & (prefers != 0).all(axis=0)
        ideal = self.judge.ideal(layouts)
        right = prefers == np.sign(truth)
        for level, at_least in enumerate(self.levels):
            counted = decided & self._differ(np.abs(truth), ideal, at_least)
            first = right[0]
            self.pairs[level] += counted.sum()
            for one, ok in enumerate(right):
                self.right[level, one] += (counted & ok).sum()
                self.both_wrong[level, one] += (counted & ~ok & ~first).sum()
                self.corrected[level, one] += (counted & ok & ~first).sum()
                self.regressions[level, one] += (counted & ~ok & first).sum()

    def _differ(self, difference: Array, ideal: Array, at_least: Fraction) -> NDArray[np.bool_]:
        """difference / ideal >= at_least: in integers where the truth is exact, else within rounding."""
        scaled, bound = difference * at_least.denominator, ideal * at_least.numerator
        reached: NDArray[np.bool_] = scaled >= (bound if self.judge.exact else bound * (1 - _TIE))
        return reached

    def result(self, judged: Sequence[Discount], thresholds: Sequence[Fraction]) -> tuple[Threshold, ...]:
        out = []
        for at_least in thresholds:
            level = self.levels.index(at_least)
            pairs = int(self.pairs[level])
            out.append(
                Threshold(
                    at_least,
                    pairs,
                    tuple(
                        DiscountAgreement(
                            discount,
                            *(
                                Share(int(table[level, one]), pairs)
                                for table in (self.right, self.corrected, self.both_wrong, self.regressions)
                            ),
                        )
                        for one, discount in enumerate(judged)
                    ),
                )
            )
        return tuple(out)


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
