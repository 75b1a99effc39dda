"""Where people look: examination counts, RecGaze, and fitting discounts to them."""

import importlib
from typing import TYPE_CHECKING, Any

from carouseval.attention.examination import Examination
from carouseval.attention.fit import grid_search, refine, scores
from carouseval.attention.recgaze import recgaze_counts

if TYPE_CHECKING:
    from carouseval.attention.recgaze_logs import RecgazeLogs, read_recgaze
    from carouseval.attention.screens import examination_from_screens

__all__ = [
    "Examination",
    "RecgazeLogs",
    "examination_from_screens",
    "grid_search",
    "read_recgaze",
    "recgaze_counts",
    "refine",
    "scores",
]

_LATER = {"RecgazeLogs": "recgaze_logs", "read_recgaze": "recgaze_logs", "examination_from_screens": "screens"}


def __getattr__(name: str) -> Any:
    """Readers of logs are imported when first used: they bring in Polars."""
    if name in _LATER:
        return getattr(importlib.import_module(f"carouseval.attention.{_LATER[name]}"), name)
    raise AttributeError(f"module 'carouseval.attention' has no attribute {name!r}")
