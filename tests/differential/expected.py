"""The differences that are meant, each with its reason; empty again once both versions have them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.differential.differences import Difference


@dataclass(frozen=True)
class Expected:
    """Differences that are meant: where (a regular expression, searched for), of which natures, and how far apart."""

    reason: str
    where: str
    natures: Sequence[str] = ("value", "digits")
    ulps: float = float("inf")
    apart: float = float("inf")  # or this much, where numbers near 0 are what is left of larger ones
    words: str = ""  # a regular expression that the new text must match

    def covers(self, difference: Difference) -> bool:
        """Whether a difference is one of these."""
        return (
            difference.nature in self.natures
            and re.search(self.where, difference.where) is not None
            and (difference.ulps <= self.ulps or difference.apart <= self.apart)
            and re.search(self.words, str(difference.new)) is not None
        )


EXPECTED: list[Expected] = []
