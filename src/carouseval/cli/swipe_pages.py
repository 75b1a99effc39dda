"""What commands say of the files they are given."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import typer

from carouseval.metrics.grid import Grid


def note_swipe_pages(texts: Iterable[str | None], grid: Grid | Mapping[str, Grid]) -> None:
    """Say of discounts from files that they were fitted with another number of items in view than any screen has."""
    sizes = {one.page_size for one in (grid.values() if isinstance(grid, Mapping) else [grid])}
    for name in re.findall(r"@([^@()]+?\.json)", " ".join(text for text in texts if text)):
        try:
            fitted = json.loads(Path(name).read_text(encoding="utf-8-sig"))["grid"]["page_size"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # written by hand, or not there, which reading it will say
        if fitted not in sizes:
            here = " or ".join(map(str, sorted(sizes)))
            said = f"{name} was fitted with {fitted} items of a row in view, this screen has {here}. See --page-size."
            typer.echo(f"carouseval: {said}", err=True)
