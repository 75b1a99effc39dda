"""Charts of fits say what they were given, on any grid; what they draw is read back from the SVG."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import altair as alt
import numpy as np
import pytest
import vl_convert

import carouseval as cv
from carouseval.attention import recgaze_counts
from carouseval.metrics.grid import Array, Grid
from carouseval.show import fitted
from carouseval.show.drawing import INK, RED
from carouseval.show.fitted_data import page_means
from carouseval.show.fitted_rows import fitted_rows
from tests.show.test_charts import drawn, marks, pixels, texts

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
}


def falling(grid: Grid, keep: float = 0.9) -> Array:
    return np.asarray(0.9 * keep ** (grid.row_index + grid.column_index - 2), dtype=np.float64)


def around(name: str, frequencies: Array) -> fitted.Seen:
    return fitted.Seen(name, frequencies, np.maximum(0, frequencies - 0.03), np.minimum(1, frequencies + 0.04))


SEEN = around("Bratislava", DATA.frequencies)
MODELS = [fitted.Fitted(name, falling(cv.RECGAZE, keep)) for name, keep in (("a", 0.9), ("b", 0.85), ("c", 0.8))]
ROWS = [
    fitted.BeyondRow("d_a", 4, (0.8, 0.78, 0.83), (0.85, 0.8, 0.9), (0.02, 0.01, 0.03), {"binary": (0.85, 0.84, 0.86)}),
    fitted.BeyondRow(
        "d_one",
        1,
        (0.9, 0.88, 0.93),
        (0.95, 0.9, 0.97),
        (0.01, 0.005, 0.012),
        {"binary": (0.95, 0.94, 0.96), "graded": (0.96, 0.95, 0.97)},
    ),
    fitted.BeyondRow(
        "frequencies",
        150,
        (0.97, 0.96, 0.98),
        (0.98, 0.97, 0.99),
        (0.001, 0.0005, 0.0015),
        {"graded": (0.99, 0.98, 1.0)},
        ceiling=True,
    ),
]


def data_of(chart: alt.LayerChart | alt.ConcatChart, *keys: str) -> list[dict[str, Any]]:
    """The rows of the chart's data that have these keys, each set of data once."""
    rows = [row for values in chart.to_dict()["datasets"].values() for row in values]
    return [row for row in rows if set(keys) <= row.keys()]


def draw(chart: alt.LayerChart | alt.ConcatChart) -> ET.Element:
    """Draw a valid chart, with no value missing and not blank; warnings are errors here as in all tests."""
    svg = vl_convert.vegalite_to_svg(chart.to_dict(validate=True))
    assert "NaN" not in svg
    assert "undefined" not in svg
    _, _, data = pixels(vl_convert.svg_to_png(svg, scale=1))
    assert len(set(data)) > 30
    return ET.fromstring(svg)


@pytest.mark.parametrize("models", [1, 3])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS.keys())
def test_any_grid_is_drawn(grid: Grid, models: int) -> None:
    seen = around("data", falling(grid, 0.8))
    fits = [fitted.Fitted(f"model {at}", falling(grid, 0.9 - at / 10)) for at in range(models)]
    svg = draw(fitted.data_against_model(seen, fits, grid))
    pages = -(-grid.cols // grid.page_size)
    points = [mark for mark in marks(svg, "symbol") if mark.get("d")]
    hollow = models * pages * grid.rows * (1 if grid.rows > 1 else 2)  # on the models' lines
    assert len(points) == models * grid.rows * grid.cols + grid.rows * pages + hollow
    lines = (grid.rows if grid.cols > 1 else 1) * (models + 1) + models + models * pages  # (a), diagonals, (c)
    assert len(marks(svg, "line")) == lines
    assert all(len(re.findall("[ML]", line.get("d", ""))) > 1 for line in marks(svg, "line"))
    draw(fitted.residuals(seen, fits[0], 200, grid))


def test_every_panel_draws_the_numbers_it_was_given() -> None:
    chart = fitted.data_against_model(SEEN, MODELS, cv.RECGAZE)
    series = {"Bratislava": SEEN.frequencies} | {model.name: model.weights for model in MODELS}
    lines = data_of(chart, "position", "series")
    for name, table in series.items():
        np.testing.assert_array_equal([row["value"] for row in lines if row["series"] == name], table.ravel())
    band = data_of(chart, "position", "low")
    np.testing.assert_array_equal([row["low"] for row in band], SEEN.low.ravel())
    np.testing.assert_array_equal([row["high"] for row in band], SEEN.high.ravel())
    cells = data_of(chart, "model", "data", "col")
    assert [cells[at]["page"] for at in (0, 4, 5, 10, 14)] == [1, 1, 2, 3, 3]
    drawn_models = {tuple(row["model"] for row in cells[at : at + 150]) for at in (0, 150, 300)}
    assert drawn_models == {tuple(model.weights.ravel().tolist()) for model in MODELS}
    means = [row for row in data_of(chart, "row", "page", "value") if "series" not in row]
    np.testing.assert_array_equal([row["value"] for row in means], page_means(SEEN.frequencies, cv.RECGAZE).ravel())


def test_models_differ_in_colour_and_dash() -> None:
    svg = drawn(fitted.data_against_model(SEEN, MODELS, cv.RECGAZE))
    looks = {(line.get("stroke"), line.get("stroke-dasharray")) for line in marks(svg, "line")}
    models = {(stroke, dash) for stroke, dash in looks if dash and dash != "1,0"}
    assert len(models) == len({stroke for stroke, _ in models}) == len({dash for _, dash in models}) == 3
    assert RED in {stroke for stroke, _ in models}
    assert INK in {stroke for stroke, _ in looks - models}


def test_swipe_pages_differ_in_shade_and_shape() -> None:
    svg = drawn(fitted.data_against_model(SEEN, MODELS[:1], cv.RECGAZE))
    assert len({mark.get("fill") for mark in marks(svg, "symbol")}) == 3 + 1  # and hollow ones on the model's lines
    assert len({mark.get("d") for mark in marks(svg, "symbol")}) == 3 * 3  # three sizes


def test_a_figure_says_what_it_shows() -> None:
    written = texts(drawn(fitted.data_against_model(SEEN, MODELS[:1], cv.RECGAZE, "1665 screens")))
    assert {"Bratislava against a", "1665 screens", "swipe page", "share of screens", "row"} <= set(written)
    assert "Bratislava against 3 models" in texts(drawn(fitted.data_against_model(SEEN, MODELS, cv.RECGAZE)))


def test_page_means_of_a_partial_page() -> None:
    table = np.array([[1.0, 3.0, 5.0], [2.0, 2.0, 7.0]])
    np.testing.assert_array_equal(page_means(table, Grid(2, 3, 2)), [[2, 5], [2, 7]])
    np.testing.assert_array_equal(page_means(table, Grid(2, 3, 9)), [[3], [11 / 3]])


def test_residuals_are_signed_standard_errors() -> None:
    data, weights = np.array([[0.6, 0.5], [0.44, 0.5]]), np.full((2, 2), 0.5)
    chart = fitted.residuals(around("seen", data), fitted.Fitted("half", weights), 100, Grid(2, 2))
    np.testing.assert_allclose([row["value"] for row in data_of(chart, "value")], [2, 0, -1.2, 0], atol=1e-12)
    written = texts(drawn(chart))
    assert [text for text in written if re.fullmatch(r".?\d\.\d", text)] == ["+2.0", "0.0", "\N{MINUS SIGN}1.2", "0.0"]
    assert "seen minus half" in written
    assert "+: examined more often than it says" in "".join(drawn(chart).itertext())  # one of two lines


def test_residuals_of_a_large_screen_write_signs_where_they_are_large() -> None:
    weights = np.full(cv.TV.shape, 0.5)
    data = weights.copy()
    data[3, 4], data[5, 6], data[7, 8] = 0.9, 0.1, 0.51
    svg = drawn(fitted.residuals(around("seen", data), fitted.Fitted("half", weights), 100, cv.TV))
    signs = ["".join(mark.itertext()) for mark in marks(svg, "text")]
    assert sorted(sign for sign in signs if sign) == ["+", "\N{MINUS SIGN}"]


def test_residuals_of_a_certain_model_are_finite() -> None:
    chart = fitted.residuals(
        around("seen", np.array([[0.9, 0.0]])), fitted.Fitted("sure", np.eye(1, 2)), 100, Grid(1, 2)
    )
    worse, right = (row["value"] for row in data_of(chart, "value"))
    assert -20 < worse < -10
    assert right == 0


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(cv.ParameterError, match=r"a table of shape \(10, 15\) does not fit a 2x3 grid"):
        fitted.data_against_model(SEEN, MODELS, Grid(2, 3))
    with pytest.raises(cv.ParameterError, match="large: residuals need weights that are probabilities, from 0 to 1"):
        fitted.residuals(SEEN, fitted.Fitted("large", 2 * SEEN.frequencies), 100, cv.RECGAZE)


def test_beyond_has_a_panel_for_every_measure() -> None:
    chart = fitted.beyond(ROWS)
    svg = draw(chart)
    written = texts(svg)
    panels = {"Spearman's ρ", "Pearson's r", "mean squared error", "agreement, binary", "agreement, graded"}
    assert panels <= set(written)
    assert {"0.900", "0.0010", "96.0%", "← smaller is better", "larger is better →"} <= set(written)
    assert re.findall(r"\d+ parameters?", " ".join(svg.itertext())) == ["4 parameters", "1 parameter", "150 parameters"]
    assert len(marks(svg, "symbol")) == 3 * 3 + 2 + 2  # of a mode, those that have it
    assert len(marks(svg, "rect")) == 4  # the ceiling has no share for binary relevance


def test_beyond_draws_the_intervals_it_was_given_in_order() -> None:
    rows = [row for row in data_of(fitted.beyond(ROWS), "value", "low", "high") if not row["text"].endswith("%")]
    drawn_scores = {(row["name"].partition("|")[0], row["value"], row["low"], row["high"]) for row in rows}
    assert drawn_scores == {(row.name, *score) for row in ROWS for score in (row.spearman, row.pearson, row.mse)}
    first = fitted.beyond(ROWS).to_dict()["concat"][0]["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert [name.partition("|")[0] for name in first] == ["d_a", "d_one", "frequencies"]


def test_beyond_without_a_ceiling_has_no_band() -> None:
    chart = fitted.beyond(ROWS[:2], "90% intervals")
    svg = draw(chart)
    assert not marks(svg, "rect")
    assert any(text.startswith("Lines: 90% intervals. Scales are cut") for text in texts(svg))


def test_a_fit_in_the_terminal() -> None:
    data = np.array([[0.8, 0.8, 0.4], [0.6, 0.4, 0.2]])
    weights = np.array([[0.7, 0.8, 0.4], [0.4, 0.4, 0.3]])
    model = fitted.Fitted("model", weights)
    picture = fitted_rows(around("data", data), model, np.full((2, 3), 0.05), Grid(2, 3, 2), width=54)
    assert picture.plain.splitlines() == [
        "data and model  means by swipe page; bars: data, ┃: model",
        "",
        "     swipe page 1              swipe page 2",
        "row  data model                data model",
        "  1   .80   .75 ███████████┃    .40   .40 ██████┃",
        "  2   .50   .40 ██████┃▌        .20   .30 ███ ┃",
        "",
        "Farthest off  single cells",
        "row  col   data  model  difference  in standard errors",
        "  2    1  0.600  0.400      +0.200                +4.0",
        "  1    1  0.800  0.700      +0.100                +2.0",
        "  2    3  0.200  0.300      -0.100                -2.0",
        "  1    2  0.800  0.800      +0.000                +0.0",
        "  1    3  0.400  0.400      +0.000                +0.0",
    ]


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS.keys())
def test_a_fit_in_the_terminal_keeps_to_its_width(grid: Grid, width: int) -> None:
    weights = falling(grid)
    model = fitted.Fitted("model", weights)
    picture = fitted_rows(around("data", 0.9 * weights), model, np.sqrt(weights * (1 - weights) / 99), grid, width)
    bars = [line for line in picture.plain.splitlines()[1:] if "┃" in line]
    assert max(map(len, bars)) <= width
    assert sum(line.count("┃") for line in bars) == grid.rows * -(-grid.cols // grid.page_size)


def test_a_cell_without_an_error_is_not_called_the_worst() -> None:
    model = fitted.Fitted("model", np.array([[0.5, 0.5]]))
    picture = fitted_rows(around("data", np.array([[1.0, 0.6]])), model, np.array([[0.0, 0.1]]), Grid(1, 2))
    assert picture.plain.splitlines()[-2].split() == ["1", "2", "0.600", "0.500", "+0.100", "+1.0"]
