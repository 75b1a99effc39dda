"""Inputs that several commands take: examination counts or frequencies, by name or from a file."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze import GROUPS, recgaze_counts
from carouseval.errors import DataError, ParameterError
from carouseval.metrics.discounts import Discount, Empirical, parse, table_name
from carouseval.metrics.grid import PRESETS, Grid
from carouseval.metrics.validation import did_you_mean

if TYPE_CHECKING:
    from carouseval.attention.paths import Paths


def truth(text: str, grid: Grid | None = None) -> Examination | Discount:
    """Embedded counts, a file of counts, frequencies or screens, or any discount."""
    if text in GROUPS:
        return recgaze_counts(text)
    if Path(text).is_file() or (Path(text).suffix.lower() in (".csv", ".parquet", ".json") and text[:1] != "@"):
        found = frequencies(text, grid=grid)
        return found if isinstance(found, Examination) else _as_discount(text, found)
    return parse(text)


def frequencies(text: str, screens: int | None = None, grid: Grid | None = None) -> Any:
    """An :class:`Examination` (embedded, or counts with their number of screens), or a table of frequencies.

    A table of single screens (``screen, row, col``, perhaps ``participant``) is counted on the grid given.
    """
    from carouseval.attention.files import holds_screens, read_frequencies

    if text in GROUPS:
        if screens is not None:
            raise ParameterError(f"--screens goes with a file of counts; {text} brings its own.")
        return recgaze_counts(text)
    if not Path(text).suffix and not Path(text).exists():
        raise ParameterError(f"there is no file {text!r}.{did_you_mean(text, GROUPS)} Or write {', '.join(GROUPS)}.")
    if not holds_screens(text):
        return read_frequencies(text, screens)
    from carouseval.attention.screens import examination_from_screens

    if grid is None:
        raise ParameterError(f"{text} lists examined cells of single screens; say on which --grid.")
    return examination_from_screens(text, grid, screens)


def _as_discount(path: str, table: Any) -> Discount:
    return Empirical(table, name=table_name(Path(path).stem))


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


@dataclass(frozen=True, eq=False)
class FitInput:
    """What a discount is fitted to and scored on, and the screen it is about."""

    name: str
    train: Any  # an Examination, or a table of frequencies
    test: Any  # the same, or None
    grid: Grid
    paths: "Paths | None" = None  # of the training screens, in the order of looks
    test_paths: "Paths | None" = None
    page_size_given: bool = True

    @property
    def said(self) -> str:
        """The data in words, with what was assumed of the screen."""
        grid = self.grid
        if grid.page_size >= grid.cols:
            pages = f"all {grid.cols} items of a row in view at once: no swipe pages"
        else:
            pages = f"{grid.page_size} items of a row in view at once"
        if not self.page_size_given:
            pages += " (assumed; say it with --page-size)"
        if not isinstance(self.train, Examination):
            return f"{self.name}: {grid}, {pages}"
        count = self.train.participants
        people = f" of {count} participant{'s' * (count != 1)}" if count else ""
        return f"{self.name}: {self.train.screens:,} screens{people}, {grid}, {pages}"

    @classmethod
    def read(
        cls,
        name: str,
        test: str | None,
        screens: int | None,
        grid: str | None,
        page_size: int | None,
        visible_rows: int | None,
        paths: bool,
    ) -> "FitInput":
        """From names or files; with ``paths``, tables of single screens are read in order."""
        from carouseval.attention.files import holds_screens
        from carouseval.cli.screen import screen

        named = screen(grid, page_size, visible_rows, ()) if grid else None

        def one(text: str | None, count: int | None) -> tuple[Any, "Paths | None"]:
            if text is None:
                return None, None
            if paths and named and text not in GROUPS and holds_screens(text):
                from carouseval.attention.paths import paths_from_screens

                looks = paths_from_screens(text, named, count)
                return looks.examination(), looks
            return frequencies(text, count, named), None

        (train, looks), (held_out, test_looks) = one(name, screens), one(test, None)
        chosen = named or screen(None, page_size, visible_rows, _shape(train))
        for text, table in ((name, train), (test, held_out)):
            if table is not None and _shape(table) != chosen.shape:
                raise DataError(f"{text} is {'x'.join(map(str, _shape(table)))}, but the screen is {chosen}.")
        # RecGaze's screen and the presets are known
        given = page_size is not None or name in GROUPS or (grid or "").lower() in PRESETS
        return cls(name, train, held_out, chosen, looks, test_looks, given)


def _shape(table: Any) -> tuple[int, ...]:
    return table.counts.shape if isinstance(table, Examination) else np.shape(table)
