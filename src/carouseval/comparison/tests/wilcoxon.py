"""Wilcoxon's signed-rank test."""

import warnings
from typing import Any

import numpy as np

from carouseval.comparison.tests import register_test
from carouseval.comparison.tests.contract import ColumnTest
from carouseval.metrics.grid import Array


@register_test
class Wilcoxon(ColumnTest):
    """Signed ranks by SciPy's defaults: of the hypothesis that differences are symmetric around 0."""

    name = "wilcoxon"
    words = "Wilcoxon signed-rank test paired by user"
    described = "Wilcoxon's signed ranks"
    takes_weights = False

    def p_value(self, differences: Array) -> float:
        """Differences are sorted first, so that the order of users has no effect."""
        from scipy.stats import wilcoxon

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # few users, ties: the p-value is still valid
            result: Any = wilcoxon(np.sort(differences))
        return float(result.pvalue)
