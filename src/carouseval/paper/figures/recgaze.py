"""Where RecGaze's participants looked."""

from carouseval.errors import DataError
from carouseval.paper.recgaze_logs import RecgazeLogs
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.shapes.heatmaps import heatmaps


def group_heatmaps(result: RecgazeLogs) -> Chart:
    """The shares of screens of each group."""
    if not result.groups:
        raise DataError("no group has any screens left, so there is nothing to draw.")
    tables = {f"{group.name}: {group.screens:,} screens": group.frequencies for group in result.groups.values()}
    return heatmaps(tables)
