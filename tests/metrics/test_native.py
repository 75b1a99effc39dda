"""The compiled kernels: one result on every instruction set, and a stub that tells the truth."""

import ast
import inspect
from collections.abc import Iterator
from importlib import resources

import numpy as np
import pytest

import carouseval as cv
from carouseval import _native


@pytest.fixture
def restored() -> Iterator[None]:
    before = _native.instruction_set()
    yield
    _native.use_instruction_set(before)


@pytest.mark.usefixtures("restored")
def test_every_instruction_set_gives_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    pages = rng.random((400, 13, 17)) * 6
    pages[100:200] = np.rint(pages[100:200])
    pages[200:300] = pages[200:300] > 5
    pages[rng.random(pages.shape) < 0.1] = np.nan
    pages[250:] = np.nan_to_num(pages[250:])
    rough = cv.discounts.Empirical(rng.random((13, 17)))
    results = {}
    for name in _native.InstructionSet:
        try:
            _native.use_instruction_set(name)
        except ValueError:
            assert name != _native.InstructionSet.BASELINE
            continue
        assert _native.instruction_set() == name
        results[name] = [
            function(pages, discount)
            for function in (cv.dcg2d, cv.n2dcg, cv.n2dcg_cat, cv.ideal_dcg2d, cv.ideal_layout)
            for discount in ("d_rpd", rough)
        ]
    for result in results.values():
        for one, other in zip(result, results[_native.InstructionSet.BASELINE], strict=True):
            np.testing.assert_array_equal(one, other)


def test_options_are_members_of_enums() -> None:
    """A word in their place is refused, never taken for a default."""
    for name in ("avx2", 7):
        with pytest.raises(TypeError):
            _native.use_instruction_set(name)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        _native.gains(np.ones(3), "exp2", 1)  # type: ignore[arg-type]


def test_the_stub_names_what_the_module_has() -> None:
    stub = ast.parse(resources.files("carouseval").joinpath("_native.pyi").read_text(encoding="utf-8"))
    declared = {
        node.name: [argument.arg for argument in node.args.args]
        for node in stub.body
        if isinstance(node, ast.FunctionDef)
    }
    classes = {node.name for node in stub.body if isinstance(node, ast.ClassDef)}
    found = {name for name, value in vars(_native).items() if callable(value) and not name.startswith("_")}
    assert set(declared) | classes == found
    for name, arguments in declared.items():
        signature = str(inspect.getdoc(getattr(_native, name))).splitlines()[0].replace("(", "( ", 1)
        positions = [signature.index(f" {argument}:") for argument in arguments]
        assert positions == sorted(positions), signature
        assert len(str(inspect.getdoc(getattr(_native, name))).splitlines()) > 1, f"{name} has no docstring"


def test_the_stub_names_the_members_of_enums() -> None:
    stub = ast.parse(resources.files("carouseval").joinpath("_native.pyi").read_text(encoding="utf-8"))
    for node in stub.body:
        if isinstance(node, ast.ClassDef) and node.bases:
            declared = {
                line.targets[0].id: ast.literal_eval(line.value)
                for line in node.body
                if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)
            }
            assert {one.name: one.value for one in getattr(_native, node.name)} == declared


def test_tens_of_thousands_of_categories() -> None:
    """A table of all of them against all of them would not fit; those that can be on the page are few."""
    rng = np.random.default_rng(2)
    count, rows = 50_000, 230
    gains, weights = rng.random(count), np.sort(rng.random((rows, 1)), axis=0)[::-1].copy()
    best = float(np.sort(gains)[::-1][:rows] @ weights[:, 0])
    each = np.arange(count + 1)
    solved = _native.candidate_ideals(
        gains, each[[0, -1]], each[:-1].astype(np.int32), each, np.ones(count, np.int32), np.full(count, -1, np.int32),
        each[[0, -1]], np.array([rows], np.int32), weights, 0.0, 10**6, 1,
    )  # fmt: skip
    assert solved[0] == pytest.approx(best, rel=1e-12)
    assert (solved[2] >= 0).sum() == rows


def test_pages_of_every_size_up_to_some_lanes() -> None:
    """Tails of every length: 1 to 40 cells."""
    rng = np.random.default_rng(1)
    for rows in (1, 2, 9):
        for cols in range(1, 18):
            page = rng.integers(0, 5, (rows, cols)).astype(float)
            weights = cv.discounts.RowPage().weights(cv.Grid(rows, cols))
            assert cv.dcg2d(page) == pytest.approx(float(((2**page - 1) * weights).sum()), rel=1e-13)
