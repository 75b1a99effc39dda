"""Sensitivity: every line is what ``evaluate`` gives under the settings that the line names."""

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.building.sample import Sample, sample
from carouseval.cli.wording import with_options
from carouseval.comparison.variations import merged_notices
from carouseval.evaluation.scoring.ideal_problems import IdealProblems, IdealSolution
from carouseval.messages import Message, setting
from carouseval.metrics.cutoffs import parse_cutoff
from tests.evaluation.test_ideal_limits import GRID, NOTICE, TABLES


@pytest.fixture(scope="module")
def data() -> Sample:
    return sample(50, systems=["new", "prod", "random"], missing=0.1, pages=2)


FEW = ("d_rpd", "d_a")


def sensitivity(data: Sample, **options: Any) -> cv.Sensitivity:
    return cv.sensitivity(data.layouts, data.judgments, data.items, **({"discounts": FEW} | options))


def means(data: Sample, metric: Any, **options: Any) -> dict[str, float]:
    return {
        name: cv.evaluate(layouts, data.judgments, data.items, metrics=[metric], **options).mean[str(cv.metric(metric))]
        for name, layouts in data.layouts.items()
    }


def line(found: cv.Sensitivity, varied: str, variation: str | None = None) -> dict[str, Any]:
    lines = found.table.filter(pl.col("varied") == varied)
    if variation is not None:
        lines = lines.filter(pl.col("variation") == variation)
    assert lines.height == 1, (varied, variation, found.table)
    return lines.row(0, named=True)


@pytest.mark.parametrize(("candidates", "other"), [("judged", "displayed"), ("displayed", "judged")])
def test_candidates(data: Sample, candidates: Any, other: Any) -> None:
    found = sensitivity(data, candidates=candidates)
    reference = line(found, "reference")
    assert {name: reference[name] for name in data.layouts} == means(data, "N2DCG_cat", candidates=candidates)
    varied = line(found, "candidates", other)
    assert {name: varied[name] for name in data.layouts} == means(data, "N2DCG_cat", candidates=other)
    assert found.config["candidates"] == candidates
    assert found.systems[0] == max(data.layouts, key=lambda name: reference[name])
    rest = found.table.filter(~pl.col("varied").is_in(["reference", "candidates"]))
    for row in rest.iter_rows(named=True):
        assert {name: row[name] for name in data.layouts} == means(
            data, varied_metric(row, "N2DCG_cat"), candidates=candidates
        )


def varied_metric(row: dict[str, Any], base: str, discount: Any = None, cutoff: Any = None, gain: Any = None) -> Any:
    """The metric that a line names."""
    varied, variation = row["varied"], row["variation"]
    if varied == "ideal":
        return cv.metric("N2DCG", discount or "d_rpd", cutoff, gain)
    if varied == "discount":
        discount = variation
    elif varied == "gain":
        gain = variation
    elif varied == "cutoff":
        cutoff = parse_cutoff(variation.rpartition(" ")[2])
    return cv.metric(base, discount, cutoff, gain)


def test_another_reference(data: Sample) -> None:
    """The metric asked for is the reference, and what is varied starts from it."""
    name = "N2DCG_cat(d_rpb)@5x10"
    found = sensitivity(data, metrics=name, gain="linear")
    reference = line(found, "reference", name)
    assert {one: reference[one] for one in data.layouts} == means(data, name, gain="linear")
    assert found.config["metrics"] == {name: name}
    assert found.config["gain"] == "linear"
    kinds = set(found.table["varied"])
    assert kinds == {"reference", "discount", "ideal", "gain", "cutoff", "candidates"}
    assert line(found, "gain")["variation"] == "exp2"
    assert found.table.filter(varied="discount")["variation"].to_list() == list(FEW)
    for row in found.table.filter(~pl.col("varied").is_in(["reference", "candidates"])).iter_rows(named=True):
        metric = varied_metric(row, "N2DCG_cat", "d_rpb", (5, 10))
        assert {one: row[one] for one in data.layouts} == means(data, metric, gain="linear"), row


def test_what_comes_to_the_same_is_left_out(data: Sample) -> None:
    found = sensitivity(data, metrics="N2DCG_cat(d_a)", discounts=["d_a", "d_rpd", "d_rpd(mu=0.65)"])
    assert found.table.filter(varied="discount")["variation"].to_list() == ["d_rpd"]
    assert found.table.filter(varied="reference")["variation"].to_list() == ["N2DCG_cat(d_a)"]


def test_segments(data: Sample) -> None:
    found = sensitivity(data, by="device")
    assert found.config["by"] == ["device"]
    of = {name: cv.evaluate(layouts, data.judgments, data.items, by="device") for name, layouts in data.layouts.items()}
    reference = found.table.filter(varied="reference")
    devices = set(reference["device"])
    assert devices >= {"(all)", "tv", "phone", "web"}
    for row in reference.iter_rows(named=True):
        for name, evaluation in of.items():
            if row["device"] == "(all)":
                assert row[name] == evaluation.mean["N2DCG_cat"]
                continue
            mine = evaluation.segments.filter(pl.col("device") == row["device"])
            if mine.is_empty():
                assert math.isnan(row[name])
            else:
                assert row[name] == mine["N2DCG_cat"][0]
    for _, lines in found.table.group_by("varied", "variation"):
        assert set(lines["device"]) == devices
    displayed = found.table.filter(varied="candidates")
    for name, layouts in data.layouts.items():
        alone = cv.evaluate(layouts, data.judgments, data.items, by="device", candidates="displayed")
        wanted = dict(alone.segments.select("device", "N2DCG_cat").rows())
        here = dict(displayed.select("device", name).rows())
        assert {device: here[device] for device in wanted} == wanted


def test_tau_best_and_flips_by_hand(data: Sample) -> None:
    found = sensitivity(data)
    reference = line(found, "reference")
    names = list(data.layouts)
    for row in found.table.iter_rows(named=True):
        pairs = [(a, b) for n, a in enumerate(names) for b in names[n + 1 :]]
        signs = [(reference[a] - reference[b]) * (row[a] - row[b]) for a, b in pairs]
        assert row["tau"] == pytest.approx(sum(math.copysign(1, s) for s in signs) / len(pairs))
        assert row["best"] == max(names, key=lambda name: row[name])
        flips = [f"{a}/{b}" for (a, b), s in zip(pairs, signs, strict=True) if s < 0]
        assert row["flips"] == ", ".join(flips)


def test_the_other_settings_act_and_are_echoed(data: Sample) -> None:
    options: dict[str, Any] = {
        "duplicates": "every",
        "missing_pages": "skip",
        "no_relevant": "zero",
        "unjudged": "zero",
        "invalid": "count",
        "grid": cv.Grid(12, 20, page_size=4),
        "threads": 1,
        "memory": 1.0,
    }
    found = sensitivity(data, **options)
    reference = line(found, "reference")
    assert {name: reference[name] for name in data.layouts} == means(data, "N2DCG_cat", **options)
    for name, value in options.items():
        if name != "grid":
            assert found.config[name] == value
    assert found.config["grid"]["rows"] == 12
    assert found.config["discounts_tried"] == list(FEW)
    heavy = {
        name: table.with_columns(w=pl.when(pl.col("user_id") < "u000020").then(5.0).otherwise(1.0))
        for name, table in data.layouts.items()
    }
    by_weight = cv.sensitivity(heavy, data.judgments, data.items, discounts=FEW, weight="w", missing_pages="skip")
    assert by_weight.config["weight"] == "w"
    for name, layouts in heavy.items():
        alone = cv.evaluate(layouts, data.judgments, data.items, weight="w", missing_pages="skip")
        assert line(by_weight, "reference")[name] == alone.mean["N2DCG_cat"]


def test_the_first_screen_of_rows_that_differ_holds_its_widest_row(data: Sample) -> None:
    found = sensitivity(data, grid=cv.Grid(12, 20, (1, 4, 7, *[9] * 9)))
    assert "first screen, 3x7" in found.table["variation"].to_list()


def test_runs_are_averaged(data: Sample) -> None:
    runs: dict[str, Any] = {"a": [data.layouts["new"], data.layouts["random"]], "b": data.layouts["prod"]}
    found = cv.sensitivity(runs, data.judgments, data.items, discounts=FEW)
    single = means(data, "N2DCG_cat")
    reference = line(found, "reference")
    assert reference["a"] == pytest.approx((single["new"] + single["random"]) / 2)
    assert reference["b"] == single["prod"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["N2DCG_cat", "NDCG@10"]}, "sensitivity takes one N2DCG_cat"),
        ({"metrics": "N2DCG"}, "sensitivity takes one N2DCG_cat"),
        ({"discounts": "d_a"}, "discounts must be a list"),
        ({"discounts": []}, "discounts must be a list"),
        ({"grid": {"tv": cv.TV}, "by": "device"}, "sensitivity takes one grid"),
    ],
)
def test_what_cannot_be_varied_is_refused(data: Sample, options: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.ParameterError, match=message):
        sensitivity(data, **options)


def test_relevances_of_0_and_1_have_one_ideal_under_both_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ideals are solved once for both gains, and the scores are those of each gain alone."""
    solve, solved = IdealProblems.solve, []

    def counted(problems: IdealProblems, *arguments: Any, **options: Any) -> IdealSolution:
        solved.append(len(problems.open))
        return solve(problems, *arguments, **options)

    users = 20
    graded = sample(users, systems=["new", "prod"])
    relevant = (pl.col("relevance") > 1).cast(pl.Float64)
    binary = replace(graded, judgments=graded.judgments.with_columns(relevance=relevant))
    top_pinned = {name: table.with_columns(pinned=pl.col("row") == 1) for name, table in graded.layouts.items()}
    displayed = 2 * users  # the pages of both systems, in the variation of candidates
    for tables, problems in (
        (graded, 4 * users),  # the reference, the other gain and two cutoffs
        (binary, 3 * users),
        (replace(binary, layouts=top_pinned), 3 * 2 * users),  # pinned pages have ideals of their own
    ):
        with monkeypatch.context() as patch:
            patch.setattr(IdealProblems, "solve", counted)
            solved.clear()
            found = sensitivity(tables, discounts=["d_rpd"])
        assert sum(solved) == problems + displayed
        varied = line(found, "gain", "linear")
        linear = cv.metric("N2DCG_cat", gain="linear")
        assert {name: varied[name] for name in tables.layouts} == means(tables, linear)


def test_each_warning_is_given_once() -> None:
    """Notices that differ in numbers alone, by system or by variation, are one."""
    items = {"item_id": ["x", "y"], "category": ["A", "A"]}
    judgments = {"user_id": [1, 2, 3], "item_id": ["x"] * 3, "relevance": [1] * 3}

    def repeats(*users: int) -> dict[str, Any]:
        """Pages that show x once, and twice for these users, which is more than any ideal page does."""
        lines = [(user, col, "x" if col == 1 or user in users else "y") for user in (1, 2, 3) for col in (1, 2)]
        user, col, item = map(list, zip(*lines, strict=True))
        return {"user_id": user, "row": [1] * 6, "col": col, "item_id": item, "category": ["A"] * 6}

    def notices(**systems: dict[str, Any]) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cv.sensitivity(systems, judgments, items, duplicates="every")
        return [str(warning.message) for warning in caught]

    above = "layouts: {} gained more than the ideal page because of what it may not show: an item outside its category,"
    above += " twice in a row, after a gap or beyond a capacity."
    differ = "(These numbers differ in other systems or variations.)"
    assert notices(a=repeats(1), b=repeats(2)) == [above.format("1 page")]
    assert notices(a=repeats(), b=repeats(1, 2)) == ["b: " + above.format("2 pages")]
    assert notices(a=repeats(1), b=repeats(1, 2)) == [f"a: {above.format('1 page')} {differ}"]


def test_a_notice_for_many_keeps_its_settings() -> None:
    """The command line words them, as it does those of a notice for one."""
    alike: dict[str, list[str]] = {Message(f"{count} pages. Use {setting('work', 80000)}."): ["a"] for count in (3, 4)}
    (notice,) = merged_notices(alike)
    assert with_options(notice, "compare").startswith("3 pages. Use --work 80000. (These numbers differ")


def test_the_notice_about_ideals_that_are_not_proven_states_the_largest_gap() -> None:
    """Also where that is the gap of a later system."""
    arguments: tuple[Any, Any] = (TABLES["judgments"], TABLES["items"])
    systems = {"few": TABLES["layouts"].filter(pl.col("user_id") < 2), "all": TABLES["layouts"]}
    settings: dict[str, Any] = {"grid": GRID, "work": 0.05}

    def notice_of(call: Callable[[], Any]) -> re.Match[str]:
        with pytest.warns(cv.DataWarning, match=NOTICE) as caught:
            call()
        (notice,) = filter(None, (re.search(f"^(.*?){NOTICE}", str(warning.message)) for warning in caught))
        return notice

    varied: list[Any] = ["N2DCG_cat", "N2DCG_cat@3x2", "N2DCG_cat@3x3", cv.metric("N2DCG_cat", gain="linear")]
    gaps = {
        name: notice_of(partial(cv.evaluate, layouts, *arguments, metrics=varied, **settings))[3]
        for name, layouts in systems.items()
    }
    assert float(gaps["few"]) < float(gaps["all"])
    found = notice_of(partial(cv.sensitivity, systems, *arguments, discounts=["d_rpd"], **settings))
    assert (found[1], found[3]) == ("all: ", gaps["all"])
