"""The reproduced paper as files: results, tables and figures."""

from pathlib import Path
from typing import Any

from carouseval.atomic_files import atomic_folder
from carouseval.attention.examination import Examination
from carouseval.attention.recgaze_data import GROUPS, recgaze_counts
from carouseval.metrics.discounts import FPattern
from carouseval.metrics.grid import RECGAZE
from carouseval.show import charts
from carouseval.show.ceiling_chart import ceiling_chart
from carouseval.show.fit_chart import data_against_model
from carouseval.study.ceiling_study import CeilingStudy
from carouseval.study.paper_tables import paper_tables
from carouseval.study.reproduce import Reproduction


def write_paper(result: Reproduction, folder: str | Path) -> int:
    """Write ``results.json``, the tables (CSV, Markdown, LaTeX) and the figures, all or none; return their number."""
    with atomic_folder(folder) as temporary:
        result.save(temporary / "results.json")
        for name, table in paper_tables(result).items():
            for suffix in ("csv", "md", "tex"):
                table.save(temporary / f"{name}.{suffix}")
        for name, chart in _figures(result).items():
            charts.save_chart(chart, temporary / name)
        return len(list(temporary.iterdir()))


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
        "ceiling": ceiling_figure(result.ceiling_study),
        "fit": fit_figure(result.ceiling_study, train, test),
    }


def ceiling_figure(result: CeilingStudy) -> Any:
    """The paper's discount, d_rpb and the ceiling, without d_a, which is so far off that the others would coincide."""
    return ceiling_chart(result.lines[1:], result.ceiling, result.noise)


def fit_figure(result: CeilingStudy, train: Examination, test: Examination) -> Any:
    """The test data against d_rpb and the ceiling."""
    models = {line.name: line.discount for line in result.lines[2:]}
    subtitle = f"fitted to {train.name}, compared with {test.name}; 95% Wilson intervals of single cells"
    return data_against_model(test, models, RECGAZE, subtitle)
