"""People who browse and choose: what models of them imply for pages, above everything that scores and compares pages.

``browsing.py`` has what users of a browsing model examine, do and gain, and ``joint_examination.py`` which cells they
examine together; the models themselves are discounts, in ``metrics/browsing/``. Models of choice, one file each, belong
into ``choice/``; beside ``browsing.py`` belong drawn sessions and policies, which stand on both; and logs of pages that
were shown, with one file for each estimator, into ``logs/``.
"""

from carouseval.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
