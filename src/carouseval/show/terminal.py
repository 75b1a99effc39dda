"""Pages in the terminal, as heat maps."""

import math

from rich.color import Color
from rich.style import Style
from rich.text import Text

from carouseval.metric.grid import Array, Grid
from carouseval.metric.page_score import PageScore, PageView

# from pale to dark blue, light enough at the low end for black text (ColorBrewer's Blues, by hand)
_RAMP = [(239, 243, 255), (189, 215, 231), (107, 174, 214), (49, 130, 189), (8, 81, 156)]
EMPTY = "·"


def page_score(result: PageScore) -> Text:
    """The scores, the page, its weights and its ideal. Lines are as long as the page is wide."""
    width = max(map(len, result.scores), default=0)
    lines = [
        Text.assemble(
            (name.ljust(width), "bold"), "  ", "none: nothing gains" if math.isnan(value) else f"{value:8.4f}"
        )
        for name, value in result.scores.items()
    ]
    if result.view is None:
        lines += _heading("The page", "relevance") + _heat(result.page, result.grid)
    else:
        lines += _view(result, result.view)
    return Text("\n").join(lines)


def _view(result: PageScore, view: PageView) -> list[Text]:
    kind = "each row one category" if view.ideal == "category" else "any item anywhere"
    share = f", {view.dcg / view.best_dcg:.1%} of the ideal page" if view.best_dcg > 0 else ""
    cutoff = view.metric.cutoff
    cut = f", cut off at {cutoff[0]}x{cutoff[1]}" if isinstance(cutoff, tuple) else ""
    return [
        *_heading("The page", f"relevance; its 2DCG is {view.dcg:.4f}{share}"),
        *_heat(result.page, result.grid),
        *_heading("Weights", f"{view.discount}{cut}"),
        *_heat(view.weights, result.grid, decimals=2),
        *_heading("The ideal page", f"{kind}; its 2DCG is {view.best_dcg:.4f}"),
        *_heat(view.best, result.grid, notes=[_origin(rows) for rows in view.source[..., 0].tolist()]),
    ]


def _heading(title: str, note: str) -> list[Text]:
    return [Text(), Text.assemble((title, "bold"), "  ", (note, "dim"))]


def _origin(source_rows: list[int]) -> str:
    """Where a row of the ideal page comes from."""
    rows = sorted({row + 1 for row in source_rows if row >= 0})
    return "" if not rows else f"row {rows[0]}" if len(rows) == 1 else f"{len(rows)} rows"


def _heat(values: Array, grid: Grid, decimals: int | None = None, notes: list[str] | None = None) -> list[Text]:
    cells = [[_number(value, decimals) for value in row] for row in values.tolist()]
    width = max(len(cell) for row in cells for cell in row) + 1
    width = max(width, len(str(values.shape[1])) + 1)
    margin = len(str(values.shape[0]))
    gaps = ["  " if j and j % grid.page_size == 0 else "" for j in range(values.shape[1])]  # between swipe pages
    header = "".join(gap + str(j).rjust(width - 1) + " " for j, gap in enumerate(gaps, 1))
    lines = [Text(" " * (margin + 2) + header + (" from" if notes else ""), "dim")]
    top = max((value for row in values.tolist() for value in row if not math.isnan(value)), default=0.0)
    for i, row in enumerate(values.tolist()):
        line = Text.assemble((str(i + 1).rjust(margin), "dim"), "  ")
        for gap, cell, value in zip(gaps, cells[i], row, strict=True):
            line.append(gap).append(cell.rjust(width - 1) + " ", _shade(value, top))
        lines.append(line.append(f"  {notes[i]}", "dim") if notes else line)
    return lines


def _number(value: float, decimals: int | None) -> str:
    if math.isnan(value):
        return EMPTY
    return f"{value:.{decimals}f}".replace("0.", ".", 1) if decimals and value < 1 else f"{value:.3g}"


def _shade(value: float, top: float) -> Style:
    if math.isnan(value):
        return Style(dim=True)
    share = value / top if top > 0 else 0.0
    at = min(int(share * (len(_RAMP) - 1)), len(_RAMP) - 2)
    rest = share * (len(_RAMP) - 1) - at
    red, green, blue = (round(a + (b - a) * rest) for a, b in zip(_RAMP[at], _RAMP[at + 1], strict=True))
    ink = Color.from_rgb(0, 0, 0) if share < 0.7 else Color.from_rgb(255, 255, 255)
    return Style(color=ink, bgcolor=Color.from_rgb(red, green, blue))
