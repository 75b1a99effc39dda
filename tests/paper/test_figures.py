"""Every chart is drawn in every format; what it says is read back from the SVG."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import carouseval as cv
from carouseval.attention import recgaze_counts
from carouseval.attention.examination import Share
from carouseval.attention.frequency_scores import Scores
from carouseval.paper.figures.agreement import agreement
from carouseval.paper.figures.discount_curves import discount_fits
from carouseval.paper.figures.patterns import attention_patterns
from carouseval.paper.simulation_settings import Mode
from carouseval.paper.study import DiscountAgreement, Study, Threshold
from carouseval.show.charts.theme import RED
from carouseval.tables.writing import CHARTS
from tests.show.charts.drawings import drawn, marks, pixels, texts

AMSTERDAM = recgaze_counts("amsterdam")
TEST = AMSTERDAM.frequencies
SYMBOLS = ("d_t", "d_a", "d_mir", "d_add", "d_mul", "d_rpd")
WEIGHTS = {symbol: cv.discounts.parse(symbol).weights(cv.RECGAZE) for symbol in SYMBOLS}
SHARES: dict[Mode, dict[float, tuple[float, ...]]] = {
    "binary": {0.0: (0.8, 0.9), 0.05: (0.9, 0.99)},
    "graded": {0.0: (0.81, 0.92), 0.05: (0.93, 0.987)},
}


def study(shares: Mapping[float, tuple[float, ...]], symbols: Sequence[str], mode: Mode = "binary") -> Study:
    """A study of a thousand pairs with these shares of agreement, by threshold and discount."""
    none = Share(0, 1000)
    thresholds = [
        Threshold(
            Fraction(str(at_least)),
            1000,
            tuple(
                DiscountAgreement(cv.discounts.parse(symbol), Share(round(1000 * share), 1000), none, none, none)
                for symbol, share in zip(symbols, own, strict=True)
            ),
        )
        for at_least, own in shares.items()
    ]
    return Study(mode, "fast", 1000, 0, cv.RECGAZE, "amsterdam", 1000, tuple(thresholds))


FITS = [(cv.discounts.parse(symbol), Scores(0.9 + at / 100, 0.8, 0.0123)) for at, symbol in enumerate(SYMBOLS)]
STUDIES: dict[str, Study] = {mode: study(shares, ("d_a", "d_rpd"), mode) for mode, shares in SHARES.items()}
FIGURES: dict[str, cv.charts.Chart] = {
    "figure1": attention_patterns(WEIGHTS["d_t"], TEST),
    "figure2": discount_fits(FITS, AMSTERDAM),
    "agreement": agreement(STUDIES),
    "heatmap": cv.charts.heatmap(TEST, "Amsterdam", cv.RECGAZE, "share of screens"),
    "heatmaps": cv.charts.heatmaps({"d_a": WEIGHTS["d_a"], "d_rpd": WEIGHTS["d_rpd"]}),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    for name, chart in FIGURES.items():
        for suffix in CHARTS:
            assert chart.save(folder / f"{name}{suffix}") == folder / f"{name}{suffix}"
    assert len(list(folder.iterdir())) == len(FIGURES) * len(CHARTS)  # and nothing unfinished
    return folder


@pytest.mark.parametrize("name", FIGURES)
def test_every_format_opens(saved: Path, name: str) -> None:
    svg = ET.parse(saved / f"{name}.svg").getroot()
    width, height, data = pixels((saved / f"{name}.png").read_bytes())
    assert width >= 2 * float(svg.get("width", "0")) - 2 >= 600
    assert height >= 2 * float(svg.get("height", "0")) - 2 >= 300
    assert len(set(data)) > 50  # not blank
    assert (saved / f"{name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", FIGURES)
def test_html_needs_no_network(saved: Path, name: str) -> None:
    page = (saved / f"{name}.html").read_text(encoding="utf-8")
    assert page.count("<script>") == page.count("</script>") == 2
    assert not re.search(r"<script[^>]+src\s*=\s*[\"']?https?:", page)
    assert "cdn.jsdelivr.net" not in page


def test_text_of_a_chart_cannot_run_as_script(tmp_path: Path) -> None:
    chart = cv.charts.heatmap([[1.0]], "</script><script>alert(1)</script>", cv.Grid(1, 1))
    page = chart.save(tmp_path / "chart.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert "alert(1)" in page
    assert "</script><script>alert(1)</script>" in texts(drawn(chart))
    assert "<script" not in chart.svg


def test_figure_1_shades_the_first_rows_and_points_where_attention_falls() -> None:
    svg = drawn(FIGURES["figure1"])
    written = texts(svg)
    assert {"(a) assumed", "(b) observed", "F-pattern", "dual focus", "mirrored", "swipe page 3"} <= set(written)
    assert written.count("mirrored") == 2  # the two later pages
    assert len(marks(svg, "rect")) == 2 * 3 * 15
    assert len(marks(svg, "rule")) == len(marks(svg, "symbol")) == 2 + 5  # down, right; down, two to the dip, two back


def test_figure_1_draws_any_grid() -> None:
    svg = drawn(attention_patterns([[3, 2, 1], [2, 1, 0]], [[3, 1, 2], [2, 1, 1]], cv.Grid(2, 3), rows=9))
    assert len(marks(svg, "rect")) == 2 * 6
    assert "mirrored" not in texts(svg)


def test_figure_1_needs_rows_with_the_same_swipe_pages() -> None:
    grid = cv.Grid(3, 4, (1, 2, 2))
    with pytest.raises(
        cv.ParameterError,
        match=r"grid: this figure needs rows with the same page size, found items per swipe page: 1 in row 1, 2 in",
    ):
        attention_patterns(np.ones((3, 4)), np.ones((3, 4)), grid)
    last = cv.Grid(3, 4, (2, 2, 1))  # not drawn
    assert len(marks(drawn(attention_patterns(np.eye(3, 4), np.eye(3, 4), last, rows=2)), "rect")) == 2 * 8


def test_gaps_of_rows_that_differ_are_cut_out_of_aligned_cells() -> None:
    spec = cv.charts.heatmap(np.ones((2, 4)), "weights", cv.Grid(2, 4, (1, 2))).to_dict()
    cells = [row for values in spec["datasets"].values() for row in values if "xc" in row]
    edges = [edge for cell in cells for edge in (cell["x"], cell["x2"])]
    assert edges[:8] == pytest.approx([0, 0.8, 1.2, 1.8, 2.2, 2.8, 3.2, 4])
    assert edges[8:] == pytest.approx([0, 1, 1, 1.8, 2.2, 3, 3, 4])
    assert [cell["xc"] for cell in cells] == [0.5, 1.5, 2.5, 3.5] * 2


def test_figure_2_writes_parameters_and_scores() -> None:
    svg = drawn(FIGURES["figure2"])
    written = texts(svg)
    assert "d_rpd: α = 4, β = 9, μ = 0.65, ν = 0.95" in written  # noqa: RUF001
    assert "d_a: α = 2, β = 1, γ = 9, λ = 1" in written  # noqa: RUF001
    assert "ρ = 0.9500, r = 0.8000, MSE = 0.0123" in written
    assert {"empirical frequencies", "discount", "share of the maximum"} <= set(written)
    lines = marks(svg, "line")
    assert len(lines) == 2 * 6
    assert [line.get("stroke") for line in lines].count(RED) == 1
    assert [line.get("stroke-dasharray") for line in lines].count("5,2") == 6
    assert all(len(re.findall("[ML]", line.get("d", ""))) == 150 for line in lines)
    assert len(marks(svg, "rule")) == 9 * 6  # between rows


def test_figure_2_draws_shares_of_the_maximum() -> None:
    lines: dict[str, list[float]] = {}
    for row in (row for rows in discount_fits(FITS[-1:], AMSTERDAM).to_dict()["datasets"].values() for row in rows):
        if "series" in row:
            lines.setdefault(row["series"], []).append(row["value"])
    np.testing.assert_array_equal(lines["empirical frequencies"], (TEST / TEST.max()).ravel())
    np.testing.assert_array_equal(lines["d_rpd"], (WEIGHTS["d_rpd"] / WEIGHTS["d_rpd"].max()).ravel())


def test_agreement_shows_every_share_with_its_band() -> None:
    svg = drawn(FIGURES["agreement"])
    written = texts(svg)
    names = {study.discount.short for study in STUDIES["binary"].thresholds[0].comparisons}
    assert {"binary relevance", "graded relevance", *names, "Bands: 95% Wilson intervals."} <= set(written)
    assert {"80.0", "90.0", "99.0", "92.0", "98.7"} <= set(written)
    assert len(marks(svg, "symbol")) == 8
    assert len(marks(svg, "area")) == len(marks(svg, "line")) == 4
    assert {mark.get("fill") for mark in marks(svg, "area")} == {RED, "#1f5f99"}


def test_many_discounts_differ_in_colour_and_none_is_numbered() -> None:
    names = ["d_rpd", "d_rpd(mu=0.5)", "d_a", "d_t"]
    alike = study({0.0: (0.9,) * 4, 0.1: (0.9,) * 4}, names)
    svg = drawn(agreement({"binary": alike}))
    assert len({mark.get("stroke") for mark in marks(svg, "line")}) == 4
    assert "90.0" not in texts(svg)


def test_heatmap_writes_every_cell() -> None:
    svg = drawn(FIGURES["heatmap"])
    written = texts(svg)
    assert len(marks(svg, "rect")) == len(marks(svg, "text")) == 150
    assert {"Amsterdam", "share of screens", "row", "column", "15", ".87", ".10"} <= set(written)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ([[12, 7]], {"12", "7"}),
        ([[1.5, 0.25]], {"1.50", ".25"}),
        ([[0.004, 0.0012]], {".0040", ".0012"}),
        ([[1234.5, 2.25]], {"1234", "2"}),
        ([[0, 0]], {"0"}),
    ],
)
def test_numbers_keep_two_or_three_digits(table: list[list[float]], expected: set[str]) -> None:
    svg = drawn(cv.charts.heatmap(table, "t", cv.Grid(1, 2)))
    assert {mark.text or "".join(mark.itertext()) for mark in marks(svg, "text")} == expected


def test_empty_cells_are_outlined_and_hold_no_number() -> None:
    table = TEST.copy()
    table[3, 7:] = np.nan
    svg = drawn(cv.charts.heatmap(table, "holes"))
    assert len(marks(svg, "rect")) == 150
    assert len(marks(svg, "text")) == 142
    assert [mark.get("fill") for mark in marks(svg, "rect")].count("white") == 8
    assert not marks(drawn(cv.charts.heatmap(np.full((10, 15), np.nan), "nothing")), "text")


def test_large_tables_are_drawn_without_numbers() -> None:
    grid = cv.Grid(70, 70)
    svg = drawn(cv.charts.heatmap(np.ones(grid.shape), "large", grid))
    assert len(marks(svg, "rect")) == 4900
    assert not marks(svg, "text")


def test_heatmaps_share_one_legend() -> None:
    svg = drawn(FIGURES["heatmaps"])
    assert len(marks(svg, "rect")) == 300
    assert texts(svg).count("shade: share of the table's maximum") == 1
    assert {"d_a", "d_rpd"} <= set(texts(svg))


def test_a_table_of_another_shape_is_refused() -> None:
    with pytest.raises(cv.ParameterError, match=r"a table of shape \(2, 3\) does not fit a 10x15 grid"):
        cv.charts.heatmap(np.ones((2, 3)), "t", cv.RECGAZE)


def test_a_heat_map_needs_rows_and_columns() -> None:
    with pytest.raises(cv.DataError, match=r"needs a table of rows and columns, found one of shape \(3,\)"):
        cv.charts.heatmap([1.0, 2.0, 3.0])


def test_the_same_numbers_give_the_same_picture(saved: Path, tmp_path: Path) -> None:
    again = attention_patterns(WEIGHTS["d_t"], TEST)
    for name in ("figure1.svg", "figure1.png"):
        assert again.save(tmp_path / name).read_bytes() == (saved / name).read_bytes()
