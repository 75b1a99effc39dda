"""Judgments logged on one system's pages: shares of what systems show, the notice, and the break-even.

Rates are measured on simulated worlds, with seeds that the thresholds were not chosen on (those are below 3000).
"""

import itertools
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.building.sample import Sample, sample
from carouseval.comparison.logged_judgments import LoggedJudgments, SystemShares, break_even, share_counts
from carouseval.comparison.scored_runs import score_runs
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import JudgedSources
from carouseval.evaluation.settings import Settings
from carouseval.show.terminal.comparison import comparison as draw
from tests.depth import seeds

KEYS = ["user_id", "item_id"]
WORLDS = seeds(5, 100, start=3000)


def plays(layouts: pl.DataFrame, truth: pl.DataFrame, seed: int, zeros: bool) -> pl.DataFrame:
    """A log of one system's pages: d_rpb is the probability that a cell is examined; what is relevant is then played.

    With ``zeros``, what was examined but not played is judged too.
    """
    examined = cv.discounts.RowPageBrowsing().weights(cv.RECGAZE)[layouts["row"] - 1, layouts["col"] - 1]
    chance = np.random.default_rng(seed).random(layouts.height)
    items = layouts.filter(pl.Series(chance < examined)).select(KEYS).unique(maintain_order=True)
    log = items.join(truth, on=KEYS, how="left", maintain_order="left").with_columns(pl.col("relevance").fill_null(0.0))
    return log if zeros else log.filter(pl.col("relevance") > 0)


def compare(systems: Mapping[str, Any], judgments: pl.DataFrame, items: Any = None, **options: Any) -> cv.Comparison:
    """A comparison whose warnings are left to its notice."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.DataWarning)
        return cv.compare(systems, judgments, items, **{"permutations": 19} | options)


def logged_on(
    systems: Mapping[str, pl.DataFrame], judgments: pl.DataFrame, items: Any = None, **grid: Any
) -> list[str]:
    """The system that is found to be logged, as a comparison finds it but without its statistics."""
    plan = ScoringPlan.of(Settings(**grid))
    runs = score_runs(JudgedSources(judgments, items, plan), {(name, 0): table for name, table in systems.items()})
    shown = {name: [run.shown.shown] for (name, _), run in runs.items() if run.shown is not None}
    counts = share_counts(shown, "N2DCG_cat")
    found = LoggedJudgments.find({name: SystemShares.of(runs) for name, runs in counts.items()})
    return list(found.favoured) if found else []


def movie_world(seed: int, positives: bool) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Sparse judgments as in MovieLens: users judge 1-5% of the catalogue, by popularity and taste, and like half.

    ``good`` knows popularity and taste exactly, but not the judgments.
    """
    rng = np.random.default_rng(seed)
    users, items, categories = 60, int(rng.choice([300, 600, 1500])), 15
    category = np.concatenate([np.arange(categories), rng.integers(categories, size=items - categories)])
    popularity = -rng.choice([0.8, 1.2, 1.6]) * np.log(rng.permutation(items) + 5.0)
    appeal = rng.normal(0, 1.5, (users, categories))[:, category] + popularity
    order = np.argsort(-(appeal + rng.gumbel(size=appeal.shape)), axis=1)
    judged = np.zeros(appeal.shape, bool)
    for row, count in enumerate(np.maximum(3, items * rng.uniform(0.01, 0.05, users)).astype(int)):
        judged[row, order[row, :count]] = True
    liking = appeal / appeal.std() + rng.normal(size=appeal.shape)
    liked = judged & (liking > np.median(liking[judged]))
    user, item = np.nonzero(liked if positives else judged)
    judgments = pl.DataFrame({"user_id": user, "item_id": item, "relevance": liked[user, item].astype(float)})
    scores = {
        "good": appeal + 0.3 * rng.normal(size=appeal.shape),
        "popular": np.tile(popularity, (users, 1)),
        "weak": 0.3 * appeal + rng.normal(size=appeal.shape),
        "random": rng.normal(size=appeal.shape),
    }
    return {name: _pages(values, category) for name, values in scores.items()}, judgments


def _pages(scores: np.ndarray[Any, Any], category: np.ndarray[Any, Any]) -> pl.DataFrame:
    """The ten categories whose 15 best items have the largest mean score."""
    parts, values = [], []
    for label in range(category.max() + 1):
        members = np.flatnonzero(category == label)
        best = members[np.argsort(-scores[:, members], axis=1)[:, :15]]
        user, col = np.indices(best.shape)
        parts.append(
            pl.DataFrame({"user_id": user.ravel(), "col": col.ravel() + 1, "item_id": best.ravel(), "category": label})
        )
        values.append(np.take_along_axis(scores, best, axis=1).mean(axis=1))
    place = np.argsort(np.argsort(-np.stack(values, axis=1), axis=1), axis=1)
    user, name = np.indices(place.shape)
    rows = pl.DataFrame({"user_id": user.ravel(), "category": name.ravel(), "row": place.ravel() + 1})
    pages = pl.concat(parts, how="vertical_relaxed").with_columns(pl.col("category").cast(pl.Int64))
    return pages.join(rows, on=["user_id", "category"]).filter(pl.col("row") <= 10).cast({"category": pl.String})


@pytest.mark.parametrize("zeros", [False, True])
def test_logs_are_noticed(zeros: bool) -> None:
    """At least 95% of worlds of various kinds; the system named is the one that was logged."""
    noticed = 0
    for seed in WORLDS:
        kind: dict[str, Any] = {"mode": ("graded", "binary")[seed % 2], "items": (1000, 2000, 10_000)[seed % 3]}
        world = sample(60, seed=seed, systems=["new", "prod", "popular"], **kind)
        log = plays(world.layouts["prod"], world.judgments, seed, zeros)
        chosen = [["new", "prod"], ["prod", "popular"], ["new", "prod", "popular"]][seed // 2 % 3]
        noticed += logged_on({name: world.layouts[name] for name in chosen}, log, world.items) == ["prod"]
    assert noticed >= 0.95 * len(WORLDS)


def test_full_judgments_are_not_taken_for_logs() -> None:
    """At most 2% of worlds of various kinds, systems and sizes; with a perfect chooser where zeros are judged."""
    alarms = []
    for seed in WORLDS:
        kind: dict[str, Any] = {
            "mode": ("graded", "binary")[seed % 2],
            "items": (200, 600, 2000)[seed % 3],
            "judgments": (5, 20, 60)[seed // 3 % 3],
            "pinned": seed % 5 == 0,
            "grid": cv.Grid(6, 10) if seed % 7 == 0 else cv.RECGAZE,
        }
        world = sample((30, 60)[seed // 2 % 2], seed=seed, **kind)
        grid = cv.Grid(7, 10) if seed % 7 == 0 else cv.Grid(11, 15)
        positives = seed % 4 == 0
        judgments = world.judgments.filter(pl.col("relevance") > 0) if positives else world.judgments
        systems = {name: table for name, table in world.layouts.items() if not (positives and name == "oracle")}
        alarms += [seed] if logged_on(systems, judgments, world.items, grid=grid) else []
    assert len(alarms) <= 0.02 * len(WORLDS), alarms


@pytest.mark.parametrize("positives", [False, True])
def test_sparse_judgments_are_not_taken_for_logs(positives: bool) -> None:
    """At most 2%; positives alone are the harder case, as nothing shows what a system left out on purpose."""
    alarms = [seed for seed in WORLDS if logged_on(*movie_world(seed, positives))]
    assert len(alarms) <= 0.02 * len(WORLDS), alarms


def test_logs_of_both_systems_favour_neither() -> None:
    for seed in range(5):
        world = sample(100, seed=seed, systems=["new", "prod"])
        half = pl.col("user_id") < "u000050"
        logs = [
            plays(world.layouts[name].filter(users), world.judgments, seed, zeros=seed % 2 == 0)
            for name, users in (("new", half), ("prod", ~half))
        ]
        assert logged_on(world.layouts, pl.concat(logs), world.items) == []


@pytest.fixture(scope="module")
def world() -> Sample:
    return sample(200, systems=["new", "prod", "random"])


@pytest.fixture(scope="module")
def log(world: Sample) -> pl.DataFrame:
    return plays(world.layouts["prod"], world.judgments, seed=0, zeros=False)


def test_the_notice_begins_the_summary_and_warns_once(world: Sample, log: pl.DataFrame) -> None:
    with pytest.warns(cv.DataWarning) as caught:
        result = cv.compare(world.layouts, log, world.items, permutations=99)
    assert [str(warning.message) for warning in caught] == [
        "judgments: they were probably logged on the pages of prod, and favour prod. See the summary."
    ]
    assert result.summary.startswith(
        "The judgments were probably logged on the pages of prod: 100.0% of the relevant items are shown there, but "
        "far fewer by new (67.0%), random (10.2%), where most items shown have no judgment: new (97.4%), random "
        "(99.7%). Such judgments favour prod, since an item that was not shown could not be played and counts as not "
        "relevant. A system that chooses perfectly would look the same. To tell the two apart, use judgments of items "
        "that prod did not show (ratings, plays from search, randomised pages), or an A/B test."
    )
    assert "the judgments were probably logged on the pages of prod" in repr(result)
    assert result.summary.startswith(result.notice)
    pair = result.pair("prod", "new")
    assert pair is not None
    assert result.notice.endswith(
        "The lead is lost if every unjudged item shown by the following gains this share of the mean gain of relevant "
        f"items (break-even): new ({pair['break_even']:.1%}), random (1.5%)."
    )
    assert result.to_dict()["summary"] == result.summary
    table = draw(result).plain
    assert "relevant shown  shown judged\nprod" in table
    assert re.search(r"\nN2DCG_cat +prod +new .* 0.6%\n", table)
    assert result.to_dict()["systems"][1]["relevant_shown"] == 1.0


def test_a_system_that_leads_in_spite_of_the_log_has_no_break_even(world: Sample, log: pl.DataFrame) -> None:
    """The pages that were logged, with the best at the end, and a system that shows most of the same at the top."""
    turned = world.layouts["prod"].with_columns(row=11 - pl.col("row"), col=16 - pl.col("col"))
    short = world.layouts["prod"].filter(pl.col("row") <= 6)
    result = compare({"prod": turned, "short": short}, log, world.items)
    assert result.systems.sort("mean")["system"].to_list() == ["prod", "short"]
    assert result.notice.endswith("A/B test.")


@pytest.mark.parametrize(
    ("shares", "favoured"),
    [
        ({"a": (0.99, 0.99, 0.05), "b": (0.6, 0.6, 0.04)}, ["a"]),
        ({"a": (1.0, 1.0, 0.05), "b": (0.95, 0.2, 0.04), "c": (0.5, 0.4, 0.04)}, ["a"]),
        ({"a": (1.0, 1.0, 0.05), "b": (1.0, 1.0, 0.04), "c": (0.5, 0.4, 0.04)}, ["a", "b"]),
        ({"a": (0.98, 0.98, 0.05), "b": (0.6, 0.6, 0.04)}, []),  # not nearly all
        ({"a": (1.0, 0.6, 0.05), "b": (0.6, 0.6, 0.04)}, []),  # it leaves out what is not relevant: a perfect chooser
        ({"a": (1.0, 1.0, 0.05), "b": (0.92, 0.92, 0.04)}, []),  # not far fewer
        ({"a": (1.0, 1.0, 0.9), "b": (0.6, 0.6, 0.8)}, []),  # most is judged
        ({"a": (np.nan, np.nan, np.nan), "b": (np.nan, np.nan, np.nan)}, []),  # no users in common
    ],
)
def test_the_rule(shares: dict[str, tuple[float, float, float]], favoured: list[str]) -> None:
    found = LoggedJudgments.find({name: SystemShares(*values, users=20) for name, values in shares.items()})
    assert (list(found.favoured) if found else []) == favoured
    assert LoggedJudgments.find({name: SystemShares(*values, users=19) for name, values in shares.items()}) is None


def test_a_perfect_chooser_looks_like_a_log_unless_zeros_are_judged() -> None:
    data = sample(100, systems=["oracle", "random"], mode="binary", judgments=5, items=10_000)
    relevant = data.judgments.filter(pl.col("relevance") > 0)
    shown = relevant.join(data.layouts["oracle"], on=KEYS, how="semi")  # the few that even the oracle misses left out
    zeros = data.judgments.filter(pl.col("relevance") == 0)
    assert "probably logged on the pages of oracle" in compare(data.layouts, shown, data.items).notice
    assert compare(data.layouts, pl.concat([shown, zeros]), data.items).notice == ""


def test_displayed_candidates_have_shares_only(world: Sample, log: pl.DataFrame) -> None:
    result = compare(world.layouts, log, world.items, candidates="displayed")
    assert result.notice == ""
    assert result.pairs["break_even"].to_list() == [None] * 3
    assert result.systems["relevant_shown"][1] == 1.0


def test_metrics_that_are_not_linear_have_no_break_even(world: Sample, log: pl.DataFrame) -> None:
    result = compare(world.layouts, log, world.items, metrics=["Hit@3x5", "Coverage", "2DCG"])
    assert result.notice.endswith("A/B test.")
    assert result.pairs.filter(pl.col("metric") == "Hit@3x5")["break_even"].to_list() == [None] * 3
    assert result.pairs.filter(pl.col("metric") == "2DCG")["break_even"].null_count() == 0
    assert result.systems.filter(pl.col("metric") == "Coverage")["relevant_shown"][1] == 1.0


# Shares, counted with joins


def shares(systems: Mapping[str, list[pl.DataFrame]], judgments: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Per system the share of relevant items shown and of items shown that are judged, among users with all pages."""
    keys = [key for key in ("user_id", "page_id") if key in judgments.columns]
    common = judgments.select(keys).unique()
    for table in itertools.chain(*systems.values()):
        common = common.join(table, on=keys, how="semi")
    pairs = judgments.join(common, on=keys, how="semi")
    relevant = pairs.filter(pl.col("relevance") > 0)
    found = {}
    for name, runs in systems.items():
        values = []
        for run in runs:
            shown = run.join(common, on=keys, how="semi")
            matched = [
                left.join(right, on=[*keys, "item_id"], how="semi")
                for left, right in ((relevant, shown), (shown, pairs))
            ]
            values.append((matched[0].height / relevant.height, matched[1].height / shown.height))
        found[name] = tuple(np.mean(values, axis=0))
    return found


def options_of(kind: str) -> tuple[Sample, dict[str, Any], pl.DataFrame, dict[str, Any]]:
    """A world, its systems (one table, or a list of runs), the judgments and the settings, of some kind."""
    drawn: dict[str, Any] = {"pages": 2} if kind in ("pages", "per page", "weights") else {}
    drawn |= {"missing": 0.2} if kind == "missing" else {"pinned": True} if kind == "pinned" else {}
    data = sample(40, systems=["new", "prod"], seed=3, ragged=True, devices=kind == "segments", **drawn)
    systems: dict[str, Any] = dict(data.layouts)
    judgments = data.judgments
    settings: dict[str, Any] = {"grid": cv.Grid(11, 15)}
    if kind == "runs":
        systems["new"] = [systems["new"], sample(40, systems=["popular"], seed=3).layouts["popular"]]
    if kind == "per page":
        page = pl.when(pl.col("item_id").hash(0) % 2 == 0).then(pl.lit("p1")).otherwise(pl.lit("p2"))
        judgments = judgments.with_columns(page.alias("page_id"))
    if kind == "weights":
        weight = pl.col("user_id").str.slice(-2).cast(pl.Float64).add(1) * (1 + (pl.col("page_id") == "p2"))
        systems = {name: table.with_columns(weight.alias("visits")) for name, table in systems.items()}
        settings |= {"weight": "visits"}
    if kind == "segments":
        settings |= {"by": "device", "grid": data.grids}
    return data, systems, judgments, settings


KINDS = ["plain", "pages", "per page", "missing", "runs", "weights", "segments", "pinned"]


@pytest.mark.parametrize("kind", KINDS)
def test_shares_are_those_counted_with_joins(kind: str) -> None:
    data, systems, judgments, settings = options_of(kind)
    result = compare(systems, judgments, data.items, **settings)
    runs = {name: tables if isinstance(tables, list) else [tables] for name, tables in systems.items()}
    expected = shares(runs, judgments)
    for row in result.systems.iter_rows(named=True):
        assert (row["relevant_shown"], row["judged_share"]) == pytest.approx(expected[row["system"]], abs=1e-12)


def test_relevance_is_by_each_metric() -> None:
    data = sample(40, systems=["new", "prod"], seed=3)
    metrics = [cv.metric("2DCG", gain=lambda relevance: np.maximum(relevance - 3, 0)), "2DCG"]
    result = compare(data.layouts, data.judgments, data.items, metrics=metrics)
    high = data.judgments.with_columns((pl.col("relevance") - 3).clip(0))
    runs = {name: [table] for name, table in data.layouts.items()}
    found = result.systems.filter(pl.col("metric") != "2DCG")["relevant_shown"].to_list()
    assert found == pytest.approx([share for share, _ in shares(runs, high).values()])
    assert found != result.systems.filter(pl.col("metric") == "2DCG")["relevant_shown"].to_list()


def test_no_users_in_common_have_no_shares(world: Sample) -> None:
    first = pl.col("user_id") < "u000100"
    systems = {"new": world.layouts["new"].filter(first), "prod": world.layouts["prod"].filter(~first)}
    result = compare(systems, world.judgments, world.items, missing_pages="skip")
    assert result.systems["relevant_shown"].is_nan().all()
    assert result.to_dict()["systems"][0]["judged_share"] is None
    assert result.pairs["break_even"].to_list() == [None]


def test_check_reports_the_same_shares(world: Sample) -> None:
    layouts = world.layouts["new"].filter(pl.col("user_id") != "u000007")
    match = cv.check(layouts, world.judgments, world.items).summary["match"]
    assert (match["relevant_shown"], match["judged_share"]) == pytest.approx(
        shares({"new": [layouts]}, world.judgments)["new"], abs=1e-12
    )
    strangers = layouts.with_columns(pl.col("user_id") + "x")
    assert cv.check(strangers, world.judgments, world.items).summary["match"]["relevant_shown"] is None


# Break-even, by adding the unjudged items to the judgments and scoring again


def scores(values: pl.DataFrame, metric: str, evaluation: cv.Evaluation) -> pl.DataFrame:
    """Every user's score: the mean over pages of values over the ideals of an evaluation, for users scored there."""
    pages = evaluation.per_page.filter(pl.col(metric).is_not_null())
    keys = [key for key in ("user_id", "page_id") if key in pages.columns]
    ideal = pl.col(f"{metric}.ideal") if f"{metric}.ideal" in pages.columns else pl.lit(1.0)
    weight = pl.col("weight") if "weight" in pages.columns else pl.lit(1.0)
    scored = (pl.col("status") == "scored") & (ideal > 0)
    pages = pages.select(*keys, pl.when(scored).then(1 / ideal).otherwise(0.0).alias("scale"), weight.alias("weight"))
    pages = pages.join(values, on=keys, how="left").with_columns(pl.col("value").fill_null(0.0))
    score = (pl.col("value") * pl.col("scale") * pl.col("weight")).sum() / pl.col("weight").sum()
    return pages.group_by("user_id").agg(score.alias("score"), pl.col("weight").mean())


def page_values(table: pl.DataFrame, judgments: pl.DataFrame, metric: str, settings: dict[str, Any]) -> pl.DataFrame:
    """The value of every page before it is divided by an ideal."""
    named = cv.metric(metric)
    plain = cv.metric("DCG" if named.by_rank else "2DCG", named.discount, named.cutoff)
    policies = {"metrics": plain, "missing_pages": "skip", "no_relevant": "zero"}
    result = cv.evaluate(table, judgments, **settings | policies)
    keys = [key for key in ("user_id", "page_id") if key in result.per_page.columns]
    return result.per_page.select(*keys, pl.col(str(plain)).alias("value"))


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        *((kind, {}) for kind in KINDS),
        ("plain", {"duplicates": "first"}),
        ("plain", {"duplicates": "every"}),
        ("plain", {"no_relevant": "zero"}),
        ("plain", {"gain": "linear", "metrics": ["2DCG", "NDCG@30", "N2DCG(d_rpb)", "N2DCG_cat@3x5"]}),
        ("pages", {"duplicates": "first", "metrics": ["DCG@40"], "no_relevant": "zero", "memory": 1e-5}),
    ],
)
def test_at_the_break_even_the_difference_is_zero(kind: str, settings: dict[str, Any]) -> None:
    data, systems, judgments, own = options_of(kind)
    settings = {"gain": "exp2", "no_relevant": "skip", **own, **settings}
    judgments = judgments.filter(pl.col("user_id").str.slice(-1) != "5")  # users without judgments have pages too
    result = compare(systems, judgments, data.items, **settings)
    exponential = settings["gain"] == "exp2"
    gains = judgments.filter(pl.col("relevance") > 0)["relevance"].to_numpy()
    mean_gain = (2**gains - 1).mean() if exponential else gains.mean()
    for pair in result.pairs.iter_rows(named=True):
        loser = pair["baseline"] if pair["difference"] > 0 else pair["system"]
        gain = pair["break_even"] * mean_gain
        keys = [key for key in ("user_id", "page_id", "item_id") if key in judgments.columns]
        layouts = systems[loser] if isinstance(systems[loser], list) else [systems[loser]]
        shown = pl.concat([table.select(keys) for table in layouts]).unique().join(judgments, on=keys, how="anti")
        added = shown.with_columns(pl.lit(np.log2(1 + gain) if exponential else gain).alias("relevance"))
        more = pl.concat([judgments, added.select(judgments.columns)])
        means: dict[str, pl.DataFrame] = {}
        for name, evaluations in result.evaluations.items():
            tables = systems[name] if isinstance(systems[name], list) else [systems[name]]
            known = more if name == loser else judgments
            runs = [
                scores(page_values(table, known, pair["metric"], settings), pair["metric"], evaluation)
                for table, evaluation in zip(tables, evaluations, strict=True)
            ]
            means[name] = pl.concat(runs).group_by("user_id").agg(pl.col("score", "weight").mean())
        both = means[pair["system"]].join(means[pair["baseline"]], on="user_id")
        weight = (both["weight"] + both["weight_right"]).to_numpy()
        assert both.height == pair["users"]
        difference = np.average((both["score"] - both["score_right"]).to_numpy(), weights=weight)
        assert difference == pytest.approx(0, abs=1e-9)


def test_segments_have_their_own_break_even() -> None:
    data, systems, judgments, settings = options_of("segments")
    result = compare(systems, judgments, data.items, **settings)
    users = data.layouts["new"].filter(pl.col("device") == "tv").select("user_id").unique()
    tables = [table.join(users, on="user_id", how="semi") for table in (*systems.values(), judgments)]
    alone = compare(dict(zip(systems, tables, strict=False)), tables[-1], data.items, **settings)
    # the mean gain is that of all judgments, so that only its scale differs
    scale = np.mean([2**value - 1 for value in judgments["relevance"] if value > 0])
    scale /= np.mean([2**value - 1 for value in tables[-1]["relevance"] if value > 0])
    segment = result.segments.filter(pl.col("device") == "tv")
    assert segment["break_even"][0] * scale == pytest.approx(alone.pairs["break_even"][0], rel=1e-9)
    assert result.to_frame()["break_even"].to_list() == [*result.pairs["break_even"], *result.segments["break_even"]]


def test_break_even_of_ties_and_of_leads_that_stay() -> None:
    assert break_even(0.0, 0.0) == 0
    assert break_even(-0.2, 0.4) == 0.5
    assert break_even(0.2, 0.2) == 1
    assert break_even(0.2, 0.1) is None
    assert break_even(float("nan"), 0.1) is None
    layouts = {"user_id": [1, 2], "row": [1, 1], "col": [1, 1], "category": ["a", "a"]}
    judgments = {"user_id": [1, 1, 2, 2], "item_id": [1, 2, 1, 2], "relevance": [1, 0, 1, 0]}
    systems = {"right": layouts | {"item_id": [1, 1]}, "wrong": layouts | {"item_id": [2, 2]}}
    assert cv.compare(systems, judgments, permutations=9).pairs["break_even"].to_list() == [None]  # all is judged
