"""Reports on fits: scores on training and held-out data, intervals, limitations and notes."""

from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import polars as pl

from carouseval.attention.bootstrap import Bootstrap, Interval
from carouseval.attention.examination import Examination
from carouseval.attention.fit_data import Attention, FitData
from carouseval.attention.frequency_scores import scores_of
from carouseval.attention.likelihood import LikelihoodFit, log_likelihood
from carouseval.attention.model_selection import FormSelection
from carouseval.attention.path_fit import path_log_likelihood
from carouseval.attention.paths import Paths
from carouseval.attention.rank_fit import SearchFit
from carouseval.metrics.discounts import Discount, MarkovScan
from carouseval.results import Result

CELLS, PATH = "log_likelihood_per_screen", "log_likelihood_per_path"
LABELS = {
    CELLS: "log-likelihood per screen",
    PATH: "log-likelihood per path",
    "spearman": "rho",
    "pearson": "r",
    "mse": "MSE",
}

ScoreTable: TypeAlias = dict[str, float | None]
"""Scores by name; None where a score is undefined."""


@dataclass(frozen=True, eq=False, repr=False)
class FitReport(Result):
    """A discount fitted to data, and its scores there and on held-out data."""

    data: FitData

    @property
    def discount(self) -> Discount:
        """The fitted discount."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.discount}, {self.heading})"

    @property
    def heading(self) -> str:
        return f"fitted to {self.data.description}"

    @property
    def scores(self) -> dict[str, ScoreTable]:
        """The scores on the ``"train"`` data and, if there are any, on the ``"test"`` data."""
        scores = {"train": self._scores(self.data.train, self.data.paths)}
        if self.data.test is not None:
            scores["test"] = self._scores(self.data.test, self.data.test_paths)
        return scores

    def _scores(self, data: Attention, paths: Paths | None) -> ScoreTable:
        return dict(vars(scores_of(self.discount.weights(self.data.grid), data.frequencies)))

    def to_frame(self) -> pl.DataFrame:
        """One line of scores for the training data and one for the held-out data."""
        rows = [
            {"discount": str(self.discount), "scored on": data}
            | {LABELS[name]: value for name, value in scores.items()}
            for data, scores in self.scores.items()
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def _summary(self, objective: str) -> dict[str, Any]:
        """The first entries of every report, which ``discounts.parse("@file")`` reads."""
        return {
            "discount": self.discount.symbol,
            "parameters": self.discount.parameters,
            "objective": objective,
            "fitted_to": self.data.name,
            "grid": asdict(self.data.grid),
        }


@dataclass(frozen=True, eq=False, repr=False)
class SearchReport(FitReport):
    """A discount fitted by grid search, with its scores and optionally bootstrap intervals.

    Attributes
    ----------
    data : FitData
        The data.
    fit : SearchFit
        The best discount and the runners-up.
    bootstrap : Bootstrap, optional
        Bootstrap intervals of the parameters.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.attention.FitData.read("bratislava", test="amsterdam")
    >>> report = cv.attention.fit_discount(data, "d_mir")
    >>> report.discount, round(report.scores["test"]["spearman"], 4)
    (d_mir(alpha=10, beta=9), 0.9387)
    """

    fit: SearchFit
    bootstrap: Bootstrap | None = None

    @property
    def discount(self) -> Discount:
        return self.fit.discount

    def to_dict(self) -> dict[str, Any]:
        """The fitted discount, as ``discounts.parse("@file.json")`` reads it, the scores, the runners-up and the
        bootstrap intervals.
        """
        top = [{"discount": str(candidate.discount), "objective": candidate.objective} for candidate in self.fit.top]
        intervals = {} if self.bootstrap is None else {"bootstrap": asdict(self.bootstrap)}
        tried = {"tried": self.fit.tried, "skipped": self.fit.skipped}
        return {**self._summary(self.fit.objective), **tried, **self.scores, **intervals, "top": top}


@dataclass(frozen=True, eq=False, repr=False)
class LikelihoodReport(FitReport):
    """A browsing model fitted by likelihood, with its scores, intervals and limitations.

    Attributes
    ----------
    data : FitData
        The data.
    fit : LikelihoodFit
        The fit.
    choice : FormSelection, optional
        The forms compared, if the form of d_rpb was selected.
    bootstrap : Bootstrap, optional
        Bootstrap intervals of the parameters.
    notes : tuple of str, default ()
        What to check before relying on the fit, in sentences.

    Examples
    --------
    >>> import carouseval as cv
    >>> data = cv.attention.FitData.read("bratislava", test="amsterdam")
    >>> report = cv.attention.fit_discount(data, "d_rpb", form="six")
    >>> round(report.scores["test"]["log_likelihood_per_screen"], 2)
    -76.28
    >>> report.limitations
    ('Counts of cells do not identify the order in which people looked, nor how they moved between cells.',)
    """

    fit: LikelihoodFit
    choice: FormSelection | None = None
    bootstrap: Bootstrap | None = None
    notes: tuple[str, ...] = ()

    @property
    def discount(self) -> Discount:
        return self.fit.discount

    @property
    def intervals(self) -> dict[str, Interval | None]:
        """The interval of each free parameter: by bootstrap if there is one, otherwise that of the fit."""
        if self.bootstrap is None:
            return self.fit.intervals
        return {name: self.bootstrap.parameters.get(name) for name in self.fit.intervals}

    @property
    def interval_method(self) -> str:
        """How the intervals were computed and whether they are too narrow."""
        bootstrap = self.bootstrap
        if bootstrap is None:
            return self.fit.interval_method
        return f"{bootstrap.samples:,} bootstrap samples: {bootstrap.method}"

    @property
    def limitations(self) -> tuple[str, ...]:
        """What the data do not identify and where intervals are not valid, in sentences."""
        return self.fit.limitations + (self.fit.interval_warnings if self.bootstrap is None else ())

    def _scores(self, data: Attention, paths: Paths | None) -> ScoreTable:
        """The paper's scores, and the log-likelihood per screen and, if scan paths were fitted, per path."""
        likelihoods: ScoreTable = {CELLS: None}
        if isinstance(data, Examination):
            likelihoods[CELLS] = log_likelihood(data, self.discount, self.data.grid) / data.screens
        if self.data.paths is not None and isinstance(self.discount, MarkovScan):
            likelihoods[PATH] = None if paths is None else path_log_likelihood(paths, self.discount) / paths.screens
        return likelihoods | super()._scores(data, paths)

    def to_dict(self) -> dict[str, Any]:
        """The fitted discount, as ``discounts.parse("@file.json")`` reads it, the scores, intervals, limitations,
        notes, and the forms compared with how one was selected.
        """
        train = self.data.train
        sizes = {}
        if isinstance(train, Examination):
            sizes = {"screens": train.screens, "participants": train.participants}
        selection = {} if self.choice is None else self.choice.to_dict()
        return {
            **self._summary("likelihood"),
            **sizes,
            "form": self.fit.form.name,
            "converged": self.fit.converged,
            **self.scores,
            "bic": self.fit.bic,
            "dispersion": self.fit.dispersion,
            "intervals": {name: vars(interval) if interval else None for name, interval in self.intervals.items()},
            "interval_method": self.interval_method,
            "limitations": list(self.limitations),
            "notes": list(self.notes),
            **selection,
        }
