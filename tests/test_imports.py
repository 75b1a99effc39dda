"""Names can be imported the way they are written, and starting up stays light."""

import ast
import copy
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import carouseval as cv
from carouseval.cli.app import app


def test_every_way_to_import() -> None:
    code = """
import carouseval as cv
import carouseval.metrics.ideal as ideal
import carouseval.metrics as package
from carouseval.discounts import Empirical, RowPage
from carouseval.metrics.grid import Grid
from carouseval.metrics import names
assert package.names is names and cv.metric is names.metric
assert str(cv.metric("NDCG@3")) == str(names.metric("NDCG@3")) == "NDCG@3"
assert cv.discounts.RowPage is RowPage and ideal.ideal_dcg2d is cv.ideal_dcg2d
assert set(cv.__all__) <= set(dir(cv))
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "code",
    [
        "from carouseval.discounts import RowPage; import carouseval; assert carouseval.discounts.RowPage is RowPage",
        "import carouseval as cv; assert str(cv.metric('NDCG@3')) == 'NDCG@3'",
        "import carouseval as cv; assert cv.discounts.RowPage().weights(cv.RECGAZE).shape == (10, 15)",
        "import carouseval as cv; assert issubclass(cv.errors.DataError, cv.CarousevalError)",
        "import carouseval as cv; assert {'n2dcg_cat', 'metric', '__version__'} <= set(dir(cv))",
        "from carouseval import *; assert n2dcg_cat([[1.0]]) == 1.0 and metric('2DCG') and discounts",
        "from carouseval import metric, n2dcg_cat; assert metric('N2DCG_cat')([[1.0]]) == n2dcg_cat([[1.0]])",
        "from carouseval import ideal_dcg2d; assert ideal_dcg2d([[1.0]]) > 0",
        "from carouseval.metrics.ideal import ideal_layout; assert ideal_layout([[1.0]], 'd_mul').shape == (1, 1, 2)",
        "from carouseval.metrics.array_functions import dcg2d; import carouseval as cv; assert cv.dcg2d is dcg2d",
    ],
)
def test_any_name_may_come_first(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


SOURCES = Path(cv.__file__).parents[1]


@pytest.mark.parametrize("stub", sorted(SOURCES.glob("carouseval/**/__init__.pyi")), ids=lambda stub: stub.parent.name)
def test_a_package_has_the_names_of_its_stub(stub: Path) -> None:
    package = importlib.import_module(".".join(stub.parent.relative_to(SOURCES).parts))
    names: dict[str | None, tuple[str, str]] = {}
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname: (str(node.module), alias.name) for alias in node.names}
    assert package.__all__ == sorted(map(str, names))
    for public, (module, name) in names.items():
        assert getattr(package, str(public)) is getattr(importlib.import_module(module), name)


def test_start_up_leaves_heavy_packages_alone() -> None:
    assert not loaded(
        "import carouseval as cv; cv.n2dcg_cat", "scipy", "polars", "rich", "typer", "altair", "vl_convert"
    )


def test_an_import_alone_leaves_dataclasses_alone() -> None:
    """They take a third of its time: errors, settings and tables come with the first name that is used."""
    before = loaded("", "dataclasses", "carouseval.errors")
    assert loaded("import carouseval", "dataclasses", "carouseval.errors") == before


COMMANDS = [str(command.callback and command.callback.__name__) for command in app.registered_commands]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)])
def test_help_leaves_heavy_packages_alone(arguments: list[str]) -> None:
    code = f"import sys; sys.argv = ['carouseval', *{arguments}]; import carouseval.cli; carouseval.cli.main()"
    assert not loaded(code, "numpy", "scipy", "polars", "altair", "vl_convert", "carouseval._native")


def loaded(code: str, *modules: str) -> set[str]:
    """Which of these modules a fresh process holds at its end."""
    code = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {code}"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(modules) & set(process.stderr.split())


def test_an_unknown_attribute_is_one() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cv.nonsense  # type: ignore[attr-defined]  # noqa: B018


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
