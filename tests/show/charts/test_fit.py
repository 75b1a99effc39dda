"""Charts of fits say what they were given, on any grid; what they draw is read back from the SVG."""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from typing import Any

import numpy as np
import pytest
import vl_convert

import carouseval as cv
from carouseval.attention import Examination, Frequencies, recgaze_counts
from carouseval.attention.examination import Share
from carouseval.attention.frequency_scores import Scores
from carouseval.metrics.discounts import Empirical
from carouseval.metrics.grid import Array, Grid, sizes_by_row
from carouseval.paper.ceiling_study import CeilingLine
from carouseval.paper.figures.ceiling import ceiling_chart
from carouseval.paper.study import DiscountAgreement
from carouseval.show.charts.fit import data_against_model
from carouseval.show.charts.theme import INK, RED
from carouseval.show.swipe_pages import page_means
from carouseval.show.terminal.fit import fit_rows
from tests.show.charts.drawings import data_of, drawn, marks, pixels, texts

DATA = recgaze_counts("bratislava")
GRIDS = {
    "one cell": Grid(1, 1),
    "one row": Grid(1, 8, 4),
    "one column": Grid(6, 1, 1),
    "one page": Grid(5, 4, 4),
    "a page larger than the screen": Grid(5, 4, 9),
    "a partial last page": Grid(4, 13, 5),
    "a last page of one cell": Grid(3, 5, 2),
    "pages of one cell": Grid(4, 12, 1),
    "a television": cv.TV,
    "rows that differ": Grid(4, 7, (1, 3, 3, 9)),
}


def falling(grid: Grid, keep: float = 0.9) -> Array:
    return np.asarray(0.9 * keep ** (grid.row_index + grid.column_index - 2), dtype=np.float64)


def pages(grid: Grid) -> list[int]:
    """The number of swipe pages of each row."""
    return [-(-grid.cols // size) for size in sizes_by_row(grid)]


def counted(name: str, frequencies: Array, screens: int = 1000) -> Examination:
    return Examination(name, np.round(screens * frequencies), screens)


MODELS = {name: Empirical(falling(cv.RECGAZE, keep)) for name, keep in (("a", 0.9), ("b", 0.85), ("c", 0.8))}


def line(name: str, parameters: int, scores: Scores, errors: Scores, **agreement: int) -> CeilingLine:
    """A discount that decides so many of a thousand pairs as the truth does."""
    discount, none, zero = cv.discounts.parse("d_a"), Share(0, 1000), Scores(0, 0, 0)
    pairs = {
        mode: DiscountAgreement(discount, Share(count, 1000), none, none, none) for mode, count in agreement.items()
    }
    return CeilingLine(name, discount, parameters, scores, errors, zero, zero, pairs, 12.0, None)


LINES = [
    line("d_a", 4, Scores(0.8, 0.85, 0.02), Scores(0.01, 0.02, 0.005), binary=850, graded=860),
    line("d_one", 1, Scores(0.9, 0.95, 0.01), Scores(0.01, 0.02, 0.002), binary=950, graded=960),
    line("frequencies", 150, Scores(0.97, 0.98, 0.001), Scores(0.005, 0.005, 0.0002), binary=990, graded=990),
]


def draw(chart: cv.charts.Chart) -> ET.Element:
    """Draw a valid chart, with no value missing and not blank; warnings are errors here as in all tests."""
    svg = chart.svg
    assert "NaN" not in svg
    assert "undefined" not in svg
    _, _, data = pixels(vl_convert.svg_to_png(svg, scale=1))
    assert len(set(data)) > 30
    return ET.fromstring(svg)


def grids_and_models() -> list[Any]:
    """Every grid with one model and with three; one of the two, in turn, is left to the deep layer."""
    return [
        pytest.param(grid, models, marks=[pytest.mark.deep] * ((at + models // 2) % 2), id=f"{name}-{models}")
        for at, (name, grid) in enumerate(GRIDS.items())
        for models in (1, 3)
    ]


@pytest.mark.parametrize(("grid", "models"), grids_and_models())
def test_any_grid_is_drawn(grid: Grid, models: int) -> None:
    data = counted("data", falling(grid, 0.8))
    fits = {f"model {at}": Empirical(falling(grid, 0.9 - at / 10)) for at in range(models)}
    svg = draw(data_against_model(data, fits, grid))
    rows_of_page = Counter(page for row in pages(grid) for page in range(row))
    points = [mark for mark in marks(svg, "symbol") if mark.get("d")]
    hollow = models * sum(rows if rows > 1 else 2 for rows in rows_of_page.values())  # on the models' lines
    assert len(points) == models * grid.rows * grid.cols + sum(pages(grid)) + hollow
    in_reading_order = (grid.rows if grid.cols > 1 else 1) * (models + 1)
    assert len(marks(svg, "line")) == in_reading_order + models + models * len(rows_of_page)  # (a), diagonals, (c)
    assert all(len(re.findall("[ML]", line.get("d", ""))) > 1 for line in marks(svg, "line"))


def test_every_panel_draws_the_numbers_it_was_given() -> None:
    chart = data_against_model(DATA, MODELS, cv.RECGAZE)
    weights = {name: model.weights(cv.RECGAZE) for name, model in MODELS.items()}
    series = {"bratislava": DATA.frequencies} | weights
    lines = data_of(chart, "position", "series")
    for name, table in series.items():
        np.testing.assert_array_equal([row["value"] for row in lines if row["series"] == name], table.ravel())
    band = data_of(chart, "position", "low")
    np.testing.assert_array_equal([row["low"] for row in band], DATA.intervals[0].ravel())
    np.testing.assert_array_equal([row["high"] for row in band], DATA.intervals[1].ravel())
    cells = data_of(chart, "model", "data", "col")
    assert [cells[at]["page"] for at in (0, 4, 5, 10, 14)] == [1, 1, 2, 3, 3]
    drawn_models = {tuple(row["model"] for row in cells[at : at + 150]) for at in (0, 150, 300)}
    assert drawn_models == {tuple(table.ravel().tolist()) for table in weights.values()}
    means = [row for row in data_of(chart, "row", "page", "value") if "series" not in row]
    np.testing.assert_array_equal([row["value"] for row in means], page_means(DATA.frequencies, cv.RECGAZE).ravel())


def test_models_differ_in_colour_and_dash() -> None:
    svg = drawn(data_against_model(DATA, MODELS, cv.RECGAZE))
    looks = {(line.get("stroke"), line.get("stroke-dasharray")) for line in marks(svg, "line")}
    models = {(stroke, dash) for stroke, dash in looks if dash and dash != "1,0"}
    assert len(models) == len({stroke for stroke, _ in models}) == len({dash for _, dash in models}) == 3
    assert RED in {stroke for stroke, _ in models}
    assert INK in {stroke for stroke, _ in looks - models}


def test_swipe_pages_differ_in_shade_and_shape() -> None:
    svg = drawn(data_against_model(DATA, {"a": MODELS["a"]}, cv.RECGAZE))
    assert len({mark.get("fill") for mark in marks(svg, "symbol")}) == 3 + 1  # and hollow ones on the model's lines
    assert len({mark.get("d") for mark in marks(svg, "symbol")}) == 3 * 3  # three sizes


def test_a_figure_says_what_it_shows() -> None:
    written = texts(drawn(data_against_model(DATA, {"a": MODELS["a"]}, cv.RECGAZE, "1665 screens")))
    assert {"bratislava against a", "1665 screens", "swipe page", "share of screens", "row"} <= set(written)
    assert "bratislava against 3 models" in texts(drawn(data_against_model(DATA, MODELS, cv.RECGAZE)))


def test_what_is_no_probability_is_scaled_to_the_data() -> None:
    chart = data_against_model(DATA, {"d_rpd": cv.discounts.parse("d_rpd")}, cv.RECGAZE)
    drawn_weights = [row["value"] for row in data_of(chart, "position", "series") if row["series"] == "d_rpd, scaled"]
    assert max(drawn_weights) == pytest.approx(DATA.frequencies.max())


def test_frequencies_have_no_intervals() -> None:
    chart = data_against_model(Frequencies("shares", DATA.frequencies), MODELS, cv.RECGAZE)
    assert all(row["low"] == row["high"] for row in data_of(chart, "position", "low"))


def test_page_means_of_a_partial_page() -> None:
    table = np.array([[1.0, 3.0, 5.0], [2.0, 2.0, 7.0]])
    np.testing.assert_array_equal(page_means(table, Grid(2, 3, 2)), [[2, 5], [2, 7]])
    np.testing.assert_array_equal(page_means(table, Grid(2, 3, 9)), [[3], [11 / 3]])
    np.testing.assert_array_equal(page_means(table, Grid(2, 3, (1, 2))), [[1, 3, 5], [2, 7, np.nan]])


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(cv.ParameterError, match=r"a table of shape \(10, 15\) does not fit a 2x3 grid"):
        data_against_model(DATA, MODELS, Grid(2, 3))


def test_beyond_has_a_panel_for_every_measure() -> None:
    svg = draw(ceiling_chart(LINES, LINES[-1]))
    written = texts(svg)
    panels = {"Spearman's ρ", "Pearson's r", "mean squared error", "agreement, binary", "agreement, graded"}
    assert panels <= set(written)
    assert {"0.900", "0.0010", "96.0%", "← smaller is better", "larger is better →"} <= set(written)
    assert re.findall(r"\d+ parameters?", " ".join(svg.itertext())) == ["4 parameters", "1 parameter", "150 parameters"]
    assert len(marks(svg, "symbol")) == 3 * 5
    assert len(marks(svg, "rect")) == 5


def test_beyond_draws_the_intervals_it_was_given_in_order() -> None:
    rows = [row for row in data_of(ceiling_chart(LINES), "value", "low", "high") if not row["text"].endswith("%")]
    drawn_scores = {(row["name"].partition("|")[0], row["value"], row["low"], row["high"]) for row in rows}
    measures = ("spearman", "pearson", "mse")
    assert drawn_scores == {(one.name, *one.interval(measure)) for one in LINES for measure in measures}
    first = ceiling_chart(LINES).to_dict()["concat"][0]["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert [name.partition("|")[0] for name in first] == ["d_a", "d_one", "frequencies"]


def test_beyond_without_a_ceiling_has_no_band() -> None:
    svg = draw(ceiling_chart(LINES[:2]))
    assert not marks(svg, "rect")
    assert "bands" not in " ".join(svg.itertext())
    with_noise = draw(ceiling_chart(LINES, LINES[-1], "cells resampled"))
    assert "Lines: 95% intervals (scores: cells resampled; agreement: Wilson)." in list(with_noise.itertext())
    assert "Grey bands: interval of the ceiling." in " ".join(with_noise.itertext())


def test_a_fit_in_the_terminal() -> None:
    data = Examination("data", [[80, 80, 40], [60, 40, 20]], 100)
    weights = Empirical([[0.7, 0.8, 0.4], [0.4, 0.4, 0.3]])
    assert fit_rows(data, weights, Grid(2, 3, 2), width=54).plain.splitlines() == [
        "data and d_emp  means by swipe page; bars: data, ┃: model",
        "",
        "     swipe page 1              swipe page 2",
        "row  data model                data model",
        "  1   .80   .75 ███████████┃    .40   .40 ██████┃",
        "  2   .50   .40 ██████┃▌        .20   .30 ███ ┃",
        "",
        "Largest residuals  single cells",
        "row  col   data  model  difference  in standard errors",
        "  2    1  0.600  0.400      +0.200                +4.1",
        "  1    1  0.800  0.700      +0.100                +2.2",
        "  2    3  0.200  0.300      -0.100                -2.2",
        "  1    2  0.800  0.800      +0.000                +0.0",
        "  1    3  0.400  0.400      +0.000                +0.0",
    ]


def test_rows_that_differ_in_the_terminal() -> None:
    data = Examination("data", [[80, 60, 40], [60, 40, 20]], 100)
    picture = fit_rows(data, Empirical(data.frequencies), Grid(2, 3, (1, 3)), width=80)
    first, second = picture.plain.splitlines()[4:6]
    assert re.findall(r"\.\d\d", first) == [".80", ".80", ".60", ".60", ".40", ".40"]
    assert re.findall(r"\.\d\d", second) == [".40", ".40"]


def test_every_second_swipe_page_of_each_row_is_shaded() -> None:
    grid = Grid(2, 4, (1, 2))
    chart = data_against_model(counted("data", falling(grid)), {"a": Empirical(falling(grid))}, grid)
    shades = [(row["position"], row["end"]) for row in data_of(chart, "position", "end")]
    assert shades == [(1.5, 2.5), (3.5, 4.5), (6.5, 8.5)]
    assert [row["page"] for row in data_of(chart, "model", "data", "col")] == [1, 2, 3, 4, 1, 1, 2, 2]


def test_a_model_that_is_certain_and_wrong_is_off_by_a_finite_number() -> None:
    picture = fit_rows(Examination("data", [[90, 0]], 100), Empirical([[1.0, 0.0]]), Grid(1, 2), width=54)
    wrong, right = picture.plain.splitlines()[-2:]
    assert wrong.split()[-2:] == ["-0.100", "-14.2"]
    assert right.split()[-2:] == ["+0.000", "+0.0"]


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS.keys())
def test_a_fit_in_the_terminal_keeps_to_its_width(grid: Grid, width: int) -> None:
    weights = falling(grid)
    picture = fit_rows(counted("data", 0.9 * weights), Empirical(weights), grid, width)
    bars = [line for line in picture.plain.splitlines()[1:] if "┃" in line]
    assert max(map(len, bars)) <= width
    assert sum(line.count("┃") for line in bars) == sum(pages(grid))
