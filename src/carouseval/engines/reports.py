"""What is reported of some users: what adds up, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

from carouseval.engines.failures import Failure, failures_of
from carouseval.engines.reads import Reads
from carouseval.errors import DataError
from carouseval.evaluation.exact_sums import added


@dataclass(frozen=True)
class Report:
    """The sums of some users, if there are any, what is wrong with their lines, each kind once, and what was read."""

    sums: Any = None
    failures: tuple[Failure, ...] = ()
    read: Reads = field(default_factory=dict)

    @classmethod
    def of_error(cls, error: DataError) -> Report:
        """Lines that cannot be scored."""
        return cls(failures=failures_of(error))

    def __add__(self, other: Report) -> Report:
        sums = [one for one in (self.sums, other.sums) if one is not None]
        by_kind: Mapping[Any, Failure] = {}
        for failure in (*self.failures, *other.failures):
            by_kind = added(by_kind, {failure.kind: failure})
        return Report(reduce(add, sums) if sums else None, tuple(by_kind.values()), added(self.read, other.read))

    def __bool__(self) -> bool:
        """Whether there is anything to report."""
        return self.sums is not None or bool(self.failures) or bool(self.read)
