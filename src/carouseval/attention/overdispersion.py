"""How much more counts vary than independent binomials would: because screens and cells resemble each other.

Screens of a participant are correlated, and so are the cells of a screen. Estimates stay the same, but the likelihood
of independent cells claims more information than there is, by a factor called the overdispersion.
"""

import math

import numpy as np

from carouseval.attention.examination import Examination
from carouseval.attention.fisher_scoring import BinomialCounts, Estimate
from carouseval.metrics.grid import Array, IntArray

FROM_PARTICIPANTS = "cluster-robust over model-based variance, the mean over its parameters"
FROM_RESIDUALS = (
    "residual deviance per degree of freedom, which mixes lack of fit and correlation and misses what the parameters "
    "absorb"
)


def residual_dispersion(deviance: float, degrees: int) -> float:
    """The deviance per degree of freedom: about 1 if only binomial noise is left; NaN without degrees of freedom."""
    return deviance / degrees if degrees > 0 else math.nan


def variance_inflation(covariance: Array, information: Array, scatter: Array) -> float:
    """The cluster-robust variance over the model-based one, the mean over all directions of the parameters.

    ``tr(C S) / tr(C I)`` for the model-based covariance C, the information I and the scatter S of the scores of
    clusters; the denominator is the number of directions that are identified. It does not depend on how the parameters
    are scaled or combined.
    """
    directions = float(np.sum(covariance * information))
    return float(np.sum(covariance * scatter)) / directions if directions > 0.5 else math.nan


def participant_scores(examination: Examination, estimate: Estimate) -> Array | None:
    """The gradient of each participant's log-likelihood at the estimate, (participants, parameters)."""
    if examination.by_participant is None:
        return None
    data = participant_data(*examination.by_participant)
    size = len(data.counts)
    slopes, _ = data.derivatives(np.repeat(estimate.probabilities, size, axis=0), np.arange(size))
    scores: Array = slopes @ estimate.jacobian[0]
    return scores


def participant_data(counts: IntArray, screens: IntArray) -> BinomialCounts:
    """The counts of each participant, (participants, cells)."""
    table = counts.reshape(len(screens), -1).astype(np.float64)
    return BinomialCounts(table, np.repeat(screens[:, None].astype(np.float64), table.shape[1], axis=1))
