"""Comparisons: known orders, fair pairing, and results that do not depend on how the data comes."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.building.sample import Sample, sample


@pytest.fixture(scope="module")
def data() -> Sample:
    return sample(400, missing=0.02)


@pytest.fixture(scope="module")
def result(data: Sample) -> cv.Comparison:
    return compare(data)


def compare(data: Sample, systems: Any = None, **options: Any) -> cv.Comparison:
    options = {"permutations": 999} | options
    return cv.compare(systems or data.layouts, data.judgments, data.items, **options)


def test_systems_of_known_order_come_out_in_that_order(data: Sample, result: cv.Comparison) -> None:
    ranked = result.systems.sort("mean", descending=True)["system"].to_list()
    assert ranked == list(data.order)
    assert result.pairs.height == 10
    clear = result.pairs.filter(~pl.col("system").is_in(["prod"]) | ~pl.col("baseline").is_in(["new"]))
    assert clear["significant"].all()
    assert "oracle" in result.summary


def test_differences_are_paired_by_user(data: Sample, result: cv.Comparison) -> None:
    new, prod = (cv.evaluate(data.layouts[name], data.judgments, data.items).per_user for name in ("new", "prod"))
    both = new.join(prod, on="user_id", suffix="_prod")
    differences = (both["N2DCG_cat_prod"] - both["N2DCG_cat"]).to_numpy()
    pair = result.pair("new", "prod")
    assert pair is not None
    assert (pair["baseline"], pair["system"]) == ("new", "prod")
    assert pair["difference"] == pytest.approx(differences.mean(), rel=1e-12)
    assert pair["users"] == len(differences)
    assert pair["effect"] == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert pair["lift"] == pytest.approx(differences.mean() / both["N2DCG_cat"].mean())
    counts = ((differences > 1e-12).sum(), (abs(differences) <= 1e-12).sum(), (differences < -1e-12).sum())
    assert (pair["wins"], pair["ties"], pair["losses"]) == counts
    assert pair["low"] < pair["difference"] < pair["high"]


def test_one_denominator_for_all(data: Sample) -> None:
    """Without items, what any system shows tells the categories; all are judged by the union."""
    systems = {name: data.layouts[name] for name in ("new", "random")}
    with pytest.warns(cv.DataWarning, match="no category"):
        found = cv.compare(systems, data.judgments, permutations=99)
    one, other = (several[0].per_page.filter(pl.col("status") == "scored") for several in found.evaluations.values())
    both = one.join(other, on="user_id", suffix=" of the other")
    assert both.height > 350
    assert both["N2DCG_cat.ideal"].equals(both["N2DCG_cat.ideal of the other"], check_names=False)


def test_a_baseline(data: Sample) -> None:
    found = compare(data, baseline="prod")
    assert found.pairs["baseline"].unique().to_list() == ["prod"]
    assert found.pairs.height == 4


def test_several_runs_of_a_system(data: Sample) -> None:
    """Users are averaged over runs first; the spread of the runs' means is shown."""
    other = sample(400, missing=0.02, seed=0, systems=["prod"]).layouts["prod"]
    runs = [data.layouts["new"], other]
    found = compare(data, {"prod": data.layouts["prod"], "new": runs})
    row = found.systems.filter(pl.col("system") == "new").row(0, named=True)
    means = [cv.evaluate(one, data.judgments, data.items).mean["N2DCG_cat"] for one in runs]
    assert (row["runs"], row["mean"]) == (2, pytest.approx(np.mean(means)))
    assert row["spread"] == pytest.approx(np.std(means, ddof=1))
    pair = found.pair("new", "prod")
    assert pair is not None
    assert pair["difference"] == pytest.approx(np.mean(means) - means[1])


def test_the_same_seed_gives_the_same_whatever_the_form(
    data: Sample, result: cv.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit: for files and pandas, shuffled lines, threads, batches and names of users in any order."""
    paths = {}
    for name, frame in data.layouts.items():
        paths[name] = tmp_path / f"{name}.parquet"
        frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(paths[name])
    wanted = result.pairs
    assert compare(data, paths).pairs.equals(wanted)
    assert compare(data, {name: frame.to_pandas() for name, frame in data.layouts.items()}).pairs.equals(wanted)
    assert compare(data, memory=1e-4).pairs.equals(wanted)
    monkeypatch.setenv("CAROUSEVAL_THREADS", "1")
    assert compare(data).pairs.equals(wanted)
    few = {name: data.layouts[name].filter(pl.col("user_id") < "u000030") for name in ("new", "prod")}
    judged = data.judgments.filter(pl.col("user_id") < "u000030")
    p = [cv.compare(few, judged, data.items, seed=seed, permutations=999).pairs["p"][0] for seed in (0, 5)]
    assert p[0] != p[1]
    assert p[0] == pytest.approx(p[1], abs=0.1)


def test_segments() -> None:
    data = sample(300, systems=["new", "random"])
    found = compare(data, {name: data.layouts[name] for name in ("new", "random")}, by="device")
    assert set(found.segments["device"]) >= {"tv", "phone", "web"}
    for device in ("tv", "phone", "web"):
        users = data.layouts["new"].filter(pl.col("device") == device)["user_id"].unique().implode()
        alone = cv.compare(
            {name: data.layouts[name].filter(pl.col("device") == device) for name in ("new", "random")},
            data.judgments.filter(pl.col("user_id").is_in(users)),
            data.items,
            permutations=999,
        )
        row = found.segments.filter(pl.col("device") == device).row(0, named=True)
        assert row["difference"] == pytest.approx(alone.pairs["difference"][0], rel=1e-12)
        assert row["p"] == alone.pairs["p"][0]
    assert found.to_frame()["device"][0] == "(all)"


@pytest.mark.filterwarnings("ignore:.*have no page and score 0")
def test_users_that_only_one_system_has(data: Sample) -> None:
    """Skipped where missing pages are skipped, and counted where they score 0."""
    half = data.layouts["new"].filter(pl.col("user_id") < "u000200")
    systems = {"new": half, "prod": data.layouts["prod"]}
    skipped = compare(data, systems, missing_pages="skip").pair("new", "prod")
    zero = compare(data, systems).pair("new", "prod")
    assert skipped is not None
    assert zero is not None
    assert skipped["users"] < 200 < zero["users"]
    assert zero["difference"] > skipped["difference"]


def test_more_systems_than_letters(data: Sample) -> None:
    few = data.layouts["prod"].filter(pl.col("user_id") < "u000020")
    judged = data.judgments.filter(pl.col("user_id") < "u000020")
    found = cv.compare(
        {f"system {n}": few for n in range(30)}, judged, data.items, baseline="system 0", permutations=999
    )
    assert found.pairs.height == 29
    assert found.pairs["p"].to_list() == [1.0] * 29


@pytest.mark.parametrize("test", ["permutation", "t", "wilcoxon", "bootstrap", lambda differences: 0.25])
def test_tests(test: Any, data: Sample) -> None:
    systems = {name: data.layouts[name] for name in ("new", "random")}
    found = compare(data, systems, test=test)
    assert found.pairs["p"][0] == 0.25 if callable(test) else found.pairs["p"][0] < 0.01


def test_margin(data: Sample) -> None:
    systems = {name: data.layouts[name] for name in ("prod", "new")}
    found = compare(data, systems, baseline="new", margin=0.2)
    assert found.pairs["not_inferior"].to_list() == [True]
    assert found.worse("prod", "new") is None
    strict = compare(data, systems, baseline="new", margin=0.0)
    assert strict.worse("prod", "new") is not None


def test_worse(data: Sample, result: cv.Comparison) -> None:
    assert result.worse("random", "oracle") is not None
    assert result.worse("oracle", "random") is None
    with_baseline = compare(data, baseline="oracle")
    with pytest.raises(cv.ParameterError, match="prod and new were not compared"):
        with_baseline.worse("prod", "new")


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"a": 1}, {}, "at least two"),
        ("ab", {}, "systems must be a dict"),
        (None, {"baseline": "prd"}, "no system 'prd'. Did you mean 'prod'"),
        (None, {"correction": "bonferroni"}, "correction"),
        (None, {"test": "chi"}, "test"),
        (None, {"ci": 1.5}, "ci"),
        (None, {"margin": -1}, "margin"),
        ({"a": {"x": [1]}, "b": {"x": [1]}}, {}, "missing columns"),
        ({"a": [], "b": []}, {}, "a has no layouts"),
    ],
)
def test_refusals(systems: Any, options: dict[str, Any], message: str, data: Sample) -> None:
    with pytest.raises(cv.CarousevalError, match=message):
        compare(data, systems, **options)


def test_writings(result: cv.Comparison, tmp_path: Path) -> None:
    content = json.loads(result.to_json())
    assert len(content["pairs"]) == 10
    assert content["config"]["test"] == "permutation"
    for suffix in ("json", "md", "tex", "csv", "parquet"):
        assert result.save(tmp_path / f"r.{suffix}").stat().st_size > 0
    assert "<table" in result._repr_html_()


def test_sensitivity(data: Sample) -> None:
    systems = {name: data.layouts[name] for name in ("oracle", "prod", "random")}
    found = cv.sensitivity(systems, data.judgments, data.items)
    assert found.systems == ("oracle", "prod", "random")
    assert found.table["varied"].unique(maintain_order=True).to_list() == [
        "reference", "discount", "ideal", "gain", "cutoff", "candidates",
    ]  # fmt: skip
    row = found.table.filter(pl.col("variation") == "d_t").row(0, named=True)
    wanted = cv.evaluate(data.layouts["prod"], data.judgments, data.items, metrics="N2DCG_cat(d_t)")
    assert row["prod"] == wanted.mean["N2DCG_cat(d_t)"]
    assert found.table["tau"][0] == 1.0
    assert found.summary.startswith("The order oracle > prod > random")


def test_sensitivity_finds_what_flips() -> None:
    """One system shows its item late in the first row, the other early in a later row: cutoffs tell them apart."""
    judgments = {"user_id": [1, 1], "item_id": [1, 2], "relevance": [1, 1]}
    rows = {"user_id": [1] * 5, "row": [1, 2, 3, 4, 5], "col": [1] * 5}
    listed = {"item_id": [1, 2, 3, 4, 5, 6], "category": ["a", "b", "a", "c", "d", "e"]}
    other = {**rows, "item_id": [3, 4, 5, 6, 2], "category": ["a", "c", "d", "e", "b"]}
    one = {"user_id": [1, 1], "row": [1, 1], "col": [1, 2], "item_id": [3, 1], "category": ["a", "a"]}
    found = cv.sensitivity({"one": one, "other": other}, judgments, listed)
    assert found.table.height > 8
    assert set(found.table["tau"]) <= {-1.0, 0.0, 1.0}


def test_pins_must_agree() -> None:
    """A system must not win by declaring a row pinned, which lowers its own ideal."""
    cells = [(user, row, 1, row, label) for user in range(5) for row, label in ((1, "x"), (2, "y"))]
    plain = pl.DataFrame(cells, schema=["user_id", "row", "col", "item_id", "category"], orient="row")
    judgments = {"user_id": list(range(5)), "item_id": [2] * 5, "relevance": [1] * 5}
    systems = {"plain": plain, "pinned": plain.with_columns(pinned=pl.col("row") == 1)}
    with pytest.raises(
        cv.DataError, match="pinned: 5 pages have a different ideal page than in plain, first user_id=0"
    ):
        cv.compare(systems, judgments, permutations=99)


@pytest.mark.filterwarnings("ignore:.*have no page and score 0")
def test_a_missing_page_counts_in_its_segment() -> None:
    """A user whom one system shows nothing stands in the segment where the others show a page."""
    data = sample(60, systems=["new", "random"])
    few = data.layouts["new"].filter(pl.col("user_id") < "u000025")
    rest = data.layouts["new"].filter(pl.col("user_id") >= "u000025")
    prod = pl.concat([data.layouts["random"].filter(pl.col("user_id") < "u000025"), rest])
    found = compare(data, {"prod": prod, "new": few}, by="device")
    assert found.segments["users"].sum() == found.pairs["users"][0]
    differences, users = (found.segments[name].to_numpy() for name in ("difference", "users"))
    assert np.average(differences, weights=users) == pytest.approx(found.pairs["difference"][0])


def test_the_sentence_says_what_the_test_says(data: Sample) -> None:
    """Best by its own users, worse on those that both have."""
    scored = cv.evaluate(data.layouts["new"], data.judgments, data.items).per_user.sort("N2DCG_cat")
    low = scored.head(40)["user_id"].implode()
    systems = {"wide": data.layouts["new"], "narrow": data.layouts["oracle"].filter(pl.col("user_id").is_in(low))}
    found = compare(data, systems, missing_pages="skip")
    pair = found.pair("wide", "narrow")
    assert pair is not None
    assert "On the " in found.summary
    assert f"{abs(pair['difference']):.4f}" in found.summary


@pytest.mark.parametrize("ci", [0.5, 0.95])
def test_intervals_of_systems_follow_the_level(ci: float, data: Sample) -> None:
    systems = {name: data.layouts[name] for name in ("new", "prod")}
    found = compare(data, systems, ci=ci).systems
    alone = cv.evaluate(data.layouts["new"], data.judgments, data.items).interval("N2DCG_cat", ci=ci)
    assert found.filter(pl.col("system") == "new").select("low", "high").row(0) == pytest.approx(alone, abs=2e-3)


def test_identical_pages_are_not_inferior(data: Sample) -> None:
    found = compare(data, {"a": data.layouts["new"], "b": data.layouts["new"]}, margin=0)
    assert found.worse("a", "b") is None
    assert "no difference" in found.summary
    varied = cv.sensitivity({"a": data.layouts["new"], "b": data.layouts["new"]}, data.judgments, data.items)
    assert varied.summary.startswith("The order a = b")


@pytest.mark.parametrize("name", ["user_id", "best", "tau", "metric"])
def test_systems_with_names_of_ours(name: str, data: Sample) -> None:
    with pytest.raises(cv.ParameterError, match="column of the results"):
        compare(data, {name: data.layouts["new"], "b": data.layouts["prod"]})


@pytest.mark.parametrize("by", ["system", "p", "wins", "not_inferior"])
def test_segments_with_names_of_ours(by: str, data: Sample) -> None:
    with pytest.raises(cv.ParameterError, match="column of the results"):
        compare(data, by=by)


def test_errors_name_the_system(data: Sample) -> None:
    twice = pl.concat([data.layouts["prod"], data.layouts["prod"].head(1)])
    with pytest.raises(cv.DataError, match="prod: layouts: 1 cell appears twice"):
        compare(data, {"new": data.layouts["new"], "prod": twice})


def test_sensitivity_on_a_screen_that_is_half_the_page() -> None:
    grid = cv.Grid(6, 10, page_size=5, visible_rows=3)
    data = sample(30, grid=grid, systems=["new", "prod"])
    found = cv.sensitivity(data.layouts, data.judgments, data.items, grid=grid, gain="linear")
    assert found.table["variation"].to_list().count("exp2") == 1
    wrong: list[Any] = [[], "d_rpd"]
    for discounts in wrong:
        with pytest.raises(cv.ParameterError, match="discounts must be a list"):
            cv.sensitivity(data.layouts, data.judgments, data.items, grid=grid, discounts=discounts)


@pytest.mark.filterwarnings("ignore:.*have no page and score 0")
def test_repr_states_the_result(data: Sample, result: cv.Comparison) -> None:
    pair = result.pair("oracle", "new")
    assert pair is not None
    first, difference, significance = repr(result).splitlines()
    assert first.startswith("Comparison by N2DCG_cat: oracle ")
    assert difference.startswith(f"oracle - new: {abs(pair['difference']):+.4f}, 95% confidence interval ")
    assert significance == f"statistically significant (p = {pair['p_adjusted']:.2g} after Holm correction)"
    uncompared = repr(compare(data, baseline="random"))
    assert uncompared.splitlines() == [first]
    few = data.layouts["new"].filter(pl.col("user_id") < "u000010")
    many = cv.compare({f"s{n}": few for n in range(7)}, data.judgments, data.items, permutations=999)
    assert "and 2 more" in repr(many)


def test_the_summary_states_significance_and_power(data: Sample, result: cv.Comparison) -> None:
    assert "The difference is statistically significant (p = " in result.summary
    assert "confidence interval" in result.summary
    assert "not adjusted for multiple comparisons" in result.summary
    few = {name: data.layouts[name].filter(pl.col("user_id") < "u000010") for name in ("new", "prod")}
    judged = data.judgments.filter(pl.col("user_id") < "u000010")
    unclear = cv.compare(few, judged, data.items, permutations=99, correction="none")
    detectable = unclear.pairs["detectable"][0]
    said = f"between prod and new that this comparison would detect with 80% power is {detectable:.4f}."
    assert f"The smallest difference {said}" in unclear.summary
    assert "do not differ significantly" in unclear.summary
    assert unclear.summary in unclear._repr_html_()


def test_repr_of_sensitivity_names_what_changes_the_order() -> None:
    small = sample(40)
    found = cv.sensitivity(small.layouts, small.judgments, small.items)
    order = "the order oracle > new > prod > popular > random"
    assert repr(found).splitlines() == [
        f"Sensitivity: {order} holds in 10 of 11 variations",
        "changed by candidates: displayed",
    ]
    assert "changes in 1 of 11 variations (candidates: displayed). oracle leads in all 11." in found.summary
    assert "new/prod" in found.summary


def test_errors_name_the_system_where_items_are_collected(data: Sample) -> None:
    with pytest.raises(cv.DataError, match="prod: layouts: missing column"):
        cv.compare({"new": data.layouts["new"], "prod": {"x": [1]}}, data.judgments)


def test_warnings_are_given_once_per_comparison(data: Sample) -> None:
    """Not once per system, run or variation: tables that are read several times give the same warning each time."""
    judgments = data.judgments.with_columns(relevance=pl.col("relevance") * 4)
    systems: dict[str, Any] = {"new": [data.layouts["new"]] * 2, "prod": data.layouts["prod"]}
    for function in (cv.compare, cv.sensitivity):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(systems, judgments, data.items)
        texts = [str(warning.message) for warning in caught]
        assert sum("are above 10" in text for text in texts) == 1
        assert len(set(texts)) == len(texts)
        assert {warning.filename for warning in caught} == {__file__}
