"""A fit and all that is to be said of it: its scores, how far it can be trusted, and what to look at first."""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from carouseval.attention.bootstrap import Bootstrap, Interval
from carouseval.attention.examination import Examination
from carouseval.attention.fit_data import Attention, FitData
from carouseval.attention.likelihood import LikelihoodFit, log_likelihood
from carouseval.attention.model_selection import Choice
from carouseval.attention.paths import Paths, path_log_likelihood
from carouseval.attention.rank_fit import Fit, scores_of
from carouseval.metrics.discounts import Discount
from carouseval.metrics.markov_scan import MarkovScan
from carouseval.result_base import Result

CELLS, PATH = "log_likelihood_per_screen", "log_likelihood_per_path"
WORDS = {
    CELLS: "log-likelihood of a screen's cells",
    PATH: "of its path",
    "spearman": "rho",
    "pearson": "r",
    "mse": "MSE",
}

Scored = dict[str, float | None]


@dataclass(frozen=True, eq=False)
class FitReport(Result):
    """A discount fitted to data, and how it scores there and on the data held out."""

    data: FitData

    @property
    def discount(self) -> Discount:
        """The discount that was fitted."""
        raise NotImplementedError

    @property
    def heading(self) -> str:
        return f"fitted to {self.data.description}"

    @property
    def scores(self) -> dict[str, Scored]:
        """The scores on ``"train"`` and, where there is such data, on ``"test"``."""
        scored = {"train": self._scores(self.data.train, self.data.paths)}
        if self.data.test is not None:
            scored["test"] = self._scores(self.data.test, self.data.test_paths)
        return scored

    def _scores(self, data: Attention, paths: Paths | None) -> Scored:
        return dict(vars(scores_of(self.discount.weights(self.data.grid), data.frequencies)))

    def to_frame(self) -> pl.DataFrame:
        """The scores, a line for each set of data."""
        rows = [
            {"discount": str(self.discount), "scored on": where} | {WORDS[name]: value for name, value in own.items()}
            for where, own in self.scores.items()
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def _summary(self, objective: str) -> dict[str, Any]:
        """What every fit says first, in the form that ``discounts.parse("@file")`` reads."""
        return {
            "discount": self.discount.symbol,
            "parameters": self.discount.parameters,
            "objective": objective,
            "fitted_to": self.data.name,
            "grid": asdict(self.data.grid),
        }


@dataclass(frozen=True, eq=False)
class SearchReport(FitReport):
    """The best of all combinations of parameters tried, the runners-up and, where asked for, intervals."""

    fit: Fit
    bootstrap: Bootstrap | None = None

    @property
    def discount(self) -> Discount:
        return self.fit.discount

    def to_dict(self) -> dict[str, Any]:
        runners = [{"discount": str(one.discount), "objective": one.objective} for one in self.fit.top]
        trust = {} if self.bootstrap is None else {"bootstrap": asdict(self.bootstrap)}
        tried = {"tried": self.fit.tried, "skipped": self.fit.skipped}
        return {**self._summary(self.fit.objective), **tried, **self.scores, **trust, "top": runners}


@dataclass(frozen=True, eq=False)
class LikelihoodReport(FitReport):
    """A browsing model fitted by likelihood, its intervals, what the data leave open, and the forms tried."""

    fit: LikelihoodFit
    choice: Choice | None = None  # where a form was chosen
    bootstrap: Bootstrap | None = None
    notes: tuple[str, ...] = ()  # what a person should look at before relying on the fit

    @property
    def discount(self) -> Discount:
        return self.fit.discount

    @property
    def intervals(self) -> dict[str, Interval | None]:
        """Of each free parameter: from resampled data, where there are some, else the fit's own."""
        if self.bootstrap is None:
            return self.fit.intervals
        return {name: self.bootstrap.parameters.get(name) for name in self.fit.intervals}

    @property
    def noise(self) -> str:
        """What the intervals are of."""
        drawn = self.bootstrap
        return self.fit.noise if drawn is None else f"{drawn.samples:,} bootstrap samples: {drawn.what}"

    @property
    def open(self) -> tuple[str, ...]:
        """What the data leave open, in sentences."""
        return self.fit.open + (self.fit.unsure if self.bootstrap is None else ())

    def _scores(self, data: Attention, paths: Paths | None) -> Scored:
        """As the paper scores, and the log-likelihood of a screen: of its cells and, if paths were fitted, its path."""
        likelihoods: Scored = {CELLS: None}
        if isinstance(data, Examination):
            likelihoods[CELLS] = log_likelihood(self.discount, data, self.data.grid) / data.screens
        if self.data.paths is not None and isinstance(self.discount, MarkovScan):
            likelihoods[PATH] = None if paths is None else path_log_likelihood(self.discount, paths) / paths.screens
        return likelihoods | super()._scores(data, paths)

    def to_dict(self) -> dict[str, Any]:
        train = self.data.train
        sizes = {}
        if isinstance(train, Examination):
            sizes = {"screens": train.screens, "participants": train.participants}
        forms = {} if self.choice is None else {"forms": self.choice.to_dict()["forms"]}
        return {
            **self._summary("likelihood"),
            **sizes,
            "form": self.fit.form.name,
            "converged": self.fit.converged,
            **self.scores,
            "bic": self.fit.bic,
            "dispersion": self.fit.dispersion,
            "intervals": {name: vars(ends) if ends else None for name, ends in self.intervals.items()},
            "noise": self.noise,
            "open": list(self.open),
            "notes": list(self.notes),
            **forms,
        }
