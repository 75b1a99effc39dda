"""Inputs that several commands take: examination counts or frequencies, by name or from a file."""

from pathlib import Path
from typing import Any

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze import GROUPS, recgaze_counts
from carouseval.errors import ParameterError
from carouseval.metric.discounts import Discount, parse
from carouseval.metric.grid import Grid


def truth(text: str) -> Examination | Discount:
    """Embedded counts, a file of counts or frequencies, or any discount."""
    if text in GROUPS:
        return recgaze_counts(text)
    if not text.startswith("@") and Path(text).suffix and "(" not in text:
        found = frequencies(text)
        return found if isinstance(found, Examination) else _as_discount(text, found)
    return parse(text)


def frequencies(text: str, screens: int | None = None, grid: Grid | None = None) -> Any:
    """An :class:`Examination` (embedded, or counts with their number of screens), or a table of frequencies.

    A table of single screens (``screen, row, col``, perhaps ``participant``) is counted on the grid given.
    """
    from carouseval.attention.files import holds_screens, read_frequencies

    if text in GROUPS:
        return recgaze_counts(text)
    if not holds_screens(text):
        return read_frequencies(text, screens)
    from carouseval.attention.screens import examination_from_screens

    if grid is None:
        raise ParameterError(f"{text} lists examined cells of single screens; say on which --grid.")
    return examination_from_screens(text, grid, screens)


def _as_discount(path: str, table: Any) -> Discount:
    from carouseval.metric.discounts import Empirical

    return Empirical(table, name=Path(path).stem)
