"""Where people look: examination counts, RecGaze, and fitting discounts to them."""

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze import recgaze_counts

__all__ = ["Examination", "recgaze_counts"]
