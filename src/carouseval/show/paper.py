"""The paper as files: its results, its tables and its figures."""

from pathlib import Path
from typing import Any

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze import GROUPS, recgaze_counts
from carouseval.metrics.discounts import FPattern
from carouseval.metrics.grid import RECGAZE
from carouseval.show import charts
from carouseval.show.beyond import beyond
from carouseval.show.fit_chart import data_against_model
from carouseval.study.beyond import Beyond
from carouseval.study.paper_tables import paper_tables
from carouseval.study.reproduce import Reproduction
from carouseval.whole_files import whole_folder


def write_paper(result: Reproduction, folder: str | Path) -> int:
    """Write ``results.json``, the tables (CSV, Markdown, LaTeX) and the figures, all or none; how many files."""
    with whole_folder(folder) as unfinished:
        result.save(unfinished / "results.json")
        for name, table in paper_tables(result).items():
            for suffix in ("csv", "md", "tex"):
                table.save(unfinished / f"{name}.{suffix}")
        for name, chart in _figures(result).items():
            charts.save(chart, unfinished / name)
        return len(list(unfinished.iterdir()))


def _figures(result: Reproduction) -> dict[str, Any]:
    train, test, both = (recgaze_counts(group) for group in GROUPS)
    groups = {f"{group.name}: {group.screens} screens": group.frequencies for group in (train, test)}
    weights = {str(fit.discount): fit.discount.weights(RECGAZE) for fit in result.fits.values()}
    fits = [(fit.discount, result.test[symbol]) for symbol, fit in result.fits.items()]
    return {
        "figure1": charts.attention_patterns(FPattern().weights(RECGAZE), both.frequencies),
        "figure2": charts.discount_fits(fits, test),
        "agreement": charts.agreement(result.table2, ("original", "reformulated")),
        "examination": charts.heatmaps(groups),
        "discounts": charts.heatmaps(weights),
        "beyond": beyond_figure(result.beyond),
        "fit": fit_figure(result.beyond, train, test),
    }


def beyond_figure(result: Beyond) -> Any:
    """The paper's discount, ours and the ceiling; d_a is so far off that the others would not be told apart."""
    return beyond(result.lines[1:], result.ceiling)


def fit_figure(result: Beyond, train: Examination, test: Examination) -> Any:
    """Test data against d_rpb and the ceiling."""
    models = {line.name: line.discount for line in result.lines[2:]}
    subtitle = f"fitted to {train.name}, held against {test.name}; 95% Wilson intervals of single cells"
    return data_against_model(test, models, RECGAZE, subtitle)
