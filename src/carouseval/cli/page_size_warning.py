"""A warning about discounts that were fitted for another screen."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import typer

from carouseval.metrics.grid import Grid, sizes_by_row


def warn_about_page_size(texts: Iterable[str | None], grid: Grid | Mapping[str, Grid]) -> None:
    """Warn about ``@file.json`` discounts in metrics that were fitted with page sizes that no row of a grid has."""
    grids = grid.values() if isinstance(grid, Mapping) else [grid]
    sizes = {size for screen in grids for size in sizes_by_row(screen)}
    for name in re.findall(r"@([^@()]+?\.json)", " ".join(text for text in texts if text)):
        try:
            page_size = json.loads(Path(name).read_text(encoding="utf-8-sig"))["grid"]["page_size"]
            fitted = set(page_size) if isinstance(page_size, list) else {page_size}
        except (OSError, ValueError, KeyError, TypeError):
            continue  # without a grid, or unreadable, which is reported when the discount is read
        if not fitted & sizes:
            typer.echo(
                f"carouseval: warning: {name} was fitted with page size {_listed(fitted)}, but this grid has "
                f"{_listed(sizes)}. Set --page-size to match.",
                err=True,
            )


def _listed(sizes: set[int]) -> str:
    return " or ".join(map(str, sorted(sizes)))
