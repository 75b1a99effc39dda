"""Evaluation of tables: by hand, against the array functions, and unchanged by how the data comes."""

import math
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.building.sample import Sample, sample

# Table 1 of the paper: two rows of three, categories A and B; a1, a2 and b1 are relevant.
TABLE1 = cv.discounts.Empirical([[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]], name="table1")
GRID = cv.Grid(2, 3, page_size=3)
METRIC = cv.metric("N2DCG_cat", discount=TABLE1)
LAYOUTS = pl.DataFrame(
    {
        "user_id": ["u"] * 6,
        "row": [1, 1, 1, 2, 2, 2],
        "col": [1, 2, 3, 1, 2, 3],
        "item_id": ["b1", "b2", "b3", "a3", "a1", "a2"],
        "category": ["B"] * 3 + ["A"] * 3,
    }
)
JUDGMENTS = pl.DataFrame({"user_id": ["u"] * 3, "item_id": ["a1", "a2", "b1"], "relevance": [1, 1, 1]})


def score(layouts: Any = LAYOUTS, judgments: Any = JUDGMENTS, items: Any = None, **options: Any) -> float:
    return float(cv.evaluate(layouts, judgments, items, metrics=METRIC, grid=GRID, **options).mean[str(METRIC)])


@pytest.fixture(scope="module")
def data() -> Sample:
    return sample(300, pages=2, missing=0.1, ragged=True, pinned=True, systems=["new", "prod"])


def full(data: Sample, layouts: Any, **options: Any) -> cv.Evaluation:
    metrics = ["N2DCG_cat", "N2DCG_cat@3x5", "N2DCG", "2DCG", "NDCG@10"]
    return cv.evaluate(layouts, data.judgments, data.items, metrics=metrics, **options)


def test_by_hand() -> None:
    """B on top: 1.0 for b1, then .2 + .1 in row 2; the ideal has A on top: 1.0 + .9 + .3."""
    result = cv.evaluate(LAYOUTS, JUDGMENTS, None, metrics=METRIC, grid=GRID)
    page = result.per_page.row(0, named=True)
    name = str(METRIC)
    assert page[f"{name}.dcg"] == pytest.approx(1.3)
    assert page[f"{name}.ideal"] == pytest.approx(2.2)
    assert result.mean[name] == pytest.approx(1.3 / 2.2)
    assert result.counts == {
        "users": 1, "pages": 1, "lines": 6, "missing": 0, "no_relevant": 0, "duplicates": 0, "unjudged": 3,
        "no_category": 0, "uncategorised": 0, "personal": 0, "limited": 0, "invalid": 0, "gaps": 0, "bounded": 0,
        "above_ideal": 0,
    }  # fmt: skip


def test_one_denominator_for_every_system() -> None:
    """A page that shows one relevant item well must not beat one that shows three."""
    one = LAYOUTS.with_columns(item_id=pl.Series(["a1", "x1", "x2", "b2", "b3", "b4"]), category=LAYOUTS["category"])
    one = one.with_columns(category=pl.Series(["A"] * 3 + ["B"] * 3))
    items = pl.concat([LAYOUTS.select("item_id", "category"), one.select("item_id", "category")]).unique()
    assert score(one, items=items) < score(items=items)
    assert score(one, candidates="displayed") == 1.0


def test_an_item_of_two_categories_counts_once_in_the_ideal() -> None:
    """a1 belongs to B too: {a1, b1} on top and a2 below make 1 + .9 + .3, and so do {a1, a2} and b1."""
    items = pl.concat([LAYOUTS.select("item_id", "category"), pl.DataFrame({"item_id": ["a1"], "category": ["B"]})])
    result = cv.evaluate(LAYOUTS, JUDGMENTS, items, metrics=METRIC, grid=GRID)
    assert result.per_page[f"{METRIC}.ideal"][0] == pytest.approx(2.2)
    every = cv.evaluate(LAYOUTS, JUDGMENTS, items, metrics=METRIC, grid=GRID, duplicates="every")
    assert every.per_page[f"{METRIC}.ideal"][0] == pytest.approx(1.0 + 0.9 + 0.3 + 0.2)


def test_the_ideal_leaves_no_row_empty() -> None:
    """Where weights rise from row to row, one category still stands on row 1, and two on rows 1 and 2."""
    rising = cv.metric("N2DCG_cat", discount=cv.discounts.Empirical([[0.1], [0.2], [1.0]], name="rising"))
    judgments = {"user_id": ["u"] * 2, "item_id": ["a", "b"], "relevance": [1, 1]}
    for categories, ideal in (("AA", 0.1), ("AB", 0.3)):
        layouts = {"user_id": ["u"], "row": [1], "col": [1], "item_id": ["a"], "category": ["A"]}
        items = {"item_id": ["a", "b"], "category": list(categories)}
        result = cv.evaluate(layouts, judgments, items, metrics=rising, grid=cv.Grid(3, 1))
        assert result.per_page[f"{rising}.ideal"][0] == pytest.approx(ideal)


@pytest.mark.parametrize(
    ("lines", "slots"),
    [
        ([("a", "A", None), ("b", "A", None)], 2),
        ([("a", "A", None), ("b", "A", None), ("b", "A", None)], 2),  # said twice
        ([("a", "A", None), ("b", "A", None), ("b", "A", "u")], 2),  # said to everyone and to u
        ([("a", "A", None), ("b", "A", "u"), ("b", "A", "u")], 2),
        ([("a", "A", None), ("b", "A", None), ("c", "A", "u")], 3),
        ([("a", "A", None), ("b", "A", None), ("c", "A", "v")], 2),
    ],
)
def test_a_category_fills_as_many_cells_as_it_has_items(lines: list[tuple[str, str, str | None]], slots: int) -> None:
    """Also where the cell after them has the largest weight."""
    rising = cv.metric("N2DCG_cat", discount=cv.discounts.Empirical([[0.25, 0.5, 1.0, 2.0]], name="rising"))
    layouts = {"user_id": ["u", "v"], "row": [1, 1], "col": [1, 1], "item_id": ["a", "a"], "category": ["A", "A"]}
    judgments = {"user_id": ["u", "v"], "item_id": ["a", "a"], "relevance": [1, 1]}
    items = pl.DataFrame(lines, schema=["item_id", "category", "user_id"], orient="row")
    result = cv.evaluate(layouts, judgments, items, metrics=rising, grid=cv.Grid(1, 4))
    assert result.per_page[f"{rising}.ideal"][0] == 2.0 ** (slots - 3)


def test_where_every_copy_counts_an_item_stands_once_in_each_category() -> None:
    metric = cv.metric("N2DCG", discount=TABLE1)
    layouts = {"user_id": ["u"], "row": [1], "col": [1], "item_id": ["x"], "category": ["A"]}
    judgments = {"user_id": ["u"] * 2, "item_id": ["x", "y"], "relevance": [2, 1]}
    items = {"item_id": ["x", "x", "y"], "category": ["A", "B", "B"]}
    for duplicates, ideal in (("best", 3 * 1.0 + 1 * 0.9), ("every", 3 * 1.0 + 3 * 0.9 + 1 * 0.8)):
        result = cv.evaluate(layouts, judgments, items, metrics=metric, grid=GRID, duplicates=cast(Any, duplicates))
        assert result.per_page[f"{metric}.ideal"][0] == pytest.approx(ideal)


def test_pinned_rows_stay() -> None:
    """With B pinned to the top the ideal is 1.0 for b1 and .3 + .2 for A below."""
    pinned = LAYOUTS.with_columns(pinned=pl.col("row") == 1)
    for candidates in ("judged", "displayed"):
        result = cv.evaluate(pinned, JUDGMENTS, None, metrics=METRIC, grid=GRID, candidates=candidates)
        assert result.per_page[f"{METRIC}.ideal"][0] == pytest.approx(1.5)


@pytest.mark.parametrize("seed", range(5))
def test_displayed_equals_the_array_functions(seed: int) -> None:
    """What a page shows, rearranged: the same as the functions of arrays say, gaps and ragged rows included."""
    rng = np.random.default_rng(seed)
    pages = rng.integers(0, 5, (40, 10, 15)).astype(float) * (rng.random((40, 10, 15)) < 0.3)
    pages[rng.random(pages.shape) < 0.1] = np.nan
    pages[0, 3:] = np.nan
    user, row, col = np.nonzero(~np.isnan(pages))
    lines = pl.DataFrame({"user_id": user, "row": row + 1, "col": col + 1, "item_id": np.arange(len(user))})
    judgments = lines.select("user_id", "item_id", relevance=pl.Series(pages[user, row, col]))
    names = ["N2DCG_cat", "N2DCG_cat(d_a)@3x5", "N2DCG", "2DCG", "NDCG@10", "DCG"]
    with pytest.warns(cv.DataWarning, match="gaps"):
        result = cv.evaluate(lines, judgments, None, metrics=names, candidates="displayed", invalid="count")
    for name in names:
        found = result.per_page[name].to_numpy()
        np.testing.assert_allclose(found, cv.metric(name)(pages, cv.RECGAZE), rtol=1e-13, err_msg=name)


def test_a_users_function() -> None:
    def biggest(gains: Any, weights: Any) -> float:
        return float((gains * weights).max())

    result = cv.evaluate(LAYOUTS, JUDGMENTS, None, metrics=[biggest, METRIC], grid=GRID)
    assert set(result.mean) == {"biggest", str(METRIC)}
    weights = cv.discounts.parse("d_rpd").weights(GRID)
    assert result.mean["biggest"] == pytest.approx(weights[0, 0])


@pytest.mark.parametrize(("duplicates", "total"), [("best", 1.0), ("first", 0.5), ("every", 1.5)])
def test_a_users_function_sees_the_copies_that_count(duplicates: Any, total: float) -> None:
    def by_hand(gains: Any, weights: Any) -> float:
        return float((gains * weights).sum())

    rising = cv.discounts.Empirical([[0.5, 1.0]], name="rising")
    metrics = [cv.metric(by_hand, discount=rising), cv.metric("2DCG", discount=rising)]
    layouts = {"user_id": ["u"] * 2, "row": [1, 1], "col": [1, 2], "item_id": ["x", "x"]}
    judgments = {"user_id": ["u"], "item_id": ["x"], "relevance": [1]}
    result = cv.evaluate(layouts, judgments, metrics=metrics, grid=cv.Grid(1, 2), duplicates=duplicates)
    assert list(result.mean.values()) == [total, total]


def same(left: cv.Evaluation, right: cv.Evaluation) -> None:
    """To the bit."""
    assert_frame_equal(left.per_page, right.per_page, check_exact=True)
    assert left.mean == right.mean
    assert left.counts == right.counts


def test_the_order_of_lines_does_not_matter(data: Sample) -> None:
    shuffled = data.layouts["new"].sample(fraction=1, shuffle=True, seed=1)
    mixed = Sample(
        data.items.sample(fraction=1, shuffle=True, seed=2),
        data.judgments.sample(fraction=1, shuffle=True, seed=3),
        {},
        {},
        (),
    )
    same(full(data, data.layouts["new"]), full(mixed, shuffled))


def test_memory_does_not_matter(data: Sample) -> None:
    """A budget of some kilobytes sends the lines through dozens of files."""
    whole = full(data, data.layouts["new"])
    split = full(data, data.layouts["new"], memory=1e-4)
    same(whole, split)
    shuffled = data.layouts["new"].sample(fraction=1, shuffle=True, seed=1)
    same(whole, full(data, shuffled, memory=1e-4))


def test_threads_do_not_matter(data: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = full(data, data.layouts["new"])
    monkeypatch.setenv("CAROUSEVAL_THREADS", "1")
    same(whole, full(data, data.layouts["new"]))


@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson"])
def test_files_give_the_same(kind: str, data: Sample, tmp_path: Path) -> None:
    paths = {}
    for name, frame in (("layouts", data.layouts["new"]), ("judgments", data.judgments), ("items", data.items)):
        paths[name] = tmp_path / f"{name}.{kind}"
        getattr(frame, f"write_{kind}")(paths[name])
    metrics = ["N2DCG_cat", "N2DCG_cat@3x5", "N2DCG", "2DCG", "NDCG@10"]
    found = cv.evaluate(paths["layouts"], paths["judgments"], paths["items"], metrics=metrics)
    wanted = full(data, data.layouts["new"])
    assert found.mean == wanted.mean
    assert found.per_page.select(metrics).equals(wanted.per_page.select(metrics))


def test_ids_do_not_matter() -> None:
    text, numbers = sample(50, ids="str", systems=["new"]), sample(50, ids="int", systems=["new"])
    found = [cv.evaluate(each.layouts["new"], each.judgments, each.items) for each in (text, numbers)]
    assert found[0].mean == found[1].mean
    assert found[0].per_page["N2DCG_cat"].equals(found[1].per_page["N2DCG_cat"])


def test_lists_give_the_same(data: Sample) -> None:
    layouts = data.layouts["new"]
    lists = layouts.sort("col").group_by(pl.exclude("col", "item_id"), maintain_order=True).agg("item_id")
    same(full(data, layouts), full(data, lists))


def test_an_evaluator_judges_many(data: Sample) -> None:
    """In any order, with the same results as one at a time."""
    evaluator = cv.Evaluator(data.judgments, data.items)
    results = {name: evaluator.evaluate(data.layouts[name]) for name in ("new", "prod", "new")}
    for name in ("new", "prod"):
        alone = cv.evaluate(data.layouts[name], data.judgments, data.items)
        same(results[name], alone)


def test_an_evaluator_needs_items() -> None:
    with pytest.raises(cv.ParameterError, match="items_from_layouts"):
        cv.Evaluator(JUDGMENTS, metrics=METRIC, grid=GRID).evaluate(LAYOUTS)
    items = cv.items_from_layouts(LAYOUTS)
    assert cv.Evaluator(JUDGMENTS, items, metrics=METRIC, grid=GRID).evaluate(LAYOUTS).mean[str(METRIC)] == score()


def test_without_any_category() -> None:
    bare = LAYOUTS.drop("category")
    with pytest.raises(cv.DataError, match=r"Give items .* or use candidates='displayed'"):
        score(bare)
    assert score(bare, candidates="displayed") == pytest.approx(1.3 / 2.2)
    assert cv.evaluate(bare, JUDGMENTS, None, metrics=["N2DCG", "NDCG@5"], grid=GRID).mean["NDCG@5"] > 0


class TestPolicies:
    """Users without a page, without judgments, without anything relevant."""

    judgments = pl.concat(
        [
            JUDGMENTS,
            pl.DataFrame({"user_id": ["gone", "bored"], "item_id": ["a1", "a1"], "relevance": [1, 0]}),
        ]
    )
    layouts = pl.concat([LAYOUTS, *(LAYOUTS.with_columns(user_id=pl.lit(who)) for who in ("bored", "stranger"))])

    def result(self, **options: Any) -> cv.Evaluation:
        return cv.evaluate(self.layouts, self.judgments, None, metrics=METRIC, grid=GRID, **options)

    def test_defaults(self) -> None:
        result = self.result()
        assert result.mean[str(METRIC)] == pytest.approx(1.3 / 2.2 / 2)
        status = dict(result.per_page.select("user_id", "status").iter_rows())
        assert status == {"bored": "no_relevant", "gone": "missing", "stranger": "no_relevant", "u": "scored"}
        assert result.per_user["user_id"].to_list() == ["gone", "u"]
        assert (result.counts["missing"], result.counts["no_relevant"]) == (1, 2)

    def test_skip_the_missing(self) -> None:
        assert self.result(missing_pages="skip").mean[str(METRIC)] == pytest.approx(1.3 / 2.2)

    def test_zero_for_those_without_relevant_items(self) -> None:
        assert self.result(no_relevant="zero").mean[str(METRIC)] == pytest.approx(1.3 / 2.2 / 4)

    @pytest.mark.parametrize(
        ("policy", "message"),
        [
            ("missing_pages", "layouts: 1 user has judgments but no page, first user_id='gone'"),
            ("no_relevant", "judgments: 2 pages have no relevant item, first user_id='bored'"),
            ("unjudged", "layouts: 14 items are shown without a judgment, first user_id='u' row=1 col=2 item_id='b2' "),
        ],
    )
    def test_errors(self, policy: str, message: str) -> None:
        with pytest.raises(cv.DataError, match=message):
            self.result(**{policy: "error"})

    def test_echoed(self) -> None:
        chosen = {"missing_pages": "skip", "no_relevant": "zero", "duplicates": "first", "candidates": "displayed"}
        config = self.result(**chosen).config
        assert {name: config[name] for name in chosen} == chosen
        assert (config["unjudged"], config["invalid"], config["gain"]) == ("zero", "error", "exp2")
        assert config["grid"] == {
            "rows": 2, "cols": 3, "page_size": 3, "visible_rows": 3, "swipe_step": None, "scroll_step": 1
        }  # fmt: skip

    @pytest.mark.parametrize(
        "policy", ["candidates", "duplicates", "missing_pages", "no_relevant", "unjudged", "invalid"]
    )
    def test_unknown(self, policy: str) -> None:
        with pytest.raises(cv.ParameterError, match=f"{policy} must be .* found 'beste'"):
            self.result(**{policy: "beste"})


def test_repeats() -> None:
    """a1 on both rows: it counts once, where it weighs most, or first, or every time."""
    items = pl.DataFrame({"item_id": ["a1", "a1", "b1", "a2"], "category": ["A", "B", "B", "A"]})
    layouts = {
        "user_id": ["u"] * 4, "row": [1, 1, 2, 2], "col": [1, 2, 1, 2],
        "item_id": ["b1", "a1", "a1", "a2"], "category": ["B", "B", "A", "A"],
    }  # fmt: skip
    weights = cv.discounts.Empirical([[1.0, 0.1], [0.5, 0.2]], name="odd")
    grid, name = cv.Grid(2, 2), "2DCG"
    judgments = {"user_id": ["u"], "item_id": ["a1"], "relevance": [1]}
    metric = cv.metric(name, discount=weights)
    found = {
        rule: cv.evaluate(layouts, judgments, items, metrics=metric, grid=grid, duplicates=rule).mean[str(metric)]
        for rule in ("best", "first", "every")
    }
    assert found == pytest.approx({"best": 0.5, "first": 0.1, "every": 0.6})
    with pytest.raises(
        cv.DataError, match="layouts: 1 item is repeated on its page, first user_id='u' row=2 col=1 item_id='a1'"
    ):
        cv.evaluate(layouts, judgments, items, metrics=metric, grid=grid, duplicates="error")


def test_personal_categories() -> None:
    """What is one user's own is no candidate of another's."""
    items = {"item_id": ["x", "x", "y"], "category": ["for you", "new", "new"], "user_id": ["u", "v", None]}
    layouts = {
        "user_id": ["u", "u", "v"], "row": [1, 2, 1], "col": [1, 1, 1],
        "item_id": ["y", "x", "y"], "category": ["new", "for you", "new"],
    }  # fmt: skip
    judgments = {"user_id": ["u", "u", "v", "v"], "item_id": ["x", "y", "x", "y"], "relevance": [1] * 4}
    flat = cv.discounts.Empirical([[1.0, 0.5], [0.4, 0.1]], name="flat")
    metric = cv.metric("N2DCG_cat", discount=flat)
    with pytest.warns(cv.DataWarning, match="'new' holds up to 2 there and at most 1 on any page, for 50% of users"):
        result = cv.evaluate(layouts, judgments, items, metrics=metric, grid=cv.Grid(2, 2))
    ideals = dict(result.per_page.select("user_id", f"{metric}.ideal").iter_rows())
    assert ideals == pytest.approx({"u": 1.4, "v": 1.5})  # u: a row each; v: both in "new"
    with pytest.raises(cv.DataError, match="1 item is outside its row's category"):
        cv.evaluate(
            {**layouts, "user_id": ["u", "u", "w"], "item_id": ["y", "x", "x"]},
            judgments,
            items,
            metrics=metric,
            grid=cv.Grid(2, 2),
        )


def test_judgments_of_single_pages() -> None:
    layouts = pl.concat([LAYOUTS.with_columns(page_id=pl.lit(page)) for page in (1, 2)])
    judgments = pl.concat(
        [JUDGMENTS.with_columns(page_id=pl.lit(1)), JUDGMENTS.head(1).with_columns(page_id=pl.lit(3))]
    )
    result = cv.evaluate(layouts, judgments, None, metrics=METRIC, grid=GRID)
    assert result.per_page.select("page_id", "status").rows() == [(1, "scored"), (2, "no_relevant"), (3, "missing")]
    assert result.mean[str(METRIC)] == pytest.approx(1.3 / 2.2 / 2)
    with pytest.raises(cv.DataError, match="layouts: missing column page_id; judgments have one"):
        cv.evaluate(LAYOUTS, judgments, None, metrics=METRIC, grid=GRID)


def test_several_pages_of_a_user_are_averaged_first() -> None:
    best = LAYOUTS.with_columns(
        row=3 - pl.col("row"),
        col=pl.when(pl.col("category") == "A").then(pl.col("col").replace({1: 3, 2: 1, 3: 2})).otherwise("col"),
    )
    pages = pl.concat([LAYOUTS.with_columns(page_id=pl.lit(1)), best.with_columns(page_id=pl.lit(2))])
    other = LAYOUTS.with_columns(user_id=pl.lit("v"), page_id=pl.lit(1))
    judgments = pl.concat([JUDGMENTS, JUDGMENTS.with_columns(user_id=pl.lit("v"))])
    result = cv.evaluate(pl.concat([pages, other]), judgments, None, metrics=METRIC, grid=GRID)
    assert result.per_user[str(METRIC)].to_list() == pytest.approx([(1.3 / 2.2 + 1) / 2, 1.3 / 2.2])
    assert result.mean[str(METRIC)] == pytest.approx(((1.3 / 2.2 + 1) / 2 + 1.3 / 2.2) / 2)


def test_segments_and_their_grids() -> None:
    data = sample(200, devices=True, systems=["new"])
    result = cv.evaluate(data.layouts["new"], data.judgments, data.items, by="device", grid=data.grids)
    for device, grid in data.grids.items():
        alone = data.layouts["new"].filter(pl.col("device") == device)
        users = alone["user_id"].unique().implode()
        wanted = cv.evaluate(alone, data.judgments.filter(pl.col("user_id").is_in(users)), data.items, grid=grid)
        row = result.segments.filter(pl.col("device") == device).row(0, named=True)
        assert row["N2DCG_cat"] == pytest.approx(wanted.mean["N2DCG_cat"], rel=1e-12)
        assert row["users"] == wanted.per_user.height
    grids = {name: grid for name, grid in data.grids.items() if name != "web"}
    with pytest.raises(cv.DataError, match="device has 'web', which grid does not list; it lists 'tv', 'phone'"):
        cv.evaluate(data.layouts["new"], data.judgments, data.items, by="device", grid=grids)
    with pytest.raises(cv.ParameterError, match="a dict of grids needs by="):
        cv.evaluate(data.layouts["new"], data.judgments, data.items, grid=data.grids)
    with pytest.raises(cv.ParameterError, match=r"no column 'devise' in layouts or judgments\. Did you mean 'device'"):
        cv.evaluate(data.layouts["new"], data.judgments, data.items, by="devise")


def test_a_segment_is_the_same_on_all_lines_of_a_page() -> None:
    layouts = LAYOUTS.with_columns(device=pl.Series(["tv"] * 5 + ["web"]))
    with pytest.raises(cv.DataError, match="column device, line 6: found 'web' for user_id='u', but another value"):
        cv.evaluate(layouts, JUDGMENTS, None, metrics=METRIC, grid=GRID, by="device")


def test_weights() -> None:
    pages = pl.concat([LAYOUTS, LAYOUTS.with_columns(user_id=pl.lit("v"), row=3 - pl.col("row"))])
    judgments = pl.concat([JUDGMENTS, JUDGMENTS.with_columns(user_id=pl.lit("v"))])
    weighted = pages.with_columns(traffic=pl.when(pl.col("user_id") == "u").then(3.0).otherwise(1.0))
    result = cv.evaluate(weighted, judgments, None, metrics=METRIC, grid=GRID, weight="traffic")
    u, v = (dict(result.per_user.select("user_id", str(METRIC)).iter_rows())[who] for who in "uv")
    assert result.mean[str(METRIC)] == pytest.approx((3 * u + v) / 4)
    by_user = judgments.with_columns(traffic=pl.when(pl.col("user_id") == "u").then(3.0).otherwise(1.0))
    assert cv.evaluate(pages, by_user, None, metrics=METRIC, grid=GRID, weight="traffic").mean == result.mean
    gone = pl.concat([judgments, JUDGMENTS.with_columns(user_id=pl.lit("gone"))])
    with pytest.raises(cv.DataError, match="1 page has no traffic, first user_id='gone'"):
        cv.evaluate(weighted, gone, None, metrics=METRIC, grid=GRID, weight="traffic")


@pytest.mark.parametrize("by", [None, "device"])
def test_known_order(by: str | None) -> None:
    data = sample(1000)
    means = [
        cv.evaluate(data.layouts[name], data.judgments, data.items, by=by).mean["N2DCG_cat"] for name in data.order
    ]
    assert means == sorted(means, reverse=True)


def test_relevance_too_large_for_its_gain(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_text("user_id,item_id,relevance\nu,a1,1\nu,a2,2000\n")
    with pytest.raises(cv.DataError, match=r"judgments: column relevance, line 3: found 2000, .* use gain='linear'"):
        score(judgments=path)
    assert score(judgments=path, gain="linear") > 0


@pytest.mark.parametrize("scale", [2.0**60, 2.0**900, 2.0**1021])
def test_gains_near_the_largest_float(scale: float) -> None:
    """Gains times a power of two have the same ratios, to the last bit."""
    large = JUDGMENTS.with_columns(pl.col("relevance") * scale)
    assert score(judgments=large, gain="linear") == score(gain="linear")


@pytest.mark.parametrize("metric", ["N2DCG", "NDCG@5", "2DCG"])
def test_large_gains_of_other_metrics(metric: str) -> None:
    large = JUDGMENTS.with_columns(pl.col("relevance") * 2.0**1000)
    found = cv.evaluate(LAYOUTS, large, metrics=metric, grid=GRID, gain="linear").mean[metric]
    small = cv.evaluate(LAYOUTS, JUDGMENTS, metrics=metric, grid=GRID, gain="linear").mean[metric]
    assert found == small * (2.0**1000 if metric == "2DCG" else 1)
    largest = JUDGMENTS.with_columns(relevance=pl.lit(1.7e308))
    with pytest.raises(cv.DataError, match=r"the largest gain is 1.7e\+308\. Rescale the relevances"):
        cv.evaluate(LAYOUTS, largest, metrics=["NDCG@5"], grid=GRID, gain="linear")


def test_gains_that_cannot_be_added_up() -> None:
    with pytest.raises(cv.DataError, match=r"more than a float holds; the largest gain is 1.7e\+308. Rescale"):
        score(judgments=JUDGMENTS.with_columns(relevance=pl.lit(1.7e308)), gain="linear")


def test_nothing_is_judged(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.warns(
        cv.DataWarning, match="no user of the layouts has a judgment.*'u' in layouts and 'U' in judgments"
    ):
        score(judgments=JUDGMENTS.with_columns(user_id=pl.lit("U")))


def test_uncategorised_items_are_counted() -> None:
    judgments = pl.concat([JUDGMENTS, pl.DataFrame({"user_id": ["u"], "item_id": ["z"], "relevance": [3]})])
    with pytest.warns(cv.DataWarning, match="1 relevant item has no category in layouts"):
        result = cv.evaluate(LAYOUTS, judgments, None, metrics=METRIC, grid=GRID)
    assert result.counts["uncategorised"] == 1
    assert result.mean[str(METRIC)] == pytest.approx(1.3 / 2.2)


def test_nobody_is_scored() -> None:
    result = cv.evaluate(LAYOUTS, JUDGMENTS.with_columns(relevance=pl.lit(0)), None, metrics=METRIC, grid=GRID)
    assert math.isnan(result.mean[str(METRIC)])
    assert result.to_dict()["results"][0]["mean"] is None


@pytest.mark.parametrize("metrics", [[], ["N2DCG_cat", "N2DCG_cat"], "N2DCG_kat"])
def test_wrong_metrics(metrics: Any) -> None:
    with pytest.raises(cv.CarousevalError):
        cv.evaluate(LAYOUTS, JUDGMENTS, None, metrics=metrics, grid=GRID)


def test_inputs_stay_as_they_were() -> None:
    layouts, judgments = LAYOUTS.clone(), JUDGMENTS.clone()
    score(layouts, judgments)
    assert layouts.equals(LAYOUTS)
    assert judgments.equals(JUDGMENTS)
