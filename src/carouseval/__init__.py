"""Offline evaluation of pages of carousels: the metric of "Revisiting N2DCG" (CIKM '26), exact and fast.

>>> import carouseval as cv
>>> page = [[3, 0, 1], [0, 2]]  # relevance; a row is a carousel, and carousels may differ in length
>>> round(cv.n2dcg_cat(page), 4)
0.9597
"""

import carouseval.forks  # noqa: F401  # forks are watched from now on, before any table is read
from carouseval.lazy_names import lazy_names

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
