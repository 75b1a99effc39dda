"""A model beside the data it was fitted to, in the terminal."""

import math

import numpy as np
from rich.text import Text

from carouseval.metrics.grid import Array, Grid
from carouseval.show.fitted_data import Fitted, Seen, page_means
from carouseval.show.terminal import heading, small_table

WORST = 5  # cells that are named
SHORTEST, LONGEST, USUAL = 8, 32, 20  # bars, in characters
NUMBERS = "data model "
GAP = 3  # between swipe pages
EIGHTHS = " ▏▎▍▌▋▊▉"
TICK = "┃"
DIFFERENCE, STANDARD = "difference", "in standard errors"


def fitted_rows(seen: Seen, model: Fitted, errors: Array, grid: Grid, width: int | None = None) -> Text:
    """For each row and swipe page the means of data and model, and under them the cells that are farthest off.

    A bar is as long as the mean of the data, and a tick across it stands at the model's. Where a line would pass
    ``width``, swipe pages go in blocks one below the other.
    """
    data, modelled = page_means(seen.frequencies, grid), page_means(model.weights, grid)
    top = float(max(data.max(), modelled.max())) or 1.0
    margin = max(len("row"), len(str(grid.rows))) + 2
    step, size = _layout(data.shape[1], (width or 10**9) - margin)
    if width is None:
        size = USUAL
    lines = heading(f"{seen.name} and {model.name}", f"means by swipe page; bars: data, {TICK}: model")[1:]
    for begin in range(0, data.shape[1], step):
        pages = range(begin, min(begin + step, data.shape[1]))
        lines += [Text(), *_header(pages, margin, size)]
        for row in range(grid.rows):
            line = Text.assemble((str(row + 1).rjust(margin - 2), "dim"), "  ")
            for page in pages:
                line.append(" " * GAP * (page > begin))
                line.append_text(_group(float(data[row, page]), float(modelled[row, page]), top, size))
            line.rstrip()
            lines.append(line)
    return Text("\n").join([*lines, *_worst(seen, model, errors)])


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


def _worst(seen: Seen, model: Fitted, errors: Array) -> list[Text]:
    apart = seen.frequencies - model.weights
    off = np.divide(apart, errors, out=np.zeros_like(apart), where=errors > 0)  # without an error, nothing to go by
    worst = np.argsort(-np.abs(off), axis=None, kind="stable")[:WORST]
    rows = [
        [
            str(row + 1),
            str(col + 1),
            f"{seen.frequencies[row, col]:.3f}",
            f"{model.weights[row, col]:.3f}",
            f"{apart[row, col]:+.3f}".rjust(len(DIFFERENCE)),
            f"{off[row, col]:+.1f}".rjust(len(STANDARD)),
        ]
        for row, col in np.column_stack(np.unravel_index(worst, off.shape)).tolist()
    ]
    header = ["row", "col", "data", "model", DIFFERENCE, STANDARD]
    return [*heading("Farthest off", "single cells"), small_table("", header, rows)]


def _short(value: float) -> str:
    """``.86``, two digits after the point."""
    return f"{value:.2f}".removeprefix("0")
