"""Inputs that several commands take: examination counts or frequencies, by name or from a file."""

from pathlib import Path
from typing import Any

from carouseval.attention.examination import Examination
from carouseval.attention.recgaze import GROUPS, recgaze_counts
from carouseval.metric.discounts import Discount, parse

NAMES = ", ".join(GROUPS)


def truth(text: str) -> Examination | Discount:
    """Embedded counts, a file of counts or frequencies, or any discount."""
    if text in GROUPS:
        return recgaze_counts(text)
    if not text.startswith("@") and Path(text).suffix and "(" not in text:
        found = frequencies(text)
        return found if isinstance(found, Examination) else _as_discount(text, found)
    return parse(text)


def frequencies(text: str, screens: int | None = None) -> Any:
    """An :class:`Examination` (embedded, or counts with their number of screens), or a table of frequencies."""
    from carouseval.attention.files import read_frequencies

    return recgaze_counts(text) if text in GROUPS else read_frequencies(text, screens)


def _as_discount(path: str, table: Any) -> Discount:
    from carouseval.metric.discounts import Empirical

    return Empirical(table, name=Path(path).stem)
