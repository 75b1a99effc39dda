"""Coverage: how much of the catalogue does anybody get to see?"""

import math

import numpy as np

from carouseval.metrics.metric_base import Items, SystemMetric, register_metric


@register_metric("Coverage")
class Coverage(SystemMetric):
    """The share of the catalogue that stands in view (``@3x5``) on anybody's page.

    The catalogue is the items table; without one, all that the layouts at hand show. A figure of a whole system has
    neither an interval nor a p-value.
    """

    def figure(self, shown: Items, catalogue: Items) -> float:
        return len(np.intersect1d(shown, catalogue)) / len(catalogue) if len(catalogue) else math.nan
