"""Charts of examination counts, and of the forms that were compared."""

from carouseval.attention.examination import Examination
from carouseval.attention.fit_report import FitReport
from carouseval.attention.model_selection import FormSelection
from carouseval.metrics.grid import Grid
from carouseval.show.charts.chart import Chart
from carouseval.show.charts.shapes.bars import Bar, bar_chart
from carouseval.show.charts.shapes.heatmaps import heatmap


def examination_heatmap(result: Examination, grid: Grid | None = None) -> Chart:
    """The share of screens on which each cell was examined."""
    return heatmap(result.frequencies, f"{result.name}: {result.screens:,} screens", grid, "share of screens")


def fitted_weights(result: FitReport) -> Chart:
    """The weights of the fitted discount."""
    return heatmap(result.discount.weights(result.data.grid), result.discount.short, result.data.grid)


def compared_forms(result: FormSelection) -> Chart:
    """Quasi-BIC of each form, above the lowest; the selected one is dark."""
    bars = [
        Bar(
            f"{row['form']} ({row['parameters']})",
            row["quasi-BIC above the lowest"],
            f"{row['quasi-BIC above the lowest']:,.1f}" + f", {row['note']}" * bool(row["note"]),
            marked=row["note"] == "chosen",
        )
        for row in result.to_frame().iter_rows(named=True)
    ]
    numbers = "; ".join(f"{bar.name} {bar.text}" for bar in bars)
    notes = f"{result.rule} In brackets: parameters. Dark: selected."
    axis = "quasi-BIC above the lowest; smaller is better"
    return bar_chart(bars, "Forms compared", notes, f"Quasi-BIC above the lowest: {numbers}.", axis)
