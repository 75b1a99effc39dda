"""Options of commands that compare systems."""

from collections.abc import Sequence
from typing import Annotated, TypeAlias

import typer

from carouseval.cli.options import choice_parser
from carouseval.comparison.corrections import Correction, RunEffects
from carouseval.comparison.tests import NamedTest

Baseline: TypeAlias = Annotated[
    str | None, typer.Option(help="System that all others are compared with. Default: all pairs are compared.")
]
TestOption: TypeAlias = Annotated[
    NamedTest | None,
    typer.Option(
        parser=choice_parser(NamedTest),
        help="Significance test of paired differences. Default: permutation; with several runs of a system, a t "
        "test in which users and runs both vary.",
    ),
]
Runs: TypeAlias = Annotated[
    RunEffects,
    typer.Option(
        parser=choice_parser(RunEffects),
        help="Several runs of a system: a random sample of its runs, paired between systems by their order (same "
        "seeds), or fixed (compare exactly these runs).",
    ),
]
CorrectionOption: TypeAlias = Annotated[
    Correction,
    typer.Option(
        parser=choice_parser(Correction),
        help="Correction of p-values for multiple comparisons, per metric: Holm, Benjamini-Hochberg, or none.",
    ),
]
AcrossMetrics: TypeAlias = Annotated[
    bool, typer.Option("--across-metrics", help="Correct p-values over all metrics together.")
]
Simultaneous: TypeAlias = Annotated[
    bool, typer.Option("--simultaneous", help="Widen intervals: those of all pairs of a metric hold together.")
]
ConfidenceLevel: TypeAlias = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Permutations: TypeAlias = Annotated[int, typer.Option(help="Number of sign flips, or of bootstrap resamples.", min=1)]
Seed: TypeAlias = Annotated[int, typer.Option(help="Random seed; the same seed gives the same p-values.")]
Margin: TypeAlias = Annotated[
    float | None,
    typer.Option(help="Non-inferiority margin: the interval of the difference must lie above minus the margin."),
]
SensitivityFlag: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--sensitivity",
        help="Also report whether the order holds under other discounts, ideals, gains and cutoffs.",
    ),
]


def category_metric(metrics: Sequence[str]) -> list[str]:
    """The first of the metrics that explain and sensitivity take, or N2DCG_cat."""
    return [next((name for name in metrics if name.startswith("N2DCG_cat")), "N2DCG_cat")]
