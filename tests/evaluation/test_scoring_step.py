"""The scoring step alone: arrays and settings go to another process, parts of the pages come back scored."""

import multiprocessing
import pickle
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import polars as pl
import pytest

import carouseval as cv
from carouseval.building.sample import sample
from carouseval.evaluation.per_page import page_names
from carouseval.evaluation.plan import ScoringPlan
from carouseval.evaluation.reading.inputs import Inputs, JudgedSources
from carouseval.evaluation.reading.page_batch import PageBatch, page_batches
from carouseval.evaluation.scoring.page_ideals import PageIdeals
from carouseval.evaluation.scoring.page_scores import PageScores
from carouseval.evaluation.scoring.scoring_step import score
from carouseval.evaluation.settings import Settings

METRICS = [
    "N2DCG_cat",
    "N2DCG_cat(d_rpb)@3x5",
    "N2DCG",
    "2DCG",
    "NDCG@10",
    "Precision@3x5",
    "Recall@3x5",
    "Hit@1x2",
    "RR",
    "Coverage@2x3",
]
Sent = tuple[bytes, bytes, bytes]


def from_two(relevance: Any) -> Any:
    """A gain by which relevance 1 is nothing."""
    return np.maximum(np.asarray(relevance) - 1.0, 0.0)


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "displayed": ({"ragged": True}, {"candidates": "displayed", "duplicates": "first"}),
    "pinned pages": ({"pinned": True, "pages": 3, "missing": 0.1}, {"duplicates": "every"}),
    "grids": ({"devices": True, "missing": 0.1}, {"by": "device"}),
    "own gains": ({"pages": 2}, {"gain": from_two}),
}


@pytest.fixture(scope="module", params=CASES)
def opened(request: pytest.FixtureRequest) -> Iterator[tuple[Inputs, PageBatch, cv.Evaluation]]:
    made, chosen = CASES[request.param]
    data = sample(60, systems=["new"], **made)
    settings: dict[str, Any] = {"metrics": METRICS, **chosen}
    if "device" in settings.get("by", ""):
        settings["grid"] = data.grids
    layouts = data.layouts["new"].sample(fraction=1, shuffle=True, seed=3)
    whole = cv.evaluate(layouts, data.judgments, data.items, **settings)
    with JudgedSources(data.judgments, data.items, ScoringPlan.of(Settings(**settings))).open(layouts) as inputs:
        (batch,) = page_batches(inputs.layouts, inputs.judged, inputs.plan)
        yield inputs, batch, whole


def score_there(sent: Sent, chosen: list[int]) -> bytes:
    """What another process does: nothing but unpickle, take, score."""
    judged, pages, plan = (pickle.loads(one) for one in sent)
    return pickle.dumps(score(judged, pages.take(np.array(chosen, np.int64)), plan))


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        yield pool


def check_same(scores: PageScores, inputs: Inputs, whole: cv.Evaluation) -> None:
    """The same bits as in the table of pages."""
    names = page_names(inputs, scores.page)
    columns = {name: pl.Series(f"{name} here", found.score) for name, found in scores.metrics.items()}
    columns |= {f"{n}.dcg": pl.Series(f"{n}.dcg here", s.value) for n, s in scores.metrics.items()}
    columns |= {f"{n}.ideal": pl.Series(f"{n}.ideal here", s.ideal) for n, s in scores.metrics.items()}
    counts = {"duplicates": scores.duplicates, "unjudged": scores.unjudged}
    columns |= {name: pl.Series(f"{name} here", values) for name, values in counts.items()}
    here = names.with_columns(*columns.values())
    both = whole.per_page.join(here, on=names.columns, how="inner")
    assert both.height == names.height == whole.counts["pages"]
    for name in columns:
        if name in both.columns:
            known = both.filter(pl.col(name).is_not_null())
            assert known.height > 0
            np.testing.assert_array_equal(known[name].to_numpy(), known[f"{name} here"].to_numpy(), name)
    membership = inputs.judged.membership
    assert membership is not None
    for name, figure in inputs.plan.figures.items():
        assert figure.aggregate(scores.items[name], membership.items) == whole.mean[name]


def same(one: PageScores, other: PageScores) -> None:
    for column in ("page", "duplicates", "unjudged", "defects", "shown"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column))
    assert one.metrics.keys() == other.metrics.keys()
    for name, found in one.metrics.items():
        for part in ("value", "best", "bound"):
            np.testing.assert_array_equal(getattr(found, part), getattr(other.metrics[name], part), name)
    for name, items in one.items.items():
        np.testing.assert_array_equal(items, other.items[name])


def test_another_process_scores_parts(opened: tuple[Inputs, PageBatch, cv.Evaluation], workers: Any) -> None:
    inputs, batch, whole = opened
    here = score(inputs.judged, batch, inputs.plan)
    check_same(here, inputs, whole)
    sent = pickle.dumps(inputs.judged), pickle.dumps(batch), pickle.dumps(inputs.plan)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(batch))
    parts = [sorted(part.tolist()) for part in np.array_split(order[1:], 3)] + [[int(order[0])], []]
    told = workers.starmap(score_there, [(sent, part) for part in parts])
    scored = [pickle.loads(one) for one in told]
    for at in (range(5), (3, 1, 4, 0, 2)):
        merged = PageScores.merge(scored[n] for n in at)
        same(merged, here)
        check_same(merged, inputs, whole)


def test_pages_may_be_taken_in_any_order(opened: tuple[Inputs, PageBatch, cv.Evaluation]) -> None:
    inputs, batch, _ = opened
    here = score(inputs.judged, batch, inputs.plan)
    order = np.random.default_rng(1).permutation(len(batch))
    ideals = PageIdeals(inputs.judged, inputs.plan)
    halves = [batch.take(order[: len(order) // 2]), batch.take(order[len(order) // 2 :])]
    again = halves[1].take(np.arange(len(halves[1]))[::-1])
    shared = PageScores.merge(score(inputs.judged, part, inputs.plan, ideals) for part in (again, halves[0]))
    same(shared, here)  # ideals that are kept change nothing
    single = PageScores.merge(
        score(inputs.judged, batch.take(np.array([n])), inputs.plan) for n in range(len(batch) - 1, -1, -1)
    )
    same(single, here)


def test_scoring_changes_nothing_it_is_given(opened: tuple[Inputs, PageBatch, cv.Evaluation]) -> None:
    inputs, batch, _ = opened
    before = pickle.dumps(batch), pickle.dumps({name: gains.copy() for name, gains in inputs.judged.gains.items()})
    score(inputs.judged, batch, inputs.plan)
    after = pickle.loads(before[0])
    for one in fields(PageBatch):
        np.testing.assert_array_equal(getattr(after, one.name), getattr(batch, one.name))
    for name, gains in pickle.loads(before[1]).items():
        np.testing.assert_array_equal(gains, inputs.judged.gains[name])


def test_weights_are_worked_out_once_and_not_written_to(opened: tuple[Inputs, PageBatch, cv.Evaluation]) -> None:
    """Whoever scores has the same ones: a metric that wrote to them would change the next page's."""
    plan = opened[0].plan
    for name in (*plan.metrics, *plan.figures):
        weights = plan.weights(name, 0)
        assert plan.weights(name, 0) is weights
        with pytest.raises(ValueError, match="read-only"):
            weights[:] = 0


def test_ideals_of_other_judgments_are_refused(opened: tuple[Inputs, PageBatch, cv.Evaluation]) -> None:
    inputs, batch, _ = opened
    judged, plan = pickle.loads(pickle.dumps(inputs.judged)), pickle.loads(pickle.dumps(inputs.plan))
    for ideals in (PageIdeals(judged, inputs.plan), PageIdeals(inputs.judged, plan)):
        with pytest.raises(ValueError, match="made for other judged data or another plan"):
            score(inputs.judged, batch, inputs.plan, ideals)
    same(score(judged, batch, plan, PageIdeals(judged, plan)), score(inputs.judged, batch, inputs.plan))
