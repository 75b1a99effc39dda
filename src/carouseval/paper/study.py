"""The result of the paired-layout study: how often discounts agree with the truth, by smallest difference."""

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from carouseval.attention.examination import Share
from carouseval.metrics.discounts import Discount
from carouseval.metrics.grid import Grid
from carouseval.paper.simulation_settings import Mode, Stream
from carouseval.results import Result

if TYPE_CHECKING:
    import polars as pl


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
        trials = f"{self.trials:,} {self.mode} trials, {self.stream} stream, seed {self.seed}, truth {self.truth}"
        first = self.thresholds[0].comparisons[0].discount.short
        return f"{trials}; agreement with 95% Wilson intervals, the other columns relative to {first}"

    def __repr__(self) -> str:
        agreements = [(line.discount.short, line.agreement.value) for line in self.thresholds[0].comparisons]
        (name, value), *others = agreements
        shares = ", ".join([f"{name} agrees on {value:.1%}", *(f"{other} on {share:.1%}" for other, share in others)])
        pairs = f"{self.thresholds[0].pairs:,} pairs"
        return f"Study({shares} of {pairs}; truth {self.truth}, {self.trials:,} {self.mode} trials)"

    def to_frame(self) -> "pl.DataFrame":
        """Agreement with intervals, one line per threshold and discount."""
        import polars as pl

        return pl.DataFrame(
            {
                "difference at least": f"{float(row.at_least):g}",
                "pairs": row.pairs,
                "discount": line.discount.short,
                "agreement": line.agreement.value,
                "low": line.agreement.interval[0],
                "high": line.agreement.interval[1],
                "corrected": line.corrected.value,
                "both wrong": line.both_wrong.value,
                "regressions": line.regressions.value,
            }
            for row in self.thresholds
            for line in row.comparisons
        )

    def to_dict(self) -> dict[str, Any]:
        """Settings, the number of pairs and the results by threshold."""
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
                            "discount": str(line.discount),
                            **{
                                name: {"share": share.value, "low": share.interval[0], "high": share.interval[1]}
                                for name, share in line.shares.items()
                            },
                        }
                        for line in row.comparisons
                    ],
                }
                for row in self.thresholds
            ],
        }
