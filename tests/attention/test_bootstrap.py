"""Bootstrap intervals: what is resampled, that they cover, and that they say what they are."""

from typing import Any, cast

import numpy as np
import pytest

import carouseval as cv
from carouseval.attention import Examination, recgaze_counts
from carouseval.attention.bootstrap import BY_PARTICIPANT, CELLS_ONLY, bootstrap, percentile_interval, resample
from carouseval.attention.rank_fit import grid_search

AXES: dict[str, Any] = {"alpha": [1, 4, 7, 10], "beta": [3, 6, 9]}


def people(seed: int, count: int, screens: int, spread: float) -> Examination:
    """Participants who differ in how far they look: cells of one person move together."""
    rng = np.random.default_rng(seed)
    weights = cv.discounts.RowPage().weights(cv.Grid(4, 6, page_size=3)) * 3
    counts = [
        rng.binomial(screens, np.clip(weights * np.exp(spread * rng.normal(size=(4, 1))), 0, 1)) for _ in range(count)
    ]
    each = np.full(count, screens)
    return Examination("people", np.sum(counts, axis=0), count * screens, by_participant=(np.array(counts), each))


def test_counts_alone_say_that_intervals_are_too_narrow() -> None:
    found = bootstrap(recgaze_counts("bratislava"), "d_rpd", parameters=AXES, samples=200)
    assert found.method == CELLS_ONLY == "binomial noise of independent cells only, too narrow"
    assert set(found.parameters) == {"alpha", "beta", "mu", "nu"}
    assert found.parameters["mu"].low <= 0.65 <= found.parameters["mu"].high
    fitted = grid_search(recgaze_counts("bratislava"), "d_rpd", parameters=AXES).discount.parameters
    for name, interval in found.parameters.items():
        assert interval.low <= fitted[name] <= interval.high


def test_participants_widen_the_intervals() -> None:
    study = people(1, 25, 20, spread=0.8)
    alone = Examination("same", study.counts, study.screens)
    grid = cv.Grid(4, 6, page_size=3)
    by_people = bootstrap(study, "d_rpd", grid, {"alpha": [4], "beta": [9]}, samples=300)
    by_cells = bootstrap(alone, "d_rpd", grid, {"alpha": [4], "beta": [9]}, samples=300)
    assert by_people.method == BY_PARTICIPANT

    def width(one: Any) -> float:
        return float(sum(interval.high - interval.low for interval in one.parameters.values()))

    assert width(by_people) > width(by_cells)


def test_a_single_resampled_study_is_fitted_as_the_grid_search_does() -> None:
    """With one participant every resample is the study itself."""
    study = people(2, 1, 400, spread=0.0)
    grid = cv.Grid(4, 6, page_size=3)
    found = bootstrap(study, "d_rpd", grid, samples=5)
    best = grid_search(study, "d_rpd", grid)
    assert {name: interval.low for name, interval in found.parameters.items()} == best.discount.parameters


def test_intervals_leave_out_as_much_on_either_side() -> None:
    values = np.random.default_rng(0).permutation(np.arange(1000.0))
    for ci, left_out in ((0.95, 25), (0.5, 250)):
        interval = percentile_interval(values, ci)
        assert (interval.low, interval.high) == pytest.approx((left_out, 1000 - left_out), abs=1.5)


def test_resampled_participants_bring_their_screens() -> None:
    """Participants of 1, 10 and 100 screens: what everybody always examines has frequency 1 in every resample."""
    screens = np.array([1, 10, 100])
    counts = np.stack([np.array([[n, n // 2]]) for n in screens])
    study = Examination("uneven", counts.sum(axis=0), int(screens.sum()), by_participant=(counts, screens))
    frequencies, drawn = resample(study, 50, np.random.default_rng(0))
    assert len(np.unique(drawn)) > 5
    np.testing.assert_array_equal(frequencies[:, 0], 1.0)


def test_seeds_and_progress() -> None:
    steps: list[tuple[int, int]] = []
    one = bootstrap(recgaze_counts("amsterdam"), "d_t", samples=100, seed=3, progress=lambda a, b: steps.append((a, b)))
    assert one == bootstrap(recgaze_counts("amsterdam"), "d_t", samples=100, seed=3)
    assert steps[-1] == (100, 100)  # parameter sets


def test_nonsense_is_refused() -> None:
    with pytest.raises(cv.ParameterError, match="bootstrap needs counts"):
        bootstrap(recgaze_counts("all").frequencies, "d_t")
    with pytest.raises(cv.ParameterError, match="samples must be an integer"):
        bootstrap(recgaze_counts("all"), "d_t", samples=0)
    with pytest.raises(cv.DataError, match="frequencies are 10x15, but the grid is 3x3"):
        bootstrap(recgaze_counts("all"), "d_t", cv.Grid(3, 3), samples=3)
    with pytest.raises(cv.DataError, match="no parameters of d_t give finite and positive weights"):
        bootstrap(recgaze_counts("all"), "d_t", parameters={"alpha": [0.1], "beta": [0.1]}, samples=3)
    with pytest.raises(cv.DataError, match="do not add up to the totals"):
        Examination("wrong", [[3, 1]], 5, by_participant=([[[1, 1]], [[1, 0]]], [3, 2]))
    with pytest.raises(cv.DataError, match="two arrays"):
        Examination("wrong", [[2, 1]], 5, by_participant=cast(Any, {"x": 1}))
    with pytest.raises(cv.DataError, match="at least one screen"):
        Examination("wrong", [[2, 1]], 3, by_participant=([[[2, 1]], [[0, 0]]], [3, 0]))
    with pytest.raises(cv.DataError, match="at least one screen"):
        Examination("wrong", [[2, 1]], 3, by_participant=([[[2, 1]]], [1, 1, 1]))


def test_single_participants_survive_a_file(tmp_path: Any) -> None:
    study = people(3, 4, 10, spread=0.2)
    study.save(tmp_path / "study.json")
    back = Examination.load(tmp_path / "study.json")
    assert back.by_participant is not None
    assert study.by_participant is not None
    np.testing.assert_array_equal(back.by_participant[0], study.by_participant[0])
    assert back.participants == 4
