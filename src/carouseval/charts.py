"""Charts of tables in the shape of a screen; results draw themselves with their method ``chart``."""

from carouseval.extras import require_extra

require_extra("show", "carouseval.charts")

from carouseval.show.charts.chart import Chart  # noqa: E402
from carouseval.show.charts.shapes.heatmaps import heatmap, heatmaps  # noqa: E402

__all__ = ["Chart", "heatmap", "heatmaps"]
