"""What is found wrong with the lines of some users, and the one error that it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from carouseval.errors import AddedError, CountedLines, DataError
from carouseval.evaluation import schema
from carouseval.evaluation.defects.defect_lines import FoundDefect, PageDefectError
from carouseval.evaluation.defects.page_defects import REFUSABLE
from carouseval.evaluation.notices import Refusal, RefusalError
from carouseval.evaluation.settings import Settings
from carouseval.evaluation.systems import NamedError, Run

if TYPE_CHECKING:
    from carouseval.engines.contract import Mapped
    from carouseval.engines.given_tables import GivenTables
    from carouseval.engines.reads import Reads

ONE: Run = ("", 0)  # the only run of a system that is not compared
_READ = ("judgments", "items", "carousels")  # before layouts, in this order


@dataclass(frozen=True)
class Failure:
    """What is wrong with some lines, and of which run they are, where there are several systems."""

    what: Any  # text, or what adds up: a FoundDefect, a Refusal, or something of an AddedError
    run: Run = ONE

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


def refuse_failures(failures: Sequence[Failure], tables: GivenTables[Any]) -> None:
    """Raise the first failure, if there is any; tables without lines, which make others fail, come before them."""
    if failures:
        empty = [Failure(schema.EMPTY[name], run) for name, runs in tables.empty().items() for run in runs]
        raise DataError(first_failure([*failures, *empty], tables.settings, list(tables.runs.values())))


def found_by_pass(mapped: Mapped[Any], before: Reads, tables: GivenTables[Any]) -> tuple[Any, Reads]:
    """What a pass over the users adds up to, and what it read; refused unless tables are as ``before`` and valid."""
    report = mapped.report
    read = tables.require_same(before, report.read)
    refuse_failures(report.failures, tables)
    return report.sums, read


def first_failure(failures: Sequence[Failure], settings: Settings, runs: Sequence[Run]) -> str:
    """The error that one machine would raise: about a table, then about pages that are refused, then about defects.

    All ``runs`` are read, in this order, before any is scored, and compared last.
    """
    texts = [failure for failure in failures if not failure.is_of_pages]
    for run in runs:
        if found := sorted((str(one.what) for one in texts if one.run == run), key=_reading_order):
            return _named(run, found[0])
    for run in runs:
        if scored := [one.what for one in failures if one.run == run and one.is_of_pages]:
            return _named(run, _first_refused(scored, settings))
    return min(str(one.what) for one in texts)


def _reading_order(text: str) -> tuple[int, str]:
    table = text.partition(":")[0]
    return (_READ.index(table) if table in _READ else len(_READ), text)


def _named(run: Run, text: str) -> str:
    return f"{run[0]}: {text}" if run[0] else text


def _first_refused(scored: Sequence[FoundDefect | Refusal], settings: Settings) -> str:
    refusals = [one for one in scored if isinstance(one, Refusal)]
    for kind in ("missing", "no_relevant", "no_weight"):
        if found := [refusal for refusal in refusals if refusal.kind == kind]:
            return str(reduce(add, found).defect(settings))
    defects = [one for one in scored if isinstance(one, FoundDefect)]
    first = min(defects, key=lambda found: REFUSABLE.index(found.kind))
    return str(reduce(add, [found for found in defects if found.kind == first.kind]).defect())
