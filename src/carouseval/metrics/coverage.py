"""Coverage: the share of the catalogue that users get to see."""

import math

import numpy as np

from carouseval.metrics.metric_base import ItemCodes, SystemMetric, register_metric


@register_metric("Coverage")
class Coverage(SystemMetric):
    """The share of the catalogue that is in view (``@3x5``) on at least one page.

    The catalogue is the items table; without one, all items in the layouts of all systems.
    """

    def aggregate(self, shown: ItemCodes, catalogue: ItemCodes) -> float:
        return len(np.intersect1d(shown, catalogue)) / len(catalogue) if len(catalogue) else math.nan
