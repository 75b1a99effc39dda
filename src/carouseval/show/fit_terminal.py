"""A fitted discount in the terminal: its scores and intervals, what stays open, and the data beside it."""

import math
from textwrap import wrap
from typing import Any

import numpy as np
from rich.text import Text

from carouseval.attention.bootstrap import Interval
from carouseval.attention.examination import Examination
from carouseval.attention.fit_report import FitReport, LikelihoodReport, SearchReport
from carouseval.attention.model_selection import Choice
from carouseval.metrics.discounts import Discount, Mixture
from carouseval.metrics.grid import Array, Grid
from carouseval.show.terminal import brief, heading, small_table

WORST = 5  # cells that are named
SHORTEST, LONGEST, USUAL = 8, 32, 20  # bars, in characters
WIDTH = 120  # of sentences, and of all where nobody watches
NUMBERS = "data model "
GAP = 3  # between swipe pages
EIGHTHS = " ▏▎▍▌▋▊▉"
TICK = "┃"
DIFFERENCE, STANDARD = "difference", "in standard errors"


def fit_report(report: SearchReport | LikelihoodReport, width: int | None = None) -> Text:
    """All that is to be said of a fit."""
    return _search(report) if isinstance(report, SearchReport) else _likelihood(report, width or WIDTH)


def _search(report: SearchReport) -> Text:
    """The best discount with its scores, its intervals where there are some, and the runners-up."""
    fit, drawn = report.fit, report.bootstrap
    parts = [_scores(report, f"{brief(str(fit.discount))}\n{report.heading}\n")]
    if drawn is not None:
        rows = [[name, interval.low, interval.high] for name, interval in drawn.parameters.items()]
        title = f"\n{drawn.level:.0%} bootstrap intervals, {drawn.samples:,} samples: {drawn.what}"
        parts.append(small_table(title, ["", "low", "high"], rows))
    title = f"\nBest of {fit.tried:,} by {fit.objective}" + (f", {fit.skipped:,} unusable" if fit.skipped else "")
    runners = [[brief(str(one.discount)), one.objective, one.spearman, one.pearson] for one in fit.top]
    return Text("\n").join([*parts, small_table(title, ["discount", fit.objective, "rho", "r"], runners)])


def _likelihood(report: LikelihoodReport, width: int) -> Text:
    """The fitted model with its scores and intervals, what to look at, the data beside it, and the forms tried."""
    fit = report.fit

    def sentences(*texts: str) -> list[Text]:
        return [Text("\n".join(wrap(text, min(width, WIDTH)))) for text in texts]

    parts = [
        *sentences(brief(str(fit.discount)), report.heading),
        _scores(report, "\nScores; MSE after scaling both sides to maximum 1"),
        small_table(f"\n95% intervals; {report.noise}", ["", "value", "low", "high"], _parameters(report)),
    ]
    if not math.isnan(fit.dispersion):
        free = fit.cells - len(fit.values)
        parts += sentences(
            f"Deviance {fit.deviance:.0f} on {free} degrees of freedom, {fit.dispersion:.2f} each; 1 would be binomial "
            "noise alone."
        )
    notes = sentences(*(f"Note: {note}" for note in report.notes), f"Left open: {' '.join(report.open)}")
    parts += [Text(), *notes, Text()]
    if isinstance(report.data.train, Examination):
        parts.append(fit_rows(report.data.train, fit.discount, report.data.grid, width))
    if report.choice is not None:
        parts.append(forms_table(report.choice, f"\n{report.choice.heading}"))
    return Text("\n").join(parts)


def _scores(report: FitReport, title: str) -> Text:
    frame = report.to_frame().drop("discount")
    return small_table(title, frame.columns, frame.iter_rows())


def _parameters(report: LikelihoodReport) -> list[list[Any]]:
    """Free parameters with their intervals, then those that follow from them."""
    fit = report.fit
    rows = [[name, value, *_ends(report.intervals[name])] for name, value in fit.values.items()]
    if not isinstance(fit.discount, Mixture):
        tied = {name: value for name, value in fit.discount.parameters.items() if name not in fit.values}
        rows += [[name, float(value), "tied" if value else "left out", ""] for name, value in tied.items()]
    return rows


def _ends(interval: Interval | None) -> tuple[Any, Any]:
    return ("open", "open") if interval is None else (interval.low, interval.high)


def forms_table(choice: Choice, title: str = "") -> Text:
    """The forms tried, their figures to one digit."""
    frame = choice.to_frame()
    rows = [[f"{value:.1f}" if isinstance(value, float) else value for value in row] for row in frame.iter_rows()]
    return small_table(title, frame.columns, rows)


def page_means(table: Array, grid: Grid) -> Array:
    """The mean of each row over the cells of each swipe page: (rows, swipe pages)."""
    firsts = np.arange(0, grid.cols, grid.page_size)
    sums: Array = np.add.reduceat(table, firsts, axis=1)
    return sums / np.diff(firsts, append=grid.cols)


def fit_rows(data: Examination, model: Discount, grid: Grid, width: int | None = None) -> Text:
    """For each row and swipe page the means of data and model, and under them the cells that are farthest off.

    A bar is as long as the mean of the data, and a tick across it stands at the model's. Where a line would pass
    ``width``, swipe pages go in blocks one below the other.
    """
    weights = model.weights(grid)
    means, modelled = page_means(data.frequencies, grid), page_means(weights, grid)
    top = float(max(means.max(), modelled.max())) or 1.0
    margin = max(len("row"), len(str(grid.rows))) + 2
    step, size = _layout(means.shape[1], (width or 10**9) - margin)
    if width is None:
        size = USUAL
    lines = heading(f"{data.name} and {model.symbol}", f"means by swipe page; bars: data, {TICK}: model")[1:]
    for begin in range(0, means.shape[1], step):
        pages = range(begin, min(begin + step, means.shape[1]))
        lines += [Text(), *_header(pages, margin, size)]
        for row in range(grid.rows):
            line = Text.assemble((str(row + 1).rjust(margin - 2), "dim"), "  ")
            for page in pages:
                line.append(" " * GAP * (page > begin))
                line.append_text(_group(float(means[row, page]), float(modelled[row, page]), top, size))
            line.rstrip()
            lines.append(line)
    return Text("\n").join([*lines, *_worst(data, weights)])


def _layout(pages: int, room: int) -> tuple[int, int]:
    """How many swipe pages stand side by side, as even as can be, and how long their bars are."""
    most = max(1, (room + GAP) // (len(NUMBERS) + SHORTEST + GAP))
    step = math.ceil(pages / math.ceil(pages / most))
    return step, max(1, min(LONGEST, (room + GAP) // step - len(NUMBERS) - GAP))


def _header(pages: range, margin: int, size: int) -> list[Text]:
    gap, group = " " * GAP, len(NUMBERS) + size
    titles = gap.join(f"swipe page {page + 1}".ljust(group) for page in pages)
    numbers = gap.join(NUMBERS.ljust(group) for _ in pages)
    first = "row".rjust(margin - 2).ljust(margin)
    return [Text((" " * margin + titles).rstrip(), "bold"), Text((first + numbers).rstrip(), "dim")]


def _group(data: float, model: float, top: float, size: int) -> Text:
    """Both numbers, the bar and the tick."""
    eighths = round(8 * size * data / top)
    bar = ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).ljust(size)[:size]
    tick = min(size - 1, int(size * model / top))
    numbers = f"{_short(data):>4} {_short(model):>5} "
    return Text.assemble(numbers, (bar[:tick], "blue"), (TICK, "bold red"), (bar[tick + 1 :], "blue"))


def _worst(data: Examination, weights: Array) -> list[Text]:
    # a model that is certain of a cell leaves no error to divide by: half a screen is as certain as data can be
    chance = np.clip(weights, 0.5 / data.screens, 1 - 0.5 / data.screens)
    off = (data.frequencies - weights) / np.sqrt(chance * (1 - chance) / data.screens)
    worst = np.argsort(-np.abs(off), axis=None, kind="stable")[:WORST]
    rows = [
        [
            str(row + 1),
            str(col + 1),
            f"{data.frequencies[row, col]:.3f}",
            f"{weights[row, col]:.3f}",
            f"{data.frequencies[row, col] - weights[row, col]:+.3f}".rjust(len(DIFFERENCE)),
            f"{off[row, col]:+.1f}".rjust(len(STANDARD)),
        ]
        for row, col in np.column_stack(np.unravel_index(worst, off.shape)).tolist()
    ]
    header = ["row", "col", "data", "model", DIFFERENCE, STANDARD]
    return [*heading("Farthest off", "single cells"), small_table("", header, rows)]


def _short(value: float) -> str:
    """``.86``, two digits after the point."""
    return f"{value:.2f}".removeprefix("0")
