"""Where people look: examination counts, RecGaze, and fitting discounts to data."""

import importlib
from typing import TYPE_CHECKING, Any

from carouseval.attention.examination import Examination, Frequencies
from carouseval.attention.likelihood import LikelihoodFit, bootstrap_fit, fit_likelihood, log_likelihood
from carouseval.attention.model_selection import Choice, choose_form
from carouseval.attention.rank_fit import grid_search, refine, scores
from carouseval.attention.recgaze_data import recgaze_counts

if TYPE_CHECKING:
    from carouseval.attention.attention_files import read_attention
    from carouseval.attention.discount_fit import fit_discount
    from carouseval.attention.fit_data import FitData
    from carouseval.attention.fit_report import FitReport, LikelihoodReport, SearchReport
    from carouseval.attention.paths import Paths, fit_paths, path_log_likelihood, paths_from_screens
    from carouseval.attention.recgaze_logs import RecgazeLogs, read_recgaze
    from carouseval.attention.screens import examination_from_screens

__all__ = [
    "Choice",
    "Examination",
    "FitData",
    "FitReport",
    "Frequencies",
    "LikelihoodFit",
    "LikelihoodReport",
    "Paths",
    "RecgazeLogs",
    "SearchReport",
    "bootstrap_fit",
    "choose_form",
    "examination_from_screens",
    "fit_discount",
    "fit_likelihood",
    "fit_paths",
    "grid_search",
    "log_likelihood",
    "path_log_likelihood",
    "paths_from_screens",
    "read_attention",
    "read_recgaze",
    "recgaze_counts",
    "refine",
    "scores",
]

_LATER = {
    "FitData": "fit_data",
    "FitReport": "fit_report",
    "LikelihoodReport": "fit_report",
    "SearchReport": "fit_report",
    "fit_discount": "discount_fit",
    "read_attention": "attention_files",
    "Paths": "paths",
    "RecgazeLogs": "recgaze_logs",
    "examination_from_screens": "screens",
    "fit_paths": "paths",
    "path_log_likelihood": "paths",
    "paths_from_screens": "paths",
    "read_recgaze": "recgaze_logs",
}


def __getattr__(name: str) -> Any:
    """Readers of logs are imported when first used: they bring in Polars."""
    if name in _LATER:
        return getattr(importlib.import_module(f"carouseval.attention.{_LATER[name]}"), name)
    raise AttributeError(f"module 'carouseval.attention' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
