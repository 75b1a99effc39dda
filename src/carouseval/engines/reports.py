"""What a pass over users reports: what adds up, what is wrong with their lines, and what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

from carouseval.errors import DataError
from carouseval.evaluation import schema
from carouseval.evaluation.defects.defect_lines import FoundDefect, PageDefectError
from carouseval.evaluation.defects.page_defects import REFUSABLE
from carouseval.evaluation.exact_sums import added
from carouseval.evaluation.notices import Refusal, RefusalError
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.systems import NamedError, Run, naming
from carouseval.messages import Message, nested
from carouseval.tables.added_errors import AddedError, CountedLines

if TYPE_CHECKING:
    from carouseval.engines.contract import Mapped
    from carouseval.engines.given_tables import GivenTables

ONLY_RUN: Run = ("", 0)  # the only run of a system that is not compared
_READ = ("judgments", "items", "carousels")  # before layouts, in this order
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


@dataclass(frozen=True)
class Failure:
    """What is wrong with some lines, and of which run they are, where there are several systems."""

    what: Any  # text, or what adds up: a FoundDefect, a Refusal, or something of an AddedError
    run: Run = ONLY_RUN

    @property
    def kind(self) -> tuple[Run, Any]:
        """Failures of a kind add up."""
        return self.run, "text" if isinstance(self.what, str) else self.what.kind

    @property
    def is_of_users(self) -> bool:
        """Whether it takes all lines of a user to count it."""
        return isinstance(self.what, CountedLines) and self.what.of_users

    @property
    def is_of_pages(self) -> bool:
        """Whether it is about pages that were read, and then refused."""
        return isinstance(self.what, FoundDefect | Refusal)

    def __add__(self, other: Failure) -> Failure:
        """Both as one; of errors in words, the one that would be raised."""
        if isinstance(self.what, str):
            return min(self, other, key=lambda failure: _reading_order(str(failure.what)))
        return replace(self, what=self.what + other.what)


def failures_of(error: DataError) -> tuple[Failure, ...]:
    """What an error says, in a form in which those of several parts add up."""
    if isinstance(error, NamedError):
        return tuple(replace(failure, run=error.run) for failure in failures_of(error.error))
    if isinstance(error, AddedError):
        return tuple(map(Failure, error.found))
    if isinstance(error, PageDefectError):
        return (Failure(error.found),)
    return (Failure(error.refusal if isinstance(error, RefusalError) else str(error)),)


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
        sums = [part for part in (self.sums, other.sums) if part is not None]
        by_kind: Mapping[Any, Failure] = {}
        for failure in (*self.failures, *other.failures):
            by_kind = added(by_kind, {failure.kind: failure})
        return Report(reduce(add, sums) if sums else None, tuple(by_kind.values()), added(self.read, other.read))

    def __bool__(self) -> bool:
        """Whether there is anything to report."""
        return self.sums is not None or bool(self.failures) or bool(self.read)


def sums_of_pass(mapped: Mapped[Any], before: Reads, tables: GivenTables[Any]) -> tuple[Any, Reads]:
    """What a pass over the users adds up to, and what it read; refused unless tables are as ``before`` and valid."""
    report = mapped.report
    read = tables.require_same(before, report.read)
    refuse_failures(report.failures, tables)
    return report.sums, read


def refuse_changes(before: Reads, after: Reads, runs: Mapping[str, Run]) -> None:
    """Refuse tables of which two passes read different lines; ``runs`` tells the run that each of the layouts is of."""
    for table, first in before.items():
        later = after.get(table, first)
        if later == first:
            continue
        counts = f"{first.count:,} line{'s' * (first.count != 1)} at first and {later.count:,} later"
        if first.count == later.count:
            counts = f"{first.count:,} line{'s' * (first.count != 1)} each time, but not the same"
        what = f"the table changes while it is read: {counts}. {_REMEDY}"
        with naming(*runs.get(table, ONLY_RUN)):
            raise DataError(f"{'layouts' if table in runs else table}: {what}")


def refuse_failures(failures: Sequence[Failure], tables: GivenTables[Any]) -> None:
    """Raise the first failure, if there is any; tables without lines, which make others fail, come before them."""
    if failures:
        empty = [Failure(schema.EMPTY[name], run) for name, runs in tables.empty().items() for run in runs]
        raise DataError(first_failure([*failures, *empty], tables.settings, list(tables.runs.values())))


def first_failure(failures: Sequence[Failure], settings: Settings, runs: Sequence[Run]) -> str:
    """The error that one machine would raise: about a table, then about pages that are refused, then about defects.

    All ``runs`` are read, in this order, before any is scored, and compared last.
    """
    texts = [failure for failure in failures if not failure.is_of_pages]
    for run in runs:
        if of_run := [str(failure.what) for failure in texts if failure.run == run]:
            return _named(run, min(of_run, key=_reading_order))
    for run in runs:
        if scored := [failure.what for failure in failures if failure.run == run and failure.is_of_pages]:
            return _named(run, _first_refused(scored, settings))
    return min(str(failure.what) for failure in texts)


def _reading_order(text: str) -> tuple[int, str]:
    table = text.partition(":")[0]
    return (_READ.index(table) if table in _READ else len(_READ), text)


def _named(run: Run, text: str) -> str:
    return Message(f"{run[0]}: {nested(text)}") if run[0] else text


def _first_refused(scored: Sequence[FoundDefect | Refusal], settings: Settings) -> str:
    refusals = [refused for refused in scored if isinstance(refused, Refusal)]
    for kind in ("missing", "no_relevant", "no_weight"):
        if of_kind := [refusal for refusal in refusals if refusal.kind == kind]:
            return str(reduce(add, of_kind).defect(settings))
    defects = [refused for refused in scored if isinstance(refused, FoundDefect)]
    first = min(defects, key=lambda defect: REFUSABLE.index(defect.kind))
    return str(reduce(add, [defect for defect in defects if defect.kind == first.kind]).defect())
