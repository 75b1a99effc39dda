"""The screen a command works on, from its options."""

import dataclasses
import re
from collections.abc import Sequence

from carouseval.errors import ParseError
from carouseval.metrics.grid import PRESETS, Grid
from carouseval.metrics.validation import did_you_mean

_MOST_CELLS = 1_000_000


def screen(name: str | None, page_size: int | None, visible_rows: int | None, page_shape: tuple[int, ...]) -> Grid:
    """A preset, ROWSxCOLS, or the page's own shape, with the given swipe pages and visible rows."""
    if name is None:
        grid = Grid(*page_shape)
    elif name.lower() in PRESETS:
        grid = PRESETS[name.lower()]
    elif match := re.fullmatch(r"(\d{1,6})x(\d{1,6})", name.lower()):
        if int(match[1]) * int(match[2]) > _MOST_CELLS:
            raise ParseError(f"--grid {name} has more than {_MOST_CELLS:,} cells; nobody looks at that many.")
        grid = Grid(int(match[1]), int(match[2]))
    else:
        known = ", ".join(PRESETS)
        raise ParseError(
            f"--grid: there is no screen {name!r}.{did_you_mean(name, PRESETS)} Write ROWSxCOLS or one of {known}."
        )
    given = {"page_size": page_size, "visible_rows": visible_rows}
    return dataclasses.replace(grid, **{key: value for key, value in given.items() if value is not None})


def screens(asked: Sequence[str], page_size: int | None, visible_rows: int | None) -> Grid | dict[str, Grid]:
    """The screen of all pages, or with ``VALUE=SCREEN`` that of each segment."""
    named = [text.partition("=") for text in asked]
    if named and all(mark for _, mark, _ in named):
        return {value: screen(name, page_size, visible_rows, ()) for value, _, name in named}
    if len(named) != 1 or named[0][1]:
        raise ParseError("--grid names one screen, or one for each value of --by: --grid tv=tv --grid phone=phone.")
    return screen(asked[0], page_size, visible_rows, ())
