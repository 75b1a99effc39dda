"""Where people look: examination counts, RecGaze, and fitting discounts to eye-tracking data."""

from typing import TYPE_CHECKING

from carouseval.lazy_names import lazy_names

if TYPE_CHECKING:
    from carouseval.attention.attention_files import read_attention as read_attention
    from carouseval.attention.bootstrap import Bootstrap as Bootstrap
    from carouseval.attention.discount_fit import fit_discount as fit_discount
    from carouseval.attention.examination import Examination as Examination
    from carouseval.attention.examination import Frequencies as Frequencies
    from carouseval.attention.fit_data import FitData as FitData
    from carouseval.attention.fit_report import LikelihoodReport as LikelihoodReport
    from carouseval.attention.fit_report import SearchReport as SearchReport
    from carouseval.attention.frequency_scores import Scores as Scores
    from carouseval.attention.frequency_scores import scores as scores
    from carouseval.attention.likelihood import LikelihoodFit as LikelihoodFit
    from carouseval.attention.likelihood import bootstrap_fit as bootstrap_fit
    from carouseval.attention.likelihood import fit_likelihood as fit_likelihood
    from carouseval.attention.likelihood import log_likelihood as log_likelihood
    from carouseval.attention.model_selection import FormSelection as FormSelection
    from carouseval.attention.model_selection import choose_form as choose_form
    from carouseval.attention.path_fit import fit_paths as fit_paths
    from carouseval.attention.path_fit import path_log_likelihood as path_log_likelihood
    from carouseval.attention.paths import Paths as Paths
    from carouseval.attention.paths import paths_from_screens as paths_from_screens
    from carouseval.attention.rank_fit import SearchFit as SearchFit
    from carouseval.attention.rank_fit import grid_search as grid_search
    from carouseval.attention.rank_fit import refine as refine
    from carouseval.attention.recgaze_data import recgaze_counts as recgaze_counts
    from carouseval.attention.screens import examination_from_screens as examination_from_screens
    from carouseval.paper.recgaze_logs import RecgazeLogs as RecgazeLogs
    from carouseval.paper.recgaze_logs import read_recgaze as read_recgaze
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "attention_files": ("read_attention",),
            "bootstrap": ("Bootstrap",),
            "discount_fit": ("fit_discount",),
            "examination": ("Examination", "Frequencies"),
            "fit_data": ("FitData",),
            "fit_report": ("LikelihoodReport", "SearchReport"),
            "frequency_scores": ("Scores", "scores"),
            "likelihood": ("LikelihoodFit", "bootstrap_fit", "fit_likelihood", "log_likelihood"),
            "model_selection": ("FormSelection", "choose_form"),
            "path_fit": ("fit_paths", "path_log_likelihood"),
            "paths": ("Paths", "paths_from_screens"),
            "rank_fit": ("SearchFit", "grid_search", "refine"),
            "recgaze_data": ("recgaze_counts",),
            "carouseval.paper.recgaze_logs": ("RecgazeLogs", "read_recgaze"),
            "screens": ("examination_from_screens",),
        },
    )
