"""What a user may choose of a comparison, besides the settings of every evaluation: one list, as of evaluations.

To add a choice, add a field to :class:`ComparisonSettings` and its name and type to :class:`ComparisonDict`; then write
the code that acts on it. ``compare``, on one machine and on Spark, and the commands that compare have it from then on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, get_args

from carouseval.comparison.tests import PERMUTATIONS, NamedTest, listed_tests
from carouseval.evaluation.settings import SettingsDict
from carouseval.settings import Doc, check_types
from carouseval.validation import require_float, require_int

if TYPE_CHECKING:  # the command line reads this list before it needs NumPy
    from carouseval.metrics.grid import Array

Test: TypeAlias = NamedTest | Callable[["Array"], float]
"""A significance test: its name, or a function from the array of differences to a p-value."""
Correction: TypeAlias = Literal["holm", "bh", "none"]
"""A correction of p-values for multiple comparisons: Holm, Benjamini-Hochberg, or none."""
RunEffects: TypeAlias = Literal["random", "paired", "fixed"]
"""How several runs of a system are treated: as a random sample of its runs, paired between systems, or as given."""


def _tests() -> str:
    """What tests there are, and what they take."""
    from carouseval.comparison.tests.crossed_t import CrossedT

    tests = listed_tests()
    default, *others = (test.described or repr(test.name) for test in tests)
    unweighted, over_runs = (
        " and ".join(repr(test.name) for test in some)
        for some in ([test for test in tests if not test.takes_weights], [test for test in tests if test.over_runs()])
    )
    return (
        "The two-sided test. By default, and with one run of each system, users' paired differences are tested by "
        f"{default}; the result is then conditional on these runs. Other tests of users' differences are "
        f"{', '.join(others)}, or a function that takes the array of differences and returns a p-value. With `weight`, "
        "differences are weighted first, by each user's mean weight over all systems; weights are not supported by "
        f"{unweighted}. Where a system has several runs, the default is {CrossedT.described}, and so is {over_runs}."
    )


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings:
    """Which pairs of systems are tested, and how."""

    baseline: Annotated[
        str | None,
        Doc(
            "The system that every other system is compared with. By default all pairs of systems are compared.",
            option="System that all others are compared with. Default: all pairs are compared.",
        ),
    ] = None
    test: Annotated[
        Test | None,
        Doc(
            _tests,
            "{" + ", ".join(f'"{name}"' for name in get_args(NamedTest)) + "} or callable",
            option="Significance test of paired differences. Default: permutation; with several runs of a system, a t "
            "test in which users and runs both vary.",
        ),
    ] = None
    runs: Annotated[
        RunEffects,
        Doc(
            "What several runs of a system are. 'random': a sample of the runs that it could have, so that a "
            "difference must exceed what another training run changes. One run against several is assumed to vary as "
            "those do. 'paired': the same, but the first runs of all systems share a seed or a split of the data, as "
            "do the second ones, and so on. 'fixed': exactly these runs are compared, and only users vary.",
            option="Several runs of a system: a random sample of its runs, paired between systems by their order (same "
            "seeds), or fixed (compare exactly these runs).",
        ),
    ] = "random"
    correction: Annotated[
        Correction,
        Doc(
            "The correction of p-values for multiple comparisons, per metric over all pairs tested: Holm, "
            "Benjamini-Hochberg, or none.",
            option="Correction of p-values for multiple comparisons, per metric: Holm, Benjamini-Hochberg, or none.",
        ),
    ] = "holm"
    across_metrics: Annotated[
        bool,
        Doc(
            "Correct over all metrics together instead of for each one.",
            option="Correct p-values over all metrics together.",
        ),
    ] = False
    simultaneous: Annotated[
        bool,
        Doc(
            "Widen intervals so that all of those over which p-values would be corrected hold together at level `ci` "
            "(Bonferroni). By default each interval holds at that level.",
            option="Widen intervals: those of all pairs of a metric hold together.",
        ),
    ] = False
    ci: Annotated[
        float,
        Doc(
            "The confidence level of the intervals, above 0 and below 1. A difference is significant if its corrected "
            "p-value is below 1 - `ci`.",
            option="Confidence level of the intervals.",
        ),
    ] = 0.95
    seed: Annotated[
        int,
        Doc(
            "The seed of the random sign flips and resamples; the same seed gives the same result.",
            option="Random seed; the same seed gives the same p-values.",
        ),
    ] = 0
    permutations: Annotated[
        int,
        Doc(
            "The number of random sign flips, or of resamples with test='bootstrap'.",
            option="Number of sign flips, or of bootstrap resamples.",
        ),
    ] = PERMUTATIONS
    margin: Annotated[
        float | None,
        Doc(
            "The non-inferiority margin: a system is non-inferior if the interval of its difference from the baseline "
            "lies above -`margin`.",
            option="Non-inferiority margin: the interval of the difference must lie above minus the margin.",
        ),
    ] = None

    def __post_init__(self) -> None:
        require_float("ci", self.ci, above=0, below=1)
        if self.margin is not None:
            require_float("margin", self.margin, at_least=0)
        require_int("seed", self.seed, 0)
        require_int("permutations", self.permutations, 1)
        check_types(self)


class ComparisonDict(SettingsDict, total=False):
    """All of them for type checkers: ``**settings: Unpack[ComparisonDict]``."""

    baseline: str | None
    test: Test | None
    runs: RunEffects
    correction: Correction
    across_metrics: bool
    simultaneous: bool
    ci: float
    seed: int
    permutations: int
    margin: float | None
