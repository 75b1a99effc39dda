"""A browsing model that nobody has written yet: a class with a chain and nothing else works wherever others do."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import carouseval as cv
from carouseval.attention import Examination, FitData, LikelihoodReport, fit_discount, fit_likelihood
from carouseval.behavior import Chain, States, browse, chain_of
from carouseval.metrics import discount_base
from carouseval.metrics.browsing.forms import ALL_USERS, Form
from carouseval.metrics.grid import Array
from tests.command_line import run

GRID = cv.Grid(3, 4, page_size=2)
MODEL = "d_pace(on=0.7, back=0.5)"


@pytest.fixture(autouse=True)
def pacing() -> Iterator[None]:
    """Two models: one with nothing but its chain, and the same one with named forms."""

    @cv.discounts.register_discount("d_pace")
    class Pacing(cv.discounts.BrowsingModel):
        """Users read the page as one list; those who do not go on go back from a cell or leave."""

        on: float = 0.6
        back: float = 0.3

        def chain(self, grid: cv.Grid) -> Chain:
            states = States(grid)
            cells = [states.add(row, col) for row in range(grid.rows) for col in range(grid.cols)]
            for cell, following in pairwise(cells):
                states.go(cell, following, self.on)
                states.go(following, cell, (1 - self.on) * self.back)
            return states.chain(start=1)

    @cv.discounts.register_discount("d_pace_forms")
    class PacingInForms(Pacing):
        """The same, and the form in which nobody goes back."""

        forms: ClassVar[tuple[Form, ...]] = (
            Form("one way", "d_pace_forms", ("on",), "on", lambda on: [(ALL_USERS, {**on, "back": np.zeros(1)})]),
            Form("both ways", "d_pace_forms", ("on", "back"), "on and back", contains=("one way",)),
        )

    yield
    del discount_base._classes["d_pace"], discount_base._classes["d_pace_forms"]


def reached(on: float, back: float, grid: cv.Grid) -> Array:
    """From a cell, the next one is reached at once or after going back and coming here again."""
    step, weights = 0.0, [1.0]
    for _ in range(grid.rows * grid.cols - 1):
        step = on / (1 - (1 - on) * back * step)
        weights.append(weights[-1] * step)
    return np.array(weights).reshape(grid.shape)


def counts(model: str, screens: int) -> Examination:
    weights = cv.discounts.parse(model).weights(GRID)
    return Examination("drawn", np.random.default_rng(3).binomial(screens, weights), screens)


def test_weights_follow_from_the_chain() -> None:
    model = cv.discounts.parse(MODEL)
    assert (str(model), model.short, model.is_probability) == (MODEL, MODEL, True)
    for grid in (GRID, cv.RECGAZE, cv.Grid(1, 1), cv.Grid(1, 9)):
        np.testing.assert_allclose(model.weights(grid), reached(0.7, 0.5, grid), rtol=1e-12)
        assert (chain_of(model, grid).weights == model.weights(grid)).all()


def test_visits_and_utility() -> None:
    page = np.random.default_rng(4).integers(0, 3, GRID.shape)
    browsing = browse(page, MODEL, GRID)
    size = GRID.rows * GRID.cols
    moves = np.diag(np.full(size - 1, 0.7), 1) + np.diag(np.full(size - 1, 0.15), -1)
    visits = np.linalg.inv(np.eye(size) - moves)[0].reshape(GRID.shape)
    np.testing.assert_allclose(browsing.visits, visits, rtol=1e-12)
    assert browsing.visits[0, 0] > browsing.weights[0, 0] == 1  # who comes back examines a cell once
    assert browsing.total_utility == pytest.approx(((2.0**page - 1) * reached(0.7, 0.5, GRID)).sum(), rel=1e-12)
    assert browsing.variance > 0


def test_a_metric_by_name() -> None:
    page = [[0, 1, 0], [2, 0, 1]]
    weights = cv.discounts.Empirical(reached(0.7, 0.5, cv.Grid(2, 3)))
    assert cv.n2dcg_cat(page, MODEL) == pytest.approx(cv.n2dcg_cat(page, weights), rel=1e-12)
    cells = [(row, col, f"{row}{col}") for row in (1, 2) for col in (1, 2, 3)]
    layouts = {
        "user_id": [1] * len(cells),
        "row": [row for row, *_ in cells],
        "col": [col for _, col, _ in cells],
        "item_id": [item for *_, item in cells],
        "category": [f"c{row}" for row, *_ in cells],
    }
    judgments = {"user_id": [1, 1, 1], "item_id": ["12", "21", "23"], "relevance": [1, 2, 1]}
    name = f"N2DCG_cat({MODEL})"
    mean = cv.evaluate(layouts, judgments, metrics=name, grid=cv.Grid(2, 3), candidates="displayed").mean
    assert mean == {name: pytest.approx(cv.n2dcg_cat(page, weights), rel=1e-12)}


def test_a_fit_by_likelihood() -> None:
    drawn = counts(MODEL, 20_000)
    report = fit_discount(FitData("drawn", drawn, GRID), "d_pace")
    assert isinstance(report, LikelihoodReport)
    assert (report.fit.converged, report.fit.form.meaning, report.choice) == (True, "all parameters free", None)
    for name, value in {"on": 0.7, "back": 0.5}.items():
        interval = report.intervals[name]
        assert interval
        assert interval.low < value < interval.high < interval.low + 0.1
    assert report.fit.log_likelihood >= cv.attention.log_likelihood(drawn, MODEL, GRID)
    assert report.chart("fit")


def test_named_forms_are_compared() -> None:
    drawn = counts("d_pace(on=0.7, back=0)", 2_000)
    data = FitData("drawn", drawn, GRID)
    chosen = fit_discount(data, "d_pace_forms")
    assert isinstance(chosen, LikelihoodReport)
    assert chosen.choice
    assert [trial.fit.form.name for trial in chosen.choice.trials] == ["one way", "both ways"]
    assert chosen.fit.form.name == "one way"
    assert chosen.discount.parameters == {"on": pytest.approx(0.7, abs=0.02), "back": 0}
    both = fit_discount(data, "d_pace_forms", form="both ways")
    assert isinstance(both, LikelihoodReport)
    assert both.choice is None
    assert both.fit.values == fit_likelihood(drawn, "d_pace_forms", GRID).values
    assert fit_likelihood(drawn, "one way", GRID).discount == chosen.discount


def test_a_fit_on_the_command_line(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "counts.csv", counts(MODEL, 500).counts, fmt="%d", delimiter=",")
    options = ["--screens", "500", "--page-size", "2", "--chart", "fit.svg", "--out", "fitted.json"]
    command = run("fit", "counts.csv", "--discount", "d_pace", *options, "--format", "json", cwd=tmp_path)
    assert (command.returncode, command.stderr) == (0, "")
    content = json.loads(command.stdout)
    assert (content["discount"], content["objective"]) == ("d_pace", "likelihood")
    assert cv.discounts.load(tmp_path / "fitted.json").parameters == content["parameters"]
    assert (tmp_path / "fit.svg").exists()


def test_a_chain_alone_is_fitted_as_its_formula_is() -> None:
    @cv.discounts.register_discount("d_pace_rows")
    class RowsAndColumns(cv.discounts.BrowsingModel):
        e: float = 0.9
        kappa: float = 0.9
        beta: float = 0.9

        def chain(self, grid: cv.Grid) -> Chain:
            return cv.discounts.RowColumnBrowsing(self.e, self.kappa, self.beta).chain(grid)

    drawn = counts("d_rcb", 500)
    formula, chain = (fit_likelihood(drawn, symbol, GRID) for symbol in ("d_rcb", RowsAndColumns.symbol))
    del discount_base._classes["d_pace_rows"]
    assert chain.converged
    assert chain.values == pytest.approx(formula.values, rel=1e-6)
    assert chain.log_likelihood == pytest.approx(formula.log_likelihood, abs=1e-8)


def test_a_model_without_a_chain_says_so() -> None:
    class Standing(cv.discounts.BrowsingModel):
        pass

    with pytest.raises(NotImplementedError, match=r"Standing must define chain\(grid\)"):
        Standing().weights(GRID)
