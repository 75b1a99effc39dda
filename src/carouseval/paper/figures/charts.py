"""The charts of the paper's results: of its reproduction, a study, the ceiling study, and RecGaze's logs."""

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze_data import GROUPS, recgaze_counts
from carouseval.errors import DataError
from carouseval.metrics.discounts import FPattern
from carouseval.metrics.grid import RECGAZE
from carouseval.paper.ceiling_study import CeilingStudy
from carouseval.paper.figures.agreement import agreement
from carouseval.paper.figures.ceiling import ceiling_chart
from carouseval.paper.figures.discount_curves import discount_fits
from carouseval.paper.figures.patterns import attention_patterns
from carouseval.paper.recgaze_logs import RecgazeLogs
from carouseval.paper.reproduce import Reproduction
from carouseval.paper.study import Study
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.fit import data_against_model
from carouseval.show.charts.shapes.heatmaps import heatmaps

_TRAIN, _TEST, _ALL = GROUPS


def figure1(result: Reproduction) -> Chart:
    """The F-pattern beside how people look at pages of carousels."""
    return attention_patterns(FPattern().weights(RECGAZE), recgaze_counts(_ALL).frequencies)


def figure2(result: Reproduction) -> Chart:
    """The fitted discounts beside the test data."""
    fits = [(fit.discount, result.test[symbol]) for symbol, fit in result.fits.items()]
    return discount_fits(fits, recgaze_counts(_TEST))


def table2_agreement(result: Reproduction) -> Chart:
    """How often the original and the reformulated discount prefer the better layout."""
    return agreement(result.table2, ("original", "reformulated"))


def both_groups(result: Reproduction) -> Chart:
    """The training and the test data."""
    groups = [recgaze_counts(group) for group in (_TRAIN, _TEST)]
    return heatmaps({f"{group.name}: {group.screens} screens": group.frequencies for group in groups})


def fitted_discounts(result: Reproduction) -> Chart:
    """The weights of the fitted discounts."""
    return heatmaps({str(fit.discount): fit.discount.weights(RECGAZE) for fit in result.fits.values()})


def ceiling_of_paper(result: Reproduction) -> Chart:
    """How close a discount can come to the test data."""
    return ceiling_figure(result.ceiling_study)


def ceiling_figure(result: CeilingStudy) -> Chart:
    """The paper's discount, d_rpb and the ceiling, without d_a, which is so far off that the others would coincide."""
    return ceiling_chart(result.lines[1:], result.ceiling, result.noise)


def fit_of_paper(result: Reproduction) -> Chart:
    """The test data against d_rpb and the ceiling."""
    return fit_figure(result.ceiling_study, recgaze_counts(_TRAIN), recgaze_counts(_TEST))


def fit_figure(result: CeilingStudy, train: Examination, test: Examination) -> Chart:
    """The test data of a ceiling study against d_rpb and the ceiling."""
    models = {line.name: line.discount for line in result.lines[2:]}
    subtitle = f"fitted to {train.name}, compared with {test.name}; 95% Wilson intervals of single cells"
    return data_against_model(test, models, RECGAZE, subtitle)


def study_agreement(result: Study) -> Chart:
    """The agreement of one study."""
    return agreement({result.mode: result})


def group_heatmaps(result: RecgazeLogs) -> Chart:
    """The shares of screens of each group of RecGaze's participants."""
    if not result.groups:
        raise DataError("no group has any screens left, so there is nothing to draw.")
    return heatmaps({f"{group.name}: {group.screens:,} screens": group.frequencies for group in result.groups.values()})
