"""The oracle of table evaluation, against pages worked by hand and against its own second derivation.

All hand-worked pages use gain="linear", so that a gain is the relevance written down.
"""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from tests.evaluation.table_oracle import RefusedError, Table, compare_tables, evaluate_tables, kind_of, paper_weights
from tests.evaluation.tiny_systems import tiny_systems
from tests.evaluation.tiny_tables import tiny
from tests.oracles import brute_category_ideal, brute_unconstrained_ideal

CAT, FREE, PLAIN = "N2DCG_cat", "N2DCG", "2DCG"
Lines = list[dict[str, Any]]


def page(user: str, *rows: str, page_id: str | None = None, pinned: Sequence[int] = ()) -> Lines:
    """A page from rows such as "A: a b - c": a label (or none), then items; "-" is a gap."""
    lines: Lines = []
    for i, row in enumerate(rows, start=1):
        label, _, content = row.rpartition(":")
        for j, item in enumerate(content.split(), start=1):
            if item != "-":
                line: dict[str, Any] = {"user_id": user, "row": i, "col": j, "item_id": item}
                line |= {"category": label} if label else {}
                line |= {"page_id": page_id} if page_id else {}
                line |= {"pinned": i in pinned} if pinned else {}
                lines.append(line)
    return lines


def judge(user: str, page_id: str | None = None, **relevance: float) -> Lines:
    named = {"page_id": page_id} if page_id else {}
    return [{"user_id": user, "item_id": item, "relevance": rel, **named} for item, rel in relevance.items()]


def members(user: str | None = None, /, **categories: str) -> Lines:
    named = {"user_id": user} if user else {}
    return [{"item_id": item, "category": label, **named} for label, its in categories.items() for item in its.split()]


def run(layouts: Lines, judgments: Lines, items: Lines | None, weights: Table, **options: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"gain": "linear", "metrics": [(CAT, weights), (FREE, weights), (PLAIN, weights)]}
    return evaluate_tables(layouts, judgments, items, rows=len(weights), cols=len(weights[0]), **{**given, **options})


def value(result: dict[str, Any], name: str = CAT, what: str = "ideal", n: int = 0) -> Any:
    return result["per_page"][n][name][what]


W = [[1.0, 0.5], [0.4, 0.2]]
ITEMS = members(A="a b", B="c d")
PAGE = page("u", "A: a b", "B: c d")
JUDGMENTS = judge("u", a=1, b=2, c=3)


def test_a_page_of_two_categories() -> None:
    # page: 1 x 1 + 2 x .5 + 3 x .4 = 3.2
    # A above: 2 x 1 + 1 x .5 + 3 x .4 = 3.7; B above: 3 x 1 + 2 x .4 + 1 x .2 = 4.0
    # unconstrained: 3 x 1 + 2 x .5 + 1 x .4 = 4.4
    # list: 1 + 2/log2(3) + 3/2 of at best 3 + 2/log2(3) + 1/2; at 2: 1 + 2/log2(3) of 3 + 2/log2(3)
    second = 1 / math.log2(3)
    metrics = [(CAT, W), (FREE, W), (PLAIN, W), ("NDCG", None), ("NDCG@2", 2), ("DCG@3", 3)]
    result = run(PAGE, JUDGMENTS, ITEMS, W, metrics=metrics)
    assert value(result, PLAIN, "dcg") == pytest.approx(3.2)
    assert value(result, CAT) == pytest.approx(4.0)
    assert value(result, FREE) == pytest.approx(4.4)
    assert result["mean"] == pytest.approx(
        {
            CAT: 0.8,
            FREE: 3.2 / 4.4,
            PLAIN: 3.2,
            "NDCG": (2.5 + 2 * second) / (3.5 + 2 * second),
            "NDCG@2": (1 + 2 * second) / (3 + 2 * second),
            "DCG@3": 2.5 + 2 * second,
        }
    )
    assert value(result, PLAIN) is None
    assert result["counts"] == {
        "pages": 1, "missing": 0, "no_relevant": 0, "duplicates": 0, "unjudged": 1, "uncategorised": 0, "invalid": 0,
        "no_category": 0, "above_ideal": 0, "personal": 0, "limited": 0,
    }  # fmt: skip


def test_the_gain_of_a_relevance() -> None:
    # exp2: 1, 3, 7 for a, b, c: page 1 + 1.5 + 2.8 = 5.3; B above: 7 + 1.2 + .2 = 8.4
    result = run(PAGE, JUDGMENTS, ITEMS, W, gain="exp2")
    assert result["mean"][CAT] == pytest.approx(5.3 / 8.4)
    # squares: 1, 4, 9: page 1 + 2 + 3.6 = 6.6; B above: 9 + 1.6 + .2 = 10.8
    assert run(PAGE, JUDGMENTS, ITEMS, W, gain=lambda rel: rel * rel)["mean"][CAT] == pytest.approx(6.6 / 10.8)


def test_a_cutoff_weighs_cells_and_cuts_no_candidate() -> None:
    # first column alone: page 1 + 3 x .4 = 2.2; B above: 3 + 2 x .4 = 3.8; unconstrained 3 + 2 x .4 = 3.8
    names = [("N2DCG_cat@2x1", W), ("N2DCG@2x1", W), ("2DCG@1x2", W)]
    result = run(PAGE, JUDGMENTS, ITEMS, W, metrics=names)
    assert result["mean"]["N2DCG_cat@2x1"] == pytest.approx(2.2 / 3.8)
    assert result["mean"]["N2DCG@2x1"] == pytest.approx(2.2 / 3.8)
    assert result["mean"]["2DCG@1x2"] == pytest.approx(2.0)


def test_without_items_the_page_itself_names_the_categories() -> None:
    # d is not shown: B = {c} has room for one; the ideal stays 3 x 1 + 2 x .4 + 1 x .2
    result = run(page("u", "A: a b", "B: c"), JUDGMENTS, None, W)
    assert value(result) == pytest.approx(4.0)
    # b is not shown: no category holds it; B above: 3 + 1 x .4; unconstrained it is still a candidate: 3 + 1 + .4
    result = run(page("u", "A: a", "B: c"), JUDGMENTS, None, W)
    assert value(result) == pytest.approx(3.4)
    assert value(result, FREE) == pytest.approx(4.4)
    assert result["counts"]["uncategorised"] == 1


class TestRepeats:
    COLUMN = ((1.0,), (0.5,))
    ITEMS = members(A="x a", B="x b")

    @pytest.mark.parametrize(
        ("duplicates", "dcg", "ideal", "free"),
        [
            ("best", 1.0, 1.5, 1.5),  # x counts once, on row 1; ideal: a in A, x in B (x in A: 1 alone)
            ("first", 1.0, 1.5, 1.5),
            ("every", 1.5, 1.5, 1.5),  # ideal: x or a in A, x in B; two of x, x, a without categories
        ],
    )
    def test_over_rows(self, duplicates: str, dcg: float, ideal: float, free: float) -> None:
        shown, judgments = page("u", "A: x", "B: x"), judge("u", x=1, a=1)
        result = run(shown, judgments, self.ITEMS, self.COLUMN, duplicates=duplicates)
        assert value(result, CAT, "dcg") == dcg
        assert value(result, CAT) == ideal
        assert value(result, FREE) == free
        assert result["counts"]["duplicates"] == 1

    def test_every_copy_of_an_item_of_two_categories_is_a_candidate(self) -> None:
        # x = 2, a = 1: x twice (2 + 1) under "every", x and a once (2 + .5) under "best"
        shown, judgments = page("u", "A: x", "B: x"), judge("u", x=2, a=1)
        every = run(shown, judgments, self.ITEMS, self.COLUMN, duplicates="every")
        best = run(shown, judgments, self.ITEMS, self.COLUMN)
        assert (value(every), value(every, FREE)) == (3.0, 3.0)
        assert (value(best), value(best, FREE)) == (2.5, 2.5)

    def test_an_item_without_category_is_one_copy_where_there_are_no_categories(self) -> None:
        # z = 3 is of no category: 3 x 1 + 2 x .5 without categories; with them x twice, 2 + 1
        shown, judgments = page("u", "A: x", "B: x"), judge("u", x=2, z=3)
        result = run(shown, judgments, self.ITEMS, self.COLUMN, duplicates="every")
        assert (value(result), value(result, FREE)) == (3.0, 4.0)

    def test_where_the_second_weighs_more(self) -> None:
        shown, judgments, rising = page("u", "A: x", "B: x"), judge("u", x=1), [[0.5], [1.0]]
        assert run(shown, judgments, self.ITEMS, rising)["mean"] == {CAT: 1.0, FREE: 1.0, PLAIN: 1.0}
        first = run(shown, judgments, self.ITEMS, rising, duplicates="first")
        assert first["mean"] == {CAT: 0.5, FREE: 0.5, PLAIN: 0.5}

    def test_error(self) -> None:
        with pytest.raises(RefusedError, match="duplicates"):
            run(page("u", "A: x", "B: x"), judge("u", x=1), self.ITEMS, self.COLUMN, duplicates="error")
        result = run(page("u", "A: x", "B: b"), judge("u", x=1, b=1), self.ITEMS, self.COLUMN, duplicates="error")
        assert result["mean"][CAT] == 1.0

    def test_in_a_list_a_repeat_takes_a_rank(self) -> None:
        # x x y: x at rank 1, y at rank 3: 1 + 2/2 = 2; at best 2 + 1/log2(3); "every" adds x/log2(3)
        second = 1 / math.log2(3)
        shown, judgments = page("u", "A: x x y"), judge("u", x=1, y=2)
        for duplicates, dcg, shown_ideal in [
            ("best", 2.0, 2 + second),
            ("first", 2.0, 2 + second),
            ("every", 2.0 + second, 2 + second + 0.5),
        ]:
            options: dict[str, Any] = {"metrics": [("NDCG", None)], "duplicates": duplicates}
            result = run(shown, judgments, None, [[1.0] * 3], candidates="displayed", **options)
            assert value(result, "NDCG", "dcg") == pytest.approx(dcg)
            assert value(result, "NDCG") == pytest.approx(shown_ideal)
            judged = run(shown, judgments, None, [[1.0] * 3], **options)
            assert value(judged, "NDCG") == pytest.approx(2 + second)  # x is of one category: one copy


class TestDisplayed:
    @pytest.mark.parametrize(
        ("duplicates", "dcg", "ideal"),
        [
            # x x y: .2 + 2 x .5; x y x: .2 + 2 x 1; y x x: 2 x .2 + 1
            ("first", 1.2, 2.2),
            # x x y: 1 + 2 x .5; best x y x: x on .5, y on 1
            ("best", 2.0, 2.5),
            # every cell: .2 + 1 + 2 x .5; best: y on 1, x on .2 and .5
            ("every", 2.2, 2.7),
        ],
    )
    def test_repeats_inside_a_row(self, duplicates: str, dcg: float, ideal: float) -> None:
        shown, judgments = page("u", "A: x x y"), judge("u", x=1, y=2)
        result = run(shown, judgments, None, [[0.2, 1.0, 0.5]], candidates="displayed", duplicates=duplicates)
        assert value(result, CAT, "dcg") == pytest.approx(dcg)
        assert value(result, CAT) == pytest.approx(ideal)
        assert value(result, FREE) == pytest.approx({"every": 2.7}.get(duplicates, 2.5))

    SLOPE = ((0.1, 0.6), (1.0, 0.9))

    @pytest.mark.parametrize(
        ("duplicates", "dcg", "ideal"),
        [
            # x / x z: x on .1, z on .9. [x] above: .1 + 2 x 1 = 2.1; [x z] above: .1 + 2 x .6 = 1.3 or 2 x .1 + .6
            ("first", 1.9, 2.1),
            # x on 1, z on .9. [x] above: z on 1, x on .9 = 2.9; [x z] above: z on .6, x on 1 = 2.2
            ("best", 2.8, 2.9),
            # .1 + 1 + 1.8. [x] above: .1 + 2 + .9 = 3.0; [x z] above: .1 + 1.2 + 1 = 2.3
            ("every", 2.9, 3.0),
        ],
    )
    def test_repeats_over_rows(self, duplicates: str, dcg: float, ideal: float) -> None:
        shown, judgments = page("u", "A: x", "B: x z"), judge("u", x=1, z=2)
        result = run(shown, judgments, None, self.SLOPE, candidates="displayed", duplicates=duplicates)
        assert value(result, CAT, "dcg") == pytest.approx(dcg)
        assert value(result, CAT) == pytest.approx(ideal)

    @pytest.mark.parametrize(("duplicates", "ideal"), [("first", 1.3), ("best", 2.2), ("every", 2.3)])
    def test_a_pinned_row_stays(self, duplicates: str, ideal: float) -> None:
        shown, judgments = page("u", "B: z x", "A: x", pinned=[1]), judge("u", x=1, z=2)
        result = run(shown, judgments, None, self.SLOPE, candidates="displayed", duplicates=duplicates)
        assert value(result) == pytest.approx(ideal)

    def test_holes_and_ragged_rows(self) -> None:
        # a hole is an item of gain 0: x may take its cell; nothing may pass the row's last item
        judgments = judge("u", x=1)
        result = run(page("u", "A: - x"), judgments, None, [[1.0, 0.5]], candidates="displayed")
        assert (value(result, CAT, "dcg"), value(result)) == (0.5, 1.0)
        result = run(page("u", "A: x"), judgments, None, [[0.5, 1.0]], candidates="displayed")
        assert (value(result), value(result, FREE)) == (0.5, 1.0)

    def test_a_skipped_row_is_a_row_without_cells(self) -> None:
        shown = page("u", "A: x", "", "C: y")
        result = run(shown, judge("u", x=1, y=2), None, [[0.1], [1.0], [0.5]], candidates="displayed", invalid="count")
        assert value(result) == pytest.approx(2.5)  # y on 1, x on .5
        assert result["counts"]["invalid"] == 1

    def test_rows_below_the_page_are_out_of_reach(self) -> None:
        result = run(page("u", "A: x"), judge("u", x=1), None, [[0.1], [1.0]], candidates="displayed")
        assert (value(result), value(result, FREE)) == (0.1, 1.0)

    def test_a_page_that_shows_nothing_relevant_has_nothing_to_arrange(self) -> None:
        shown, judgments = page("u", "A: y"), judge("u", x=1)
        result = run(shown, judgments, None, [[1.0]], candidates="displayed")
        assert value(result) == 0.0
        assert result["mean"] == {CAT: None, FREE: None, PLAIN: 0.0}  # a metric without an ideal has no such case
        assert result["counts"]["no_relevant"] == 1
        result = run(shown, judgments, None, [[1.0]], candidates="displayed", no_relevant="zero")
        assert result["mean"] == {CAT: 0.0, FREE: 0.0, PLAIN: 0.0}
        with pytest.raises(RefusedError, match="no_relevant"):
            run(shown, judgments, None, [[1.0]], candidates="displayed", no_relevant="error")
        assert run(shown, judgments, None, [[1.0]])["mean"] == {CAT: 0.0, FREE: 0.0, PLAIN: 0.0}  # judged

    def test_a_missing_page_has_nothing_to_rearrange(self) -> None:
        result = run(page("u", "A: x"), judge("u", x=1) + judge("v", x=1), None, [[1.0]], candidates="displayed")
        assert result["mean"] == {CAT: 0.5, FREE: 0.5, PLAIN: 0.5}


class TestRoom:
    def test_rows_beyond_the_categories_are_out_of_reach(self) -> None:
        result = run(page("u", "A: a"), judge("u", a=1), members(A="a"), [[0.2], [1.0]])
        assert (value(result), value(result, FREE)) == (0.2, 1.0)
        # a second category, relevant or not, opens the second row
        assert value(run(page("u", "A: a"), judge("u", a=1), members(A="a", B="b"), [[0.2], [1.0]])) == 1.0

    def test_columns_beyond_the_members_are_out_of_reach(self) -> None:
        result = run(page("u", "A: a"), judge("u", a=1), members(A="a"), [[0.5, 1.0]])
        assert (value(result), value(result, FREE)) == (0.5, 1.0)
        assert value(run(page("u", "A: a"), judge("u", a=1), members(A="a z"), [[0.5, 1.0]])) == 1.0

    def test_more_categories_than_rows(self) -> None:
        # B alone (5 x 1) beats A alone (2 + 2 x .5) on the only row
        shown, judgments = page("u", "A: a b"), judge("u", a=2, b=2, c=5)
        assert value(run(shown, judgments, ITEMS, [[1.0, 0.5]])) == 5.0

    def test_more_gains_than_cells(self) -> None:
        shown, judgments = page("u", "A: a"), judge("u", a=1, b=2, c=3)
        assert value(run(shown, judgments, members(A="a b c"), [[1.0, 0.5]])) == 4.0  # 3 + 2 x .5; a is left out


class TestPinned:
    def test_the_pinned_category_keeps_its_row(self) -> None:
        # A stays above: 2 + .5 + 3 x .4 = 3.7; unconstrained as ever
        result = run(page("u", "A: a b", "B: c d", pinned=[1]), JUDGMENTS, ITEMS, W)
        assert value(result) == pytest.approx(3.7)
        assert value(result, FREE) == pytest.approx(4.4)

    def test_it_may_show_any_of_its_items_and_no_other_takes_its_row(self) -> None:
        # A = {a, b} keeps row 1 though nothing of it is relevant: c on row 2 (.4), d after it (.2)
        result = run(page("u", "A: a", "B: c", pinned=[1]), judge("u", c=3, d=2), ITEMS, W)
        assert value(result) == pytest.approx(1.6)
        # b is not on the page, yet the pinned row, of one item, may show it: 2 + 3 x .4
        assert value(run(page("u", "A: a", "B: c", pinned=[1]), JUDGMENTS, ITEMS, W)) == pytest.approx(3.2)

    def test_each_page_has_its_own_pins(self) -> None:
        layouts = page("u", "A: a b", "B: c", page_id="p", pinned=[1]) + page("u", "B: c", "A: b a", page_id="q")
        result = run(layouts, JUDGMENTS, ITEMS, W)
        # 3.2 of 3.7 and 3 + .8 + .2 = 4.0 of 4.0
        assert result["mean"][CAT] == pytest.approx((3.2 / 3.7 + 1.0) / 2)


def test_personal_memberships() -> None:
    # for everyone A = {a}; for u also {b}, and a category of their own, M = {c}; judged the same, v has A = {a} alone
    items = [*members(A="a"), *members("u", A="b", M="c")]
    layouts = page("u", "A: a b", "M: c") + page("v", "A: a")
    result = run(layouts, JUDGMENTS + judge("v", a=1, b=2, c=3), items, W)
    assert value(result, n=0) == pytest.approx(4.0)  # c above: 3 + 2 x .4 + 1 x .2
    assert value(result, n=1) == pytest.approx(1.0)  # a on the first cell
    assert value(result, FREE, n=1) == pytest.approx(4.4)
    assert result["counts"]["uncategorised"] == 2  # b and c of v
    assert result["counts"]["invalid"] == 0
    with pytest.raises(RefusedError, match="invalid"):
        run(page("v", "A: a b"), JUDGMENTS, items, W)


def test_a_user_whose_relevant_items_have_no_category() -> None:
    for no_relevant in ("skip", "zero", "error"):  # with a given items table: left out, whatever the policy
        result = run(page("u", "A: a"), judge("u", z=1, a=0), ITEMS, W, no_relevant=no_relevant)
        assert (value(result), value(result, FREE)) == (0.0, 1.0)
        assert result["mean"] == {CAT: None, FREE: 0.0, PLAIN: 0.0}
        counts = result["counts"]
        assert (counts["uncategorised"], counts["no_category"], counts["no_relevant"]) == (1, 1, 0)
    # with items from layouts: 0
    result = run(page("u", "A: a"), judge("u", z=1, a=0), None, W)
    assert result["mean"] == {CAT: 0.0, FREE: 0.0, PLAIN: 0.0}
    assert (result["counts"]["uncategorised"], result["counts"]["no_category"]) == (1, 0)


class TestPages:
    # u: 1.0 and 0.5 on two pages; v: 1.0; on weights 1, .5 with a = 1 alone
    LINE = ((1.0, 0.5),)
    ITEMS = members(A="a b")
    TWO = page("u", "A: a b", page_id="p") + page("u", "A: b a", page_id="q")

    def test_mean_over_pages_then_users(self) -> None:
        layouts = self.TWO + page("v", "A: a b", page_id="p")
        result = run(layouts, judge("u", a=1) + judge("v", a=1), self.ITEMS, self.LINE)
        assert result["mean"][CAT] == 0.875
        assert result["counts"]["pages"] == 3

    def test_judgments_of_pages(self) -> None:
        # on q it is b that is relevant; r is judged and not shown; nothing is judged on the page of v
        layouts = self.TWO + page("v", "A: a b", page_id="p")
        judgments = judge("u", "p", a=1) + judge("u", "q", b=1) + judge("u", "r", b=1)
        result = run(layouts, judgments, self.ITEMS, self.LINE)
        assert result["mean"][CAT] == pytest.approx(2 / 3)
        assert [line["page_id"] for line in result["per_page"]] == ["p", "q", "p", "r"]
        counts = result["counts"]
        assert (counts["missing"], counts["no_relevant"], counts["unjudged"]) == (1, 1, 4)
        assert run(layouts, judgments, self.ITEMS, self.LINE, missing_pages="skip")["mean"][CAT] == 1.0
        with pytest.raises(RefusedError, match="page_id"):
            run(page("u", "A: a b"), judgments, self.ITEMS, self.LINE)

    @pytest.mark.parametrize(
        ("missing_pages", "no_relevant", "mean"),
        [
            # u scores 1; v, relevant, is missing; w has a page and nothing relevant; x neither
            ("zero", "skip", 1 / 2),
            ("zero", "zero", 1 / 4),
            ("skip", "skip", 1.0),
            ("skip", "zero", 1 / 2),
        ],
    )
    def test_missing_pages_and_users_without_relevant_items(
        self, missing_pages: str, no_relevant: str, mean: float
    ) -> None:
        layouts = page("u", "A: a b") + page("w", "A: a b")
        judgments = judge("u", a=1) + judge("v", a=1) + judge("w", a=0) + judge("x", a=0)
        result = run(layouts, judgments, self.ITEMS, self.LINE, missing_pages=missing_pages, no_relevant=no_relevant)
        assert result["mean"] == {CAT: mean, FREE: mean, PLAIN: mean}
        assert result["counts"]["missing"] == 2
        assert result["counts"]["no_relevant"] == 2

    def test_errors(self) -> None:
        layouts, judgments = page("u", "A: a b"), judge("u", a=1)
        with pytest.raises(RefusedError, match="missing"):
            run(layouts, judgments + judge("v", a=1), self.ITEMS, self.LINE, missing_pages="error")
        with pytest.raises(RefusedError, match="no_relevant"):
            run(layouts, judgments + judge("v", a=0), self.ITEMS, self.LINE, no_relevant="error")
        with pytest.raises(RefusedError, match="no_relevant"):
            run(layouts, judge("u", a=0), self.ITEMS, self.LINE, no_relevant="error")
        with pytest.raises(RefusedError, match="unjudged"):
            run(layouts, judgments, self.ITEMS, self.LINE, unjudged="error")
        assert run(layouts, judge("u", a=1, b=0), self.ITEMS, self.LINE, unjudged="error")["mean"][CAT] == 1.0
        with pytest.raises(RefusedError, match="category"):
            run(page("u", "a b"), judgments, None, self.LINE)
        with pytest.raises(RefusedError, match="cell"):
            run(page("u", "A: a b c"), judgments, self.ITEMS, self.LINE)

    def test_nobody_to_score(self) -> None:
        result = run(page("u", "A: a b"), judge("u", a=0), self.ITEMS, self.LINE)
        assert result["mean"] == {CAT: None, FREE: None, PLAIN: None}


@pytest.mark.parametrize(
    ("rows", "bad"),
    [
        (("A: a b", "B: c"), False),
        (("a c", "b"), False),  # without labels there is no category to be outside of
        (("A: a", "A: b"), True),
        (("A: a", "", "B: c"), True),
        (("", "A: a"), True),
        (("A: a c",), True),
        (("Z: a",), True),
        (("A: - a", "B: - c"), False),  # a gap is no flaw
    ],
)
def test_invalid_pages(rows: tuple[str, ...], bad: bool) -> None:
    shown = page("u", *rows)
    weights = [[1.0, 0.5], [0.4, 0.2], [0.3, 0.1]]
    assert run(shown, JUDGMENTS, ITEMS, weights, invalid="count")["counts"]["invalid"] == bad
    if bad:
        with pytest.raises(RefusedError, match="invalid"):
            run(shown, JUDGMENTS, ITEMS, weights)


def test_another_label_inside_a_row_is_invalid() -> None:
    shown = page("u", "A: a b")
    shown[1]["category"] = "B"
    result = run(shown, JUDGMENTS, None, W, invalid="count")
    assert result["counts"]["invalid"] == 1
    # b is of B by its own label: b above and a below, 2 + .4; the page is scored as it is, 1 + 2 x .5
    assert value(result) == pytest.approx(2.4)
    assert value(result, CAT, "dcg") == pytest.approx(2.0)
    # even where the item is of the row's category too
    assert run(shown, JUDGMENTS, members(A="a b", B="b"), W, invalid="count")["counts"]["invalid"] == 1


LINE = ((1.0, 0.5, 0.25),)  # one row of three
THREE = members(A="a b c")
RATED = judge("u", a=4, b=4, c=4)


class TestCapacity:
    """On LINE, A = {a, b, c} of gain 4 each is worth 4, 6 or 7, with room for one, two or three."""

    SHOWN = tuple(page("u", "A: a b"))

    def ideal(self, layouts: Sequence[Any] = SHOWN, **options: Any) -> Any:
        return value(run(list(layouts), RATED, THREE, LINE, **options))

    def test_settings(self) -> None:
        assert self.ideal() == 7.0
        assert self.ideal(capacity="grid") == 7.0
        assert self.ideal(capacity="shown") == 6.0
        assert self.ideal(capacity={"A": 2}) == 6.0
        assert self.ideal(capacity={"A": 9}) == 7.0  # no row is longer than the grid
        assert self.ideal(capacity={"B": 1}) == 7.0
        # the unconstrained ideal ignores it, and so does an arrangement of what is shown
        assert value(run(list(self.SHOWN), RATED, THREE, LINE, capacity={"A": 2}), FREE) == 7.0
        displayed = run(list(self.SHOWN), RATED, THREE, LINE, capacity="shown", candidates="displayed")
        assert (value(displayed), displayed["counts"]["limited"]) == (6.0, 0)

    def test_shown_is_the_longest_row_at_hand(self) -> None:
        longer, gapped = page("v", "A: a b c"), page("v", "A: - a")
        assert self.ideal(capacity="shown", at_hand=[self.SHOWN, longer]) == 7.0
        assert self.ideal(page("u", "A: a"), capacity="shown", at_hand=[page("u", "A: a"), gapped]) == 6.0
        # on the line of a category that nobody shows there is room for three
        result = run(page("u", "A: a"), judge("u", d=4, e=4, f=4), members(A="a", B="d e f"), LINE, capacity="shown")
        assert value(result) == 7.0
        assert result["counts"]["limited"] == 1

    @pytest.mark.parametrize(
        ("lines", "ideal"),
        [
            ([{}], 7.0),  # says nothing
            ([{"capacity": None}], 7.0),
            ([{"capacity": 2}], 6.0),
            ([{"user_id": "u", "capacity": 2}], 6.0),
            ([{"user_id": None, "capacity": 3}, {"user_id": "u", "capacity": 2}], 6.0),
            ([{"user_id": None, "capacity": 2}, {"user_id": "v", "capacity": 3}], 6.0),
            ([{"user_id": None, "capacity": 2}, {"user_id": "u", "capacity": None}], 6.0),
        ],
    )
    def test_lines_of_carousels(self, lines: Lines, ideal: float) -> None:
        lines = [{"category": "A", **line} for line in lines]
        assert self.ideal(carousels=lines) == ideal
        # lines win over the setting, where they say something
        assert self.ideal(carousels=lines, capacity={"A": 2}) == 6.0
        assert self.ideal(carousels=lines, capacity="shown") == 6.0

    def test_lines_win(self) -> None:
        line = {"category": "A", "capacity": 3}
        assert self.ideal(carousels=[line], capacity={"A": 2}) == 7.0
        assert self.ideal(carousels=[line], capacity="shown") == 7.0

    def test_a_row_longer_than_declared_is_invalid(self) -> None:
        for declared in ({"capacity": {"A": 1}}, {"carousels": [{"category": "A", "capacity": 1}]}):
            options: dict[str, Any] = declared
            with pytest.raises(RefusedError, match="invalid"):
                self.ideal(**options)
            result = run(list(self.SHOWN), RATED, THREE, LINE, invalid="count", **options)
            assert (value(result), value(result, CAT, "dcg"), value(result, CAT, "score")) == (4.0, 6.0, 1.5)
            assert result["counts"]["invalid"] == result["counts"]["above_ideal"] == 1
        # a line that allows it, for the user or for everyone, wins over the dict; another user's does not matter
        assert self.ideal(capacity={"A": 1}, carousels=[{"category": "A", "capacity": 2}]) == 6.0
        lines = [{"category": "A", "user_id": None, "capacity": 2}, {"category": "A", "user_id": "v", "capacity": 1}]
        assert self.ideal(carousels=lines) == 6.0
        # the last column decides, not the number of items
        with pytest.raises(RefusedError, match="invalid"):
            self.ideal(page("u", "A: - a"), carousels=[{"category": "A", "capacity": 1}])

    def test_a_pinned_row_holds_what_the_longest_pinned_one_shows(self) -> None:
        board = page("u", "A: a", pinned=[1])
        assert self.ideal(board) == 4.0
        assert self.ideal(board, at_hand=[board, page("v", "A: a b", pinned=[1])]) == 6.0
        assert self.ideal(board, at_hand=[board, page("v", "A: a b")]) == 4.0
        assert self.ideal(board, capacity={"A": 2}) == 4.0  # the setting is about rows that are not pinned
        assert self.ideal(board, capacity="shown", at_hand=[board, page("v", "A: a b")]) == 4.0
        assert self.ideal(board, carousels=[{"category": "A", "capacity": 2}]) == 6.0
        assert run(board, RATED, THREE, LINE)["counts"]["limited"] == 1
        # where the category is not pinned, its row is like any other
        both = page("u", "A: a", page_id="p", pinned=[1]) + page("u", "A: a", page_id="q")
        result = run(both, RATED, THREE, LINE)
        assert (value(result), value(result, n=1)) == (4.0, 7.0)

    def test_each_grid_has_its_own(self) -> None:
        # on the phone A shows one item, on tv two
        def on(device: str, lines: Lines) -> Lines:
            return [{**line, "device": device} for line in lines]

        layouts = on("tv", page("u", "A: a b", page_id="p")) + on("phone", page("u", "A: a", page_id="q"))
        weights: dict[int | str, Table] = {"tv": LINE, "phone": [[1.0, 0.5]]}
        grids = {"tv": (1, 3), "phone": (1, 2)}
        options: dict[str, Any] = {"gain": "linear", "grids": grids, "by": "device", "capacity": "shown"}
        result = evaluate_tables(layouts, RATED, THREE, metrics=[(CAT, weights)], **options)
        assert (value(result), value(result, n=1)) == (6.0, 4.0)
        assert result["counts"]["limited"] == 1


class TestPersonal:
    """u and v are both shown A; M is of u alone, or of each alone. Everything has gain 1, and each row has one cell."""

    COLUMN = ((1.0,), (0.5,), (0.25,))
    MINE = tuple(page("u", "A: a", "M: m") + page("v", "A: a"))
    BOTH = tuple(page("u", "A: a", "M: m") + page("v", "A: a", "M: n"))
    JUDGMENTS = tuple(judge("u", a=1, m=1, n=1) + judge("v", a=1, m=1, n=1))

    def ideals(self, layouts: Sequence[Any], **options: Any) -> tuple[float, float, int]:
        result = run(list(layouts), list(self.JUDGMENTS), options.pop("items", None), self.COLUMN, **options)
        return value(result), value(result, n=1), result["counts"]["personal"]

    def test_a_category_that_only_one_of_several_users_is_shown(self) -> None:
        assert self.ideals(self.MINE) == (1.5, 1.0, 1)
        # as soon as another is shown it, by any system, it is everyone's
        assert self.ideals(self.BOTH) == (1.5, 1.5, 0)
        assert self.ideals(self.MINE, at_hand=[self.MINE, self.BOTH]) == (1.5, 1.5, 0)
        # where there is only one user there is nobody to tell it from
        alone = run(page("u", "A: a", "M: m"), list(self.JUDGMENTS), None, self.COLUMN)
        assert (value(alone), value(alone, n=1), alone["counts"]["personal"]) == (1.5, 1.5, 0)
        # an items table speaks for itself
        assert self.ideals(self.MINE, items=members(A="a", M="m")) == (1.5, 1.5, 0)

    @pytest.mark.parametrize(
        ("line", "wanted"),
        [
            ({}, (1.5, 1.0, 1)),
            ({"capacity": 1}, (1.5, 1.0, 1)),
            ({"personal": None}, (1.5, 1.0, 1)),
            ({"personal": True}, (1.5, 1.0, 1)),
            ({"personal": False}, (1.5, 1.5, 0)),
            ({"user_id": None}, (1.5, 1.5, 0)),
            ({"user_id": "u"}, (1.5, 1.0, 0)),  # not personal, but not for v either
            ({"user_id": None, "personal": True}, (1.5, 1.0, 1)),
        ],
    )
    def test_lines_say_otherwise(self, line: dict[str, Any], wanted: tuple[float, float, int]) -> None:
        assert self.ideals(self.MINE, carousels=[{"category": "M", **line}]) == wanted

    def test_one_label_and_everyones_own_items(self) -> None:
        # M holds m for u and n for v: two cells of two categories each; n = 3 counts only for v
        judgments = judge("u", a=1, m=1, n=3) + judge("v", a=1, m=1, n=3)
        personal = [{"category": "M", "personal": True}]
        result = run(list(self.BOTH), judgments, None, self.COLUMN, carousels=personal)
        assert (value(result), value(result, n=1)) == (1.5, 3.5)
        result = run(list(self.BOTH), judgments, None, self.COLUMN)
        assert (value(result), value(result, n=1)) == (3.5, 3.5)
        # what another system showed them there is theirs, too
        other = page("u", "M: n")
        result = run(list(self.BOTH), judgments, None, self.COLUMN, carousels=personal, at_hand=[self.BOTH, other])
        assert (value(result), value(result, n=1)) == (3.5, 3.5)

    def test_an_items_table_speaks_of_the_categories_that_it_names(self) -> None:
        personal, judgments = [{"category": "M", "personal": True}], judge("u", m=1, n=3) + judge("v", m=1, n=3)
        # M is in items, with m for everyone
        named = run(list(self.MINE), judgments, members(A="a", M="m"), self.COLUMN, carousels=personal)
        assert (value(named), value(named, n=1), named["counts"]["personal"]) == (1.0, 1.0, 0)
        # it is not: what each is shown there is theirs
        unnamed = run(list(self.BOTH), judgments, members(A="a"), self.COLUMN, carousels=personal)
        assert (value(unnamed), value(unnamed, n=1), unnamed["counts"]["personal"]) == (1.0, 3.0, 1)
        with pytest.raises(RefusedError, match="invalid"):
            run(list(self.BOTH), judgments, members(A="a"), self.COLUMN)
        # items with users are personal, too
        theirs = [*members(A="a"), *members("u", M="m")]
        assert run(list(self.MINE), judgments, theirs, self.COLUMN)["counts"]["personal"] == 1

    def test_a_category_for_some_users_opens_a_row_for_them_alone(self) -> None:
        # the second row weighs more: with M it can be reached
        column, items = [[0.5], [1.0]], members(A="a", M="m")
        lines = [{"category": "M", "user_id": "u"}]
        layouts, judgments = page("u", "A: a") + page("v", "A: a"), judge("u", a=1) + judge("v", a=1)
        result = run(layouts, judgments, items, column, carousels=lines)
        assert (value(result), value(result, n=1)) == (1.0, 0.5)
        # relevant items whose only category is another user's: left out
        result = run(layouts, judge("u", m=1) + judge("v", m=1), items, column, carousels=lines)
        assert [value(result, CAT, "score", n) for n in range(2)] == [0.0, None]
        assert (result["counts"]["uncategorised"], result["counts"]["no_category"]) == (1, 1)

    def test_a_page_with_a_category_that_is_not_its_users_is_invalid(self) -> None:
        lines = [{"category": "M", "user_id": "v"}]
        with pytest.raises(RefusedError, match="invalid"):
            self.ideals(self.MINE, carousels=lines)
        # u may be shown a alone; v any M that there is
        assert self.ideals(self.MINE, carousels=lines, invalid="count") == (1.0, 1.5, 0)


def test_a_page_above_an_ideal_of_nothing() -> None:
    # x is relevant, but stands in a row that is another user's: no page of u may show it
    shown, judgments = page("u", "A: x"), judge("u", x=1, a=0)
    others = [{"category": "A", "user_id": "v"}]
    result = run(shown, judgments, None, [[1.0]], invalid="count", carousels=others)
    assert (value(result, CAT, "dcg"), value(result), value(result, CAT, "score")) == (1.0, 0.0, 0.0)
    assert result["counts"]["above_ideal"] == result["counts"]["invalid"] == 1
    # with a given items table the user is left out instead
    result = run(shown, judgments, members(A="a"), [[1.0]], invalid="count")
    assert value(result, CAT, "score") is None
    assert (result["counts"]["above_ideal"], result["counts"]["invalid"]) == (1, 1)


def test_relevance_is_decided_for_each_metric() -> None:
    # from 2 on alone v has nothing relevant: left out there, and nowhere else
    layouts, judgments = page("u", "A: a") + page("v", "A: a"), judge("u", a=2) + judge("v", a=1)
    strict: Any = (CAT + "(strict)", [[1.0]], lambda rel: max(0.0, rel - 1))
    for metrics in ([strict], [strict, (PLAIN, [[1.0]])], [(PLAIN, [[1.0]]), strict]):
        result = run(layouts, judgments, None, [[1.0]], metrics=metrics)
        assert result["mean"][CAT + "(strict)"] == 1.0
        assert result["mean"].get(PLAIN, 1.5) == 1.5
        assert result["counts"]["no_relevant"] == 1


def test_page_sizes_of_rows() -> None:
    weights = paper_weights("d_a", 2, 3, [1, 2])
    assert weights[0] == paper_weights("d_a", 1, 3, 1)[0]
    assert weights[1] == paper_weights("d_a", 2, 3, 2)[1]
    with pytest.raises(RefusedError, match="page_size"):
        paper_weights("d_a", 2, 3, [1])


def test_systems_share_their_ideals() -> None:
    one, other = page("u", "A: a", "B: c d"), page("u", "B: d", "A: b")
    options: dict[str, Any] = {"metrics": [(CAT, W)], "rows": 2, "cols": 2, "gain": "linear"}
    results = compare_tables({"x": [one], "y": [other, one]}, JUDGMENTS, None, **options)
    assert [result["per_page"][0][CAT]["ideal"] for runs in results.values() for result in runs] == [4.0] * 3
    pinned = [{**line, "pinned": line["row"] == 1} for line in one]
    with pytest.raises(RefusedError, match="ideals"):
        compare_tables({"x": [pinned], "y": [other]}, JUDGMENTS, None, **options)


def test_the_ideals_agree_with_those_of_plain_pages() -> None:
    weights = paper_weights("d_rpd", 3, 3, page_size=2)
    judgments = judge("u", a=3, b=0, c=1, d=2, e=2)
    result = run(page("u", "A: c a", "B: b", "C: e d"), judgments, members(A="a c", B="b", C="d e"), weights)
    assert value(result) == pytest.approx(brute_category_ideal([(2, [3, 1]), (1, [0]), (2, [2, 2])], weights))
    small = [[0.3, 0.9], [0.5, 0.5], [0.1, 1.0]]
    result = run(page("u", "A: c a", "B: b", "C: e d"), judgments, members(A="a c", B="b", C="d e"), small)
    assert value(result, FREE) == pytest.approx(brute_unconstrained_ideal([3, 0, 1, 2, 2], small))


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)


def _evaluated(seed: int, **options: Any) -> dict[str, Any] | str:
    layouts, judgments, items, given = tiny(seed)
    try:
        return evaluate_tables(layouts, judgments, items, **{**given, **options})
    except RefusedError as refused:
        return str(refused)


@pytest.mark.parametrize("start", range(0, 1000, 125))
def test_two_derivations_of_every_ideal_agree(start: int) -> None:
    for seed in range(start, start + 125):
        tried, derived = _evaluated(seed), _evaluated(seed, smart=True)
        if isinstance(tried, str) or isinstance(derived, str):
            assert tried == derived
            continue
        assert tried["counts"] == derived["counts"]
        for one, other in zip(tried["per_page"], derived["per_page"], strict=True):
            for name, _ in tiny(seed)[3]["metrics"]:
                for what in ("dcg", "ideal", "score"):
                    close = _close(one[name][what], other[name][what])
                    assert close, (seed, name, what)


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_two_derivations_agree_on_tiny_systems(start: int) -> None:
    for seed in range(start, start + 100):
        case = tiny_systems(seed)
        outcomes: list[Any] = []
        for smart in (False, True):
            try:
                found = compare_tables(case.systems, case.judgments, case.items, **case.options, smart=smart)
                outcomes.append([result for runs in found.values() for result in runs])
            except RefusedError as refused:
                outcomes.append(str(refused))
        if isinstance(outcomes[0], str):
            assert outcomes[0] == outcomes[1]
            continue
        for tried, derived in zip(*outcomes, strict=True):
            assert tried["counts"] == derived["counts"]
            for one, other in zip(tried["per_page"], derived["per_page"], strict=True):
                for name, *_ in case.options["metrics"]:
                    for what in ("dcg", "ideal", "score"):
                        assert _close(one[name][what], other[name][what]), (seed, name, what)


def test_the_tiny_systems_cover_the_rules() -> None:
    counts: dict[str, int] = {}
    for seed in range(1000):
        case = tiny_systems(seed)
        options = case.options
        has = {
            "items": case.items is not None,
            "carousels": options["carousels"] is not None,
            "a dict": isinstance(options["capacity"], dict),
            "shown": options["capacity"] == "shown",
            "grids": len(case.screens) > 1,
            "page sizes": any(not isinstance(screen.page_size, int) for screen in case.screens.values()),
            "runs": any(len(runs) > 1 for runs in case.systems.values()),
            "gains": any(len(metric) > 2 for metric in options["metrics"]),
            "displayed": options["candidates"] == "displayed",
            "pinned": any(line["pinned"] for runs in case.systems.values() for lines in runs for line in lines),
        }
        try:
            found = compare_tables(case.systems, case.judgments, case.items, **options)
        except RefusedError as refused:
            has = {str(refused).split(":")[0] + " refused": True}
        else:
            results = [result for runs in found.values() for result in runs]
            has |= {name: any(result["counts"][name] for result in results) for name in results[0]["counts"]}
        for name, true in has.items():
            counts[name] = counts.get(name, 0) + true
    assert min(counts.values()) > 5, counts
    refused_by = ("duplicates", "missing", "no_relevant", "unjudged", "invalid", "ideals")
    assert {f"{name} refused" for name in refused_by} < set(counts)


def test_no_page_passes_its_ideal() -> None:
    """Displayed pages never do; judged ones only if invalid, unlabelled, gapped, or repeating an item inside a row."""
    scored = 0
    for seed in range(2000):
        layouts, _, _, options = tiny(seed)
        result = _evaluated(seed)
        if isinstance(result, str):
            continue
        for line in result["per_page"]:
            cells = [
                shown
                for shown in layouts
                if (shown["user_id"], shown.get("page_id")) == (line["user_id"], line["page_id"])
            ]
            last = {shown["row"]: 0 for shown in cells}
            for shown in cells:
                last[shown["row"]] = max(last[shown["row"]], shown["col"])
            gapped = sum(last.values()) > len(cells)
            repeats = len({(shown["row"], shown["item_id"]) for shown in cells}) < len(cells)
            unlabelled = any("category" not in shown for shown in cells)
            if options["candidates"] == "judged" and (line["invalid"] or gapped or repeats or unlabelled):
                continue
            for name, _ in options["metrics"]:
                score = line[name]["score"]
                if score is not None and kind_of(name) in ("N2DCG_cat", "N2DCG", "NDCG"):
                    assert score <= 1 + 1e-12, (seed, name)
                    scored += 1
    assert scored > 5000


def test_the_tiny_tables_cover_the_policies() -> None:
    counts: dict[str, int] = {}
    combinations = set()
    for seed in range(1500):
        options = tiny(seed)[3]
        result = _evaluated(seed)
        if isinstance(result, str):
            reason = result.split(":")[0] + " refused"
            counts[reason] = counts.get(reason, 0) + 1
            continue
        combinations.add((options["candidates"], options["duplicates"]))
        for name, count in result["counts"].items():
            counts[name] = counts.get(name, 0) + (count > 0)
    assert len(combinations) == 8
    assert min(counts.values()) > 15, counts
    assert {
        "duplicates refused",
        "missing refused",
        "no_relevant refused",
        "unjudged refused",
        "invalid refused",
    } < set(counts)


def test_a_tiny_case_is_its_seed() -> None:
    assert tiny(7)[:3] == tiny(7)[:3]
    assert tiny(7)[0] != tiny(8)[0]
