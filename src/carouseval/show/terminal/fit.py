"""Examination counts and fitted discounts in the terminal: scores, intervals, limitations, and the data beside them."""

import math
from typing import Any

import numpy as np
from rich.text import Text

from carouseval.attention.bootstrap import Interval
from carouseval.attention.examination import Examination
from carouseval.attention.fit_report import FitReport, LikelihoodReport, SearchReport
from carouseval.attention.model_selection import FormSelection
from carouseval.metrics.discounts import Discount, Mixture
from carouseval.metrics.grid import Array, Grid
from carouseval.show.swipe_pages import page_means
from carouseval.show.terminal.text_blocks import WIDTH, heading, heat, sentences, small_table
from carouseval.text_tables import brief

RESIDUALS = 5  # cells listed
MIN_BAR, MAX_BAR, DEFAULT_BAR = 8, 32, 20  # characters
NUMBERS = "data model "
GAP = 3  # between swipe pages
EIGHTHS = " ▏▎▍▌▋▊▉"
TICK = "┃"
DIFFERENCE, STANDARDISED = "difference", "in standard errors"


def examination(data: Examination, grid: Grid) -> Text:
    """The counts as a heat map."""
    return Text("\n").join(counts(data, grid)[1:])


def counts(data: Examination, grid: Grid) -> list[Text]:
    """The heading and the heat map."""
    rows = None if data.row_counts is None else [str(count) for count in data.row_counts.tolist()]
    return heading(data.name, data.description) + heat(
        data.counts.astype(float), grid, decimals=0, notes=rows, notes_title="row"
    )


def fit_report(report: SearchReport | LikelihoodReport, width: int | None = None) -> Text:
    """The report of a fit."""
    return _search(report) if isinstance(report, SearchReport) else _likelihood(report, width or WIDTH)


def _search(report: SearchReport) -> Text:
    """The best discount with its scores, bootstrap intervals and the runners-up."""
    fit, bootstrap = report.fit, report.bootstrap
    parts = [_scores(report, f"{brief(str(fit.discount))}\n{report.heading}\n")]
    if bootstrap is not None:
        rows = [[name, interval.low, interval.high] for name, interval in bootstrap.parameters.items()]
        title = f"\n{bootstrap.ci:.0%} bootstrap intervals, {bootstrap.samples:,} samples: {bootstrap.method}"
        parts.append(small_table(title, ["", "low", "high"], rows))
    title = f"\nBest of {fit.tried:,} by {fit.objective}" + (
        f", {fit.skipped:,} without usable weights" if fit.skipped else ""
    )
    candidates = [[brief(str(top.discount)), top.objective, top.spearman, top.pearson] for top in fit.top]
    return Text("\n").join([*parts, small_table(title, ["discount", fit.objective, "rho", "r"], candidates)])


def _likelihood(report: LikelihoodReport, width: int) -> Text:
    """The fitted discount with scores, intervals, notes and limitations, the data beside it, and the forms compared."""
    fit = report.fit
    parts = [
        *(sentences(text, width) for text in (brief(str(fit.discount)), report.heading)),
        _scores(report, "\nScores; MSE after both sides are scaled to a maximum of 1"),
        small_table(f"\n95% intervals: {report.interval_method}", ["", "value", "low", "high"], _parameters(report)),
    ]
    if not math.isnan(fit.dispersion):
        degrees = fit.cells - len(fit.values)
        deviance = (
            f"Deviance {fit.deviance:.0f} on {degrees} degrees of freedom, a ratio of {fit.dispersion:.2f}; binomial "
            "noise alone would give about 1."
        )
        parts.append(sentences(deviance, width))
    notes = [*(f"Note: {note}" for note in report.notes), f"Limitations: {' '.join(report.limitations)}"]
    parts += [Text(), *(sentences(note, width) for note in notes), Text()]
    if isinstance(report.data.train, Examination):
        parts.append(fit_rows(report.data.train, fit.discount, report.data.grid, width))
    if report.choice is not None:
        title = sentences(report.choice.heading, width)
        parts += [Text(), title, forms_table(report.choice), sentences(report.choice.rule, width)]
    return Text("\n").join(parts)


def _scores(report: FitReport, title: str) -> Text:
    frame = report.to_frame().drop("discount")
    return small_table(title, frame.columns, frame.iter_rows())


def _parameters(report: LikelihoodReport) -> list[list[Any]]:
    """Free parameters with their intervals, then those that are tied or fixed."""
    fit = report.fit
    rows = [[name, value, *_interval_texts(report.intervals[name])] for name, value in fit.values.items()]
    if not isinstance(fit.discount, Mixture):
        tied = {name: value for name, value in fit.discount.parameters.items() if name not in fit.values}
        rows += [[name, float(value), "tied" if value else "fixed", ""] for name, value in tied.items()]
    return rows


def _interval_texts(interval: Interval | None) -> tuple[Any, Any]:
    return ("none", "none") if interval is None else (interval.low, interval.high)


def forms_table(choice: FormSelection, title: str = "") -> Text:
    """The forms compared, with numbers to one decimal; short headers, since the heading says above what BIC counts."""
    frame = choice.to_frame()
    rows = [[f"{value:.1f}" if isinstance(value, float) else value for value in row] for row in frame.iter_rows()]
    return small_table(title, [name.removesuffix(" above the lowest") for name in frame.columns], rows)


def fit_rows(data: Examination, model: Discount, grid: Grid, width: int | None = None) -> Text:
    """The means of data and model for each row and swipe page, and the cells with the largest residuals.

    A bar shows the mean of the data, and a tick across it the mean of the model. Swipe pages that do not fit into
    ``width`` are placed below each other.
    """
    weights = model.weights(grid)
    means, modelled = page_means(data.frequencies, grid), page_means(weights, grid)
    top = float(max(np.nanmax(means), np.nanmax(modelled))) or 1.0
    margin = max(len("row"), len(str(grid.rows))) + 2
    step, size = _layout(means.shape[1], (width or 10**9) - margin)
    if width is None:
        size = DEFAULT_BAR
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
    return Text("\n").join([*lines, *_largest_residuals(data, weights)])


def _layout(pages: int, room: int) -> tuple[int, int]:
    """The number of swipe pages side by side, in blocks as even as possible, and the length of their bars."""
    most = max(1, (room + GAP) // (len(NUMBERS) + MIN_BAR + GAP))
    step = math.ceil(pages / math.ceil(pages / most))
    return step, max(1, min(MAX_BAR, (room + GAP) // step - len(NUMBERS) - GAP))


def _header(pages: range, margin: int, size: int) -> list[Text]:
    gap, group = " " * GAP, len(NUMBERS) + size
    titles = gap.join(f"swipe page {page + 1}".ljust(group) for page in pages)
    numbers = gap.join(NUMBERS.ljust(group) for _ in pages)
    first = "row".rjust(margin - 2).ljust(margin)
    return [Text((" " * margin + titles).rstrip(), "bold"), Text((first + numbers).rstrip(), "dim")]


def _group(data: float, model: float, top: float, size: int) -> Text:
    """Both numbers, the bar and the tick; blank where a row has no such swipe page."""
    if math.isnan(data):
        return Text(" " * (len(NUMBERS) + size))
    eighths = round(8 * size * data / top)
    bar = ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).ljust(size)[:size]
    tick = min(size - 1, int(size * model / top))
    numbers = f"{_short(data):>4} {_short(model):>5} "
    return Text.assemble(numbers, (bar[:tick], "blue"), (TICK, "bold red"), (bar[tick + 1 :], "blue"))


def _largest_residuals(data: Examination, weights: Array) -> list[Text]:
    # a probability of 0 or 1 has no standard error: half a screen is as certain as the data can be
    probability = np.clip(weights, 0.5 / data.screens, 1 - 0.5 / data.screens)
    residuals = (data.frequencies - weights) / np.sqrt(probability * (1 - probability) / data.screens)
    largest = np.argsort(-np.abs(residuals), axis=None, kind="stable")[:RESIDUALS]
    rows = [
        [
            str(row + 1),
            str(col + 1),
            f"{data.frequencies[row, col]:.3f}",
            f"{weights[row, col]:.3f}",
            f"{data.frequencies[row, col] - weights[row, col]:+.3f}".rjust(len(DIFFERENCE)),
            f"{residuals[row, col]:+.1f}".rjust(len(STANDARDISED)),
        ]
        for row, col in np.column_stack(np.unravel_index(largest, residuals.shape)).tolist()
    ]
    header = ["row", "col", "data", "model", DIFFERENCE, STANDARDISED]
    return [*heading("Largest residuals", "single cells"), small_table("", header, rows)]


def _short(value: float) -> str:
    """Two decimals without the leading 0, such as ``.86``."""
    return f"{value:.2f}".removeprefix("0")
