"""The paper's tables and figures computed anew, each number beside the published one, and the ceiling study."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from carouseval.attention.frequency_scores import Scores, scores
from carouseval.attention.rank_fit import PAPER_DISCOUNTS, SearchFit, grid_search
from carouseval.attention.recgaze_data import recgaze_counts
from carouseval.metrics.array_functions import n2dcg
from carouseval.metrics.discounts import Empirical
from carouseval.metrics.ideal import ideal_dcg2d
from carouseval.paper.ceiling_study import CeilingStudy, ceiling_study
from carouseval.paper.simulation import simulate
from carouseval.paper.simulation_settings import MODES
from carouseval.paper.study import Study, Threshold
from carouseval.progress import Progress, step
from carouseval.results import Reported

if TYPE_CHECKING:
    import polars as pl

TABLE_1_WEIGHTS = [[1.0, 0.9, 0.8], [0.3, 0.2, 0.1]]
TABLE_1_PAGE = [[1, 1, 0], [1, 0, 0]]  # a1 a2 a3 / b1 b2 b3, the best page that a carousel can show
PERCENT = {"original": "Orig. Acc.", "reformulated": "Our Acc.", "corrected": "Corr.", "both_wrong": "Both Err."}


@dataclass(frozen=True)
class FigureCheck:
    """A published figure beside ours, to the published number of digits.

    Attributes
    ----------
    where : str
        The table or figure of the paper.
    what : str
        What the number is.
    published : str
        The number as published.
    ours : str
        The number computed here, to as many digits.
    note : str, default ""
        Why the two may differ.
    exact : str, optional
        The result of exact arithmetic, where the authors' floating-point numbers differ from it.
    """

    where: str
    what: str
    published: str
    ours: str
    note: str = ""
    exact: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether our number is the published one, or the exact one where there is one."""
        return self.ours == (self.exact or self.published)

    @property
    def mark(self) -> str:
        """``ok``, ``exact`` if it agrees with exact arithmetic only, or ``differs``."""
        return "differs" if not self.agrees else "ok" if self.exact is None else "exact"


@dataclass(frozen=True)
class Reproduction(Reported):
    """Everything the paper reports, computed here, and what a browsing model achieves on the same data.

    Attributes
    ----------
    table1 : dict of str to float
        Table 1, by case.
    fits : dict of str to SearchFit
        The discounts fitted to the Bratislava counts, by symbol.
    test : dict of str to Scores
        Their scores on the Amsterdam counts.
    table2 : dict of str to Study
        The paired-layout study, by mode.
    checks : tuple of FigureCheck
        Every published figure beside ours.
    ceiling_study : CeilingStudy
        How close d_rpb and the paper's discounts come to the noise ceiling.

    Examples
    --------
    >>> import carouseval as cv
    >>> cv.reproduce()
    Reproduction(76 of 76 published figures agree)
    """

    table1: dict[str, float]
    fits: dict[str, SearchFit]
    test: dict[str, Scores]
    table2: dict[str, Study]
    checks: tuple[FigureCheck, ...]
    ceiling_study: CeilingStudy

    @property
    def agrees(self) -> bool:
        """Whether every published figure is reproduced."""
        return all(check.agrees for check in self.checks)

    def __repr__(self) -> str:
        agreeing = sum(check.agrees for check in self.checks)
        return f"Reproduction({agreeing} of {len(self.checks)} published figures agree)"

    def to_frame(self) -> "pl.DataFrame":
        """Every published figure beside ours: ``mark``, ``where``, ``what``, ``published``, ``ours``, ``note``."""
        import polars as pl

        columns = ("mark", "where", "what", "published", "ours", "note")
        return pl.DataFrame({name: getattr(check, name) for name in columns} for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """``table1``, ``discounts``, ``table2`` and ``ceiling``."""
        return {
            "table1": self.table1,
            "discounts": {
                symbol: {
                    "parameters": fit.discount.parameters,
                    "train": {"spearman": fit.train.spearman, "pearson": fit.train.pearson},
                    "test": asdict(self.test[symbol]),
                }
                for symbol, fit in self.fits.items()
            },
            "table2": {
                mode: {
                    "pairs": study.pairs,
                    "thresholds": [
                        {"at_least": float(row.at_least), "pairs": row.pairs, **shares(row)} for row in study.thresholds
                    ],
                }
                for mode, study in self.table2.items()
            },
            "ceiling": self.ceiling_study.to_dict(),
        }


def reproduce(progress: Progress | None = None) -> Reproduction:
    """Compute Table 1, the fits and scores of Figure 2 and Table 2, and compare each number with the published one.

    Also fits d_rpb and compares it with d_rpd and the noise ceiling.

    Parameters
    ----------
    progress : callable, optional
        Called with (step, done, total) as the work proceeds.

    Returns
    -------
    Reproduction
        The tables, and every published figure beside ours.

    Examples
    --------
    >>> import carouseval as cv
    >>> result = cv.reproduce()
    >>> result.agrees, round(result.test["d_rpd"].spearman, 3)
    (True, 0.986)
    """
    published = json.loads(resources.files("carouseval.paper").joinpath("published.json").read_text(encoding="utf-8"))
    train, test = recgaze_counts("bratislava"), recgaze_counts("amsterdam")

    fits = {symbol: grid_search(train, symbol, progress=step(progress, f"fit {symbol}")) for symbol in PAPER_DISCOUNTS}
    held_out = {symbol: scores(test, fit.discount) for symbol, fit in fits.items()}
    studies: dict[str, Study] = {
        mode: simulate(
            ("d_a", "d_rpd"),
            test,
            mode,
            trials=20_000,
            seed=42,
            stream="paper",
            progress=step(progress, f"simulate {mode}"),
        )
        for mode in MODES
    }
    table1 = _table1()
    checks = [
        *_table1_checks(table1, published),
        *_fit_checks(fits, held_out, published),
        *_table2_checks(studies, published),
    ]
    return Reproduction(table1, fits, held_out, studies, tuple(checks), ceiling_study(train, test, progress))


def _table1() -> dict[str, float]:
    weights = Empirical(TABLE_1_WEIGHTS, name="table 1")
    return {
        "best_valid": ideal_dcg2d(TABLE_1_PAGE, weights),
        "best_unconstrained": ideal_dcg2d(TABLE_1_PAGE, weights, ideal="unconstrained"),
        "max_n2dcg": n2dcg(TABLE_1_PAGE, weights),
    }


def _like(value: float, published: str) -> str:
    """Format a value with as many decimals as the published one."""
    return f"{value:.{len(published.partition('.')[2])}f}"


def _table1_checks(table1: dict[str, float], published: Any) -> Iterator[FigureCheck]:
    words = {
        "best_valid": "2DCG of the best valid page",
        "best_unconstrained": "2DCG of the best unconstrained page",
        "max_n2dcg": "largest N2DCG of a valid page",
    }
    for key, figure in published["table1"].items():
        yield FigureCheck("Table 1", words[key], figure, _like(table1[key], figure))


def _fit_checks(fits: dict[str, SearchFit], held_out: dict[str, Scores], published: Any) -> Iterator[FigureCheck]:
    names = {"spearman": "rho", "pearson": "r", "mse": "MSE"}
    for symbol, expected in published["discounts"].items():
        fit, where = fits[symbol], f"Figure 2, {symbol}"
        parameters = ", ".join(f"{name}={value!r}" for name, value in expected["parameters"].items())
        fitted = ", ".join(f"{name}={value!r}" for name, value in fit.discount.parameters.items())
        yield FigureCheck(where, "parameters", parameters, fitted)
        for split, measured in (("train", fit.train), ("test", held_out[symbol])):
            for key, figure in expected[split].items():
                yield FigureCheck(where, f"{split} {names[key]}", figure, _like(getattr(measured, key), figure))


def _table2_checks(studies: dict[str, Study], published: Any) -> Iterator[FigureCheck]:
    for mode, rows in published["table2"].items():
        for expected, row in zip(rows, studies[mode].thresholds, strict=True):
            where = f"Table 2, {mode}, Delta >= {expected['at_least']}"
            for key, share in shares(row).items():
                yield FigureCheck(where, f"{PERCENT[key]} (%)", expected[key], _like(100 * share, expected[key]))
            if "pairs" in expected:
                exact = str(expected["exact_pairs"]) if "exact_pairs" in expected else None
                yield FigureCheck(
                    where, "pairs", str(expected["pairs"]), str(row.pairs), expected.get("why", ""), exact
                )


def shares(row: Threshold) -> dict[str, float]:
    """The four shares of a line of Table 2."""
    original, reformulated = row.comparisons
    return {
        "original": original.agreement.value,
        "reformulated": reformulated.agreement.value,
        "corrected": reformulated.corrected.value,
        "both_wrong": reformulated.both_wrong.value,
    }
