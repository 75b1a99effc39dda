"""What carousels add, against pages put together by hand; built pages, against all orders."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.random import Generator, default_rng

import carouseval as cv
from tests.depth import some

GRID = cv.Grid(4, 4, page_size=2, visible_rows=2)
LABELS = ["A", "B", "C", "D", "E", "F"]


def table(lines: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(lines)


def world(seed: int, carousels: int = 4, users: int = 5) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Candidates, judgments and items: items of several categories, users without some carousels, or without any."""
    rng = default_rng(seed)
    members = {label: rng.choice(12, 6, replace=False).tolist() for label in LABELS}
    members["Z"] = [i for i in range(12) if not any(i in its for its in members.values())]
    items = table([{"item_id": i, "category": label} for label, its in members.items() for i in its])
    candidates = [
        {"user_id": f"u{u}", "carousel": label, "category": label, "col": col, "item_id": item}
        for u in range(users - 1)
        for label in LABELS[:carousels]
        if rng.random() < 0.8 or (u, label) == (0, "A")
        for col, item in enumerate(row(rng, members[label]), 1)
    ]
    judged = [(f"u{u}", int(i), float(rng.integers(0, 4))) for u in range(users + 1) for i in rng.permutation(12)[:7]]
    judgments = pl.DataFrame(judged, schema=["user_id", "item_id", "relevance"], orient="row")
    # one user has judged without liking anything
    last = pl.col("user_id") == f"u{users}"
    return (
        table(candidates),
        judgments.with_columns(pl.when(last).then(0.0).otherwise("relevance").alias("relevance")),
        items,
    )


def row(rng: Generator, members: list[int]) -> list[int]:
    """Some members; now and then one of them twice."""
    drawn: list[int] = rng.permutation(members)[: rng.integers(1, 4)].tolist()
    return drawn + drawn[:1] * int(rng.random() < 0.3)


def pages(candidates: pl.DataFrame, orders: dict[str, list[str]]) -> pl.DataFrame:
    """Everybody's page, from each user's carousels from the top; those the user lacks are left out."""
    lines = []
    for (user,), mine in candidates.partition_by("user_id", as_dict=True).items():
        owned = set(mine["carousel"])
        for at, label in enumerate([one for one in orders.get(str(user), []) if one in owned], 1):
            lines.append(mine.filter(pl.col("carousel") == label).with_columns(row=pl.lit(at)))
    return pl.concat(lines).drop("carousel") if lines else pl.DataFrame()


def mean(layouts: pl.DataFrame, judgments: pl.DataFrame, items: pl.DataFrame, metric: Any = "N2DCG_cat") -> float:
    if layouts.is_empty():
        return 0.0
    return float(cv.evaluate(layouts, judgments, items, metrics=metric, grid=GRID).mean[str(metric)])


def same_for_all(candidates: pl.DataFrame, order: Any) -> pl.DataFrame:
    return pages(candidates, {user: list(order) for user in candidates["user_id"].unique()})


@pytest.mark.filterwarnings("ignore::carouseval.errors.DataWarning")
@pytest.mark.parametrize("metric", ["N2DCG_cat", "N2DCG_cat(d_a)@3x3", "N2DCG", "2DCG"])
@pytest.mark.parametrize("at", [None, 1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_gains_are_differences_of_scores(seed: int, at: int | None, metric: str) -> None:
    candidates, judgments, items = world(seed)
    fixed = {"u0": ["A", "B"], "u1": ["B"], "u3": ["B", "A"]}  # u2 has no page yet
    page = pages(candidates, fixed)
    others = candidates.filter(pl.col("carousel").is_in(["C", "D"]))
    found = cv.marginal_gains(page, others, judgments, items, row=at, metrics=metric, grid=GRID)
    assert found.score == pytest.approx(mean(page, judgments, items, metric))
    for name, gain in found.gains.items():
        longer = {}
        for user in ("u0", "u1", "u2", "u3"):
            owned = candidates.filter(pl.col("user_id") == user)["carousel"]
            order = [one for one in fixed.get(user, []) if one in owned]
            order.insert(len(order) if at is None else at - 1, name)
            longer[user] = order
        assert gain == pytest.approx(mean(pages(candidates, longer), judgments, items, metric) - found.score, abs=1e-12)
        assert at is not None or gain >= 0
    frame = found.to_frame()
    assert frame["gain"].is_sorted(descending=True)
    assert (frame["low"] <= frame["gain"] + 1e-12).all()
    assert (frame["gain"] <= frame["high"] + 1e-12).all()
    assert found.counts["users"] == 5  # u4 has neither page nor carousel and scores 0; u5 likes nothing
    means = found.per_user.group_by("carousel").agg(pl.col("gain").sum() / 5, pl.len().cast(pl.Int64))
    assert dict(means.select("carousel", "gain").rows()) == pytest.approx(found.gains)
    assert dict(means.select("carousel", "len").rows()) == dict(frame.select("carousel", "users").rows())


LIMITS: dict[str, dict[str, Any]] = {
    "shown": {"capacity": "shown"},
    "declared": {"capacity": {"A": 1, "C": 2, "E": 1}},
    "of single users": {
        "carousels": {
            "category": ["A", "C", "C", "D", "E", "E"],
            "user_id": [None, None, "u0", "u1", "u3", "u0"],
            "capacity": [2, 1, 3, None, 1, 2],
        }
    },
    "both": {"carousels": {"category": ["A", "B"], "capacity": [1, None]}, "capacity": "shown"},
    "personal": {"carousels": {"category": ["Y"], "personal": [True]}, "capacity": "shown"},
}


def limited_world(seed: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The same with short rows, and personal rows Y of items that no table lists there."""
    candidates, judgments, items = world(seed)
    own = judgments.group_by("user_id").agg(pl.col("item_id").sort().head(2)).explode("item_id")
    own = own.with_columns(
        carousel=pl.lit("Y"), category=pl.lit("Y"), col=pl.int_range(1, pl.len() + 1).over("user_id")
    )
    return pl.concat([candidates, own.select(candidates.columns)]), judgments, items


@pytest.mark.filterwarnings("ignore::carouseval.errors.DataWarning")
@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("limits", LIMITS)
@pytest.mark.parametrize("seed", range(3))
def test_carousels_hold_as_much_as_in_a_comparison(seed: int, limits: str, pinned: bool) -> None:
    """Each user's gain is the difference of that user's scores, where the ideal is that of all pages compared."""
    candidates, judgments, items = limited_world(seed)
    settings = LIMITS[limits] | {"grid": GRID, "invalid": "count"}
    if limits != "personal":
        candidates = candidates.filter(pl.col("carousel") != "Y")
    fixed = {"u0": ["A", "B"], "u1": ["B"], "u3": ["B", "A"]}
    others = candidates.filter(pl.col("carousel").is_in(["C", "D", "Y"]))
    has_pin = {"pinned": pl.col("row") == 1} if pinned else {}
    systems = {"page": pages(candidates, fixed).with_columns(**has_pin)}
    found = cv.marginal_gains(systems["page"], others, judgments, items, **settings)
    for name in found.gains:
        longer = {user: [*fixed.get(user, []), name] for user in ("u0", "u1", "u2", "u3", "u4", "u5")}
        on_page = (pl.col("row") == 1) & pl.col("user_id").is_in(list(fixed))
        systems[name] = pages(candidates, longer).with_columns(**({"pinned": on_page} if pinned else {}))
    scores = cv.compare(systems, judgments, items, permutations=9, **settings)
    per_user = {
        name: dict(one[0].per_user.select("user_id", "N2DCG_cat").rows()) for name, one in scores.evaluations.items()
    }
    assert found.score == pytest.approx(scores.evaluations["page"][0].mean["N2DCG_cat"])
    for place, name in enumerate(found.carousels):
        gains = dict(zip(found.users, found.user_gains[:, place], strict=True))
        wanted = {user: per_user[name].get(user, 0.0) - per_user["page"].get(user, 0.0) for user in gains}
        assert gains == pytest.approx(wanted, abs=1e-12)
    assert found.config["capacity"] == settings.get("capacity", "grid")
    assert found.config["carousels"] == ("given" if "carousels" in settings else "none")


def test_ideal_pages_hold_what_is_declared_or_shown() -> None:
    """Three relevant items of a category: the candidate shows one, the current page two in its row."""
    items = {"item_id": [1, 2, 3, 9], "category": ["a", "a", "a", "b"]}
    judgments = {"user_id": [1, 1, 1], "item_id": [1, 2, 3], "relevance": [1, 1, 1]}
    candidates = {"user_id": [1], "carousel": ["a"], "col": [1], "item_id": [1]}
    other = {"user_id": [1], "row": [1], "col": [1], "item_id": [9]}
    two = {"user_id": [2, 2], "row": [1, 1], "col": [1, 2], "item_id": [9, 1], "category": ["a", "a"]}
    weights = cv.discounts.RowPage().weights(cv.RECGAZE)

    def gain(page: Any, **settings: Any) -> float:
        return cv.marginal_gains(page, candidates, judgments, items, **settings).gains["a"]

    assert gain(None) == pytest.approx(weights[0, 0] / weights[0, :3].sum())
    assert gain(None, capacity="shown") == pytest.approx(1.0)
    assert gain(None, capacity={"a": 2}) == pytest.approx(weights[0, 0] / weights[0, :2].sum())
    assert gain(None, carousels={"category": ["a"], "capacity": [1]}) == pytest.approx(1.0)
    assert gain(other, capacity="shown") == pytest.approx(weights[1, 0] / weights[0, 0])
    longer = gain(two, capacity="shown", invalid="count")
    assert longer == pytest.approx(weights[0, 0] / weights[0, :2].sum())
    for limit in ({"capacity": "shown"}, {"carousels": {"category": ["a"], "capacity": [1]}}):
        assert cv.build_pages(candidates, judgments, items, **limit).score == pytest.approx(1.0)


@pytest.mark.filterwarnings("ignore::carouseval.errors.DataWarning")
@pytest.mark.parametrize("limits", LIMITS)
def test_built_pages_are_limited_as_in_an_evaluation(limits: str) -> None:
    candidates, judgments, items = limited_world(1)
    settings = LIMITS[limits] | {"grid": GRID, "invalid": "count"}
    if limits != "personal":
        candidates = candidates.filter(pl.col("carousel") != "Y")
    built = cv.build_pages(candidates, judgments, items, rows=3, **settings)
    systems = {"built": built.layouts.drop("carousel")}
    for name in candidates["carousel"].unique():  # all candidates say how much is shown
        systems[name] = same_for_all(candidates, [name])
    scores = cv.compare(systems, judgments, items, permutations=9, **settings)
    assert built.score == pytest.approx(scores.evaluations["built"][0].mean["N2DCG_cat"])


@pytest.mark.parametrize("build", [True, False])
def test_candidates_beyond_their_capacity_are_refused(build: bool) -> None:
    def run(**settings: Any) -> Any:
        if build:
            return cv.build_pages(LINES, JUDGED, ITEMS, **settings)
        return cv.marginal_gains(None, LINES, JUDGED, ITEMS, **settings)

    message = (
        "candidates: 1 carousel holds more than the capacity of its category, first user_id=1 carousel='a'. Raise the "
        "capacity in carousels or capacity=, drop the cells beyond it, or use invalid='count'."
    )
    for limit in ({"capacity": {"a": 1}}, {"carousels": {"category": ["a"], "capacity": [1]}}):
        with pytest.raises(cv.DataError) as error:
            run(**limit)
        assert str(error.value) == message
        assert run(**limit, invalid="count").counts["invalid_carousels"] == 1
    assert run(capacity={"a": 2}).counts["invalid_carousels"] == 0
    with pytest.raises(cv.ParameterError, match="capacity must be 'grid', 'shown' or a dict"):
        run(capacity="show")
    with pytest.raises(cv.DataError, match="carousels: category='a' has a second line"):
        run(carousels={"category": ["a", "a"], "capacity": [1, 2]})
    with pytest.raises(cv.DataError, match="outside their category"):
        run(carousels={"category": ["a"], "user_id": [2]})


def test_an_item_on_the_page_counts_once() -> None:
    page = {"user_id": [1], "row": [1], "col": [1], "item_id": [7]}
    items = {"item_id": [7, 8], "category": ["x", "x"]}
    judgments = {"user_id": [1, 1], "item_id": [7, 8], "relevance": [1, 1]}
    candidates = {"user_id": [1, 1, 1], "carousel": ["again", "both", "both"], "col": [1, 1, 2], "item_id": [7, 7, 8]}
    found = cv.marginal_gains(page, candidates, judgments, items, metrics="2DCG", grid=GRID)
    weights = cv.discounts.RowPage().weights(GRID)
    assert found.gains == pytest.approx({"both": weights[1, 1], "again": 0.0})
    # where it is put above, the page's own copy no longer counts
    above = cv.marginal_gains(page, candidates, judgments, items, row=1, metrics="2DCG", grid=GRID)
    assert above.gains == pytest.approx({"both": weights[0, 1], "again": 0.0})
    assert found.to_frame()["wins"].to_list() == [1, 0]


def test_pinned_rows_keep_their_ideal() -> None:
    candidates, judgments, items = world(1)
    page = same_for_all(candidates, "AB").with_columns(pinned=pl.col("row") == 1)
    others = candidates.filter(pl.col("carousel") == "C")
    found = cv.marginal_gains(page, others, judgments, items, grid=GRID)
    pinned = (pl.col("row") == 1) & pl.col("user_id").is_in(page["user_id"].unique().to_list())
    longer = same_for_all(candidates, "ABC").with_columns(pinned=pinned)
    assert found.score + found.gains["C"] == pytest.approx(mean(longer, judgments, items))
    assert found.score == pytest.approx(mean(page, judgments, items))
    with pytest.raises(cv.errors.DataError, match="would move a pinned row"):
        cv.marginal_gains(page, others, judgments, items, row=1, grid=GRID)


@pytest.mark.parametrize("metric", ["N2DCG_cat", "2DCG(d_emp(odd))"])
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", some(range(5), 3))
def test_the_best_order_is_found(seed: int, rows: int, metric: str) -> None:
    """Also where lower rows weigh more."""
    odd = cv.discounts.Empirical(default_rng(seed).random(GRID.shape), name="odd")
    one = cv.metric("2DCG", discount=odd) if "odd" in metric else cv.metric(metric)
    candidates, judgments, items = world(seed)
    built = cv.build_pages(candidates, judgments, items, rows=rows, metrics=one, grid=GRID)
    scores = {
        order: mean(same_for_all(candidates, order), judgments, items, one)
        for order in itertools.permutations("ABCD", rows)
    }
    assert built.exact
    assert built.bound == built.score == pytest.approx(max(scores.values()))
    assert built.score == pytest.approx(scores[built.order])
    assert built.score == pytest.approx(mean(built.layouts, judgments, items, one))
    tops = [mean(same_for_all(candidates, built.order[:row]), judgments, items, one) for row in range(rows + 1)]
    assert built.gains == pytest.approx(np.diff(tops))
    order: tuple[str, ...] = ()
    for _ in range(rows):  # the greedy page has the carousel on each row that marginal_gains names first
        left = candidates.filter(~pl.col("carousel").is_in(order))
        found = cv.marginal_gains(same_for_all(candidates, order), left, judgments, items, metrics=one, grid=GRID)
        order = (*order, min(found.gains, key=lambda name: (-round(found.gains[name], 12), name)))
    assert built.greedy_score == pytest.approx(scores[order])


@pytest.mark.parametrize("seed", range(6))
def test_a_search_cut_short_gives_a_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    candidates, judgments, items = world(seed, carousels=6, users=8)
    best = cv.build_pages(candidates, judgments, items, rows=3, grid=GRID)
    assert best.exact
    monkeypatch.setattr("carouseval.building.greedy_page._ALL_ORDERS", 0)
    monkeypatch.setattr("carouseval.building.greedy_page._NODES", 0)
    cut = cv.build_pages(candidates, judgments, items, rows=3, grid=GRID)
    assert cut.greedy_score == best.greedy_score
    assert cut.greedy_score <= cut.score <= best.score * (1 + 1e-12)
    assert best.score <= cut.bound * (1 + 1e-12)
    assert cut.exact == (cut.bound <= cut.score * (1 + 1e-12))
    assert 0.5 < cut.share <= 1
    assert f"at least {cut.share:.2%} of the best order" in cut.heading or cut.exact


def test_local_search_mends_what_greedy_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The carousel with a little of everything comes first, and leaves the others little to add."""
    shows = {"mix": [1, 3], "left": [1, 2], "right": [3, 4]}
    lines = [
        {"user_id": 1, "carousel": name, "col": col, "item_id": item}
        for name, its in shows.items()
        for col, item in enumerate(its, 1)
    ]
    judgments = {"user_id": [1] * 4, "item_id": [1, 2, 3, 4], "relevance": [1.1, 1.0, 1.1, 1.0]}
    flat = cv.metric("2DCG", discount=cv.discounts.Empirical(np.ones((2, 2)), name="flat"))
    built = cv.build_pages(table(lines), judgments, rows=2, metrics=flat, grid=cv.Grid(2, 2), gain="linear")
    assert built.greedy_score == pytest.approx(3.2)  # mix, then left
    assert set(built.order) == {"left", "right"}
    assert built.exact
    assert built.score == built.bound == pytest.approx(4.2)
    assert built.heading == "2DCG(d_emp(flat)) 4.2000, the best order"
    monkeypatch.setattr("carouseval.building.greedy_page.OrderSearch.run", lambda *_: False)
    local = cv.build_pages(table(lines), judgments, rows=2, metrics=flat, grid=cv.Grid(2, 2), gain="linear")
    assert (set(local.order), local.exact) == ({"left", "right"}, False)


def test_one_metric_may_come_in_a_list() -> None:
    assert cv.build_pages(LINES, JUDGED, metrics=["2DCG"]).metric == "2DCG"
    assert cv.marginal_gains(None, LINES, JUDGED, metrics=("N2DCG",)).metric == "N2DCG"


def test_ties_go_by_name() -> None:
    lines = {"user_id": [1, 1, 1], "carousel": ["c", "b", "a"], "col": [1, 1, 1], "item_id": [1, 2, 3]}
    judgments = {"user_id": [1] * 3, "item_id": [1, 2, 3], "relevance": [1, 1, 1]}
    assert cv.build_pages(lines, judgments).order == ("a", "b", "c")
    assert list(cv.marginal_gains(None, lines, judgments).gains) == ["a", "b", "c"]
    shuffled = pl.DataFrame(lines)[[1, 0, 2]]
    assert cv.build_pages(shuffled, judgments).order == ("a", "b", "c")


def test_tables_of_all_kinds(tmp_path: Path) -> None:
    candidates, judgments, items = world(2)
    expected = cv.marginal_gains(None, candidates, judgments, items, grid=GRID)
    for name, one in (("candidates", candidates), ("judgments", judgments), ("items", items)):
        one.write_csv(tmp_path / f"{name}.csv")
    paths = [tmp_path / f"{name}.csv" for name in ("candidates", "judgments", "items")]
    assert cv.marginal_gains(pl.DataFrame(), *paths, grid=GRID).gains == expected.gains
    lists = candidates.group_by("user_id", "carousel").agg(pl.col("item_id").sort_by("col").alias("items"))
    assert cv.marginal_gains(None, lists, judgments, items, grid=GRID).gains == pytest.approx(expected.gains)
    by_category = candidates.drop("carousel")
    assert cv.marginal_gains(None, by_category, judgments, items, grid=GRID).gains == pytest.approx(expected.gains)
    theirs = candidates.rename({"carousel": "shelf", "user_id": "customer"})
    for columns in (
        {"carousel": "shelf", "candidates": {"user_id": "customer"}},
        {"candidates": {"carousel": "shelf", "user_id": "customer"}},
    ):
        found = cv.marginal_gains(None, theirs, judgments, items, grid=GRID, columns=columns)  # type: ignore[arg-type]
        assert found.gains == expected.gains


def test_carousels_without_category_may_have_any_name() -> None:
    candidates, judgments, items = world(3)
    named = candidates.drop("category").with_columns(pl.format("algorithm {}", "carousel").alias("carousel"))
    expected = cv.build_pages(candidates, judgments, items, grid=GRID)
    built = cv.build_pages(named, judgments, items, grid=GRID)
    assert built.order == tuple(f"algorithm {name}" for name in expected.order)
    assert built.score == pytest.approx(expected.score) == pytest.approx(mean(built.layouts, judgments, items))


def test_written_down(tmp_path: Path) -> None:
    candidates, judgments, items = world(0)
    found = cv.marginal_gains(None, candidates, judgments, items, grid=GRID)
    assert json.loads(found.to_json())["results"][0]["carousel"] == next(iter(found.gains))
    assert found.to_markdown().startswith(
        f"{found.heading}\n\n| carousel | gain | low | high | score | wins | losses |"
    )
    built = cv.build_pages(candidates, judgments, items, grid=GRID)
    assert json.loads(built.to_json())["exact"] is True
    assert built.heading in built.to_markdown()
    assert "toprule" in built.to_latex()
    assert pl.read_csv(built.save(tmp_path / "built.csv"))["row"].to_list() == [1, 2, 3, 4]
    assert "the best order; 4 rows" in repr(built)
    assert "4 candidates" in repr(found)
    for result in (built, found):
        assert len(repr(result)) < 200
        assert result._repr_html_().count("<tr>") == 5  # the header and four carousels


LINES: dict[str, list[Any]] = {"user_id": [1, 1], "carousel": ["a", "a"], "col": [1, 2], "item_id": [1, 2]}
JUDGED = {"user_id": [1], "item_id": [1], "relevance": [1]}
PAGE = {"user_id": [1], "row": [1], "col": [1], "item_id": [1], "category": ["x"]}


@pytest.mark.parametrize(
    ("page", "candidates", "options", "message"),
    [
        (None, pl.DataFrame(LINES).clear(), {}, "candidates: the table has no lines"),
        (None, {k: v for k, v in LINES.items() if k != "carousel"}, {}, "missing column carousel .or category"),
        (None, {k: v for k, v in LINES.items() if k != "item_id"}, {}, "candidates: missing column item_id"),
        (None, LINES | {"col": [1, 1]}, {}, "1 cell appears twice, first user_id=1 carousel='a' col=1 .line 2"),
        (None, LINES | {"col": [1, 16]}, {}, "1 cell lies outside the grid of 10x15, first user_id=1 col=16 .line 2"),
        (None, LINES | {"col": [1, 0]}, {}, "candidates: column col, line 2: found 0"),
        (None, LINES | {"carousel": ["a", None]}, {}, "candidates: column carousel, line 2: found nothing"),
        (None, LINES | {"category": ["x", "y"]}, {"items": {"item_id": [1], "category": ["x"]}}, "outside their"),
        (None, LINES, {"row": 11}, "row must be at most 10, the last row of the grid of 10x15, found 11"),
        (None, LINES, {"row": 0}, "row must be an integer of at least 1"),
        (None, LINES, {"metrics": "NDCG@10"}, "give one of 2DCG, N2DCG and N2DCG_cat, .* found NDCG@10"),
        (None, LINES, {"metrics": ["2DCG", "N2DCG"]}, "give one of 2DCG, N2DCG and N2DCG_cat, .* found 2DCG, N2DCG"),
        (None, LINES, {"columns": {"carousel": "shelf"}}, "there is no column 'shelf'"),
        (None, LINES, {"columns": {"shelf": "carousel"}}, "there is no column 'shelf'"),
        (None, LINES, {"grid": 3, "row": 1}, "grid must be a carouseval.Grid"),
        (PAGE, LINES, {"grid": cv.Grid(1, 3)}, "1 page fills all 1 rows of the grid, first user_id=1"),
        (PAGE | {"page_id": [1]}, LINES, {}, "layouts: found a column page_id, but each user has one page here"),
        ({k: v for k, v in PAGE.items() if k != "category"}, LINES, {}, "no table gives the categories of items"),
        (PAGE, LINES | {"item_id": ["1", "2"]}, {}, "7 never equals '7'"),
    ],
)
def test_errors_say_what_is_wrong(page: Any, candidates: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        cv.marginal_gains(page, candidates, JUDGED, **options)


def test_rows_in_range() -> None:
    with pytest.raises(cv.CarousevalError, match=r"rows must be at most 1 \(candidates: 1, grid: 10x15\), found 2"):
        cv.build_pages(LINES, JUDGED, rows=2)


def test_ids_that_never_meet_are_warned_of() -> None:
    items = {"item_id": [1, 2, 5], "category": ["x", "x", "x"]}
    with pytest.warns(cv.errors.DataWarning, match="no carousel shows an item that is relevant to its user"):
        built = cv.build_pages(LINES, JUDGED | {"item_id": [5]}, items)
    assert (built.score, built.bound, built.share) == (0.0, 0.0, 1.0)


def without(table: dict[str, Any], *columns: str) -> dict[str, Any]:
    return {name: values for name, values in table.items() if name not in columns}


TWO_ROWS: dict[str, list[Any]] = {
    "user_id": [1, 1],
    "row": [1, 2],
    "col": [1, 1],
    "item_id": [3, 4],
    "category": ["x", "y"],
}
ITEMS = {"item_id": [1, 2, 3, 4], "category": ["a", "a", "x", "y"]}
ONE_LABEL = without(LINES, "carousel") | {"category": ["a", "b"]}
AMBIGUOUS = {"item_id": [1, 2, 3, 3, 4], "category": ["a", "a", "x", "z", "y"]}
PINNED = without(TWO_ROWS, "category") | {"pinned": [True, False]}
Call = dict[str, Any]  # what differs from a call that works


@pytest.mark.parametrize(
    ("refused", "message", "advised"),
    [
        (
            {"layouts": without(TWO_ROWS, "category")},
            r"Give items \(item_id, category\) or a column category in layouts\.$",
            [{"items": ITEMS}, {"layouts": TWO_ROWS}],
        ),
        (
            {"layouts": TWO_ROWS | {"row": [1, 3]}},
            "Number rows 1, 2, 3 without gaps, or use invalid='count'.",
            [{"layouts": TWO_ROWS}, {"invalid": "count"}],
        ),
        (
            {"layouts": TWO_ROWS | {"category": ["x", "x"]}},
            "Give each carousel its own category, or use invalid='count'.",
            [{"layouts": TWO_ROWS}, {"invalid": "count"}],
        ),
        (
            {"layouts": TWO_ROWS | {"category": ["z", "y"]}, "items": ITEMS},
            "Add its items, declare it personal in carousels, or leave out items .*; or use invalid='count'.",
            [
                {"items": {"item_id": [1, 2, 3, 3, 4], "category": ["a", "a", "x", "z", "y"]}},
                {"carousels": {"category": ["z"], "personal": [True]}},
                {"items": None},
                {"invalid": "count"},
            ],
        ),
        (
            {"candidates": LINES | {"category": ["x", "x"]}, "items": ITEMS},
            "Add the category to items, correct the carousel, or use invalid='count'.",
            [
                {"items": {"item_id": [1, 2, 3, 4], "category": ["x", "x", "x", "y"]}},
                {"candidates": LINES},
                {"invalid": "count"},
            ],
        ),
        (
            {"layouts": PINNED, "items": AMBIGUOUS},
            r"1 pinned row has no known category, .*\. Add a column category to layouts\.$",
            [{"layouts": PINNED | {"category": ["x", "y"]}}],
        ),
        (
            {"layouts": TWO_ROWS | {"page_id": [1, 1]}},
            "Keep one page per user and drop page_id.",
            [{"layouts": TWO_ROWS}],
        ),
        (
            {"grid": cv.Grid(2, 5)},
            "Use a larger grid, or drop the last row.",
            [{"grid": cv.Grid(3, 5)}, {"layouts": {name: values[:1] for name, values in TWO_ROWS.items()}}],
        ),
        (
            {"layouts": TWO_ROWS | {"pinned": [False, True]}, "row": 1},
            "Choose a row further down.",
            [{"row": 3}, {"row": None}],
        ),
        ({"metrics": ["NDCG@10", "RR"]}, "give one of 2DCG, N2DCG and N2DCG_cat", [{"metrics": "N2DCG(d_t)@2x2"}]),
        (
            {"candidates": ONE_LABEL | {"category": ["a", None]}},
            "Every line needs a category; or drop the column and use one named carousel.",
            [{"candidates": ONE_LABEL}, {"candidates": LINES}],
        ),
        (
            {"candidates": LINES | {"carousel": [5, 5]}},
            "carousels are named by integers and the categories of layouts by text, .* Convert one of them.",
            [{"candidates": LINES | {"carousel": ["5", "5"]}}, {"layouts": TWO_ROWS | {"category": [1, 2]}}],
        ),
        (
            {"candidates": without(LINES, "carousel") | {"shelf": ["a", "a"]}},
            r"use columns=\{'carousel': 'shelf', \.\.\.\}",
            [{"columns": {"carousel": "shelf"}}, {"candidates": LINES}, {"candidates": ONE_LABEL}],
        ),
        (
            {"candidates": LINES | {"col": [1, 16]}},
            "Use a larger grid, or drop these cells.",
            [{"grid": cv.Grid(10, 16)}, {"candidates": {name: values[:1] for name, values in LINES.items()}}],
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")
def test_all_advice_is_accepted(refused: Call, message: str, advised: list[Call]) -> None:
    call: Call = {"layouts": TWO_ROWS, "candidates": LINES, "judgments": JUDGED} | refused
    with pytest.raises(cv.CarousevalError, match=message):
        cv.marginal_gains(**call)
    for change in advised:
        assert len(cv.marginal_gains(**call | change).gains) in (1, 2)


def test_invalid_pages_and_carousels_are_counted_and_scored() -> None:
    candidates, judgments, items = world(1)
    page = candidates.filter(pl.col("carousel") == candidates["carousel"][0])
    twice = pl.concat([page.with_columns(row=row) for row in (1, 3)]).drop("carousel")  # skips row 2, repeats
    odd = candidates.with_columns(category=pl.lit("none of them"))
    found = cv.marginal_gains(twice, odd, judgments, items, grid=GRID, invalid="count", metrics="N2DCG")
    pages = twice["user_id"].n_unique()
    assert found.counts["invalid"] == pages
    assert found.counts["invalid_carousels"] == candidates.select("user_id", "carousel").n_unique()
    assert found.config["invalid"] == "count"
    before = cv.evaluate(twice, judgments, items, grid=GRID, invalid="count", metrics="N2DCG").mean["N2DCG"]
    assert found.score == pytest.approx(before)
    name = candidates["carousel"][-1]
    below = odd.filter(pl.col("carousel") == name).with_columns(row=4).select(twice.columns)
    after = cv.evaluate(pl.concat([twice, below]), judgments, items, grid=GRID, invalid="count", metrics="N2DCG")
    assert found.gains[name] == pytest.approx(after.mean["N2DCG"] - before)


def test_nobody_to_score_is_warned_of() -> None:
    with pytest.warns(cv.DataWarning, match="judgments: no user has a relevant item, so there is nothing to gain"):
        cv.marginal_gains(None, LINES, JUDGED | {"relevance": [0]})


def test_progress_is_reported() -> None:
    steps: list[tuple[str, int, int]] = []
    cv.marginal_gains(TWO_ROWS, LINES, JUDGED, items=ITEMS, progress=lambda *step: steps.append(step))
    assert [step for step in steps if step[0] == "reading"] == [("reading", 2, 2)] * 2
    assert {done == total for _, done, total in steps} == {True}
    steps.clear()
    candidates, judgments, items = world(0)
    cv.build_pages(candidates, judgments, items, rows=2, grid=GRID, progress=lambda *step: steps.append(step))
    last = {what: (done, total) for what, done, total in steps}
    assert list(last) == ["reading", "solving", "scoring", "improving", "bounding", "searching"]
    assert all(done == total for done, total in last.values())
    assert all(done <= total for _, done, total in steps)


def test_a_carousel_of_one_of_several_users_is_personal() -> None:
    """As in evaluate: without items, no ideal holds what only another user is shown."""
    candidates = {
        "user_id": [1, 1, 2],
        "carousel": ["Because you watched X", "drama", "drama"],
        "col": [1, 1, 1],
        "item_id": [10, 11, 11],
    }
    judgments = {"user_id": [1, 2, 2], "item_id": [10, 10, 11], "relevance": [1, 3, 1]}
    with pytest.warns(cv.DataWarning, match="1 relevant item has no category"):  # user 2 cannot be shown item 10
        found = cv.marginal_gains(None, candidates, judgments)
    assert found.user_gains[:, found.carousels.index("drama")].tolist() == [0.0, pytest.approx(1.0)]
    items = {"item_id": [10, 11], "category": ["Because you watched X", "drama"]}
    everyone = cv.marginal_gains(None, candidates, judgments, items)
    assert everyone.user_gains[:, everyone.carousels.index("drama")].tolist()[1] < 0.5
