"""The paired-layout study: two arrangements of the same carousels, and which one each discount prefers.

Per trial, every category gets Binomial(items, share) relevant items, at least one and not all; two layouts then shuffle
the rows and the items within rows. Truth is 2DCG under examination frequencies; a discount agrees when it prefers the
layout that truth prefers.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from carouseval.attention.examination import Examination, Share
from carouseval.errors import ParameterError
from carouseval.metrics.array_functions import dcg2d
from carouseval.metrics.discount_base import as_discount
from carouseval.metrics.discounts import Discount, Empirical
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.ideal import ideal_dcg2d
from carouseval.metrics.validation import require_choice, require_float, require_int
from carouseval.result_base import Result
from carouseval.study.draws import Draws, LayoutPairs
from carouseval.study.truth import Truth, own_grid

if TYPE_CHECKING:
    import polars as pl

MODES = ("binary", "graded")
STREAMS = ("paper", "fast")
THRESHOLDS = ("0", "0.01", "0.02", "0.05", "0.1")

_TIE = 1e-12  # floats this close, relative to the larger, add up the same weights in another order


@dataclass(frozen=True)
class DiscountAgreement:
    """One discount against the first one, on the same pairs."""

    discount: Discount
    agreement: Share
    corrected: Share  # the first is wrong, this one right
    both_wrong: Share
    regressions: Share  # the first is right, this one wrong

    @property
    def shares(self) -> dict[str, Share]:
        """All four, by name."""
        return {name: getattr(self, name) for name in ("agreement", "corrected", "both_wrong", "regressions")}


@dataclass(frozen=True)
class Threshold:
    """Results on pairs whose truth scores differ by at least so much."""

    at_least: Fraction
    pairs: int
    comparisons: tuple[DiscountAgreement, ...]  # in the order the discounts were given


@dataclass(frozen=True)
class Study(Result):
    """The study's outcome and everything that determines it."""

    mode: str
    stream: str
    trials: int
    seed: int
    grid: Grid
    truth: str
    pairs: int  # on which neither truth nor any discount ties
    thresholds: tuple[Threshold, ...]

    @property
    def heading(self) -> str:
        what = f"{self.trials:,} {self.mode} trials, {self.stream} stream, seed {self.seed}, truth {self.truth}"
        first = self.thresholds[0].comparisons[0].discount.short
        return f"{what}; agreement with 95% Wilson intervals, the rest against {first}"

    def to_frame(self) -> "pl.DataFrame":
        """A line for each threshold and discount."""
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
        """Plain numbers, for JSON."""
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
    discounts: Sequence[str | Discount] = ("d_a", "d_rpd"),
    truth: Truth = "d_rpd",
    mode: str = "binary",
    trials: int = 20_000,
    seed: int = 42,
    stream: str = "fast",
    grid: Grid | None = None,
    thresholds: Sequence[str | float | Fraction] = THRESHOLDS,
    share: float = 0.15,
    categories: int | None = None,
    *,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Study:
    """Run the paired-layout study.

    ``truth`` is examination counts, which are decided exactly in whole numbers, or any discount, whose ties are
    decided within 1e-12. ``stream="paper"`` draws as the authors do, one trial after another; ``"fast"`` draws whole
    chunks, each trial from a stream of its own, so that results depend on neither threads nor chunks. ``categories``
    carousels are drawn, by default as many as the grid has rows; of more, each layout shows as many as fit.
    ``progress`` is called with (done, of).
    """
    require_choice("mode", mode, MODES)
    require_choice("stream", stream, STREAMS)
    trials, seed = require_int("trials", trials, 1), require_int("seed", seed, 0)
    if seed >= 2**64:
        raise ParameterError(f"seed must be below 2^64, found {seed}.")
    share = require_float("share", share, above=0, at_most=1)
    judged = [as_discount(one) for one in discounts]
    if not judged:
        raise ParameterError("simulate needs at least one discount to judge.")
    grid = grid or own_grid(truth)
    rows = grid.rows if categories is None else require_int("categories", categories, 1)
    if grid.cols < 2:
        raise ParameterError(
            f"simulate needs at least 2 columns: some items are relevant, some not; the grid is {grid}."
        )
    levels = sorted({_fraction(level) for level in thresholds} | {Fraction(0)})
    tally = _Tally(_Judge(truth, judged, grid, rows), levels)
    draw = Draws(mode == "graded", rows, grid.cols, share)
    chunks = draw.as_the_paper(seed, trials) if stream == "paper" else draw.fast(seed, trials, threads)
    done = 0
    for layouts in chunks:
        tally.add(layouts)
        done += len(layouts[0])
        if progress:
            progress(done, trials)
    name = truth.name if isinstance(truth, Examination) else str(as_discount(truth))
    asked = [_fraction(level) for level in thresholds]
    return Study(mode, stream, trials, seed, grid, name, int(tally.pairs[0]), tally.result(judged, asked))


class _Judge:
    """Truth and discounts as tables. Counts stay whole numbers, so that truth is decided exactly.

    Categories that outnumber the grid's rows stand on rows below it, which weigh nothing: they are not shown, but the
    ideal may choose them.
    """

    def __init__(self, truth: Truth, judged: Sequence[Discount], grid: Grid, categories: int) -> None:
        self.exact = isinstance(truth, Examination)
        known = Empirical(truth.counts) if isinstance(truth, Examination) else as_discount(truth)
        below = max(0, categories - grid.rows)

        def table(discount: Discount) -> Empirical:
            return Empirical(np.pad(discount.weights(grid), [(0, below), (0, 0)]))

        self.truth, self.judged = table(known), [table(discount) for discount in judged]
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
        """difference / ideal >= at_least: in whole numbers where truth is, else within rounding."""
        scaled, bound = difference * at_least.denominator, ideal * at_least.numerator
        reached: NDArray[np.bool_] = scaled >= (bound if self.judge.exact else bound * (1 - _TIE))
        return reached

    def result(self, judged: Sequence[Discount], asked: Sequence[Fraction]) -> tuple[Threshold, ...]:
        out = []
        for at_least in asked:
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
    """0.1 as it is written, one tenth, not as the float next to it."""
    text = str(level)
    try:
        value = Fraction(text) if len(text) <= 12 and "e" not in text.lower() else Fraction(-1)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if not 0 <= value < 1 or value.denominator > 10**6:
        raise ParameterError(f"thresholds are decimals from 0 to below 1, such as 0.05, found {level!r}.")
    return value
