"""Scores become the pages that a plain loop over users makes of them, and every page is fit to be judged."""

import gzip
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.building.from_scores import pages_from_scores
from carouseval.building.run_files import read_run, scores_from_arrays
from carouseval.building.sample import sample
from carouseval.building.settings import CategoryOrder

ROOT = Path(__file__).parent.parent.parent
SCORES = {"user_id": [7, 7, 7], "item_id": ["a", "b", "c"], "score": [0.2, 0.9, 0.5]}
ITEMS = {"item_id": ["a", "b", "b", "c"], "category": ["drama", "crime", "drama", "drama"]}


def added(scores: list[float]) -> float:
    total = 0.0
    for score in scores:  # sum() adds more exactly from Python 3.12 on
        total += score
    return total


def plain_page(
    scored: dict[Any, float],
    members: dict[Any, set[Any]],
    grid: cv.Grid,
    order: str,
    categories: list[Any] | None,
    pinned: dict[Any, int],
    unique_items: bool,
    min_items: int,
) -> list[tuple[Any, ...]]:
    """One user's page: row, col, item, category, pinned."""
    lists = {
        category: sorted((item for item in its if item in scored), key=lambda item: (-scored[item], item))
        for category, its in members.items()
    }
    lists = {category: its for category, its in lists.items() if its}

    def worth(category: Any) -> float:
        top = [scored[item] for item in lists[category]][: grid.cols]
        if order == "fixed":
            return -float((categories or []).index(category))
        return top[0] if order in ("best", "remaining") else added(top) / (len(top) if order == "mean" else 1)

    free = [c for c in lists if c not in pinned and (categories is None or c in categories)]
    free.sort(key=lambda c: (-worth(c), lists[c][0], c))
    fixed = sorted((c for c in lists if c in pinned), key=lambda c: pinned[c])
    page: list[tuple[Any, ...]] = []
    row = 1
    lowest = min([0.0, *scored.values()])
    weights = cv.discounts.RowPage().weights(grid)

    def next_items(category: Any) -> list[Any]:
        return [item for item in lists[category] if not unique_items or item not in shown][: grid.cols]

    def rank(category: Any) -> tuple[float, bool, Any, Any]:
        its = next_items(category)
        new = [(scored[i] - lowest) * weights[row - 1, at] for at, i in enumerate(its) if i not in shown]
        return -added(new), not its, its[:1], category

    while row <= grid.rows and (free or fixed):
        shown = {item for _, _, item, _, _ in page}
        if order == "remaining":
            free.sort(key=rank)
        category = (fixed if fixed and (pinned[fixed[0]] <= row or not free) else free).pop(0)
        its = next_items(category)
        if len(its) >= min_items:
            page += [(row, col, item, category, category in pinned) for col, item in enumerate(its, 1)]
            row += 1
    return page


@pytest.mark.parametrize("seed", range(150))
def test_pages_are_those_of_a_plain_loop(seed: int) -> None:
    rng = random.Random(seed)
    text = rng.random() < 0.5
    users: list[Any] = [f"u{k}" if text else k - 2 for k in range(rng.randint(1, 6))]
    items: list[Any] = [f"i{k}" if text else k - 3 for k in range(rng.randint(1, 14))]
    labels: list[Any] = [f"c{k}" if text else k for k in range(rng.randint(1, 7))]
    belongs = {(item, rng.choice(labels), None) for item in items for _ in range(rng.randint(1, 3))}
    if rng.random() < 0.4:
        belongs |= {(rng.choice(items), rng.choice(labels), rng.choice(users)) for _ in range(5)}
    values = rng.choice([[0.0, -0.0, 1.0], [rng.gauss(0, 1) for _ in range(30)], [-2.0, 0.1, 0.2, 0.3, 1e9]])
    lines = [(u, i, rng.choice(values)) for u in users for i in items if rng.random() < 0.8] or [
        (users[0], items[0], 1)
    ]
    rng.shuffle(lines)
    present = sorted({category for _, category, _ in belongs})
    grid = cv.Grid(rng.randint(1, 5), rng.randint(1, 4))
    order = rng.choice(get_args(CategoryOrder))
    chosen = rng.sample(present, rng.randint(1, len(present))) if order == "fixed" or rng.random() < 0.3 else None
    pins: dict[Any, int] = {}
    if rng.random() < 0.5:
        count = rng.randint(0, min(len(present), grid.rows, 2))
        rows = rng.sample(range(1, grid.rows + 1), count)
        pins = dict(zip(rng.sample(present, count), rows, strict=True))
    unique_items, min_items = rng.random() < 0.6, rng.choice([1, 1, 2, 3])
    expected = []
    for user in sorted({u for u, _, _ in lines}):
        members: dict[Any, set[Any]] = {}
        for item, category, owner in belongs:
            if owner in (None, user):
                members.setdefault(category, set()).add(item)
        scored = {i: s for u, i, s in lines if u == user}
        page = plain_page(scored, members, grid, order, chosen, pins, unique_items, min_items)
        expected += [(user, *cell) for cell in page]
    scores = pl.DataFrame(lines, schema=["user_id", "item_id", "score"], orient="row")
    frame = pl.DataFrame(
        sorted(belongs, key=str),
        schema={"item_id": scores["item_id"].dtype, "category": pl.String if text else pl.Int64}
        | {"user_id": scores["user_id"].dtype},
        orient="row",
    )
    if frame["user_id"].null_count() == frame.height and rng.random() < 0.5:
        frame = frame.drop("user_id")
    found = pages_from_scores(
        scores,
        frame,
        grid,
        order=order,
        categories=chosen,
        pinned=pins,
        unique_items=unique_items,
        min_items=min_items,
    )
    assert found.columns == ["user_id", "row", "col", "item_id", "category", "pinned"]
    assert found.rows() == expected
    if found.height:
        assert_valid(found, frame, grid)
        if unique_items:
            assert not found.select("user_id", "item_id").is_duplicated().any()


def assert_valid(pages: pl.DataFrame, items: pl.DataFrame, grid: cv.Grid) -> None:
    """Evaluation refuses invalid pages, and gaps are warnings, which tests refuse."""
    judgments = pages.filter(row=1, col=1).select("user_id", "item_id", relevance=1.0)
    result = cv.evaluate(pages, judgments, items, grid=grid)
    assert result.counts["invalid"] == result.counts["gaps"] == result.counts["missing"] == 0
    assert cv.check(pages, judgments, items, grid=grid).ok


def test_order_of_lines_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    data = sample(40, systems=["new"])
    ids = data.items["item_id"].unique().sort()
    lines = pl.DataFrame({"user_id": np.repeat(np.arange(40), 300), "score": rng.integers(0, 9, 12000)})
    lines = lines.with_columns(item_id=ids.gather(np.concatenate([rng.permutation(2000)[:300] for _ in range(40)])))
    pages = pages_from_scores(lines, data.items, cv.TV)
    shuffled = pages_from_scores(lines.sample(fraction=1, shuffle=True, seed=1), data.items.reverse(), cv.TV)
    assert_frame_equal(pages, shuffled)
    assert pages["row"].max() == cv.TV.rows
    assert_valid(pages, data.items, cv.TV)


def test_rows_go_to_what_is_not_shown_above() -> None:
    """Drama and crime share their best items: whichever comes second has little left, and comedy goes before it."""
    scores = {"user_id": [1] * 5, "item_id": [1, 2, 3, 4, 5], "score": [9.0, 8.0, 1.0, 5.0, 4.0]}
    genres = ["drama", "drama", "drama", "crime", "crime", "comedy", "comedy"]
    items = {"item_id": [1, 2, 3, 1, 2, 4, 5], "category": genres}

    def rows(**options: Any) -> list[str]:
        return pages_from_scores(scores, items, **options)["category"].unique(maintain_order=True).to_list()

    assert rows() == rows(order="remaining") == ["drama", "comedy"]  # nothing is left for crime
    assert rows(order="best") == ["crime", "drama", "comedy"]  # equal, by name
    # crime may repeat the items of drama, but is worth nothing below it
    assert rows(unique_items=False) == ["drama", "comedy", "crime"]
    assert rows(order="sum", unique_items=False) == ["drama", "crime", "comedy"]


def test_more_items_are_no_loss_where_scores_are_negative() -> None:
    """As log probabilities are; a plain sum would put the shortest row on top."""
    scores = {"user_id": [1] * 4, "item_id": [1, 2, 3, 4], "score": [-1.0, -1.5, -2.0, -1.2]}
    items = {"item_id": [1, 2, 3, 4], "category": ["long", "long", "long", "short"]}
    assert pages_from_scores(scores, items)["category"][0] == "long"
    assert pages_from_scores(scores, items, order="sum")["category"][0] == "short"
    huge = {**scores, "score": [1e308, 1e308, 1e308, -1e308]}
    assert pages_from_scores(huge, items)["category"].to_list() == ["long"] * 3 + ["short"]


def test_ties_stand_by_item_then_category() -> None:
    scores = {"user_id": [1] * 4, "item_id": [10, 9, 2, 1], "score": [1.0, 1.0, 1.0, 0.5]}
    items = {"item_id": [10, 9, 2, 2, 1], "category": ["z", "z", "y", "x", "z"]}
    found = pages_from_scores(scores, items, order="best", unique_items=False)
    assert found.select("row", "item_id", "category").rows() == [
        *((1, 2, "x"), (2, 2, "y"), (3, 9, "z"), (3, 10, "z"), (3, 1, "z"))
    ]
    remaining = pages_from_scores(scores, items, cv.Grid(3, 1), unique_items=False)
    assert remaining.select("row", "item_id", "category").rows() == [(1, 2, "x"), (2, 9, "z"), (3, 2, "y")]


def test_a_pinned_row_moves_up_rather_than_leave_one_empty() -> None:
    found = pages_from_scores(SCORES, ITEMS, pinned={"drama": 5})
    assert found.select("row", "category", "pinned").unique().sort("row").rows() == [
        (1, "crime", False),
        (2, "drama", True),
    ]
    assert "pinned" not in pages_from_scores(SCORES, ITEMS).columns


def test_any_table_will_do(tmp_path: Path) -> None:
    expected = pages_from_scores(SCORES, ITEMS)
    scores, items = pl.DataFrame(SCORES), pl.DataFrame(ITEMS)
    scores.write_csv(tmp_path / "scores.csv")
    items.write_parquet(tmp_path / "items.parquet")
    from_files = pages_from_scores(tmp_path / "scores.csv", str(tmp_path / "items.parquet"))
    assert_frame_equal(from_files, expected.cast({"user_id": pl.String}))  # text alone has no type
    assert_frame_equal(pages_from_scores(scores.to_pandas(), items.to_arrow()), expected)
    theirs = scores.rename({"user_id": "user", "item_id": "item", "score": "prediction"}).lazy()
    names = {"scores": {"user_id": "user", "item_id": "item", "score": "prediction"}}
    assert_frame_equal(pages_from_scores(theirs, items, columns=names), expected)


def test_items_without_a_category_are_counted() -> None:
    scores = {"user_id": [7, 8, 8], "item_id": ["a", "x", "b"], "score": [1, 2, 3]}
    message = r"scores: 1 of 3 lines are left out because their .* no category: 1 item, first item_id='x' \(line 2\)"
    with pytest.warns(cv.DataWarning, match=message) as warned:
        found = pages_from_scores(scores, ITEMS)
    assert warned[0].filename == __file__
    assert found["item_id"].to_list() == ["a", "b"]
    with warnings.catch_warnings():  # what is only not allowed here has a category
        warnings.simplefilter("error")
        assert pages_from_scores(SCORES, ITEMS, categories=["crime"])["item_id"].to_list() == ["b"]
    with pytest.raises(cv.DataError, match="none of the items has a category"):
        pages_from_scores(SCORES, {"item_id": ["z"], "category": ["drama"]})


def test_a_page_may_be_empty() -> None:
    found = pages_from_scores(SCORES, ITEMS, min_items=4)
    assert found.is_empty()
    assert found.schema["user_id"] == pl.Int64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"score": [0.2, float("nan"), 0.5]},
            r"scores: column score, line 2: found nan. A score must be a finite number",
        ),
        ({"score": [0.2, float("inf"), 0.5]}, r"scores: column score, line 2: found inf"),
        (
            {"item_id": ["a", "b", "a"]},
            r"scores: user_id=7 item_id='a' is scored twice, the second time on line 3\. Each item has one",
        ),
        ({"item_id": [1, 2, 3]}, r"7 never equals '7'"),
        ({"user_id": [7, None, 7]}, r"scores: column user_id, line 2: found nothing"),
        ({"item_id": [["a"], ["b"], ["c"]]}, r"scores: found lists of items"),
        ({"user_id": [], "item_id": [], "score": []}, r"scores: the table has no lines"),
    ],
)
def test_bad_scores_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.DataError, match=message):
        pages_from_scores(SCORES | change, ITEMS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"order": "bets"},
            "order must be 'remaining', 'best', 'mean', 'sum' or 'fixed', found 'bets'. Did you mean 'best'",
        ),
        ({"order": "fixed"}, "order='fixed' needs categories"),
        ({"categories": ["dramma"]}, "categories: items has no category 'dramma'. Did you mean 'drama'"),
        ({"categories": ["drama", "drama"]}, "categories: 'drama' is listed twice"),
        ({"categories": "drama"}, "categories must be a list of categories, found 'drama'"),
        ({"pinned": {"news": 1}}, "pinned: items has no category 'news'"),
        ({"pinned": {"drama": 0}}, "pinned: the row of 'drama' must be an integer of at least 1"),
        ({"pinned": {"drama": 11}}, "'drama' is pinned to row 11, but the grid has only 10 rows"),
        ({"pinned": {"drama": 1, "crime": 1}}, "'drama' and 'crime' are both pinned to row 1"),
        ({"pinned": ["drama"]}, "pinned must be a dict"),
        ({"min_items": 0}, "min_items must be an integer of at least 1"),
        ({"unique_items": "no"}, "unique_items must be True or False"),
        ({"grid": {"tv": cv.TV}}, "grid must be one Grid"),
        ({"columns": {"scores": {"user_id": "customer"}}}, "there is no column 'customer' in scores"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        pages_from_scores(SCORES, ITEMS, **options)


def test_run_files(tmp_path: Path) -> None:
    run = tmp_path / "system.run"
    text = "7 Q0 m1 1 0.9 mine\r\n\n 7\tQ0  m2 2 -5e-1 mine \n8 Q0 m1 1 3 mine"
    run.write_text(text)
    expected = pl.DataFrame({"user_id": [7, 7, 8], "item_id": ["m1", "m2", "m1"], "score": [0.9, -0.5, 3.0]})
    assert_frame_equal(read_run(run), expected)
    assert_frame_equal(read_run(str(run), "trec"), expected)
    (tmp_path / "run.gz").write_bytes(gzip.compress(text.encode()))
    assert_frame_equal(read_run(tmp_path / "run.gz"), expected)
    expected.write_csv(tmp_path / "run.csv")
    assert_frame_equal(read_run(tmp_path / "run.csv"), expected)
    expected.write_csv(tmp_path / "run.tsv", separator="\t")
    assert_frame_equal(read_run(tmp_path / "run.tsv"), expected)
    (tmp_path / "trec.tsv").write_text(text)
    assert_frame_equal(read_run(tmp_path / "trec.tsv", "trec"), expected)
    with pytest.raises(cv.DataError, match=r"scores: missing columns .* If it is a TREC run, .* format='trec'"):
        read_run(tmp_path / "trec.tsv")
    run.write_text("007 Q0 99999999999999999999 1 0.9 mine\n")
    assert read_run(run).rows() == [("007", "99999999999999999999", 0.9)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("7 Q0 m1 1 0.9 x\n\n7 Q0 m2 2 0.5\n", r"system.run, line 3: found '7 Q0 m2 2 0.5'. A line of a TREC run is"),
        (
            "7 Q0 m1 1 high x\n7 Q0 m2 2 nan x",
            r"line 1: the score is 'high' \(2 such lines\). A score must be a finite",
        ),
        ("\n \n", "is empty"),
    ],
)
def test_bad_run_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "system.run").write_text(text)
    with pytest.raises(cv.DataError, match=message):
        read_run(tmp_path / "system.run")


def test_files_that_are_no_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cv.DataError, match="No such file"):
        read_run(tmp_path / "none.run")
    (tmp_path / "latin.run").write_bytes(b"7 Q0 caf\xe9 1 2 x")
    with pytest.raises(cv.DataError, match="not in UTF-8"):
        read_run(tmp_path / "latin.run")
    (tmp_path / "bad.gz").write_bytes(b"7 Q0 m1 1 2 x")
    with pytest.raises(cv.DataError, match="gzip"):
        read_run(tmp_path / "bad.gz")
    with pytest.raises(cv.ParameterError, match="format must be 'auto' or 'trec'"):
        read_run(tmp_path / "bad.gz", "qrels")  # type: ignore[arg-type]


def test_arrays() -> None:
    lowest = np.finfo(np.float32).min
    scores = np.array([[0.5, 0.25, lowest], [1.0, -np.inf, 0.0]], np.float32)
    found = scores_from_arrays(np.array([4, 5]), np.array([[3, 1, 2], [2, 3, -1]]), scores)
    assert found.rows() == [(4, 3, 0.5), (4, 1, 0.25), (5, 2, 1.0)]
    text = scores_from_arrays(["ann"], np.array([["a", "b"]], object), [[2, 1]])
    assert text.rows() == [("ann", "a", 2.0), ("ann", "b", 1.0)]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([1], [[1, 2]], [[0.5]]), r"item_ids \(1, 2\) and scores \(1, 1\)"),
        (([1, 2], [[1, 2]], [[0.5, 1]]), r"user_ids has shape \(2,\)"),
        (([1], [1, 2], [[0.5, 1]]), r"item_ids has shape \(2,\), expected \(users, k\)"),
        (([1, 2], [[1, 2], [3]], [[0.5, 1], [2]]), "item_ids is not an array"),
        (([1], [[1, 2]], [[0.5, np.nan]]), r"row 1, place 2 \(user_id=1\) holds nan"),
        (([1], [[1, 2]], [["a", "b"]]), "Scores are numbers"),
        (([1.5], [[1, 2]], [[1, 2]]), "user_id holds Float64; ids are integers or text"),
        (([1], [[(1,), "a"]], [[1, 2]]), "item_ids"),
    ],
)
def test_bad_arrays_are_refused(arrays: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(cv.DataError, match=message):
        scores_from_arrays(*arrays)


class Implicit:
    """Returns what implicit 0.7.3 returns: int32 columns of its matrix and float32 scores, the lowest for no item."""

    def __init__(self, matrix: np.ndarray) -> None:
        self.matrix = matrix.astype(np.float32)

    def recommend(self, rows: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
        columns = np.argsort(-self.matrix[rows], axis=1, kind="stable")[:, :top].astype(np.int32)
        scores = np.take_along_axis(self.matrix[rows], columns, axis=1)
        columns[:, -1], scores[:, -1] = -1, np.finfo(np.float32).min  # nothing is left to recommend
        return columns, scores


def test_implicit_returns_columns_that_are_mapped_to_ids() -> None:
    """Columns of its matrix look like ids: used as such, every page is plausible and wrong."""
    data = cv.sample(60, systems=["new"], ids="int")
    user_ids = data.judgments["user_id"].unique().sort().to_numpy()
    item_ids = np.random.default_rng(0).permutation(data.items["item_id"].unique().sort().to_numpy())
    column_of = {item: column for column, item in enumerate(item_ids.tolist())}
    preferences = np.zeros((len(user_ids), len(item_ids)))
    for user, item, relevance in data.judgments.select("user_id", "item_id", "relevance").iter_rows():
        preferences[np.searchsorted(user_ids, user), column_of[item]] = relevance
    rows = np.arange(len(user_ids))
    columns, scores = Implicit(preferences).recommend(rows, 50)

    mapped = scores_from_arrays(user_ids[rows], item_ids[columns], scores)
    assert mapped.height == columns.size - len(rows)  # places without an item are left out, though -1 has an id too
    for user, item, score in mapped.sample(100, seed=0).iter_rows():
        assert score == preferences[np.searchsorted(user_ids, user), column_of[item]]
    means = []
    for table in (mapped, scores_from_arrays(user_ids[rows], columns, scores)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # not every column is an id
            pages = cv.pages_from_scores(table, data.items)
            means.append(cv.evaluate(pages, data.judgments, data.items).mean["N2DCG_cat"])
    assert means[0] > 0.8 > 0.3 > means[1]


def test_the_example_gives_one_score_in_every_format() -> None:
    script = [sys.executable, "-W", "error", str(ROOT / "examples" / "from_scores.py")]
    shown = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert shown.startswith("The same made-up scores in five formats:")
    words = shown.split()
    scores = {words[words.index(name) + 1] for name in ("lenskit", "recbole", "rectools", "implicit", "trec")}
    assert len(scores) == 1
    assert 0 < float(scores.pop()) < 1


def test_progress_is_reported() -> None:
    steps: list[tuple[str, int, int]] = []
    scores = {"user_id": [7, 7, 8], "item_id": ["a", "b", "a"], "score": [0.2, 0.9, 0.5]}
    items = {"item_id": ["a", "b"], "category": ["drama", "crime"]}
    cv.pages_from_scores(scores, items, cv.Grid(3, 5), progress=lambda *step: steps.append(step))
    assert steps == [("reading", 3, 3), *(("filling rows", row, 3) for row in (1, 2, 3))]


@pytest.mark.parametrize("categories", [[["a"]], [True], [1.5]])
def test_categories_that_are_none(categories: Any) -> None:
    scores = {"user_id": [1], "item_id": [1], "score": [1.0]}
    with pytest.raises(cv.ParameterError, match="a category is text or an integer"):
        cv.pages_from_scores(scores, {"item_id": [1], "category": [1]}, categories=categories)


def test_arrays_with_nobody() -> None:
    with pytest.raises(cv.DataError, match="scores: "):
        scores_from_arrays(np.array([None, 1]), [[1], [2]], [[1.0], [1.0]])
