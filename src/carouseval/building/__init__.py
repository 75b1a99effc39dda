"""Making pages: from scores, greedily, what a carousel adds; judgments from events; sample data; published layouts."""

from carouseval.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
