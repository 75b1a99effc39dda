"""Where people look: examination counts, RecGaze, and fitting discounts to eye-tracking data."""

from carouseval.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
