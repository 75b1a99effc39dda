"""What a user may choose of a comparison, besides the settings of every evaluation: the one list behind signatures.

To add a choice, add a field to :class:`ComparisonSettings` and its name and type to :class:`ComparisonDict`; then write
the code that acts on it. ``compare``, on one machine and on Spark, has it from then on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from carouseval.comparison.corrections import Correction, RunEffects
from carouseval.comparison.significance import Test
from carouseval.comparison.tests import listed_tests
from carouseval.comparison.tests.contract import PERMUTATIONS
from carouseval.comparison.tests.crossed_t import CrossedT
from carouseval.evaluation.settings import Settings, SettingsDict
from carouseval.settings import Doc, TakesSettings, with_settings_listed


def _test_doc() -> Doc:
    """What tests there are, and what they take."""
    tests = listed_tests()
    default, *others = (test.described or repr(test.name) for test in tests)
    unweighted, over_runs = (
        " and ".join(repr(test.name) for test in some)
        for some in ([test for test in tests if not test.takes_weights], [test for test in tests if test.over_runs()])
    )
    return Doc(
        "The two-sided test. By default, and with one run of each system, users' paired differences are tested by "
        f"{default}; the result is then conditional on these runs. Other tests of users' differences are "
        f"{', '.join(others)}, or a function that takes the array of differences and returns a p-value. With `weight`, "
        "differences are weighted first, by each user's mean weight over all systems; weights are not supported by "
        f"{unweighted}. Where a system has several runs, the default is {CrossedT.described}, and so is {over_runs}.",
        "{" + ", ".join(f'"{test.name}"' for test in tests) + "} or callable",
    )


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings:
    """Which pairs of systems are tested, and how."""

    baseline: Annotated[
        str | None,
        Doc("The system that every other system is compared with. By default all pairs of systems are compared."),
    ] = None
    test: Annotated[Test | None, _test_doc()] = None
    runs: Annotated[
        RunEffects,
        Doc(
            "What several runs of a system are. 'random': a sample of the runs that it could have, so that a "
            "difference must exceed what another training run changes. One run against several is assumed to vary as "
            "those do. 'paired': the same, but the first runs of all systems share a seed or a split of the data, as "
            "do the second ones, and so on. 'fixed': exactly these runs are compared, and only users vary."
        ),
    ] = "random"
    correction: Annotated[
        Correction,
        Doc(
            "The correction of p-values for multiple comparisons, per metric over all pairs tested: Holm, "
            "Benjamini-Hochberg, or none."
        ),
    ] = "holm"
    across_metrics: Annotated[bool, Doc("Correct over all metrics together instead of for each one.")] = False
    simultaneous: Annotated[
        bool,
        Doc(
            "Widen intervals so that all of those over which p-values would be corrected hold together at level `ci` "
            "(Bonferroni). By default each interval holds at that level."
        ),
    ] = False
    ci: Annotated[
        float,
        Doc(
            "The confidence level of the intervals, above 0 and below 1. A difference is significant if its corrected "
            "p-value is below 1 - `ci`."
        ),
    ] = 0.95
    seed: Annotated[
        int, Doc("The seed of the random sign flips and resamples; the same seed gives the same result.")
    ] = 0
    permutations: Annotated[int, Doc("The number of random sign flips, or of resamples with test='bootstrap'.")] = (
        PERMUTATIONS
    )
    margin: Annotated[
        float | None,
        Doc(
            "The non-inferiority margin: a system is non-inferior if the interval of its difference from the baseline "
            "lies above -`margin`."
        ),
    ] = None

    @classmethod
    def named(cls, function: str, settings: Mapping[str, Any]) -> tuple["ComparisonSettings", Settings]:
        """The choices of a comparison and the settings of its evaluations, from a function's keyword arguments."""
        own = {choice.name: settings[choice.name] for choice in fields(cls) if choice.name in settings}
        others = {name: value for name, value in settings.items() if name not in own}
        return cls(**own), Settings.named(function, others, also=[choice.name for choice in fields(cls)])


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


def takes_comparison_settings(function: TakesSettings) -> TakesSettings:
    """List the choices of a comparison, and every setting, in a function's signature and docstring."""
    return with_settings_listed(function, ComparisonSettings, Settings)
