"""Inputs that are odd but real: mixed types, clashing names, tiny budgets, copies and one-shot streams."""

import copy
import gzip
import json
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import carouseval as cv
from carouseval.building.sample import sample
from tests.evaluation.test_evaluate import GRID, JUDGMENTS, LAYOUTS, METRIC

L: dict[str, list[Any]] = {
    "user_id": [1, 1, 1, 2, 2],
    "row": [1, 1, 2, 1, 2],
    "col": [1, 2, 1, 1, 1],
    "item_id": [10, 11, 12, 10, 12],
    "category": ["a", "a", "b", "a", "b"],
}
J: dict[str, list[Any]] = {"user_id": [1, 1, 2, 2], "item_id": [11, 12, 10, 12], "relevance": [1, 3, 2, 1]}
ITEMS: dict[str, list[Any]] = {"item_id": [10, 11, 12], "category": ["a", "a", "b"]}


def test_ids_keep_their_type_from_one_system_to_the_next(tmp_path: Path) -> None:
    """Codes of 7 and "7" must never meet: text of a second system is read as the first one's integers were."""
    judgments, items, second = (tmp_path / f"{name}.csv" for name in ("j", "i", "l"))
    pl.DataFrame(J).write_csv(judgments)
    pl.DataFrame(ITEMS).write_csv(items)
    pl.DataFrame(L).write_csv(second)
    evaluator = cv.Evaluator(judgments, items)
    assert evaluator.evaluate(L).mean == evaluator.evaluate(second).mean
    with pytest.raises(cv.DataError, match="layouts: column user_id holds text, but in judgments it holds integers"):
        evaluator.evaluate(pl.DataFrame(L).cast({"user_id": pl.String}))


def test_a_system_that_fails_leaves_the_evaluator_as_it_was() -> None:
    bad = cv.Evaluator(J, {"item_id": [10], "category": [None]})
    for _ in range(2):
        with pytest.raises(cv.DataError, match="items: column category"):
            bad.evaluate(L)


def test_an_unreadable_user_of_items_is_not_everyone(tmp_path: Path) -> None:
    path = tmp_path / "i.csv"
    path.write_text("item_id,category,user_id\n10,a,\n11,a,\n12,b,2.0\n")
    with pytest.raises(cv.DataError, match=r"items: column user_id, line 4: found '2\.0'"):
        cv.evaluate(L, J, path)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"pinned": "stuk"}, "no column 'stuk' in any table. Did you mean 'stuck'"),
        ({"layouts": {"pinned": "stuk"}}, "no column 'stuk' in layouts"),
        ({"user_id": "item_id"}, "column item_id is used for both user_id and item_id"),
        ({"user_id": 3}, "'user_id' must map to the name of a column"),
        ("user_id", "columns must be a dict"),
    ],
)
def test_slips_in_columns(columns: Any, message: str) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        cv.evaluate({**L, "stuck": [True] * 5}, J, columns=columns)


def test_the_list_of_items_may_go_by_another_name() -> None:
    wide = {
        "user_id": [1, 1, 2, 2],
        "row": [1, 2, 1, 2],
        "titles": [[10, 11], [12], [10], [12]],
        "category": list("abab"),
    }
    for ours in ("items", "item_id"):
        assert cv.evaluate(wide, J, columns={ours: "titles"}).mean == cv.evaluate(L, J).mean
    array = pl.DataFrame(wide).filter(pl.col("titles").list.len() == 1).cast({"titles": pl.Array(pl.Int64, 1)})
    assert cv.evaluate(array, J, ITEMS, columns={"items": "titles"}, invalid="count").counts["lines"] == 3


@pytest.mark.parametrize("by", ["user_id", "page_id", "row", "status", "weight", "score", "users", ["d", "d"], 5, [5]])
def test_segments_with_names_of_ours(by: Any) -> None:
    for work in (cv.evaluate, cv.explain):
        with pytest.raises(cv.ParameterError):
            work({**L, "d": [1] * 5}, J, by=by)


@pytest.mark.parametrize("weight", ["relevance", "row", 3])
def test_weights_with_names_of_ours(weight: Any) -> None:
    with pytest.raises(cv.ParameterError, match=r"weight must be (the name of a column of your own|text or None)"):
        cv.evaluate(L, J, weight=weight)


def test_a_weight_called_weight() -> None:
    assert cv.evaluate({**L, "weight": [1.0] * 5}, J, weight="weight").mean == pytest.approx(cv.evaluate(L, J).mean)


def test_functions_with_names_of_ours() -> None:
    def status(gains: Any, weights: Any) -> float:
        return 0.0

    with pytest.raises(cv.ParameterError, match="'status' is a column of the results"):
        cv.evaluate(L, J, metrics=[status])


def test_a_gain_that_cannot_be_hashed() -> None:
    class Root:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, relevance: Any) -> Any:
            return np.sqrt(relevance)

    assert cv.evaluate(L, J, gain=Root()).mean == cv.evaluate(L, J, gain=np.sqrt).mean


@pytest.mark.parametrize("memory", [9e-10, 1e-8, 1e-6])
def test_a_budget_next_to_nothing(memory: float) -> None:
    assert cv.evaluate(L, J, memory=memory).mean == cv.evaluate(L, J).mean
    explained = cv.explain(L, J, memory=memory)
    assert [explained.page(user).user_id for user in (1, 2)] == [1, 2]


def test_segments_of_explanations_are_those_of_evaluations() -> None:
    """Also where users have pages in several segments, and where pages are missing."""
    data = sample(80, pages=3, missing=0.2, systems=["new"])
    layouts = data.layouts["new"].with_columns(kind=pl.col("page_id").cast(pl.String).str.slice(-1))
    scores = cv.evaluate(layouts, data.judgments, data.items, by="kind").segments
    losses = cv.explain(layouts, data.judgments, data.items, by="kind").segments
    assert scores["kind"].to_list() == losses["kind"].to_list()
    assert losses["score"].to_list() == pytest.approx(scores["N2DCG_cat"].to_list(), rel=1e-12)
    by_user = data.judgments.with_columns(group=pl.col("user_id").str.slice(-1).cast(pl.Int64) % 2)
    scores = cv.evaluate(layouts, by_user, data.items, by="group").segments
    losses = cv.explain(layouts, by_user, data.items, by="group").segments
    assert losses["score"].to_list() == pytest.approx(scores["N2DCG_cat"].to_list(), rel=1e-12)
    assert losses["missing"].min() > 0  # type: ignore[operator]


@pytest.mark.parametrize("policy", [{"missing_pages": "error"}, {"no_relevant": "error"}, {"weight": "w"}])
def test_explanations_refuse_what_evaluations_refuse(policy: dict[str, Any]) -> None:
    judgments = {key: [*values, more] for (key, values), more in zip(J.items(), (9, 10, 0), strict=True)}
    judgments["relevance"][-1] = 0 if "no_relevant" in policy else 1
    for work in (cv.evaluate, cv.explain):
        with pytest.raises(cv.DataError):
            work({**L, "w": [1.0] * 5}, judgments, **policy)


def test_explanations_warn_as_evaluations_do() -> None:
    judgments = {key: [*values, more] for (key, values), more in zip(J.items(), (1, 99, 1), strict=True)}
    with pytest.warns(cv.DataWarning, match="no category in layouts"):
        cv.explain(L, judgments)


def test_the_rule_first_and_its_cells() -> None:
    """The ideal page shown is the one that the rule allows."""
    page = {
        "user_id": [1] * 4,
        "row": [1, 1, 2, 2],
        "col": [1, 2, 1, 2],
        "item_id": [1, 2, 2, 3],
        "category": list("aabb"),
    }
    judgments = {"user_id": [1] * 3, "item_id": [1, 2, 3], "relevance": [1, 3, 2]}
    metric = cv.metric("N2DCG_cat", discount=cv.discounts.Empirical([[1, 0.1], [0.9, 0.8]], name="odd first"))
    options: dict[str, Any] = {"grid": cv.Grid(2, 2), "candidates": "displayed", "duplicates": "first"}
    result = cv.explain(page, judgments, None, metrics=metric, **options)
    assert result.cells["loss"].sum() == pytest.approx(1 - result.shares["score"], abs=1e-12)
    view = result.page(1)
    assert (view.ideal["gain"] * view.ideal["weight"]).sum() == pytest.approx(view.values["ideal"])


def test_pages_under_other_names() -> None:
    swapped = {**L, "row": L["col"], "col": L["row"], "w": [1, 1, 1, 2, 2]}
    result = cv.explain(swapped, J, columns={"row": "col", "col": "row"}, weight="w")
    assert result.page(1).shown.equals(cv.explain(L, J).page(1).shown)


@pytest.mark.parametrize("arguments", [("1",), (None, 3), (True,), (1, 3), (1.0,)])
def test_pages_that_do_not_read(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(cv.ParameterError):
        cv.explain(L, J).page(*arguments)


def test_a_user_without_a_page() -> None:
    judgments = {key: [*values, more] for (key, values), more in zip(J.items(), (9, 10, 1), strict=True)}
    with pytest.raises(cv.ParameterError, match="no page of user_id=9, who has judgments"):
        cv.explain(L, judgments).page(9)


@pytest.mark.parametrize("judgments", [{**J, "relevance": [0] * 4}, {**J, "user_id": [8, 8, 9, 9]}])
@pytest.mark.filterwarnings("ignore::carouseval.DataWarning")
def test_nothing_to_explain(judgments: dict[str, Any]) -> None:
    result = cv.explain(L, judgments, missing_pages="skip")
    assert result.summary == "No page was scored, so there is nothing to explain."
    json.loads(result.to_json())


def test_two_defects_of_one_page() -> None:
    for cells in ({"row": [1, 2], "col": [99, 1]}, {"row": [1, 1, 2], "col": [1, 1, 1]}):
        size = len(cells["row"])
        layouts = {"user_id": [1] * size, **cells, "item_id": list(range(size)), "category": ["X", "Y", "Y"][-size:]}
        assert not cv.check(layouts).ok


def test_streams_that_can_be_read_once() -> None:
    def stream(columns: dict[str, list[Any]]) -> Any:
        return pa.RecordBatchReader.from_batches(pa.table(columns).schema, pa.table(columns).to_batches())

    assert cv.check(stream(L), stream(J)).ok
    evaluator = cv.Evaluator(stream(J), stream(ITEMS))
    assert evaluator.evaluate(stream(L)).mean == evaluator.evaluate(stream(L)).mean
    assert cv.explain(stream(L), stream(J)).page(1).user_id == 1


def test_items_of() -> None:
    assert cv.items_from_layouts(L, L).rows() == [(10, "a"), (11, "a"), (12, "b")]
    for layouts in (
        [],
        [{key: value for key, value in L.items() if key != "category"}],
        [{**L, "category": [None] * 5}],
    ):
        with pytest.raises(cv.CarousevalError):
            cv.items_from_layouts(*layouts)
    with pytest.raises(cv.DataError, match="7 never equals '7'"):
        cv.items_from_layouts(L, pl.DataFrame(L).cast({"item_id": pl.String}))


def test_copies() -> None:
    result, explained = cv.evaluate(L, J), cv.explain(L, J)
    assert pickle.loads(pickle.dumps(result)).mean == result.mean
    loaded = pickle.loads(pickle.dumps(explained))
    assert loaded.shares == copy.copy(explained).shares == explained.shares
    assert repr(loaded.page()) == repr(copy.copy(explained).page()) == repr(explained.page())
    with pytest.raises(cv.ParameterError, match="only those that it holds"):
        loaded.page(3)
    assert result == result
    assert result != cv.evaluate(L, J)


def test_a_folder_of_other_tables(tmp_path: Path) -> None:
    pl.DataFrame(L).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame(J).write_parquet(tmp_path / "j.parquet")
    with pytest.raises(cv.DataError, match=r"layouts: .*j.parquet has no column row. Is this file part of layouts"):
        cv.evaluate(tmp_path, J)


def test_file_names_that_look_like_patterns(tmp_path: Path) -> None:
    for kind in ("csv", "ndjson", "parquet"):
        odd, other = tmp_path / f"l[1]*.{kind}", tmp_path / f"l1x.{kind}"
        for path in (odd, other):
            getattr(pl.DataFrame(L), f"write_{kind}")(path)
        assert cv.evaluate(odd, J).counts["lines"] == 5


@pytest.mark.parametrize("path", ["", "a\0b.csv", "x" * 5000 + ".csv"])
def test_paths_that_are_none(path: str) -> None:
    with pytest.raises(cv.DataError, match="layouts: "):
        cv.evaluate(path, J)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("j.ndjson", '{"user_id": 1}\n\n{bad\n', "line 3 is not JSON"),
        ("j.csv", "user_id,item_id,relevance\n1,2,3\n1,3,4,5\n", "line 3 has 4 fields, but the header has 3"),
        ("j.csv", "user_id;item_id;relevance\n1;2;3\n", "separated by semicolons"),
        ("j.parquet", "user_id,item_id\n", "it starts with b'user_id"),
        ("j.csv", "user_id,title_id,relevance\n1,2,3\n", r"item_id \(is it title_id\?\)"),
    ],
)
def test_files_are_told_what_is_wrong(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(cv.DataError, match=message):
        cv.evaluate(L, tmp_path / name)


def test_text_separated_by_tabs_beside_parquet(tmp_path: Path) -> None:
    """Ids of text take the type that Parquet gives them; lines are counted in the text as it stands."""
    layouts, judgments, items = tmp_path / "l.tsv", tmp_path / "j.parquet", tmp_path / "i.tsv.gz"
    lines = pl.DataFrame(L).write_csv(separator="\t").splitlines()
    layouts.write_text("\n".join([*lines[:3], "", *lines[3:], ""]))
    pl.DataFrame(J).write_parquet(judgments)
    items.write_bytes(gzip.compress(pl.DataFrame(ITEMS).write_csv(separator="\t").encode()))
    expected = cv.evaluate(L, J, ITEMS)
    result = cv.evaluate(layouts, judgments, items)
    assert result.mean == expected.mean
    assert result.counts == expected.counts
    assert result.per_user.equals(expected.per_user)
    assert cv.check(layouts, judgments, items).ok
    compared = cv.compare({"text": layouts, "frame": L}, judgments, items)
    assert compared.pairs["difference"].to_list() == [0.0]
    layouts.write_text("\n".join([*lines[:3], "", *lines[3:], "two\t1\t2\t11\ta", ""]))
    for judge in (cv.evaluate, cv.explain):
        with pytest.raises(cv.DataError, match="layouts: column user_id, line 8: found 'two'"):
            judge(layouts, judgments, items)
    assert "line 8: found 'two'" in str(cv.check(layouts, judgments, items).defects[0])


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "j.csv"
    path.write_bytes("user_id,item_id,relevance\n1,é,3\n".encode("latin-1"))
    with pytest.raises(cv.DataError, match="Save it as UTF-8"):
        cv.evaluate({**L, "item_id": list("abcde")}, path)


def test_the_line_of_ndjson_with_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "j.ndjson"
    path.write_text(
        '{"user_id": 1, "item_id": 10, "relevance": 1}\n\n\n{"user_id": 1, "item_id": 11, "relevance": -1}\n'
    )
    with pytest.raises(cv.DataError, match="judgments: column relevance, line 4: found -1"):
        cv.evaluate(L, path)


def test_grids_by_values_of_any_type() -> None:
    layouts = {**L, "wide": [True, True, True, False, False]}
    result = cv.evaluate(layouts, J, by="wide", grid={True: cv.RECGAZE, False: cv.Grid(2, 2)})
    assert result.segments["wide"].to_list() == ["false", "true"]


def test_a_page_of_no_segment_has_room() -> None:
    """Where judgments name the segment, whoever has none is on no known screen."""
    layouts = pl.concat(
        [pl.DataFrame(L), pl.DataFrame(L).filter(pl.col("user_id") == 1).with_columns(user_id=pl.lit(5, pl.Int64))]
    )
    judgments = {**J, "d": ["tv", "tv", "web", "web"]}
    result = cv.evaluate(layouts, judgments, None, by="d", grid={"web": cv.Grid(2, 1), "tv": cv.RECGAZE})
    assert result.counts["no_relevant"] == 1


def test_outputs_do_not_overwrite_inputs(tmp_path: Path) -> None:
    from tests.command_line import run

    layouts, judgments = tmp_path / "l.parquet", tmp_path / "j.parquet"
    pl.DataFrame(L).write_parquet(layouts)
    pl.DataFrame(J).write_parquet(judgments)
    done = run("evaluate", str(layouts), str(judgments), "--per-page", str(judgments))
    assert done.returncode == 2
    assert "is one of the input tables" in done.stderr
    assert pl.read_parquet(judgments).equals(pl.DataFrame(J))
    done = run(
        "evaluate",
        str(layouts),
        str(judgments),
        "--per-page",
        str(tmp_path / "p.csv"),
        "--out",
        str(tmp_path / "no" / "o.json"),
    )
    assert done.returncode == 2
    assert not (tmp_path / "p.csv").exists()


def test_the_page_of_a_row_that_is_pinned() -> None:
    pinned = LAYOUTS.with_columns(pinned=pl.col("row") == 1)
    view = cv.explain(pinned, JUDGMENTS, None, metrics=METRIC, grid=GRID).page("u")
    assert view.ideal["item_id"].to_list() == ["b1", "a1", "a2"]


@pytest.mark.parametrize("scale", [2.0**-1000, 1e-100, 1e-15, 1e30])
def test_the_scale_of_weights_does_not_matter(scale: float) -> None:
    """Items of several categories, where the search for the ideal has tolerances."""
    data = sample(60, systems=["new"], mode="binary", grid=cv.Grid(5, 6))
    table = np.random.default_rng(0).random((5, 6))
    found = []
    for weights in (table, table * scale):
        metric = cv.metric("N2DCG_cat", discount=cv.discounts.Empirical(weights, name="scaled"))
        result = cv.evaluate(data.layouts["new"], data.judgments, data.items, metrics=metric, grid=cv.Grid(5, 6))
        found.append(result.per_page[str(metric)].to_numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)


@pytest.mark.parametrize("by", ["N2DCG_cat", "N2DCG_cat.dcg", "N2DCG_cat.low"])
def test_segments_with_names_of_metrics(by: str) -> None:
    with pytest.raises(cv.ParameterError, match="is a column of the results"):
        cv.evaluate({**L, by: ["x"] * 5}, J, by=by)


def test_a_pinned_row_of_no_known_category() -> None:
    layouts = {"user_id": [1, 1], "row": [1, 1], "col": [1, 2], "item_id": [1, 2], "pinned": [True, True]}
    items = {"item_id": [1, 1, 2, 2], "category": list("abab")}
    judgments = {"user_id": [1], "item_id": [1], "relevance": [1]}
    message = r"layouts: 1 pinned row has no known category, first user_id=1 row=1 \(line 1\)"
    with pytest.raises(cv.DataError, match=message):
        cv.evaluate(layouts, judgments, items)
    assert not cv.check(layouts, judgments, items).ok


def test_check_finds_missing_weights() -> None:
    judgments = {key: [*values, more] for (key, values), more in zip(J.items(), (9, 10, 1), strict=True)}
    assert not cv.check({**L, "w": [1.0] * 5}, judgments, weight="w").ok


@pytest.mark.parametrize(
    "work",
    [
        lambda: cv.evaluate(L, J, memory=1e300),
        lambda: cv.evaluate(L, J, columns={1: "x"}),  # type: ignore[arg-type]
        lambda: cv.evaluate(L, J, by=[["d"]]),  # type: ignore[list-item]
        lambda: cv.evaluate(L, J, metrics={"N2DCG_cat"}),  # type: ignore[arg-type]
        lambda: cv.evaluate(L, J, metrics=lambda gains, weights: float("nan")),
        lambda: cv.items_from_layouts(pl.DataFrame(L).clear()),
        lambda: cv.evaluate({**L, "d": [b"x"] * 5}, J, by="d"),
    ],
)
def test_plain_mistakes_get_errors_of_ours(work: Any) -> None:
    with pytest.raises(cv.CarousevalError):
        work()


def test_defects_name_tables_only() -> None:
    assert {defect.table for defect in cv.check(L, J, by="zz").defects} <= {"", "layouts", "judgments", "items"}


def test_pages_of_numpy_ids() -> None:
    assert cv.explain(L, J).page(np.int64(1)).user_id == 1


def test_nothing_weighs() -> None:
    result = cv.evaluate({**L, "w": [0.0] * 5}, J, weight="w")
    assert result.per_user["N2DCG_cat"].null_count() == 2


def test_a_line_is_blank_only_where_nothing_stands_in_it(tmp_path: Path) -> None:
    """What stands in a column that nobody uses still makes a line one that lacks its ids."""
    path = tmp_path / "layouts.csv"
    path.write_text("user_id,row,col,item_id,category,note\n1,1,1,7,a,\n,,,,,\n")
    judgments = {"user_id": [1], "item_id": [7], "relevance": [1]}
    assert cv.evaluate(path, judgments).mean["N2DCG_cat"] == 1.0
    path.write_text("user_id,row,col,item_id,category,note\n1,1,1,7,a,\n,,,,,lost\n")
    with pytest.raises(cv.DataError, match="layouts: column user_id, line 3: found nothing"):
        cv.evaluate(path, judgments)


# --- what real tables have ---


@pytest.mark.parametrize("kind", ["csv", "tsv", "json", "ndjson", "arrow", "feather", "parquet"])
def test_every_format_gives_the_same_result(kind: str, tmp_path: Path) -> None:
    writers: dict[str, Any] = {
        "csv": pl.DataFrame.write_csv,
        "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
        "json": pl.DataFrame.write_json,
        "ndjson": pl.DataFrame.write_ndjson,
        "arrow": pl.DataFrame.write_ipc_stream,
        "feather": pl.DataFrame.write_ipc,
        "parquet": pl.DataFrame.write_parquet,
    }
    layouts, judgments, items = paths = [tmp_path / f"{name}.{kind}" for name in ("l", "j", "i")]
    for columns, path in zip((L, J, ITEMS), paths, strict=True):
        writers[kind](pl.DataFrame(columns), path)
    expected, result = cv.evaluate(L, J, ITEMS), cv.evaluate(layouts, judgments, items)
    assert (result.mean, result.counts) == (expected.mean, expected.counts)
    assert cv.check(layouts, judgments, items).ok
    assert cv.compare({"file": layouts, "frame": L}, J, items).pairs["difference"].to_list() == [0.0]


def nested(layouts: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The pages of a table, each with a list of rows."""
    pages: dict[Any, dict[int, dict[str, Any]]] = {}
    for user, row, item, category in zip(
        *(layouts[key] for key in ("user_id", "row", "item_id", "category")), strict=True
    ):
        rows = pages.setdefault(user, {})
        rows.setdefault(row, {"title": category, "items": []})["items"].append(item)
    return [{"user_id": user, "rows": list(rows.values())} for user, rows in pages.items()]


def test_nested_pages_in_every_function(tmp_path: Path) -> None:
    path = tmp_path / "pages.json"
    path.write_text(json.dumps(nested(L)))
    assert cv.evaluate(path, J).per_page.equals(cv.evaluate(L, J).per_page)
    assert cv.explain(path, J).page(1).shown.equals(cv.explain(L, J).page(1).shown)
    assert cv.items_from_layouts(path).equals(cv.items_from_layouts(L))
    assert cv.check(path, J).summary["layouts"]["cells"] == 5
    assert cv.compare({"nested": path, "flat": L}, J).pairs["difference"].to_list() == [0.0]
    pages = nested(L)
    pages[1]["rows"][1]["title"] = "a"
    path.write_text(json.dumps(pages))
    with pytest.raises(cv.DataError, match=r"first user_id=2 row=2 title='a', also on row 1 \(record 2\)"):
        cv.evaluate(path, J)


def test_judgments_without_a_relevance_mean_1() -> None:
    bare = {key: J[key] for key in ("user_id", "item_id")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = cv.evaluate(L, bare)
    assert result.mean == cv.evaluate(L, {**bare, "relevance": [1] * 4}).mean
    assert (result.config["relevance"], cv.evaluate(L, J).config["relevance"]) == ("1 (no column)", "given")
    (note,) = cv.check(L, bare).defects
    assert (note.severity, str(note)) == (
        "note",
        "judgments: there is no column relevance, so every judgment counts as relevance 1.",
    )


def test_a_relevance_that_may_have_another_name() -> None:
    bare = {key: J[key] for key in ("user_id", "item_id")}
    with pytest.warns(cv.DataWarning, match=r"relevance 1\. Not read: clicked\. .* columns={'relevance': 'clicked'}"):
        cv.evaluate(L, {**bare, "clicked": [1, 0, 1, 0]})
    with pytest.raises(cv.DataError, match=r"missing column relevance \(is it relevence\?\); it has"):
        cv.evaluate(L, {**bare, "relevence": [1, 0, 1, 0]})
    with pytest.raises(cv.DataError, match=r"missing column relevance \(row, as given in columns\)"):
        cv.evaluate(L, bare, columns={"relevance": "row"})


def test_several_pages_of_a_user_without_page_id() -> None:
    """Told from a table whose lines are there twice, and from a slip."""
    pages = pl.concat([pl.DataFrame(L), pl.DataFrame(L).with_columns(pl.col("item_id") + 10)])
    remedy = r"User 1 seems to have several pages: add a column page_id\.$"
    with pytest.raises(
        cv.DataError, match=rf"layouts: 5 cells appear twice, first user_id=1 row=1 col=1 .*\. {remedy}"
    ):
        cv.evaluate(pages, J)
    numbered = pages.with_columns(page_id=pl.int_range(pl.len()) // 5)
    assert cv.evaluate(numbered, J).counts["pages"] == 4
    slip = pl.concat([pl.DataFrame(L), pages[5:6]])
    for layouts in (pl.concat([pl.DataFrame(L)] * 2), slip, numbered.with_columns(page_id=1)):
        with pytest.raises(cv.DataError, match=r"Each cell holds one item; drop the repeats\.$"):
            cv.evaluate(layouts, J)


def test_unmatched_pages() -> None:
    """The message is about page_id, not users; where judgments name more pages than are shown, it is about those."""
    layouts, judgments = {**L, "page_id": ["p"] * 5}, {**J, "page_id": ["P"] * 4}
    message = (
        r"layouts: no page has the page_id of a judgment, though users match, .* page_id is 'p' in layouts and 'P' in "
        r"judgments\. If judgments hold for all pages of a user, drop page_id from them\."
    )
    with pytest.warns(cv.DataWarning, match=message) as caught:
        assert cv.evaluate(layouts, judgments).page_match == 0
    assert len(caught) == 1
    assert [defect.severity for defect in cv.check(layouts, judgments).defects if "page_id" in str(defect)] == [
        "warning"
    ]
    more = pl.concat([pl.DataFrame({**J, "page_id": [page] * 4}) for page in ["p", *"abcdefghijkl"]])
    with pytest.warns(cv.DataWarning, match="24 of 26 pages with judgments are missing and score 0") as caught:
        assert cv.evaluate(layouts, more).page_match == 1
    assert len(caught) == 1
    with pytest.warns(cv.DataWarning, match="no user of the layouts has a judgment"):
        assert cv.evaluate(layouts, {**judgments, "user_id": [8, 8, 9, 9]}).page_match is None
    assert cv.evaluate(L, J).page_match is None


def test_few_matching_pages() -> None:
    data = cv.sample(200, systems=["new"])
    layouts = data.layouts["new"].with_columns(page_id=pl.lit("p"))
    judgments = data.judgments.with_columns(
        page_id=pl.when(pl.col("user_id") == data.judgments["user_id"][0]).then(pl.lit("p")).otherwise(pl.lit("q"))
    )
    with pytest.warns(cv.DataWarning, match=r"layouts: only 0\.5% of pages have the page_id of a judgment"):
        cv.evaluate(layouts, judgments, data.items)


def test_a_difference_of_unmatched_pages_is_not_significant() -> None:
    data = cv.sample(60, systems=["new", "random"])
    systems = {name: table.with_columns(page_id=pl.lit(name)) for name, table in data.layouts.items()}
    judgments = data.judgments.with_columns(page_id=pl.lit("new"))
    with pytest.warns(cv.DataWarning, match=r"^random: layouts: no page has the page_id of a judgment") as caught:
        result = cv.compare(systems, judgments, data.items, permutations=999, margin=1)
    assert caught[0].filename == __file__
    assert result.pairs.select("significant", "not_inferior").row(0) == (False, False)
    assert result.pairs["p"][0] < 0.01
    assert result.summary.startswith(
        "The pages of random do not match the judgments by page_id, so no difference from it"
    )
    assert "not called significant" in repr(result)
    with pytest.raises(
        cv.DataError, match="random cannot be compared: its pages do not match the judgments by page_id"
    ):
        result.worse("random", "new")


JOINED: dict[str, list[Any]] = {"item_id": [10, 11, 12], "category": ["a|b", "a", "b|c"]}


def test_several_categories_in_one_cell() -> None:
    message = r"items: 2 of 3 categories contain '\|', such as 'a\|b', and no page shows them\. .* use split='\|'\."
    with pytest.warns(cv.DataWarning, match=message):
        cv.evaluate(L, J, JOINED, invalid="count")
    with pytest.raises(cv.DataError, match=rf"outside their row's category, .*{message}"):
        cv.evaluate(L, J, JOINED)
    (note,) = [defect for defect in cv.check(L, J, JOINED).defects if defect.severity == "note"]
    assert re.fullmatch(message, str(note))
    split = {"item_id": [10, 10, 11, 12, 12], "category": list("ababc")}
    assert cv.evaluate(L, J, JOINED, split="|").mean == cv.evaluate(L, J, split).mean


@pytest.mark.parametrize(
    ("categories", "noticed"),
    [
        (["Action, Adventure", "Action", "Adventure"], True),
        (["Action, Adventure", "Action", "Drama"], False),  # a comma in a title
        (["Action; Adventure", "Action", "Drama"], True),
        (["Rock|Pop", "Jazz", "Folk"], False),
        (["a, b", "a", "b"], False),  # shown by that name
        (["a", "b", "c"], False),
    ],
)
def test_titles_that_are_not_several_categories(categories: list[str], noticed: bool) -> None:
    layouts = {**L, "category": ["a, b", "a, b", "b", "a, b", "b"]}
    items = {"item_id": [10, 11, 12], "category": categories}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cv.evaluate(layouts, J, items, invalid="count")
    assert any("use split=" in str(warning.message) for warning in caught) == noticed


def test_commas_in_categories_of_items_alone() -> None:
    """Without categories in layouts, too, all words must be categories elsewhere."""
    layouts = {key: values for key, values in L.items() if key != "category"}
    check = cv.check(layouts, J, {"item_id": [10, 11, 12], "category": ["Action, Adventure", "Action", "Drama"]})
    assert not [defect for defect in check.defects if "split" in str(defect)]


def test_nothing_to_split() -> None:
    """Also where items are collected from layouts, whose titles are what they are."""
    for run in (lambda: cv.evaluate(L, J, split="|"), lambda: cv.compare({"x": L, "y": L}, J, split="|")):
        with pytest.raises(cv.ParameterError, match="split: there is no items table whose categories could be split"):
            run()
