"""Counts as pictures of fits take them: frequencies with intervals."""

import numpy as np

from carouseval.attention.examination import Examination
from carouseval.show.fitted_data import Seen
from carouseval.study.simulation import Share


def seen(examination: Examination) -> Seen:
    """Frequencies of cells with their 95% Wilson intervals."""
    ends = [Share(int(count), examination.screens).interval for count in examination.counts.ravel()]
    low, high = np.array(ends).T.reshape(2, *examination.counts.shape)
    return Seen(examination.name, examination.frequencies, low, high)
