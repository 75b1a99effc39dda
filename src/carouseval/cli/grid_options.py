"""The grids named by ``--grid``, ``--page-size`` and ``--visible-rows``."""

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from carouseval.errors import ParseError
from carouseval.metrics.grid import PRESETS, Grid, extended, resized, sizes_by_row
from carouseval.validation import LARGEST_SIZE, did_you_mean, parse_size, quoted

_MOST_CELLS = 1_000_000
_GRID = re.compile(rf"(?:({'|'.join(PRESETS)}):)?(\d{{1,6}})x(\d{{1,6}})")


def parse_grid(
    name: str | None, page_size: int | tuple[int, ...] | None, visible_rows: int | None, page_shape: tuple[int, ...]
) -> Grid:
    """The grid of a preset, of ROWSxCOLS or, without a name, of the page's shape; then the other options apply.

    Page sizes may follow the name, as in ``8x12/1,5``; they hold for that grid.
    """
    if name is not None and "/" in name:
        name, _, sizes = name.partition("/")
        parsed = [parse_size(size) for size in sizes.split(",")]
        page_size = tuple(size for size in parsed if size is not None)
        if len(page_size) < len(parsed):
            raise ParseError(
                f"--grid {quoted(f'{name}/{sizes}')}: write page sizes as integers from 1 to {LARGEST_SIZE:,}, such as "
                "10x15/1,5."
            )
    if name is None:
        grid = Grid(*page_shape)
    elif name.lower() in PRESETS:
        grid = PRESETS[name.lower()]
    elif match := _GRID.fullmatch(name.lower()):
        rows, cols = int(match[2]), int(match[3])
        if rows * cols > _MOST_CELLS:
            raise ParseError(f"--grid {name} has more than {_MOST_CELLS:,} cells.")
        grid = resized(PRESETS[match[1]], rows, cols) if match[1] else Grid(rows, cols)
    else:
        raise ParseError(
            f"--grid: there is no grid {quoted(name)}.{did_you_mean(name, PRESETS)} Write ROWSxCOLS, such as 10x15, or "
            f"one of {', '.join(PRESETS)}; page sizes may follow: 10x15/1,5."
        )
    if isinstance(page_size, tuple):
        if len(page_size) > grid.rows:
            raise ParseError(
                f"--page-size has {len(page_size)} numbers, but the grid has {grid.rows} row{'s' * (grid.rows != 1)}."
            )
        page_size = extended(page_size, grid.rows)
    options: dict[str, Any] = {"page_size": page_size, "visible_rows": visible_rows}
    return dataclasses.replace(grid, **{key: value for key, value in options.items() if value is not None})


def parse_grids(
    texts: Sequence[str], page_size: int | tuple[int, ...] | None, visible_rows: int | None
) -> Grid | dict[str, Grid]:
    """The grid of all pages or, from ``VALUE=GRID``, of each segment."""
    parts = [text.partition("=") for text in texts]
    if parts and all(equals for _, equals, _ in parts):
        return {value: parse_grid(name, page_size, visible_rows, ()) for value, _, name in parts}
    if len(parts) != 1 or parts[0][1]:
        raise ParseError("--grid takes one grid, or one for each value of --by: --grid tv=tv --grid phone=phone.")
    return parse_grid(texts[0], page_size, visible_rows, ())


def grid_options(grids: Grid | Mapping[str, Grid]) -> str:
    """The options that give a grid, or the grid of each segment: what :func:`parse_grids` parses.

    >>> grid_options(Grid(12, 20, page_size=(1, *[5] * 11)))
    '--grid 12x20 --page-size 1,5'
    """
    several = isinstance(grids, Mapping)
    texts: list[str] = []
    others: dict[str, str] = {}
    for value, grid in grids.items() if isinstance(grids, Mapping) else [("", grids)]:
        name, own = _named_grid(grid)
        if several and "--page-size" in own:
            name += f"/{own.pop('--page-size')}"
        texts.append(f"--grid {shlex.quote(f'{value}={name}' if several else name)}")
        others |= own  # on the command line, the same for all grids
    return " ".join([*texts, *(f"{option} {text}" for option, text in others.items())])


def _named_grid(grid: Grid) -> tuple[str, dict[str, str]]:
    """The name of a grid for ``--grid``, and the other options it needs: as few as possible."""
    choices = []
    for prefix, base in [("", Grid()), *((f"{name}:", preset) for name, preset in PRESETS.items())]:
        if (base.swipe_step, base.scroll_step) == (grid.swipe_step, grid.scroll_step):
            same = prefix and base.shape == grid.shape
            options = {}
            if base.page_size != grid.page_size:
                options["--page-size"] = _short_list(sizes_by_row(grid))
            if base.visible_rows != grid.visible_rows:
                options["--visible-rows"] = str(grid.visible_rows)
            choices.append((prefix[:-1] if same else f"{prefix}{grid}", options))
    return min(choices, key=lambda choice: len(choice[1]))


def _short_list(sizes: Sequence[int]) -> str:
    """Page sizes without the repeats at the end."""
    kept = next((at for at in range(len(sizes), 1, -1) if sizes[at - 1] != sizes[at - 2]), 1)
    return ",".join(map(str, sizes[:kept]))
