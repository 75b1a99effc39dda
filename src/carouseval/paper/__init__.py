"""The paper, end to end: its simulation and its tables (``carouseval.reproduce``)."""

from carouseval.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
