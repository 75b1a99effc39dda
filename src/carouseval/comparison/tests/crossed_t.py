"""The t-test of users and runs that both vary, used where systems have several runs."""

from carouseval.comparison.tests import register_test
from carouseval.comparison.tests.contract import MeansTest
from carouseval.evaluation.mean_estimates import MeanEstimate


@register_test
class CrossedT(MeansTest):
    """Student's t of the mean difference on crossed effects of users and runs (``crossed_effects.py``)."""

    name = "crossed t"
    words = "t-test on crossed effects of users and runs"
    described = "a t-test in which users and runs both vary"

    def over_runs(self) -> "CrossedT":
        """This is what it does."""
        return self

    def p_value(self, estimate: MeanEstimate) -> float:
        """By Satterthwaite's degrees of freedom."""
        return estimate.p_value
