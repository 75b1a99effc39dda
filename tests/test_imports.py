"""Names can be imported the way they are written, and starting up stays light."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import carouseval as cv


def test_every_way_to_import() -> None:
    code = """
import carouseval as cv
import carouseval.metric.ideal as ideal
import carouseval.metric as package
from carouseval.discounts import Empirical, RowPage
from carouseval.metric.grid import Grid
from carouseval.metric import names
assert package.names is names and cv.metric is package
assert str(cv.metric("NDCG@3")) == str(names.metric("NDCG@3")) == "NDCG@3"
assert cv.discounts.RowPage is RowPage and ideal.ideal_dcg2d is cv.ideal_dcg2d
assert set(cv.__all__) <= set(dir(cv))
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_start_up_leaves_heavy_packages_alone() -> None:
    code = (
        "import carouseval, sys; print([m for m in ('scipy', 'polars', 'rich', 'typer', 'altair') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_an_unknown_attribute_is_one() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cv.nonsense  # noqa: B018


@pytest.mark.parametrize(
    "value",
    [cv.RECGAZE, cv.discounts.RowPage(mu=0.5), cv.discounts.Empirical([[1.0, 0.5]]), cv.metric("N2DCG_cat@3x5")],
)
def test_values_survive_copies_and_pickles(value: object) -> None:
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value


def test_scores_in_worker_processes() -> None:
    code = """
import multiprocessing, numpy as np, carouseval as cv
pages = np.random.default_rng(0).integers(0, 5, (4000, 10, 15))
expected = cv.n2dcg_cat(pages)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        parts = pool.map(cv.n2dcg_cat, np.array_split(pages, 4))
    assert (np.concatenate(parts) == expected).all()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)
    assert np.isfinite(cv.n2dcg_cat([[1.0]]))
