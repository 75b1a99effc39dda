"""The grids named by ``--grid``, ``--page-size`` and ``--visible-rows``."""

import dataclasses
import re
from collections.abc import Sequence

from carouseval.errors import ParseError
from carouseval.metrics.grid import PRESETS, Grid
from carouseval.metrics.validation import did_you_mean

_MOST_CELLS = 1_000_000


def parse_grid(name: str | None, page_size: int | None, visible_rows: int | None, page_shape: tuple[int, ...]) -> Grid:
    """The grid of a preset, of ROWSxCOLS or, without a name, of the page's shape; then the other options apply."""
    if name is None:
        grid = Grid(*page_shape)
    elif name.lower() in PRESETS:
        grid = PRESETS[name.lower()]
    elif match := re.fullmatch(r"(\d{1,6})x(\d{1,6})", name.lower()):
        if int(match[1]) * int(match[2]) > _MOST_CELLS:
            raise ParseError(f"--grid {name} has more than {_MOST_CELLS:,} cells.")
        grid = Grid(int(match[1]), int(match[2]))
    else:
        raise ParseError(
            f"--grid: there is no grid {name!r}.{did_you_mean(name, PRESETS)} Write ROWSxCOLS, such as 10x15, or one "
            f"of {', '.join(PRESETS)}."
        )
    options = {"page_size": page_size, "visible_rows": visible_rows}
    return dataclasses.replace(grid, **{key: value for key, value in options.items() if value is not None})


def parse_grids(texts: Sequence[str], page_size: int | None, visible_rows: int | None) -> Grid | dict[str, Grid]:
    """The grid of all pages or, from ``VALUE=GRID``, of each segment."""
    parts = [text.partition("=") for text in texts]
    if parts and all(equals for _, equals, _ in parts):
        return {value: parse_grid(name, page_size, visible_rows, ()) for value, _, name in parts}
    if len(parts) != 1 or parts[0][1]:
        raise ParseError("--grid takes one grid, or one for each value of --by: --grid tv=tv --grid phone=phone.")
    return parse_grid(texts[0], page_size, visible_rows, ())
