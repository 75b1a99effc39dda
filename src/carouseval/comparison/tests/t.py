"""The paired t-test."""

from carouseval.comparison.tests import register_test
from carouseval.comparison.tests.contract import MeansTest
from carouseval.comparison.tests.crossed_t import CrossedT
from carouseval.evaluation.mean_estimates import MeanEstimate


@register_test
class StudentT(MeansTest):
    """Student's t of the mean difference; with weights, of the weighted mean (Bell and McCaffrey, 2002)."""

    name = "t"
    words = "t-test paired by user"
    described = "the paired t-test"

    def over_runs(self) -> CrossedT:
        """The t-test of both."""
        return CrossedT()

    def p_value(self, estimate: MeanEstimate) -> float:
        """By the degrees of freedom of users."""
        return estimate.p_value
