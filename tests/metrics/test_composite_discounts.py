"""Tables that carry over to other swipe pages, mixtures of discounts, and metrics named after them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carouseval as cv
from carouseval import discounts
from carouseval.metrics.browsing.scan import MarkovScan
from carouseval.metrics.grid import Array
from tests.command_line import run

NAME = "N2DCG_cat(d_mix(0.5*d_rpb + 0.5*d_scan(lost=0.1)), gain=linear)@3x5"


# --- tables and swipe pages ---

TABLE = [[0.9, 0.8, 0.4, 0.2], [0.5, 0.3, 0.1, 0.0]]


def carried(grid: cv.Grid, table: Any = TABLE, page_size: int = 2) -> Array:
    return discounts.Empirical(table, page_size=page_size).weights(grid)


def test_a_table_is_itself_on_its_own_swipe_pages() -> None:
    assert carried(cv.Grid(2, 4, page_size=2)).tolist() == TABLE
    assert carried(cv.Grid(1, 3, page_size=2)).tolist() == [TABLE[0][:3]]
    assert discounts.Empirical(TABLE).weights(cv.Grid(2, 4, page_size=3)).tolist() == TABLE  # of no page size: as it is


def test_larger_swipe_pages_lie_between_its_slots() -> None:
    """Slots stand at the middles of their parts of a page: of four, the inner two a quarter away from those of two."""
    weights = carried(cv.Grid(2, 8, page_size=4))
    np.testing.assert_allclose(weights[0], [0.9, 0.875, 0.825, 0.8, 0.4, 0.35, 0.25, 0.2], rtol=1e-14)
    np.testing.assert_allclose(weights[1], [0.5, 0.45, 0.35, 0.3, 0.1, 0.075, 0.025, 0.0], rtol=1e-14, atol=1e-16)
    assert carried(cv.Grid(2, 6, page_size=4)).tolist() == weights[:, :6].tolist()  # a last page cut off


def test_smaller_swipe_pages_are_means_of_neighbours() -> None:
    np.testing.assert_allclose(carried(cv.Grid(2, 2, page_size=1)), [[0.85, 0.3], [0.4, 0.05]], rtol=1e-14)
    wide = carried(cv.Grid(1, 2, page_size=2), [[1.0, 0.7, 0.5, 0.1]], page_size=4)
    np.testing.assert_allclose(wide, [[0.85, 0.3]], rtol=1e-14)


def test_a_partial_last_page_is_known_as_far_as_it_goes() -> None:
    """Three columns in pages of 2: of page 2 the left half alone; nothing is known right of it."""
    weights = carried(cv.Grid(1, 5, page_size=3), [[0.9, 0.6, 0.3]])
    np.testing.assert_allclose(weights, [[0.9, 0.75, 0.6, 0.3, 0.3]], rtol=1e-14)
    with pytest.raises(cv.ParameterError, match=r"1x3, too small for a 1x6 grid, with swipe pages of 2 and 3 items"):
        carried(cv.Grid(1, 6, page_size=3), [[0.9, 0.6, 0.3]])


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_carried_over_tables_against_straight_lines(own: int, other: int, pages: int, seed: int) -> None:
    """Slot by slot: the two of the table's that a slot lies between, in proportion to its nearness."""
    row = np.random.default_rng(seed).random(own * pages) + 0.1
    weights = carried(cv.Grid(1, other * pages, page_size=other), [row], page_size=own)[0]
    for page in range(pages):
        for slot in range(other):
            place = min(max((slot + 0.5) / other * own - 0.5, 0.0), own - 1.0)
            left = min(int(place), max(own - 2, 0))
            right = min(left + 1, own - 1)
            expected = row[page * own + left] * (1 - (place - left)) + row[page * own + right] * (place - left)
            assert weights[page * other + slot] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("grid", "size"),
    [(cv.Grid(3, 2, page_size=2), "3x2"), (cv.Grid(3, 3, page_size=3), "3x3"), (cv.Grid(1, 7, page_size=3), "1x7")],
)
def test_too_few_rows_or_swipe_pages_are_refused(grid: cv.Grid, size: str) -> None:
    message = (
        rf"d_emp\(table\): the table is 2x4, too small for a {size} grid.*\. "
        r"A browsing model such as d_rpb has weights on any grid\."
    )
    with pytest.raises(cv.ParameterError, match=message):
        carried(grid)


@pytest.mark.parametrize("page_size", [0, 2.5, True, "2"])
def test_a_page_size_is_a_whole_number(page_size: Any) -> None:
    with pytest.raises(cv.ParameterError, match=r"d_emp\(table\): page_size must be an integer of at least 1, found"):
        discounts.Empirical(TABLE, page_size=page_size)


def test_a_table_carries_over_row_by_row() -> None:
    grid = cv.Grid(2, 4, page_size=(4, 2))
    by_size = {size: carried(cv.Grid(2, 4, page_size=size)) for size in (2, 4)}
    assert carried(grid).tolist() == [by_size[4][0].tolist(), by_size[2][1].tolist()]
    measured = discounts.Empirical(TABLE, page_size=(1, 2))
    assert measured.weights(cv.Grid(2, 4, page_size=(1, 2))).tolist() == TABLE
    weights = measured.weights(cv.Grid(2, 4, page_size=2))  # row 1 has pages of one item, which fill two slots each
    assert weights.tolist() == [[TABLE[0][0], TABLE[0][0], TABLE[0][1], TABLE[0][1]], TABLE[1]]
    assert measured.weights(cv.Grid(1, 4, page_size=1)).tolist() == TABLE[:1]
    assert discounts.Empirical(TABLE, page_size=[2, 2]) == discounts.Empirical(TABLE, page_size=2)


def test_page_sizes_of_a_table_are_checked_by_row() -> None:
    with pytest.raises(
        cv.ParameterError,
        match=r"the table is 2x4, too small for a 2x4 grid, with swipe pages of 2 and 1 items in row 2\.",
    ):
        carried(cv.Grid(2, 4, page_size=(2, 1)))
    with pytest.raises(cv.ParameterError, match=r"d_emp\(table\): page_size has 3 numbers for 2 rows\. .*"):
        discounts.Empirical(TABLE, page_size=(1, 2, 2))


def test_tables_of_rows_that_differ_go_through_files(tmp_path: Path) -> None:
    table = discounts.Empirical(TABLE, "ours", page_size=(1, 2))
    discounts.save(table, tmp_path / "ours.json")
    assert discounts.load(tmp_path / "ours.json") == table


def test_tables_of_other_page_sizes_are_other_tables() -> None:
    assert discounts.Empirical(TABLE, page_size=2) != discounts.Empirical(TABLE)
    numpys: Any = np.int64(2)
    assert discounts.Empirical(TABLE, page_size=numpys) == discounts.Empirical(TABLE, page_size=2)


# --- mixtures ---

decay = st.floats(0.01, 1)
plain = st.one_of(
    st.builds(discounts.RowColumnBrowsing, decay, decay, decay),
    st.builds(discounts.RowPageBrowsing, *[decay] * 6, st.floats(0, 1), decay, st.floats(0, 1)),
    st.builds(MarkovScan, decay, lost=st.floats(0.01, 1e20)),
    st.builds(discounts.RowPage, mu=decay),
)


def _mixed(parts: list[discounts.Discount], seed: int) -> discounts.Mixture:
    shares = np.random.default_rng(seed).dirichlet(np.ones(len(parts)))
    return discounts.Mixture(list(zip(np.maximum(shares, 1e-15), parts, strict=True)))


mixtures = st.recursive(
    plain, lambda inner: st.builds(_mixed, st.lists(inner, min_size=1, max_size=3), st.integers(0, 99)), max_leaves=5
)


@given(mixtures)
def test_parse_undoes_str(discount: discounts.Discount) -> None:
    assert discounts.parse(str(discount)) == discount
    assert discounts.parse(discount.short) == discount
    assert str(discounts.parse(str(discount))) == str(discount)


@given(mixtures)
def test_a_mixture_is_the_weighted_sum_of_its_parts(discount: discounts.Discount) -> None:
    grid = cv.Grid(2, 4, page_size=3)

    def by_hand(one: discounts.Discount) -> Array:
        if not isinstance(one, discounts.Mixture):
            return one.weights(grid)
        total = np.zeros(grid.shape)
        for share, part in one.parts:
            total = total + share * by_hand(part)
        return total

    np.testing.assert_allclose(discount.weights(grid), by_hand(discount), rtol=1e-12)


def test_a_mixture_is_a_value() -> None:
    mixture = discounts.Mixture([(np.float64(0.25), "d_rpb(w=0)"), (0.75, discounts.RowColumnBrowsing())])
    assert str(mixture) == repr(mixture) == mixture.short == "d_mix(0.25*d_rpb(w=0) + 0.75*d_rcb)"
    assert mixture == discounts.parse(" d_mix( 0.25 * d_rpb( w=0.0 )+0.75*d_rcb() ) ")
    assert mixture != discounts.Mixture([(0.75, "d_rcb"), (0.25, "d_rpb(w=0)")])  # as written
    assert len({mixture, discounts.parse(str(mixture))}) == 1
    assert json.loads(json.dumps(mixture.parameters))["parts"][1] == [
        0.75,
        {"discount": "d_rcb", "parameters": {"e": 0.9621, "kappa": 0.9049, "beta": 0.8908}},
    ]


def test_a_mixture_of_tables_by_name() -> None:
    table = discounts.register_table(discounts.Empirical([[1.0, 0.0]], name="plus + and * in a name"))
    mixture = discounts.Mixture([(0.5, table), (0.5, "d_mir")])
    assert discounts.parse(str(mixture)) == mixture
    only = discounts.Mixture([(1, table)])
    assert only.weights(cv.Grid(1, 2)).tolist() == [[1.0, 0.0]]  # zeros, as the table allows them
    with pytest.raises(cv.ParameterError, match=r"d_emp\(plus .*\): the table is 1x2, too small for a 2x2 grid"):
        mixture.weights(cv.Grid(2, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("d_mix(0.5*d_rpb + 0.6*d_rcb)", r"d_mix: the shares of all parts add up to 1\.1; they must add up to 1\."),
        ("d_mix(0.5*d_rpb)", r"add up to 0\.5; they must add up to 1"),
        ("d_mix", r"d_mix needs shares and discounts, as in"),
        ("d_mix(1.5*d_rpb)", r"d_mix: a share must be a finite number above 0 and at most 1, found 1\.5\."),
        ("d_mix(0*d_rpb + 1*d_rcb)", r"a share must be .* found 0\.0\."),
        ("d_mix(-0.5*d_rpb + 1*d_rcb)", r"a share must be .* found -0\.5\."),
        ("d_mix(nan*d_rpb)", r"a share must be .* found nan\."),
        ("d_mix(1*d_rpb(w=2))", r"d_rpb: w must be a finite number of at least 0 and at most 1, found 2\."),
        ("d_mix(1*d_rpq)", r"there is no discount 'd_rpq'\. Did you mean 'd_rp[bd]'\? Known: .*d_mix, .*d_scan"),
        ("d_mix(1*d_emp(unheard of))", r"there is no table 'unheard of'"),
        ("d_mix(1*@fitted.json)", r"discount 'd_mix\(1\*@fitted\.json\)' cannot be parsed; write shares and discounts"),
        (
            "d_mix(d_rpb + d_rcb)",
            r"cannot be parsed; write shares and discounts, as in d_mix\(0\.7\*d_rpb \+ 0\.3\*d_rcb\)",
        ),
        ("d_mix(half*d_rpb)", r"cannot be parsed; write shares and discounts"),
        ("d_mix(0.5)", r"cannot be parsed; write shares and discounts"),
        ("d_mix(0.5*d_rpb, 0.5*d_rcb)", r"discount 'd_rpb, 0\.5\*d_rcb' cannot be parsed"),
        ("d_mix(0.5*d_mix(0.9*d_rpb) + 0.5*d_rcb)", r"add up to 0\.9; they must add up to 1"),
    ],
)
def test_mixtures_that_do_not_read_are_refused(text: str, message: str) -> None:
    with pytest.raises((cv.ParseError, cv.ParameterError), match=message):
        discounts.parse(text)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (3, r"d_mix: parts are pairs of a share and a discount, such as \[\(0\.7, 'd_rpb'\), \(0\.3, 'd_rcb'\)\]\."),
        ([0.5, 0.5], r"d_mix: parts are pairs"),
        ([("0.5", "d_rpb")], r"d_mix: a share must be a finite number above 0 and at most 1, found '0\.5'\."),
        ([(True, "d_rpb")], r"a share must be .* found True\."),
        ([(1, 3)], r"discount must be a name such as 'd_rpd' or a Discount, found int\."),
        ([(1, np.ones((2, 2)))], r"found ndarray\. Wrap a table of weights in discounts\.Empirical"),
        ([], r"add up to 0; they must add up to 1\."),
    ],
)
def test_parts_that_are_none_are_refused(parts: Any, message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        discounts.Mixture(parts)


# --- metrics ---


def by_table(name: str, shape: tuple[int, int]) -> discounts.Empirical:
    """The weights of a metric's discount as a table, for which all metrics were tested."""
    discount = cv.metric(name).discount
    assert isinstance(discount, discounts.Mixture)
    grid = cv.Grid(*shape)
    weights = sum(share * part.weights(grid) for share, part in discount.parts)
    return discounts.Empirical(weights, name="by hand")


def test_metrics_of_mixtures_print_and_parse() -> None:
    metric = cv.metric(NAME)
    assert str(metric) == NAME
    assert cv.metric(str(metric)) == metric
    assert metric == cv.metric("N2DCG_cat", "d_mix(0.5*d_rpb + 0.5*d_scan(lost=0.1))", (3, 5), "linear")
    page = [[0, 3, 1, 0, 2, 1], [2, 0], [1, 1, 1], [5]]
    table = by_table(NAME, (4, 6))
    assert metric(page) == pytest.approx(cv.n2dcg_cat(page, table, gain="linear", cutoff=(3, 5)), rel=1e-14)
    assert cv.n2dcg_cat(page, "d_mix(1*d_rpb)") == cv.n2dcg_cat(page, discounts.RowPageBrowsing())


def pages(seed: int, users: int = 4) -> dict[str, list[Any]]:
    """Layouts: everybody has the same twelve items, in an order of their own."""
    rng = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {"user_id": [], "row": [], "col": [], "item_id": []}
    for user in range(users):
        for place, item in enumerate(rng.permutation(12).tolist()):
            for column, value in zip(columns.values(), (user, place // 4 + 1, place % 4 + 1, item), strict=True):
                column.append(value)
    return columns


JUDGMENTS = {
    "user_id": [user for user in range(4) for _ in range(12)],
    "item_id": list(range(12)) * 4,
    "relevance": [(7 * user + 5 * item) % 4 for user in range(4) for item in range(12)],
}


def test_mixtures_judge_tables() -> None:
    grid = cv.Grid(3, 4)
    table = discounts.register_table(by_table(NAME, grid.shape))
    same = f"N2DCG_cat({table}, gain=linear)@3x5"
    options: dict[str, Any] = {"metrics": [NAME, same], "candidates": "displayed", "grid": grid}
    result = cv.evaluate(pages(1), JUDGMENTS, **options)
    assert list(result.mean) == [NAME, same]
    assert 0 < result.mean[NAME] < 1
    assert result.mean[NAME] == pytest.approx(result.mean[same], rel=1e-14)
    systems = {"old": pages(1), "new": pages(2)}
    comparison = cv.compare(systems, JUDGMENTS, baseline="old", permutations=99, **options)
    by_metric = {row["metric"]: row for row in comparison.pairs.to_dicts()}
    assert by_metric[NAME]["difference"] == pytest.approx(by_metric[same]["difference"], rel=1e-12)
    assert by_metric[NAME]["difference"] != 0


def test_mixtures_on_the_command_line(tmp_path: Path) -> None:
    shown = run("score", "-", "-m", NAME, "-f", "json", stdin="0,3,1\n2,0\n")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["metrics"] == {NAME: cv.metric(NAME)([[0, 3, 1], [2, 0]])}
    mixture = "d_mix(0.5*d_rpb + 0.5*d_scan(lost=0.1))"
    shown = run("simulate", "--truth", mixture, "-d", mixture, "-d", "d_rpb", "--trials", "100", "-f", "json")
    assert shown.returncode == 0, shown.stderr
    content = json.loads(shown.stdout)
    assert content["truth"] == mixture
    first, second = content["thresholds"][0]["discounts"]
    assert (first["discount"], first["agreement"]["share"]) == (mixture, 1.0)  # with itself
    assert second["agreement"]["share"] < 1
    shown = run("score", "-", "-m", "N2DCG_cat(d_mix(0.5*d_rpb))", stdin="1,0\n")
    assert shown.returncode == 2
    assert shown.stderr == "carouseval: d_mix: the shares of all parts add up to 0.5; they must add up to 1.\n"


def test_names_of_tables_may_hold_square_brackets() -> None:
    discounts.register_table(discounts.Empirical([[1.0, 0.5]], name="a]b"))
    named = cv.metric("N2DCG_cat(d_emp(a]b), gain=linear)")
    assert str(named) == "N2DCG_cat(d_emp(a]b), gain=linear)"
    mixed = discounts.Mixture([(0.5, "d_emp(a]b)"), (0.5, "d_rcb")])
    assert discounts.parse(str(mixed)) == mixed


def test_an_unknown_part_in_a_file_is_named_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mixed.json"
    path.write_text('{"discount": "d_mix", "parameters": {"parts": [[1, {"discount": "d_no", "parameters": {}}]]}}')
    with pytest.raises(cv.ParseError, match=r"mixed\.json'.*d_mix: a part: there is no discount 'd_no'"):
        discounts.load(path)


def test_a_scan_may_leave_cells_to_nobody() -> None:
    weights = discounts.MarkovScan(scroll=0, lost=0).weights(cv.Grid(2, 3, page_size=3))
    assert (weights[0] > 0.9).all()
    assert (weights[1] == 0).all()


def test_a_last_page_measured_in_part_keeps_its_part() -> None:
    """Two of three slots were measured: on pages of six they are four, with the same centers."""
    table = cv.discounts.Empirical([[1.0, 1.0, 1.0, 0.8, 0.4]], page_size=3)
    weights = table.weights(cv.Grid(1, 10, page_size=6))
    np.testing.assert_allclose(weights[0], [*[1.0] * 6, 0.8, 0.7, 0.5, 0.4])
