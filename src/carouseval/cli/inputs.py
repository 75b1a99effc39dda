"""Inputs that several commands take: examination counts or frequencies, by name or from a file."""

from pathlib import Path
from typing import Any

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze import GROUPS, recgaze_counts
from carouseval.errors import ParameterError
from carouseval.metric.discounts import Discount, Empirical, parse, table_name
from carouseval.metric.grid import Grid


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
