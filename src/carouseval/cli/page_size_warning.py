"""A warning about discounts that were fitted for another screen."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import typer

from carouseval.metrics.grid import Grid


def warn_about_page_size(texts: Iterable[str | None], grid: Grid | Mapping[str, Grid]) -> None:
    """Warn about ``@file.json`` discounts in metrics that were fitted with a page size that no grid has."""
    sizes = {screen.page_size for screen in (grid.values() if isinstance(grid, Mapping) else [grid])}
    for name in re.findall(r"@([^@()]+?\.json)", " ".join(text for text in texts if text)):
        try:
            fitted = json.loads(Path(name).read_text(encoding="utf-8-sig"))["grid"]["page_size"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # without a grid, or unreadable, which is reported when the discount is read
        if fitted not in sizes:
            typer.echo(
                f"carouseval: warning: {name} was fitted with page size {fitted}, but this grid has "
                f"{' or '.join(map(str, sorted(sizes)))}. Set --page-size to match.",
                err=True,
            )
