"""What was read of a table: an engine may read tables more than once, and they must be the same each time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from carouseval.errors import DataError
from carouseval.evaluation.systems import Run, naming

_REMEDY = (
    "Keep one version of it: cache or checkpoint it, or write it to files that nothing replaces. Where limit or "
    "row_number chooses its lines, give them an order without ties."
)


@dataclass(frozen=True)
class ReadLines:
    """How many lines were read, and the sum of their hashes, in whatever order they came."""

    count: int = 0
    hashes: int = 0  # modulo 2 ** 64

    def __add__(self, other: ReadLines) -> ReadLines:
        return ReadLines(self.count + other.count, (self.hashes + other.hashes) % 2**64)


Reads: TypeAlias = Mapping[str, ReadLines]
"""What was read of each table, by its name among those of :class:`GivenTables`."""


def refuse_changes(before: Reads, after: Reads, runs: Mapping[str, Run]) -> None:
    """Refuse tables of which two passes read different lines; ``runs`` tells the run that each of the layouts is of."""
    for table, first in before.items():
        later = after.get(table, first)
        if later == first:
            continue
        found = f"{first.count:,} line{'s' * (first.count != 1)} at first and {later.count:,} later"
        if first.count == later.count:
            found = f"{first.count:,} line{'s' * (first.count != 1)} each time, but not the same"
        what = f"the table changes while it is read: {found}. {_REMEDY}"
        with naming(*runs.get(table, ("", 0))):
            raise DataError(f"{'layouts' if table in runs else table}: {what}")
