"""Inputs that several commands take: examination counts or frequencies, by name or from a file."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze import GROUPS, recgaze_counts
from carouseval.errors import ParameterError
from carouseval.metric.discounts import Discount, Empirical, parse, table_name
from carouseval.metric.grid import Grid

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
    if not holds_screens(text):
        return read_frequencies(text, screens)
    from carouseval.attention.screens import examination_from_screens

    if grid is None:
        raise ParameterError(f"{text} lists examined cells of single screens; say on which --grid.")
    return examination_from_screens(text, grid, screens)


def _as_discount(path: str, table: Any) -> Discount:
    return Empirical(table, name=table_name(Path(path).stem))


@dataclass(frozen=True, eq=False)
class FitInput:
    """What a discount is fitted to and scored on, and the screen it is about."""

    name: str
    train: Any  # an Examination, or a table of frequencies
    test: Any  # the same, or None
    grid: Grid
    paths: "Paths | None" = None  # of the training screens, in the order of looks
    test_paths: "Paths | None" = None

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
        found: list[Any] = []
        for text, count in ((name, screens), (test, None)):
            if text is not None and paths and named and text not in GROUPS and holds_screens(text):
                from carouseval.attention.paths import paths_from_screens

                looks = paths_from_screens(text, named, count)
                found += [looks.examination(), looks]
            else:
                found += [None if text is None else frequencies(text, count, named), None]
        train = found[0]
        shape = train.counts.shape if isinstance(train, Examination) else train.shape
        return cls(name, found[0], found[2], named or screen(None, page_size, visible_rows, shape), found[1], found[3])
