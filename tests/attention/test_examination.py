from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import carouseval as cv
from carouseval.attention import Examination, recgaze_counts


def test_embedded_counts() -> None:
    train, test, both = (recgaze_counts(group) for group in ("bratislava", "amsterdam", "all"))
    assert (train.screens, test.screens, both.screens) == (1665, 710, 2375)
    assert (train.participants, test.participants, both.participants) == (61, 26, 87)
    assert train.counts.shape == test.counts.shape == (10, 15)
    assert (train.counts[0, 0], train.counts[9, 14]) == (1538, 223)
    assert (test.counts[0, 0], test.counts[9, 14]) == (619, 72)
    np.testing.assert_array_equal(both.counts, train.counts + test.counts)
    assert train.row_counts is not None
    assert test.row_counts is not None
    assert train.row_counts.tolist() == [1645, 1602, 1464, 1341, 1213, 1108, 1030, 942, 850, 776]
    assert (test.row_counts >= test.counts.max(axis=1)).all()  # a cell examined is a row examined
    assert (train.row_counts >= train.counts.max(axis=1)).all()


def test_frequencies_make_a_discount() -> None:
    test = cv.attention.recgaze_counts("amsterdam")
    assert test.frequencies[0, 0] == 619 / 710
    assert str(test.discount) == "d_emp(amsterdam)"
    np.testing.assert_array_equal(test.discount.weights(cv.RECGAZE), test.frequencies)
    assert repr(test) == "Examination('amsterdam', 10x15 cells, 710 screens)"
    with pytest.raises(ValueError, match="read-only"):
        test.counts[0, 0] = 1


def test_an_unknown_group_is_refused() -> None:
    with pytest.raises(cv.ParameterError, match=r"group must be .* found 'amsterdm'\. Did you mean 'amsterdam'\?"):
        recgaze_counts(cast(Any, "amsterdm"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"counts": [[0.5]]}, "must be integers, 0 or more; for frequencies use"),
        ({"counts": [[-1]]}, "must be integers, 0 or more"),
        ({"counts": [1]}, r"of 2 dimensions, found shape \(1,\)"),
        ({"counts": [["a"]]}, "must be integers"),
        ({"counts": [[1, 9]]}, "row 1, col 2 was examined on 9 of 5 screens"),
        ({"counts": [[1.0, float("inf")]]}, "must be integers, 0 or more"),
        ({"counts": [[6, 20]], "screens": 5}, "row 1, col 1 was examined on 6 of 5 screens"),
        ({"row_counts": [999]}, "row 1 was examined on 999 of 5 screens"),
        ({"screens": 0}, "screens must be an integer of at least 1"),
        ({"row_counts": [1, 2]}, "row_counts has 2 rows, counts 1"),
    ],
)
def test_bad_counts_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        Examination("t", **{"counts": [[1]], "screens": 5, **arguments})


def test_only_equal_grids_add_up() -> None:
    with pytest.raises(cv.DataError, match="different grids"):
        Examination("a", [[1]], 2) + Examination("b", [[1, 1]], 2)


def test_files_read_back(tmp_path: Path) -> None:
    for seen in (recgaze_counts("all"), Examination("t", [[1, 2]], 5)):
        seen.save(tmp_path / "seen.json")
        again = Examination.load(str(tmp_path / "seen.json"))
        assert again.to_dict() == seen.to_dict()
        assert [path.name for path in tmp_path.iterdir()] == ["seen.json"]  # nothing unfinished is left behind
    with pytest.raises(cv.DataError, match="cannot be written"):
        seen.save(tmp_path / "no" / "such" / "folder.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "needs an object with the keys name, screens, counts"),
        ('{"name": "t", "screens": 1}', "needs an object with the keys name, screens, counts"),
        ('{"name": "t", "screens": 1, "counts": [[2]]}', "row 1, col 1 was examined on 2 of 1 screens"),
        ('{"name": "t", "screens": 1, "counts": [[1], [1, 1]]}', "examination file"),
        ('{"name": "t", "screens": 1, "counts": [[1]], "participants": "x"}', "participants must be an integer"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "seen.json").write_text(text)
    with pytest.raises(cv.DataError, match=message):
        Examination.load(tmp_path / "seen.json")
    with pytest.raises(cv.DataError, match=r"none\.json': No such file"):
        Examination.load(tmp_path / "none.json")
