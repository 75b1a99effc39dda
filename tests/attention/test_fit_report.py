"""Fits that report on themselves: what is decided, what is said, and how it is written down."""

import json
from pathlib import Path

import pytest

import carouseval as cv
from carouseval.attention import (
    Examination,
    FitData,
    Frequencies,
    LikelihoodReport,
    SearchReport,
    fit_discount,
    read_attention,
    recgaze_counts,
    scores,
)
from carouseval.attention.examination import Share

COUNTS = Examination("pilot", [[9, 7, 5, 4], [8, 6, 3, 3], [6, 5, 2, 1]], 10)
GRID = cv.Grid(3, 4, page_size=2)


def test_a_search_scores_on_both_sets() -> None:
    report = fit_discount(FitData.read("bratislava", "amsterdam"), "d_mir", top=3)
    assert isinstance(report, SearchReport)
    assert report.scores["test"] == vars(scores(recgaze_counts("amsterdam"), report.discount))
    assert report.to_frame()["scored on"].to_list() == ["train", "test"]
    assert len(report.to_dict()["top"]) == 3
    assert report.heading.startswith("fitted to bratislava: 1,665 screens of 61 participants, 10x15")


def test_rows_that_differ_in_words() -> None:
    rows = FitData("pilot", COUNTS, cv.Grid(3, 4, (1, 2, 2)))
    assert rows.description == "pilot: 10 screens, 3x4, items of a row in view at once: 1 in row 1, 2 in rows 2-3"
    assert FitData("pilot", COUNTS, cv.Grid(3, 4, (4, 5, 5))).description.endswith("at once: no swipe pages")


def test_page_sizes_assumed_by_row_are_compared_with_single_ones() -> None:
    assumed = cv.Grid(6, 12, (1, 6, 6, 6, 6, 6))
    weights = cv.discounts.RowPageBrowsing().weights
    for grid, hints in ((cv.Grid(6, 12, 6), 1), (assumed, 0)):
        counts = Examination("drawn", (3000 * weights(grid)).round(), 3000)
        report = fit_discount(FitData("drawn", counts, assumed, page_size_assumed=True), "d_rpb", form="six")
        assert isinstance(report, LikelihoodReport)
        notes = [note for note in report.notes if note.startswith("A page size of 6 fits much better than (1, 6, 6")]
        assert len(notes) == hints


def test_frequencies_are_searched_like_counts() -> None:
    shares = FitData("shares", Frequencies("shares", COUNTS.frequencies), GRID)
    by_shares, by_counts = (fit_discount(data, "d_mir") for data in (shares, FitData("pilot", COUNTS, GRID)))
    assert by_shares.discount == by_counts.discount
    with pytest.raises(cv.ParameterError, match="d_rpb is fitted to counts of screens; these are frequencies"):
        fit_discount(shares, "d_rpb")
    with pytest.raises(cv.ParameterError, match="bootstrap needs counts"):
        fit_discount(shares, "d_mir", bootstrap=9)


def test_a_likelihood_fit_reads_back(tmp_path: Path) -> None:
    report = fit_discount(FitData("pilot", COUNTS, GRID), "d_rcb", bootstrap=20)
    assert isinstance(report, LikelihoodReport)
    assert report.bootstrap is not None
    assert report.intervals == report.bootstrap.parameters
    report.save(tmp_path / "fit.json")
    assert json.loads((tmp_path / "fit.json").read_text()) == json.loads(report.to_json())
    assert cv.discounts.parse(f"@{tmp_path}/fit.json") == report.discount
    report.save(tmp_path / "fit.md")
    assert f"{report.scores['train']['spearman']:.4f}" in (tmp_path / "fit.md").read_text()


def test_paths_are_for_the_scan_alone(tmp_path: Path) -> None:
    path = tmp_path / "looks.csv"
    path.write_text("screen,row,col\n1,1,1\n1,1,2\n1,2,1\n2,1,1\n2,1,2\n3,1,1\n")
    data = FitData.read(str(path), grid=GRID, in_order=True)
    assert fit_discount(data, "d_scan").scores["train"]["log_likelihood_per_path"] is not None
    counts = fit_discount(data, "d_rcb")
    assert counts.discount == fit_discount(FitData.read(str(path), grid=GRID), "d_rcb").discount
    assert "log_likelihood_per_path" not in counts.scores["train"]


def test_the_forms_tried_are_a_table() -> None:
    report = fit_discount(FitData("pilot", COUNTS, GRID), "d_rpb")
    assert isinstance(report, LikelihoodReport)
    assert report.choice is not None
    forms = report.choice.to_frame()
    assert forms["BIC above the lowest"].min() == 0
    assert forms.filter(note="chosen")["form"].to_list() == [report.fit.form.name]


def test_data_are_read_by_name_from_files_and_from_many_files(tmp_path: Path) -> None:
    for screen in (1, 2):
        (tmp_path / f"{screen}.csv").write_text(f"screen,row,col\n{screen},1,{screen}\n{screen},2,1\n")
    looks = read_attention(str(tmp_path / "*.csv"), grid=GRID)
    assert isinstance(looks, Examination)
    assert looks.counts[:2, :2].tolist() == [[1, 1], [2, 0]]
    assert read_attention("all") is recgaze_counts("all")
    COUNTS.save(tmp_path / "counts.json")
    again = read_attention(tmp_path / "counts.json")
    assert isinstance(again, Examination)
    assert again.to_dict() == COUNTS.to_dict()


def test_intervals_of_cells() -> None:
    low, high = COUNTS.intervals
    assert (low[0, 1], high[0, 1]) == Share(7, 10).interval


def test_counts_as_a_table() -> None:
    assert COUNTS.to_frame().columns == ["row", "1", "2", "3", "4"]
    assert COUNTS.to_frame().row(2) == (3, 6, 5, 2, 1)
    assert COUNTS.heading == "pilot: on how many of 10 screens each cell was examined"
