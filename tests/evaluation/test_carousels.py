"""How much carousels hold and whom they are for: from the table, from the setting, and from what pages show."""

import json
import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv

WEIGHTS = [[1.0, 0.8, 0.6, 0.4], [0.5, 0.3, 0.2, 0.1], [0.25, 0.15, 0.1, 0.05]]
GRID = cv.Grid(3, 4, page_size=2)
METRIC = cv.metric("N2DCG_cat", discount=cv.discounts.Empirical(WEIGHTS, name="by_hand"))


def layouts(*lines: Any, pinned: bool = False) -> pl.DataFrame:
    names = ["user_id", "row", "col", "item_id", "category", *(["pinned"] if pinned else [])]
    return pl.DataFrame(lines, schema=names, orient="row")


def judgments(*lines: Any) -> pl.DataFrame:
    return pl.DataFrame(lines, schema=["user_id", "item_id", "relevance"], orient="row")


def ideals(tables: Any, **settings: Any) -> dict[str, float]:
    """Every user's ideal, by the weights above."""
    result = cv.evaluate(*tables, metrics=METRIC, grid=GRID, **settings)
    return dict(result.per_page.select("user_id", f"{METRIC}.ideal").iter_rows())


# u likes four items of "Top" and is shown two of them, v three
TOP = (
    layouts(("u", 1, 1, "a", "Top"), ("u", 1, 2, "b", "Top"), ("v", 1, 1, "a", "Top"), ("v", 1, 2, "c", "Top"),
            ("v", 1, 3, "b", "Top")),
    judgments(*(("u", item, 1) for item in "abcd"), ("v", "a", 1)),
    {"item_id": list("abcd"), "category": ["Top"] * 4},
)  # fmt: skip


def warns_of_top() -> Any:
    return pytest.warns(cv.DataWarning, match="'Top' holds up to 4 there and at most 3 on any page, for 50% of users")


def test_grid_is_the_default_and_says_where_it_overfills() -> None:
    with warns_of_top():
        assert ideals(TOP) == pytest.approx({"u": 2.8, "v": 1.0})
    with pytest.warns(cv.DataWarning, match=re.escape("use capacity='shown', or declare it in carousels (category, ")):
        result = cv.evaluate(*TOP, metrics=METRIC, grid=GRID)
    assert (result.config["capacity"], result.config["carousels"], result.counts["limited"]) == ("grid", "none", 0)


@pytest.mark.parametrize(
    ("settings", "u"),
    [
        ({"capacity": "shown"}, 2.4),
        ({"capacity": {"Top": 3}}, 2.4),
        ({"carousels": {"category": ["Top"], "capacity": [3]}}, 2.4),
        ({"carousels": {"category": ["Top"], "capacity": [3]}, "capacity": {"Top": 4}}, 2.4),
        ({"carousels": {"category": ["Top", "Top"], "user_id": [None, "u"], "capacity": [3, 4]}}, 2.8),
        ({"carousels": {"category": ["Top", "Top"], "user_id": ["u", "v"], "capacity": [None, 3]}}, 2.8),
        ({"carousels": {"category": ["Other"], "capacity": [1]}, "capacity": "shown"}, 2.4),
    ],
)
@pytest.mark.filterwarnings("ignore:layouts. ideal pages fill", "ignore:carousels. 1 category is in no other")
def test_sources_of_capacity(settings: Any, u: float) -> None:
    assert ideals(TOP, **settings) == pytest.approx({"u": u, "v": 1.0})
    result = cv.evaluate(*TOP, metrics=METRIC, grid=GRID, **settings)
    assert result.counts["limited"] == 1
    assert result.config["capacity"] == settings.get("capacity", "grid")
    assert result.config["carousels"] == ("given" if "carousels" in settings else "none")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"capacity": {"Tpo": 3, "Top": 3}}, "capacity: 1 category is in no other table: 'Tpo'. Did you mean 'Top'?"),
        (
            {"carousels": {"category": ["Top", "TOP ", "Kids"], "capacity": [3, 3, 3]}},
            "carousels: 1 category is in no other table: 'TOP '. Did you mean 'Top'?",
        ),
        (
            {"carousels": {"category": ["Kids", "News"], "capacity": [3, 3]}, "capacity": "shown"},
            "carousels: 2 categories are in no other table: 'Kids', 'News'.",
        ),
    ],
)
def test_categories_that_nothing_else_names(settings: Any, message: str) -> None:
    with pytest.warns(cv.DataWarning) as caught:
        result = cv.evaluate(*TOP, metrics=METRIC, grid=GRID, **settings)
    assert [str(warning.message) for warning in caught] == [message]
    assert result.counts["limited"] == 1
    assert message in [str(defect) for defect in cv.check(*TOP, grid=GRID, **settings).defects]


def test_every_page_must_keep_to_a_declared_capacity() -> None:
    expected = (
        "layouts: 1 row holds more than the capacity of its category, first user_id='v' row=1, where 'Top' has 3 and "
        "holds 2 (line 3). Raise the capacity in carousels or capacity=, drop the cells beyond it, or use "
        "invalid='count'."
    )
    for settings in ({"capacity": {"Top": 2}}, {"carousels": {"category": ["Top"], "capacity": [2]}}):
        with pytest.raises(cv.DataError) as raised:
            ideals(TOP, **settings)
        assert str(raised.value) == expected
        assert [str(defect) for defect in cv.check(*TOP, grid=GRID, **settings).defects] == [expected]
        result = cv.evaluate(*TOP, metrics=METRIC, grid=GRID, invalid="count", **settings)
        assert result.counts["invalid"] == 1
    only_v = {"category": ["Top", "Top"], "user_id": ["u", "v"], "capacity": [4, 2]}
    with pytest.raises(cv.DataError, match="first user_id='v' row=1, where 'Top' has 3 and holds 2"):
        ideals(TOP, carousels=only_v)
    unlabelled = (TOP[0].drop("category"), *TOP[1:])
    with pytest.raises(cv.DataError, match="first user_id='v' row=1, where 'Top' has 3 and holds 2"):
        ideals(unlabelled, capacity={"Top": 2})


@pytest.mark.parametrize("settings", [{"capacity": {"Top": 4}}, {"carousels": {"category": ["Top"], "capacity": [4]}}])
@pytest.mark.filterwarnings("error::carouseval.DataWarning")
def test_a_declared_capacity_ends_the_notice(settings: Any) -> None:
    assert ideals(TOP, **settings) == pytest.approx({"u": 2.8, "v": 1.0})


def test_the_notice_does_not_depend_on_what_an_evaluator_did_before() -> None:
    evaluator = cv.Evaluator(TOP[1], TOP[2], metrics=METRIC, grid=GRID)
    for _ in range(2):
        with warns_of_top():
            evaluator.evaluate(TOP[0])


def test_the_notice_names_a_category_once_for_several_grids() -> None:
    tables = (TOP[0].with_columns(device=pl.col("user_id")), *TOP[1:])
    liked = (tables[0], judgments(*((user, item, 1) for user in "uv" for item in "abcd")), tables[2])
    with pytest.warns(cv.DataWarning, match="a category beyond .* 'Top' holds up to 4 .*, for 100% of users") as caught:
        cv.evaluate(*liked, by="device", grid={"u": cv.Grid(3, 5), "v": cv.Grid(3, 4)})
    assert len(caught) == 1


@pytest.mark.filterwarnings("ignore:layouts. ideal pages fill")
def test_capacities_of_any_size() -> None:
    for room in (2**31, 2**32 + 2, 2**63 - 1):
        declared = {"category": ["Top"], "capacity": [room]}
        assert ideals(TOP, carousels=declared) == pytest.approx({"u": 2.8, "v": 1.0})
    result = cv.evaluate(*TOP, metrics=METRIC, grid=GRID, capacity={"Top": np.int64(3)})  # type: ignore[dict-item]
    assert json.loads(result.to_json())["config"]["capacity"] == {"Top": 3}


def test_a_row_that_only_others_have() -> None:
    expected = "In carousels 'Top' is for other users only: add a line for 'v', or one with user_id null for everyone"
    with pytest.raises(cv.DataError, match=expected):
        ideals(TOP, carousels={"category": ["Top"], "user_id": ["u"]})


def test_a_row_that_items_do_not_list() -> None:
    items = {"item_id": list("abcd"), "category": ["New"] * 4}
    with pytest.raises(
        cv.DataError, match=r"Items does not list this category: 'Top'\. Add its items, declare it personal in"
    ):
        ideals((*TOP[:2], items))


def test_users_are_counted_by_each_metric() -> None:
    tables = (TOP[0], judgments(("u", "a", 1), ("v", "z", 1)), TOP[2])
    with pytest.warns(cv.DataWarning):
        result = cv.evaluate(*tables, metrics=[METRIC, "N2DCG"], grid=GRID)
    assert result.to_frame().select("users", "pages").rows() == [(1, 1), (2, 2)]


def test_what_is_shown_without_labels() -> None:
    """Without labels the category of a row is what its items share."""
    unlabelled = (TOP[0].drop("category"), *TOP[1:])
    assert ideals(unlabelled, capacity="shown") == pytest.approx({"u": 2.4, "v": 1.0})
    with warns_of_top():
        ideals(unlabelled)


def test_capacities_of_categories_that_are_integers() -> None:
    tables = (
        TOP[0].with_columns(category=pl.lit(7)),
        TOP[1],
        {"item_id": list("abcd"), "category": [7] * 4},
    )
    for capacity in ({7: 3}, {"7": 3}):
        assert ideals(tables, capacity=capacity) == pytest.approx({"u": 2.4, "v": 1.0})
    with pytest.raises(cv.ParameterError, match="capacity: the categories of the tables are integers, found 'Top'"):
        ideals(tables, capacity={"Top": 3})


# a billboard of one item above a row of two; u likes all of them
BILLBOARD = (
    layouts(
        ("u", 1, 1, "a", "Billboard", True), ("u", 2, 1, "c", "New", False), ("u", 2, 2, "d", "New", False),
        ("v", 1, 1, "b", "Billboard", True), ("v", 2, 1, "d", "New", False), pinned=True,
    ),
    judgments(*(("u", item, 1) for item in "abcd"), ("v", "b", 1)),
    {"item_id": list("abcd"), "category": ["Billboard"] * 2 + ["New"] * 2},
)  # fmt: skip


def test_a_pinned_billboard_has_an_ideal_with_one_item() -> None:
    """1.0 on the billboard, then 0.5 + 0.3."""
    assert ideals(BILLBOARD) == pytest.approx({"u": 1.8, "v": 1.0})
    assert cv.evaluate(*BILLBOARD, metrics=METRIC, grid=GRID).counts["limited"] == 1
    assert ideals(BILLBOARD, capacity={"Billboard": 2}) == pytest.approx({"u": 1.8, "v": 1.0})  # pages still show one
    found = ideals(BILLBOARD, carousels={"category": ["Billboard"], "capacity": [2]})
    assert found == pytest.approx({"u": 2.6, "v": 1.0})
    explained = cv.explain(*BILLBOARD, metrics=METRIC, grid=GRID)
    assert explained.per_page["ideal"].to_list() == pytest.approx([1.8, 1.0])
    assert explained.page("u").values["ideal"] == pytest.approx(1.8)


def test_longest_pinned_row_of_any_system() -> None:
    longer = BILLBOARD[0].filter(pl.col("user_id") == "v").with_row_index()
    longer = longer.with_columns(row=1, col=pl.col("index") + 1, category=pl.lit("Billboard"), pinned=True).drop(
        "index"
    )
    longer = longer.with_columns(item_id=pl.Series(["a", "b"]))
    judged = cv.compare(
        {"one": BILLBOARD[0], "other": pl.concat([BILLBOARD[0].head(3), longer], how="diagonal_relaxed")},
        *BILLBOARD[1:], metrics=METRIC, grid=GRID, permutations=9,
    )  # fmt: skip
    for runs in judged.evaluations.values():
        assert runs[0].per_page[f"{METRIC}.ideal"].to_list() == pytest.approx([2.6, 1.0])  # two fit on row 1


# "Because you watched" is u's alone; both have "Watching", each with items of their own
OWN = (
    layouts(
        ("u", 1, 1, "a", "Because"), ("u", 2, 1, "b", "Watching"),
        ("v", 1, 1, "c", "Watching"), ("v", 2, 1, "d", "New"), ("u", 3, 1, "d", "New"),
    ),
    judgments(*((user, item, 1) for user in "uv" for item in "abcd")),
)  # fmt: skip
WATCHING = {"category": ["Watching"], "personal": [True]}


@pytest.mark.parametrize(
    ("carousels", "personal", "u", "v"),
    [
        (None, 1, 1.0 + 0.8 + 0.5 + 0.25, 1.0 + 0.8 + 0.5),  # v has no "Because"
        (WATCHING, 2, 1.0 + 0.5 + 0.25, 1.0 + 0.5),
        ({"category": ["Because"], "personal": [False]}, 0, 2.55, 2.55),
        ({"category": ["Because"], "user_id": ["v"]}, 0, None, None),  # u is shown what only v has
        ({"category": ["Because"], "user_id": pl.Series([None], dtype=pl.String)}, 0, 2.55, 2.55),
        ({"category": ["Because"], "capacity": [3]}, 1, 2.55, 2.3),
    ],
)
@pytest.mark.filterwarnings("ignore:layouts. ideal pages fill", "ignore:judgments. ")
def test_personal_rows(carousels: Any, personal: int, u: float | None, v: float | None) -> None:
    if u is None:
        with pytest.raises(cv.DataError, match="1 item is outside its row's category, first user_id='u' row=1"):
            ideals(OWN, carousels=carousels)
        return
    assert ideals(OWN, carousels=carousels) == pytest.approx({"u": u, "v": v})
    assert cv.evaluate(*OWN, metrics=METRIC, grid=GRID, carousels=carousels).counts["personal"] == personal
    collected = cv.items_from_layouts(OWN[0], carousels=carousels)
    assert ("user_id" in collected.columns) == (personal > 0)
    assert ideals((*OWN, collected), carousels=carousels) == pytest.approx({"u": u, "v": v})


def test_personal_rows_beside_an_items_table() -> None:
    """A catalogue lists genres; what a user was watching comes from the pages."""
    items = {"item_id": list("abcd"), "category": ["Because"] * 3 + ["New"]}
    with pytest.raises(cv.DataError, match="items are outside their row's category"):
        ideals((*OWN, items))
    with pytest.warns(cv.DataWarning, match="'Because' holds up to 3"):
        found = ideals((*OWN, items), carousels=WATCHING)
    assert found == pytest.approx({"u": 1.0 + 0.8 + 0.6 + 0.5, "v": 1.0 + 0.8 + 0.6 + 0.5})


def test_check_lists_personal_categories() -> None:
    (note,) = (defect for defect in cv.check(*OWN, grid=GRID).defects if defect.severity == "note")
    assert str(note) == (
        "layouts: 1 category is shown to one user only and taken as personal: 'Because'. Nobody else's ideal page "
        "holds them; if they are for everyone, declare personal=false in carousels."
    )


def test_check_suspects_personal_rows_that_several_users_have() -> None:
    """Everyone continues to watch something else; the Top is the same for all."""
    lines = [(f"u{u}", 1, col, f"own{u}{col}", "Watching") for u in range(8) for col in (1, 2, 3)]
    lines += [(f"u{u}", row, col, f"{row}{col}", f"Top {row}") for u in range(8) for row in (2, 3) for col in (1, 2)]
    relevant = judgments(("u0", "21", 1))
    notes = [str(defect) for defect in cv.check(layouts(*lines), relevant, grid=GRID).defects]
    assert notes == [
        "layouts: 'Watching' shows hardly any item to two users, unlike other categories. If its items are each user's "
        "own, declare personal=true in carousels: otherwise ideal pages may hold another user's."
    ]
    assert not cv.check(layouts(*lines), relevant, grid=GRID, carousels=WATCHING).defects


def test_most_users_without_a_page() -> None:
    many = judgments(("u", "a", 1), *((f"w{at}", "a", 1) for at in range(19)))
    with pytest.warns(cv.DataWarning, match="layouts: 19 of 20 users with judgments have no page and score 0, most of"):
        cv.evaluate(TOP[0], many, TOP[2])


@pytest.mark.parametrize(
    ("carousels", "message"),
    [
        ({"category": ["A", "A"]}, "carousels: category='A' has a second line (line 2). Keep one line for each"),
        (
            {"category": ["A", "B", "A"], "user_id": ["u", "u", "u"]},
            "carousels: category='A' user_id='u' has a second line (line 3).",
        ),
        (
            {"category": ["A", "A"], "user_id": ["u", "v"], "personal": [True, False]},
            "carousels: category='A' is called personal on one line and not on another (line 2).",
        ),
        ({"category": ["A"], "capacity": [0]}, "carousels: column capacity, line 1: found 0. A capacity is an integer"),
        ({"category": ["A"], "capacity": ["x"]}, "carousels: column capacity, line 1: found 'x'."),
        ({"category": ["A"], "personal": ["maybe"]}, "carousels: column personal, line 1: found 'maybe'."),
        ({"category": [None]}, "carousels: column category, line 1: found nothing."),
        ({"capacity": [1]}, "carousels: missing column category; it has capacity."),
        ({"category": []}, "carousels: the table has no lines. Give at least one line of category, or leave carousels"),
        ({"category": [3]}, "holds integers, but in"),
    ],
)
def test_tables_of_carousels_that_are_refused(carousels: Any, message: str) -> None:
    with pytest.raises(cv.DataError) as raised:
        ideals(TOP, carousels=carousels)
    assert message in str(raised.value)
    assert any(message in str(defect) for defect in cv.check(*TOP, grid=GRID, carousels=carousels).defects)


def test_an_evaluator_needs_to_be_told() -> None:
    with pytest.raises(
        cv.ParameterError, match=re.escape("use carousels=carousels_from_layouts(layouts, ...), which collects")
    ):
        cv.Evaluator(TOP[1], TOP[2], capacity="shown")
    told = cv.Evaluator(TOP[1], TOP[2], metrics=METRIC, grid=GRID, carousels=cv.carousels_from_layouts(TOP[0]))
    found = told.evaluate(TOP[0])
    assert found.per_page[f"{METRIC}.ideal"].to_list() == pytest.approx([2.4, 1.0])
    assert cv.carousels_from_layouts(OWN[0], BILLBOARD[0]).rows(named=True) == [
        {"category": "Because", "user_id": "u", "capacity": 1, "personal": True},
        {"category": "Billboard", "user_id": None, "capacity": 1, "personal": False},
        {"category": "New", "user_id": None, "capacity": 2, "personal": False},
        {"category": "Watching", "user_id": None, "capacity": 1, "personal": False},
    ]
    for function in (cv.carousels_from_layouts, cv.items_from_layouts):
        with pytest.raises(cv.ParameterError, match="needs at least one table of layouts"):
            function()
        with pytest.raises(cv.DataError, match=f"missing column category, which {function.__name__} collects"):
            function(TOP[0].drop("category"))


def test_shown_is_what_any_system_shows() -> None:
    wide = TOP[0].with_columns(user_id=pl.lit("v")).unique(["col"]).sort("col")
    wide = pl.concat([TOP[0].head(2), wide, layouts(("v", 1, 4, "d", "Top"))], how="vertical_relaxed")
    result = cv.compare({"one": TOP[0], "wide": wide}, *TOP[1:], metrics=METRIC, grid=GRID, capacity="shown",
                        permutations=9)  # fmt: skip
    for runs in result.evaluations.values():
        assert runs[0].per_page[f"{METRIC}.ideal"].to_list() == pytest.approx([2.8, 1.0])


def test_what_displayed_pages_leave_out() -> None:
    """A page that shows nothing relevant has nothing to arrange."""
    settings: Any = {"candidates": "displayed", "metrics": [METRIC, "2DCG"], "grid": GRID}
    bare = layouts(("u", 1, 1, "a", "Top"), ("v", 1, 1, "c", "Top"))
    result = cv.evaluate(bare, *TOP[1:], **settings)
    assert result.per_page[str(METRIC)].to_list() == [1.0, None]
    assert result.per_page["2DCG"].to_list()[1] == 0.0  # has no ideal: nothing shown is nothing gained
    alone = cv.evaluate(bare, *TOP[1:], **settings | {"metrics": METRIC})
    assert (alone.counts["no_relevant"], alone.mean[str(METRIC)]) == (1, 1.0)
    assert alone.per_page["status"].to_list() == ["scored", "no_relevant"]
    zero = cv.evaluate(bare, *TOP[1:], no_relevant="zero", **settings)
    assert zero.per_page[str(METRIC)].to_list() == [1.0, 0.0]
    with pytest.raises(cv.DataError, match="layouts: 1 page shows no relevant item, so there is nothing to arrange"):
        cv.evaluate(bare, *TOP[1:], no_relevant="error", **settings)
    compared = cv.compare({"one": TOP[0], "bare": bare}, *TOP[1:], **settings, permutations=9)
    assert compared.summary.startswith(
        "Users left out: 1 under bare, 0 under one (their pages show nothing relevant, so there is nothing to arrange)"
    ) or compared.summary.startswith("Users left out: 0 under one, 1 under bare")
    assert dict(compared.systems.filter(pl.col("metric") == str(METRIC)).select("system", "left_out").rows()) == {
        "one": 0,
        "bare": 1,
    }


def test_users_whose_relevant_items_have_no_category() -> None:
    """With a given items table they are left out and counted; with items from layouts they score 0."""
    tables = (TOP[0], judgments(("u", "a", 1), ("v", "z", 1)), TOP[2])
    with pytest.warns(cv.DataWarning, match="1 relevant item has no category in items"):
        result = cv.evaluate(*tables, metrics=[METRIC, "N2DCG"], grid=GRID)
    assert result.per_page[str(METRIC)].to_list() == [1.0, None]
    assert result.per_page["N2DCG"].to_list()[1] == 0.0  # its ideal needs no category
    with pytest.warns(cv.DataWarning, match="1 relevant item has no category in items"):
        alone = cv.evaluate(*tables, metrics=METRIC, grid=GRID, no_relevant="zero")
    assert (alone.counts["no_category"], alone.per_page["status"].to_list()) == (1, ["scored", "no_category"])
    with pytest.warns(cv.DataWarning, match="1 relevant item has no category in layouts"):
        shown = cv.evaluate(*tables[:2], metrics=METRIC, grid=GRID)
    assert shown.per_page[str(METRIC)].to_list() == [1.0, 0.0]


def test_a_positive_page_with_no_ideal_is_above_it() -> None:
    outside = layouts(("u", 1, 1, "z", "Top"), ("v", 1, 1, "a", "Top"))
    tables = (outside, judgments(("u", "z", 1), ("v", "a", 1)), TOP[2])
    with pytest.warns(cv.DataWarning):
        result = cv.evaluate(*tables, metrics=METRIC, grid=GRID, invalid="count")
    assert (result.counts["above_ideal"], result.counts["invalid"]) == (1, 1)


def test_rows_whose_items_share_several_categories_have_none() -> None:
    """Without labels either row may be either category, so that neither repeats the other."""
    pages = layouts(("u", 1, 1, "a", ""), ("u", 1, 2, "b", ""), ("u", 2, 1, "c", ""), ("u", 2, 2, "d", ""))
    items = {"item_id": list("aabbccdd"), "category": ["Top", "New"] * 4}
    result = cv.evaluate(pages.drop("category"), judgments(("u", "a", 1)), items, metrics=METRIC, grid=GRID)
    assert (result.counts["invalid"], result.mean[str(METRIC)]) == (0, 1.0)


def test_a_carousel_that_no_page_shows_holds_a_row() -> None:
    """With capacity="shown" pages tell how much other carousels hold, and nothing about this one."""
    pages = layouts(("u", 1, 1, "a", "Top"))
    items = {"item_id": ["a", "b", "c", "d"], "category": ["Top", "Top", "New", "New"]}
    liked = judgments(*(("u", item, 1) for item in "abcd"))
    assert ideals((pages, liked, items), capacity="shown") == pytest.approx({"u": 1.0 + 0.8 + 0.5})
