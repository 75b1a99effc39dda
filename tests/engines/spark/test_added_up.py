"""What parts report adds up, without Spark: lines that were read, and failures."""

import pytest

from carouseval.engines.reports import ReadLines, Report, refuse_changes
from carouseval.errors import DataError
from carouseval.evaluation.exact_sums import added
from carouseval.evaluation.systems import naming
from carouseval.tables.added_errors import AddedError, CountedLines, such_lines

RUNS = {"layouts of new, run 1": ("new", 1)}


def test_passes_that_read_other_lines_are_refused() -> None:
    first = {"judgments": ReadLines(2, 7), "layouts of new, run 1": ReadLines(1_000, 2**64 - 1)}
    parts = [{"judgments": ReadLines(1, 2**64 - 1), "layouts of new, run 1": ReadLines(999, 2**64 - 9)}]
    parts.append({"judgments": ReadLines(1, 8), "layouts of new, run 1": ReadLines(1, 8)})
    same = added(*parts)
    assert same == first
    refuse_changes(first, same, RUNS)
    refuse_changes({}, same, RUNS)
    with pytest.raises(DataError, match=r"^judgments: the table changes while it is read: 2 lines each time, but not"):
        refuse_changes(first, same | {"judgments": ReadLines(2, 8)}, RUNS)
    with pytest.raises(DataError, match=r"^new: layouts: .* is read: 1,000 lines at first and 1 later"):
        refuse_changes(first, same | {"layouts of new, run 1": ReadLines(1, 0)}, RUNS)


def refused(*found: CountedLines) -> AddedError:
    return AddedError(*found)


def test_failures_of_parts_add_up() -> None:
    one = refused(such_lines("layouts.row", 3, "layouts: row 0", "Count from 1."))
    other = refused(
        such_lines("layouts.col", 1, "layouts: col 0", "Count from 1."),
        such_lines("layouts.row", 1_000, "layouts: row -1", "Count from 1."),
    )
    report = Report.of_error(one) + Report.of_error(other)
    said = sorted(str(failure.what) for failure in report.failures)
    assert said == ["layouts: col 0. Count from 1.", "layouts: row -1 (1,003 such lines). Count from 1."]


def test_failures_of_runs_stay_apart() -> None:
    report = Report()
    for run in (0, 1):
        with pytest.raises(DataError) as error, naming("new", run):
            raise refused(such_lines("layouts.row", 3, "layouts: row 0", "Count from 1."))
        report += Report.of_error(error.value)
    assert [(failure.run, failure.what.count) for failure in report.failures] == [(("new", 0), 3), (("new", 1), 3)]
