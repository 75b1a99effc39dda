"""The figures of the reproduced paper, and those beyond it."""

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze_data import GROUPS, recgaze_counts
from carouseval.metrics.discounts import FPattern
from carouseval.metrics.grid import RECGAZE
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.fit import data_against_model
from carouseval.show.charts.paper.agreement import agreement
from carouseval.show.charts.paper.ceiling import ceiling_chart
from carouseval.show.charts.paper.discount_curves import discount_fits
from carouseval.show.charts.paper.patterns import attention_patterns
from carouseval.show.charts.shapes.heatmaps import heatmaps
from carouseval.study.ceiling_study import CeilingStudy
from carouseval.study.reproduce import Reproduction


def paper_figure(result: Reproduction, name: str) -> Chart:
    """One of the figures, by its name in ``choices.py``."""
    train, test, both = (recgaze_counts(group) for group in GROUPS)
    match name:
        case "figure1":
            return attention_patterns(FPattern().weights(RECGAZE), both.frequencies)
        case "figure2":
            return discount_fits([(fit.discount, result.test[symbol]) for symbol, fit in result.fits.items()], test)
        case "agreement":
            return agreement(result.table2, ("original", "reformulated"))
        case "examination":
            return heatmaps({f"{group.name}: {group.screens} screens": group.frequencies for group in (train, test)})
        case "discounts":
            return heatmaps({str(fit.discount): fit.discount.weights(RECGAZE) for fit in result.fits.values()})
        case "ceiling":
            return ceiling_figure(result.ceiling_study)
        case _:
            return fit_figure(result.ceiling_study, train, test)


def ceiling_figure(result: CeilingStudy) -> Chart:
    """The paper's discount, d_rpb and the ceiling, without d_a, which is so far off that the others would coincide."""
    return ceiling_chart(result.lines[1:], result.ceiling, result.noise)


def fit_figure(result: CeilingStudy, train: Examination, test: Examination) -> Chart:
    """The test data against d_rpb and the ceiling."""
    models = {line.name: line.discount for line in result.lines[2:]}
    subtitle = f"fitted to {train.name}, compared with {test.name}; 95% Wilson intervals of single cells"
    return data_against_model(test, models, RECGAZE, subtitle)
