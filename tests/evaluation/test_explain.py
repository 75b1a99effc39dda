"""Explanations: the steps against brute force, and sums that must come out even."""

import itertools
import pickle
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.building.sample import Sample, sample
from carouseval.evaluation.explanation import LOSSES
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import JudgedSources
from carouseval.evaluation.reading.page_batch import page_batches
from carouseval.evaluation.scoring import ideal_problems
from carouseval.evaluation.scoring.loss_steps import LossSteps
from carouseval.evaluation.settings import Settings
from carouseval.show.terminal.explanation import page as draw_page
from tests.depth import some
from tests.evaluation.table_oracle import RefusedError, evaluate_tables
from tests.evaluation.test_evaluate import GRID, JUDGMENTS, LAYOUTS, METRIC
from tests.evaluation.test_evaluate_oracle import tables_of
from tests.evaluation.tiny_tables import tiny


def test_by_hand() -> None:
    """B on top of A: 1 + .2 + .1; with a1, a2 first in their row 1 + .3 + .2; with A on top 1 + .9 + .3."""
    result = cv.explain(LAYOUTS, JUDGMENTS, None, metrics=METRIC, grid=GRID)
    page = result.per_page.row(0, named=True)
    assert [page[name] for name in ("dcg", *LOSSES, "ideal")] == pytest.approx([1.3, 0.2, 0.7, 0.0, 2.2])
    assert result.shares == pytest.approx(
        {"score": 1.3 / 2.2, "item_order": 0.2 / 2.2, "row_order": 0.7 / 2.2, "choice": 0}
    )
    assert result.rows.rows() == [(1, 0.0), (2, pytest.approx(0.2 / 2.2))]
    lost = {(row, col): loss * 2.2 for row, col, loss in result.cells.select("row", "col", "loss").iter_rows()}
    wanted = {(1, 1): 0.0, (1, 2): 0.9, (2, 1): 0.3, (2, 2): -0.2, (2, 3): -0.1}
    assert lost == pytest.approx(wanted)
    assert result.summary.startswith(
        "These pages score 59.1 out of 100, the score of an ideal page; reordering the carousels"
    )


def test_choice() -> None:
    """What is not shown at all is lost to the choice of items."""
    poor = LAYOUTS.with_columns(item_id=pl.col("item_id").replace({"a1": "a4", "a2": "a5"}))
    items = pl.concat([LAYOUTS.select("item_id", "category"), poor.select("item_id", "category")]).unique()
    page = cv.explain(poor, JUDGMENTS, items, metrics=METRIC, grid=GRID).per_page.row(0, named=True)
    assert [page[name] for name in ("dcg", *LOSSES, "ideal")] == pytest.approx([1.0, 0.0, 0.0, 1.2, 2.2])


def test_a_page_above_its_ideal_loses_nothing() -> None:
    """Where every copy counts, a1 twice in a row is worth 1.9, more than any page that shows a1 once."""
    layouts = {"user_id": ["u"] * 2, "row": [1, 1], "col": [1, 2], "item_id": ["a1"] * 2, "category": ["A"] * 2}
    judgments = {"user_id": ["u"], "item_id": ["a1"], "relevance": [1]}
    with pytest.warns(cv.DataWarning, match="1 page gained more than the ideal page"):
        result = cv.explain(layouts, judgments, metrics=METRIC, grid=GRID, duplicates="every")
    page = result.per_page.row(0, named=True)
    assert [page[name] for name in ("dcg", *LOSSES, "ideal")] == pytest.approx([1.9, 0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("steps", "losses"),
    [
        ((1, 2, 4, 7), (1, 2, 3)),
        ((1, 3, 2, 4), (2, 0, 1)),  # the search for the order of rows was cut short
        ((1, 5, 6, 4), (3, 0, 0)),  # the page shows what no ideal may
        ((5, 6, 6, 4), (0, 0, 0)),  # and is above it
    ],
)
def test_losses_add_up_to_the_ideal(steps: tuple[float, ...], losses: tuple[float, ...]) -> None:
    nothing: Any = None
    assert LossSteps(np.array([steps], float), nothing, nothing, nothing, nothing).losses.tolist() == [list(losses)]


@pytest.mark.parametrize("start", some(range(0, 600, 100), 3))
def test_steps_of_tiny_pages(start: int) -> None:
    """S1 is the displayed ideal with every row pinned, S2 the displayed and S3 the judged ideal, by brute force."""
    for seed in range(start, start + 100):
        layouts, judgments, items, options = tiny(seed)
        frames, (metrics, grid, policies) = tables_of(seed)
        name = next(name for name in metrics if name.startswith("N2DCG_cat"))
        options["metrics"] = [entry for entry in options["metrics"] if entry[0] == name]
        policies["invalid"] = options["invalid"] = "count"
        policies["no_relevant"] = options["no_relevant"] = "skip"
        if "category" not in frames[0].columns and (items is None or "pinned" in frames[0].columns):
            continue
        still = [{**line, "pinned": True} for line in layouts]
        try:
            s1, s2, s3 = (
                {
                    (p["user_id"], p["page_id"]): p[name]
                    for p in evaluate_tables(lines, judgments, items, **options)["per_page"]
                }
                for options["candidates"], lines in (("displayed", still), ("displayed", layouts), ("judged", layouts))
            )
        except RefusedError:
            continue
        policies["candidates"] = "judged"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cv.DataWarning)
            found = cv.explain(frames[0], frames[1], frames[2], metrics=metrics[name], grid=grid, **policies)
        for row in found.per_page.filter(pl.col("ideal").is_not_null()).iter_rows(named=True):
            key = row["user_id"], row.get("page_id")
            steps = [s1[key]["dcg"], s1[key]["ideal"], s2[key]["ideal"], s3[key]["ideal"]]
            losses = [row[name] for name in LOSSES]
            assert min(losses) >= 0, (seed, key)
            assert row["dcg"] + sum(losses) == pytest.approx(max(row["dcg"], row["ideal"]), rel=1e-12), (seed, key)
            if steps[1] is None or steps != sorted(steps):
                continue  # a page that breaks the rules may be better than its ideal
            wanted = [steps[0], *np.diff(steps), steps[3]]
            assert [row[n] for n in ("dcg", *LOSSES, "ideal")] == pytest.approx(wanted, rel=1e-12, abs=1e-12), (
                seed,
                key,
            )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pinned": True, "ragged": True, "pages": 2, "missing": 0.1},
        {"duplicates": "every"},
        {"candidates": "displayed", "ragged": True},
        {"weight": "traffic", "pages": 3, "missing": 0.2, "missing_pages": "skip"},
        {"no_relevant": "zero", "metric": "N2DCG_cat(d_a)@6x10"},
    ],
)
def test_sums(options: dict[str, Any]) -> None:
    options = dict(options)
    made = {key: options.pop(key) for key in ("pinned", "ragged", "pages", "missing") if key in options}
    data = sample(120, systems=["new"], **made)
    layouts = data.layouts["new"].with_columns(traffic=pl.col("user_id").str.slice(-1).cast(pl.Float64) + 0.5)
    metric = options.pop("metric", "N2DCG_cat")
    result = cv.explain(layouts, data.judgments, data.items, metrics=metric, by="device", **options)
    score = cv.evaluate(layouts, data.judgments, data.items, metrics=metric, **options).mean[metric]
    assert result.shares["score"] == pytest.approx(score, rel=1e-12)
    assert sum(result.shares.values()) == pytest.approx(1, abs=1e-12)
    assert min(result.shares.values()) >= 0
    pages = result.per_page.filter(pl.col("ideal").is_not_null())
    parts = pages.select("dcg", *LOSSES).to_numpy().sum(axis=1)
    np.testing.assert_allclose(parts, pages["ideal"].to_numpy(), rtol=1e-12)
    assert result.cells["loss"].sum() == pytest.approx(sum(result.shares[name] for name in LOSSES), abs=1e-9)
    assert result.rows["item_order"].sum() == pytest.approx(result.shares["item_order"], abs=1e-12)
    for row in result.segments.iter_rows(named=True):
        assert sum(value for value in row.values() if isinstance(value, float)) == pytest.approx(1, abs=1e-12)
    split = cv.explain(layouts, data.judgments, data.items, metrics=metric, by="device", memory=1e-4, **options)
    assert split.shares == result.shares


def test_one_page_beside_its_ideal() -> None:
    result = cv.explain(LAYOUTS, JUDGMENTS, None, metrics=METRIC, grid=GRID)
    view = result.page("u")
    assert view.ideal.select("row", "col", "item_id", "category").rows() == [
        (1, 1, "a1", "A"),
        (1, 2, "a2", "A"),
        (2, 1, "b1", "B"),
    ]
    assert view.shown["gain"].to_list() == [1, 0, 0, 0, 1, 1]
    assert list(view.values.values()) == pytest.approx([1.3, 1.5, 2.2, 2.2])
    with pytest.raises(cv.ParameterError, match="no page of user_id='nobody'"):
        result.page("nobody")


def test_of_rows_that_lose_the_same_the_upper_one_is_worst() -> None:
    rows = range(1, 7)
    lines = [(user, row) for user in ("de", "nl") for row in rows]
    layouts = {
        "user_id": [user for user, _ in lines],
        "country": [user for user, _ in lines],
        "row": [row for _, row in lines],
        "col": [1] * 12,
        "item_id": [f"shown {row}" for _, row in lines],
        "category": [f"row {row}" for _, row in lines],
    }
    names = [f"{kind} {row}" for kind in ("shown", "better") for row in rows]
    items = {"item_id": names, "category": [f"row {row}" for row in rows] * 2}
    metric = cv.metric("N2DCG_cat", discount=cv.discounts.Empirical([[1.0]] * 6, name="even"))
    for upper, lower in itertools.combinations(rows, 2):
        relevant = [int((kind == "better") == (row in (upper, lower))) for kind in ("shown", "better") for row in rows]
        judgments = {"user_id": ["de"] * 12 + ["nl"] * 12, "item_id": names * 2, "relevance": relevant * 2}
        explanation = cv.explain(layouts, judgments, items, metrics=metric, grid=cv.Grid(6, 1), by="country")
        assert explanation.worst_row == upper
        assert f"Row {upper} falls furthest short" in explanation.summary


def test_worst_pages_come_first() -> None:
    data = sample(50, systems=["prod"])
    scores = cv.explain(data.layouts["prod"], data.judgments, data.items).worst["score"].to_list()
    assert all(low <= high for low, high in itertools.pairwise(scores))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"titles": True, "memory": 1e-4},
        {"pinned": True, "ragged": True, "pages": 2},
        {"pinned": True, "pages": 3, "memory": 1e-4},  # lines in temporary files, pages scored in several batches
        {"candidates": "displayed", "duplicates": "first"},
        {"grid": {"phone": cv.Grid(12, 20, page_size=2), "tv": cv.RECGAZE, "web": cv.RECGAZE}, "by": "device"},
    ],
)
def test_pages_held_are_those_that_are_looked_up(options: dict[str, Any]) -> None:
    """From the arrays that were scored, the same as from lines that are read again."""
    options = dict(options)
    made = {key: options.pop(key) for key in ("pinned", "ragged", "pages") if key in options}
    data = sample(25, systems=["new"], **made)
    titles = {"title": pl.col("item_id") + " again"} if options.pop("titles", False) else {}
    result = cv.explain(data.layouts["new"], data.judgments, data.items.with_columns(**titles), **options)
    keys = [key for key in ("user_id", "page_id") if key in result.per_page.columns]
    worst = result.worst.filter(pl.col("dcg") > 0).select(keys).head(3)
    assert [tuple(getattr(view, key) for key in keys) for view in result.pages] == worst.rows()
    assert result.view is not None
    for held in result.pages:
        found = result.view(held.user_id, held.page_id)
        assert held.to_dict() == found.to_dict()
        assert held.shown.equals(found.shown)
        assert held.ideal.equals(found.ideal)
        assert (held.shown.schema, held.ideal.schema) == (found.shown.schema, found.ideal.schema)
        assert held.grid == found.grid
        assert np.array_equal(held.weights, found.weights)


@pytest.mark.parametrize("metric", ["N2DCG", "2DCG", "NDCG@5"])
def test_other_ideals_are_refused(metric: str) -> None:
    with pytest.raises(cv.ParameterError, match=f"explain takes one N2DCG_cat, .* found {metric}"):
        cv.explain(LAYOUTS, JUDGMENTS, None, metrics=metric, grid=GRID)


def test_nothing_left_to_win() -> None:
    perfect = LAYOUTS.with_columns(
        item_id=pl.Series(["a1", "a2", "a3", "b1", "b2", "b3"]), category=pl.Series(["A"] * 3 + ["B"] * 3)
    )
    result = cv.explain(perfect, JUDGMENTS, None, metrics=METRIC, grid=GRID)
    assert (
        result.summary
        == "These pages score 100.0 out of 100, the score of an ideal page: there is nothing left to gain."
    )
    nobody = cv.explain(perfect, JUDGMENTS.with_columns(relevance=pl.lit(0)), None, metrics=METRIC, grid=GRID)
    assert nobody.summary == "No page was scored, so there is nothing to explain."


def test_repr_and_notebook() -> None:
    result = cv.explain(LAYOUTS, JUDGMENTS, None, metrics=METRIC, grid=GRID)
    assert repr(result).startswith(f"Explanation({METRIC}, points out of 100: score 59.1, item order 9.1, row ")
    assert "<p>These pages score 59.1" in result._repr_html_()
    page = result.page("u")
    first, header, *rows = repr(page).splitlines()
    assert first == "PageView(user_id='u'): 2DCG 1.3, 59.1% of its ideal 2.2 (● relevant, · not)"
    assert header.split() == ["row", "page", "ideal"]
    assert len(rows) == 2
    shown = page._repr_html_()
    assert shown.count("<table>") == 2
    relevant = page.shown.filter(pl.col("gain") > 0).height + page.ideal.height
    assert shown.count('title="gain ') == relevant


PAGES = {
    "user_id": ["a", "a", "b", "b", "c"],
    "page_id": ["home", "kids", "home", "home", "home"],
    "row": [1, 1, 1, 1, 1],
    "col": [1, 1, 1, 2, 1],
    "item_id": ["x", "y", "y", "x", "y"],
    "category": ["A"] * 5,
}


def test_a_page_says_why_it_is_shown() -> None:
    judgments = {"user_id": ["a", "b", "c"], "item_id": ["x", "x", "x"], "relevance": [1, 1, 1]}
    result = cv.explain(PAGES, judgments)
    assert result.worst.select("user_id", "page_id").rows()[0] == ("a", "kids")  # which shows nothing relevant
    view = result.page()
    assert (view.user_id, view.page_id) == ("b", "home")
    reason = "Shown because no user_id was given: the lowest score among pages that show a relevant item."
    assert view.reason == view.to_dict()["reason"] == reason
    assert repr(view).splitlines()[1] == reason
    assert reason in view._repr_html_()
    assert result.page("a").reason == "Shown because no page_id was given: the first of the user's 2 pages."
    assert result.page("a", "kids").reason == result.page("b").reason == ""
    with pytest.raises(cv.ParameterError, match="page_id needs user_id"):
        result.page(page_id="home")


def test_the_first_page_of_a_user_may_be_held() -> None:
    """Nothing is read then; and a page that is held is not taken for the first."""
    judgments = {"user_id": ["a", "b", "c"], "item_id": ["x", "x", "x"], "relevance": [1, 1, 1]}
    result = cv.explain(PAGES, judgments)
    assert result.view is not None
    assert ("a", "home") in [(view.user_id, view.page_id) for view in result.pages]
    kept = pickle.loads(pickle.dumps(result))
    assert kept.page("a").to_dict() == result.view("a", None).to_dict()
    swapped = PAGES | {"page_id": ["x", "kids", "x", "x", "x"]}
    result = cv.explain(swapped, judgments)
    assert ("a", "x") in [(view.user_id, view.page_id) for view in result.pages]
    assert result.page("a").page_id == "kids"
    with pytest.raises(cv.ParameterError, match="this explanation has no tables"):
        pickle.loads(pickle.dumps(result)).page("a")


def test_a_page_is_shown_where_none_is_relevant() -> None:
    judgments = {"user_id": ["a", "a", "c"], "item_id": ["x", "z", "z"], "relevance": [0, 1, 2]}
    items = {"item_id": ["x", "y", "z"], "category": ["A", "A", "A"]}
    view = cv.explain(PAGES, judgments, items).page()
    assert view.user_id == "c"
    assert view.reason == (
        "Shown because no user_id was given: no page shows a relevant item, and this one loses most."
    )
    nobody = cv.explain(PAGES, judgments | {"relevance": [0, 0, 0]}, items)
    with pytest.raises(cv.ParameterError, match="no page was scored, so there is none to show"):
        nobody.page()


def test_notices_are_those_of_evaluate() -> None:
    layouts = {"user_id": [1, 1], "row": [1, 1], "col": [1, 3], "item_id": [10, 11], "category": ["A", "A"]}
    judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 1]}
    notices = []
    for function in (cv.evaluate, cv.explain):
        with pytest.warns(cv.DataWarning) as caught:
            function(layouts, judgments)
        notices.append([str(warning.message) for warning in caught])
    assert len(notices[0]) == 2  # the gap, and an item without a category
    assert notices[0] == notices[1]


def test_titles_are_drawn_in_place_of_ids() -> None:
    items = pl.DataFrame(
        [("a1", "A", None), ("a1", "A", "<Alien>"), ("a2", "A", ""), ("a3", "A", "Heat"), ("a3", "C", "Heat 2")]
        + [(f"b{number}", "B", None) for number in (1, 2, 3)],
        schema={"item_id": pl.String, "category": pl.String, "title": pl.String},
        orient="row",
    )
    page = cv.explain(LAYOUTS, JUDGMENTS, items, metrics=METRIC, grid=GRID).page("u")
    titles = {"a1": "<Alien>", "a3": "Heat"}  # the first title of an item
    for cells in (page.shown, page.ideal):
        assert cells.columns[:4] == ["row", "col", "item_id", "title"]
        assert cells["title"].to_list() == [titles.get(item) for item in cells["item_id"]]
    bare = cv.explain(LAYOUTS, JUDGMENTS, items.drop("title"), metrics=METRIC, grid=GRID).page("u")
    assert page.shown.drop("title").equals(bare.shown)
    assert page.ideal.drop("title").equals(bare.ideal)
    drawn = page._repr_html_()
    assert ">&lt;Alien&gt;<" in drawn
    assert ">Heat<" in drawn
    assert ">a2<" in drawn  # without a title
    assert ">a1<" not in drawn
    assert page.to_dict()["ideal"][0]["item_id"] == "a1"
    moves = "\n".join(line.plain for line in draw_page(page)).split("moves that gain most")[1]
    assert "<Alien>" in moves
    assert "a1" not in moves


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pinned": True, "ragged": True},
        {"duplicates": "every"},
        {"candidates": "displayed"},
        {"duplicates": "first", "pinned": True},
        {"memory": 1e-4},
    ],
)
def test_each_ideal_is_solved_once(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """One per user, or per page where rows are pinned or items displayed; it is the same as solved for a page alone."""
    options = dict(options)
    made = {key: options.pop(key) for key in ("pinned", "ragged") if key in options}
    users, pages = 20, 3
    data = sample(users, systems=["new"], pages=pages, **made)
    solve, solved = ideal_problems.IdealProblems.solve, []

    def counted(problems: ideal_problems.IdealProblems, *arguments: Any, **named: Any) -> ideal_problems.IdealSolution:
        solved.append(len(problems.open))
        return solve(problems, *arguments, **named)

    monkeypatch.setattr(ideal_problems.IdealProblems, "solve", counted)
    result = cv.explain(data.layouts["new"], data.judgments, data.items, **options)
    judged = options.get("candidates") != "displayed"
    own = pages if "pinned" in made or not judged else 1
    scored = result.per_page.filter(pl.col("ideal").is_not_null())
    # besides, scored pages with rows fixed and, unless that is their ideal, with rows free
    assert sum(solved) == users * own + scored.height * (1 + judged)
    monkeypatch.undo()
    alone = _ideals_alone(data, options)
    for user_id, page_id, ideal in scored.select("user_id", "page_id", "ideal").iter_rows():
        assert ideal == alone[user_id, page_id][0]
    monkeypatch.setattr(ideal_problems.IdealProblems, "solve", counted)
    held: list[Any] = [(view.user_id, view.page_id) for view in result.pages]
    assert len(held) == 3
    for ids in [*held, *(ids for ids in alone if ids not in held)][:5]:
        solved.clear()
        user_id, page_id = ids
        view = result.page(user_id, page_id)
        assert sum(solved) == (0 if ids in held else 2 + (own > 1 and judged))
        assert (view.values["ideal"], view.ideal.select("row", "col", "item_id").rows()) == alone[user_id, page_id]


def _ideals_alone(
    data: Sample, options: dict[str, Any]
) -> dict[tuple[str, str], tuple[float, list[tuple[int, int, str]]]]:
    """The value and the cells (row, col, item) of every page's ideal, its problem solved for it alone."""
    plan, ideals = ScoringPlan.of(Settings(**options)), {}
    (metric,) = plan.names
    with JudgedSources(data.judgments, data.items, plan).open(data.layouts["new"]) as inputs:
        gain, weights = inputs.judged.gains[metric], plan.weights(metric, 0)
        for batch in page_batches(inputs.layouts, inputs.judged, plan):
            for at, name in enumerate(page_names(inputs, batch.pages).select("user_id", "page_id").iter_rows()):
                page = batch.take(np.array([at]))
                if plan.settings.candidates == "judged":
                    problems = ideal_problems.pinned_problems(inputs.judged, gain, plan, 0, page)
                else:
                    problems = ideal_problems.displayed_problems(page, gain, plan.settings.duplicates)
                problems = problems.spread(plan.settings.once)
                solution = problems.solve(weights, 0.0, plan.work_limit)
                cells = ideal_problems.ideal_cells(problems, solution, weights)
                items = inputs.codebook.items.values().gather(inputs.judged.judgments.item[cells.judgment])
                places = zip((cells.row + 1).tolist(), (cells.col + 1).tolist(), items.to_list(), strict=True)
                ideals[name] = float(solution.best[0]), sorted(places)
    return ideals


def test_pages_that_are_held() -> None:
    """The worst, a typical one and those that are named; each is at hand when the tables are not."""
    data = cv.sample(20, systems=["new"], pages=2)
    tables = (data.layouts["new"], data.judgments, data.items)
    plain = cv.explain(*tables)
    shown = plain.per_page.filter(pl.col("dcg") > 0).sort("score", "user_id", "page_id")
    assert plain.typical is not None
    assert plain.typical.values["dcg"] / plain.typical.values["ideal"] == shown["score"][(shown.height - 1) // 2]
    assert plain.named == ()
    user, page = plain.worst.select("user_id", "page_id").row(-1)
    first = plain.worst.filter(pl.col("user_id") == user)["page_id"].min()
    result = pickle.loads(pickle.dumps(cv.explain(*tables, pages=[(user, page), user])))
    assert [(view.user_id, view.page_id) for view in result.named] == [
        *{(user, page): 0, (user, first): 0}
    ]  # once each
    assert_frame_equal(result.page(user, page).shown, plain.page(user, page).shown)
    assert_frame_equal(result.page(plain.typical.user_id, plain.typical.page_id).ideal, plain.typical.ideal)
    with pytest.raises(cv.ParameterError, match="there is no page of user_id='nobody' that was scored"):
        cv.explain(*tables, pages=["nobody"])
    one_each = data.layouts["new"].filter(pl.col("page_id") == first).drop("page_id")
    with pytest.raises(cv.ParameterError, match="layouts have no column page_id"):
        cv.explain(one_each, *tables[1:], pages=[(user, first)])
