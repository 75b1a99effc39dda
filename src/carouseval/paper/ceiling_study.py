"""How close a discount comes to the noise ceiling: the training frequencies themselves, used as a discount.

The ceiling is not an upper bound: frequencies are noisy and a formula is not, so a formula may score higher.

Forms of d_rpb are fitted to the training set alone and one is selected there; it is then scored on the test set.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from carouseval import _native
from carouseval.attention.bootstrap import BY_PARTICIPANT, resample
from carouseval.attention.examination import Examination, Share
from carouseval.attention.frequency_scores import Scores, matching_grid, scores
from carouseval.attention.likelihood import ORDER, fit_likelihood, log_likelihood
from carouseval.attention.model_selection import BIC, MAX_PARAMETERS, QUASI_BIC, FormSelection, choose_form
from carouseval.metrics.discounts import Discount, Empirical, parse
from carouseval.metrics.grid import Array
from carouseval.paper.simulation import simulate
from carouseval.paper.simulation_settings import MODES
from carouseval.paper.study import DiscountAgreement
from carouseval.progress import Progress, step
from carouseval.results import Result

if TYPE_CHECKING:
    import polars as pl

CEILING = "the ceiling"
NO_DIFFERENCE = "no difference found"
_SAMPLES = 2000
_WIDTH = 1.959963984540054  # of a 95% interval, in standard errors
_VERDICTS = {
    NO_DIFFERENCE: "no difference from the ceiling was found",
    "better": "better than the ceiling",
    "worse": "worse than the ceiling",
}
MEASURES = ("spearman", "pearson", "mse")
WORDS = {"spearman": "rho", "pearson": "r", "mse": "MSE"}


@dataclass(frozen=True)
class CeilingLine:
    """One discount on the test set: its scores, their standard errors, and its agreement with the truth."""

    name: str
    discount: Discount
    parameters: int
    test: Scores
    errors: Scores  # standard errors of the scores
    behind: Scores  # the ceiling's score minus this one; for MSE positive means that this one is better
    behind_errors: Scores
    agreement: dict[str, DiscountAgreement]  # by mode; corrections and regressions are relative to the ceiling
    cells: float  # expected number of cells examined on a screen, weights read as probabilities
    per_screen: float | None  # log-likelihood of a test screen, where weights are probabilities

    @property
    def shares(self) -> dict[str, Share]:
        """How often it agrees with the truth, by mode."""
        return {mode: pairs.agreement for mode, pairs in self.agreement.items()}

    def interval(self, measure: str) -> tuple[float, float, float]:
        """A score and its 95% interval."""
        value, half = getattr(self.test, measure), _WIDTH * getattr(self.errors, measure)
        return value, value - half, value + half

    def against_ceiling(self, measure: str) -> str:
        """Whether resampled test data show a difference from the ceiling, and which."""
        behind = getattr(self.behind, measure)
        if abs(behind) <= self.smallest_difference(measure):
            return NO_DIFFERENCE
        return "worse" if (behind > 0) != (measure == "mse") else "better"

    def smallest_difference(self, measure: str) -> float:
        """The smallest difference from the ceiling that the noise of the test data would let show, at 95%."""
        return _WIDTH * float(getattr(self.behind_errors, measure))


@dataclass(frozen=True)
class CeilingStudy(Result):
    """The forms compared, the one selected, and the discounts side by side on the test set."""

    choice: FormSelection
    train: str  # the names of both sets
    test: str
    lines: tuple[CeilingLine, ...]
    cells: float  # cells examined on a test screen
    train_cells: float
    noise: str  # what was resampled for the standard errors of scores

    @property
    def chosen(self) -> CeilingLine:
        """The selected form of d_rpb."""
        return next(line for line in self.lines if line.discount is self.choice.chosen.discount)

    @property
    def ceiling(self) -> CeilingLine:
        """The training frequencies used as a discount."""
        return self.lines[-1]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result, what remains unexplained, and what these data cannot tell."""
        chosen, fit, rank_fitted = self.chosen, self.choice.chosen, self.lines[1]
        verdicts = {measure: chosen.against_ceiling(measure) for measure in MEASURES}
        phrases = [
            f"{words} in {', '.join(places)}"
            for verdict, words in _VERDICTS.items()
            if (places := [WORDS[measure] for measure in MEASURES if verdicts[measure] == verdict])
        ]
        disputes = "; ".join(
            f"{mode}: {pairs.corrected.count} and {pairs.regressions.count}" for mode, pairs in chosen.agreement.items()
        )
        hidden = ", ".join(f"{chosen.smallest_difference(measure):.4f} in {WORDS[measure]}" for measure in MEASURES)
        return (
            f"{fit.discount.symbol} with {chosen.parameters} parameters: {'; '.join(phrases)}. The noise of the test "
            f"data ({self.noise}) hides differences up to {hidden}.",
            f"Pairs on which it is right and the ceiling wrong, and vice versa: {disputes}. Log-likelihood of a test "
            f"screen: {_screen_text(chosen.per_screen)}; under the ceiling: {_screen_text(self.ceiling.per_screen)}.",
            self._selection,
            f"Residual deviance on the training counts: {fit.dispersion:.2f} times that of binomial noise"
            f"{'' if fit.dispersion < 1.3 else ', because of what the form omits or because screens are correlated'}.",
            "A discount fitted by rank orders cells; its weights are not probabilities. Read as such, "
            f"{rank_fitted.discount.symbol} predicts {rank_fitted.cells:.1f} examined cells per screen and "
            f"{fit.discount.symbol} {chosen.cells:.1f}; people examined {self.train_cells:.1f} in training and "
            f"{self.cells:.1f} in test.",
            ORDER,
        )

    @property
    def _selection(self) -> str:
        """How the form was selected, whether other criteria agree, and how much correlation that would survive."""
        choice = self.choice
        held_out = {
            True: "held-out data agree",
            False: "held-out data would select another",
            None: "there are no held-out data",
        }[choice.held_out_agrees]
        bic = (
            "BIC agrees"
            if choice.best_by[BIC] is choice.chosen
            else f"BIC would select {choice.best_by[BIC].form.name}"
        )
        text = (
            f"{choice.rule} Only forms with at most {MAX_PARAMETERS} parameters could be selected, on the training "
            f"counts alone; {bic}; {held_out} ({choice.folds})."
        )
        if choice.criterion == QUASI_BIC and math.isfinite(choice.max_overdispersion):
            text += f" With a dispersion above {choice.max_overdispersion:.1f} a smaller form would be selected."
        return text

    def to_frame(self) -> "pl.DataFrame":
        """One row per discount: its scores with their intervals."""
        import polars as pl

        rows = []
        for line in self.lines:
            measures = {measure: line.interval(measure) for measure in MEASURES}
            measures |= {f"{mode} agreement": (share.value, *share.interval) for mode, share in line.shares.items()}
            numbers = {
                f"{measure}{end}": number
                for measure, interval in measures.items()
                for end, number in zip(("", " low", " high"), interval, strict=True)
            }
            likelihood = {"log-likelihood per screen": line.per_screen}
            rows.append({"discount": line.name, "parameters": line.parameters} | numbers | likelihood)
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.choice.to_dict(),
            "discounts": [
                {
                    "name": line.name,
                    "discount": str(line.discount),
                    "parameters": line.parameters,
                    **{
                        measure: dict(zip(("value", "low", "high"), line.interval(measure), strict=True))
                        for measure in MEASURES
                    },
                    "agreement": {
                        mode: dict(zip(("share", "low", "high"), (share.value, *share.interval), strict=True))
                        for mode, share in line.shares.items()
                    },
                    "cells_per_screen": line.cells,
                    "log_likelihood_per_screen": line.per_screen,
                }
                for line in self.lines
            ],
            "cells_per_screen": self.cells,
            "noise": self.noise,
        }


def ceiling_study(train: Examination, test: Examination, progress: Progress | None = None) -> CeilingStudy:
    """Select a form on ``train`` and score it on ``test``, beside the paper's discounts and the ceiling."""
    choice = choose_form(train, progress=step(progress, "fit forms"))
    ceiling = Empirical(train.frequencies, name=f"{train.name} frequencies")
    entries: list[tuple[str, Discount, int]] = [
        ("d_a, as published", parse("d_a"), 4),
        ("d_rpd, as published", parse("d_rpd"), 4),
        (f"{choice.chosen.discount.symbol}, by likelihood", choice.chosen.discount, len(choice.chosen.values)),
        (f"{CEILING}: {train.name}'s frequencies", ceiling, train.counts.size),
    ]
    judged = [ceiling, *(discount for _, discount, _ in entries[:-1])]
    agreement: dict[str, tuple[DiscountAgreement, ...]] = {}
    for mode in MODES:
        study = simulate(
            judged, test, mode, stream="paper", thresholds=["0"], progress=step(progress, f"simulate {mode}")
        )
        first, *others = study.thresholds[0].comparisons
        agreement[mode] = (*others, first)
    resampled = _resampled(test, [discount for _, discount, _ in entries])
    inflation, noise = _clustering(choice, test)
    lines, best = [], scores(test, ceiling)
    for index, (name, discount, parameters) in enumerate(entries):
        scored = scores(test, discount)
        lines.append(
            CeilingLine(
                name=name,
                discount=discount,
                parameters=parameters,
                test=scored,
                errors=Scores(*(inflation * resampled[index].std(axis=0)).tolist()),
                behind=Scores(*(getattr(best, measure) - getattr(scored, measure) for measure in MEASURES)),
                behind_errors=Scores(*(inflation * (resampled[-1] - resampled[index]).std(axis=0)).tolist()),
                agreement={mode: agreement[mode][index] for mode in MODES},
                cells=float(discount.weights(matching_grid(None, test.frequencies)).sum()),
                per_screen=_per_screen(discount, test),
            )
        )
    return CeilingStudy(
        choice=choice,
        train=train.name,
        test=test.name,
        lines=tuple(lines),
        cells=float(test.frequencies.sum()),
        train_cells=float(train.frequencies.sum()),
        noise=noise,
    )


def _per_screen(discount: Discount, test: Examination) -> float | None:
    """The log-likelihood of a test screen; None if weights are not probabilities or exclude what was observed."""
    value = log_likelihood(test, discount) / test.screens if discount.is_probability else -math.inf
    return value if math.isfinite(value) else None


def _screen_text(value: float | None) -> str:
    return "none, as it excludes what was observed" if value is None else f"{value:.3f}"


def _clustering(choice: FormSelection, test: Examination) -> tuple[float, str]:
    """By what to multiply the standard errors of :func:`_resampled`, and the noise they describe, in words."""
    if test.by_participant is not None:
        return 1.0, BY_PARTICIPANT
    dispersion = max(choice.overdispersion, fit_likelihood(test, choice.richest.form).overdispersion)
    inflation = math.sqrt(dispersion)
    noise = f"cells resampled as if independent, standard errors times {inflation:.2f} for a dispersion of"
    return inflation, f"{noise} {dispersion:.2f}"


def _resampled(test: Examination, discounts: list[Discount]) -> Array:
    """Scores (discounts, samples, measures) on resampled test participants or, where they are unknown, cells."""
    samples, _ = resample(test, _SAMPLES, np.random.default_rng(0))
    shares = samples / samples.max(axis=1, keepdims=True)
    out = []
    for discount in discounts:
        weights = discount.weights(matching_grid(None, test.frequencies)).ravel()
        rho, r = _native.correlations(np.ascontiguousarray(samples), weights, 1)
        out.append(np.stack([rho, r, ((shares - weights / weights.max()) ** 2).mean(axis=1)], axis=1))
    return np.array(out)
