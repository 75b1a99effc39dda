"""``carouseval fit`` by likelihood: browsing models, with intervals and what the data leave open."""

from pathlib import Path
from typing import Any

from carouseval.attention.choice import Choice, choose_form
from carouseval.attention.examination import Examination
from carouseval.attention.examination import write_json as write_file
from carouseval.attention.fit import scores
from carouseval.attention.forms import FORMS, OF_ROWS_AND_PAGES
from carouseval.attention.likelihood import LikelihoodFit, bootstrap_fit, fit_likelihood, log_likelihood
from carouseval.cli.fit_picture import draw, in_terminal
from carouseval.cli.inputs import FitInput
from carouseval.cli.output import Format, plain, progress_bar, step, write_json, write_rows
from carouseval.errors import ParameterError
from carouseval.metric.checks import did_you_mean
from carouseval.metric.discounts import as_discount

ORDER = "Counts of cells do not identify the order in which people looked, nor how they moved between cells."


def check_form(form: str, model: str) -> None:
    """Refuse what is no form of the model."""
    if model != "d_rpb":
        raise ParameterError("--form goes with --model d_rpb, fitted by likelihood.")
    known = [one.name for one in FORMS if one.symbol == model]
    if form not in known:
        hint = did_you_mean(form, known)
        raise ParameterError(f"--form: {model} has no form {form!r}.{hint} Known: {'; '.join(known)}.")


def fit_by_likelihood(
    data: FitInput, model: str, form: str | None, bootstrap: int, chart: Path | None, out: Path | None, format: Format
) -> None:
    """Fit, choose a form where there are several, and print all that is known."""
    if not isinstance(data.train, Examination):
        raise ParameterError(f"{model} is fitted to counts; say with --screens of how many screens.")
    if bootstrap and data.paths is not None:
        raise ParameterError("--bootstrap resamples counts; fits to paths have intervals by participant already.")
    choice: Choice | None = None
    with progress_bar() as bar:
        if data.paths is not None:
            from carouseval.attention.paths import fit_paths

            found = fit_paths(data.paths)
        elif model == "d_rpb" and form is None:
            choice = choose_form(data.train, data.grid, OF_ROWS_AND_PAGES, progress=step(bar, "forms"))
            found = choice.chosen
        else:
            found = fit_likelihood(form or model, data.train, data.grid)
    intervals: dict[str, Any] = dict(found.intervals)
    noise = found.noise
    if bootstrap:
        trust = bootstrap_fit(found, data.train, data.grid, bootstrap)
        # what the data leave open stays where it was in every sample, which is no interval
        intervals = {name: ends if intervals[name] else None for name, ends in trust.parameters.items()}
        noise = f"{trust.samples:,} bootstrap samples: {trust.what}"
    scored = {"train": _scores(data, found, test=False)}
    if data.test is not None:
        scored["test"] = _scores(data, found, test=True)
    result: dict[str, Any] = {
        "discount": found.discount.symbol,
        "parameters": found.discount.parameters,
        "objective": "likelihood",
        "fitted_to": data.name,
        "form": found.form.name,
        "converged": found.converged,
        **scored,
        "bic": found.bic,
        "intervals": {name: vars(ends) if ends else None for name, ends in intervals.items()},
        "noise": noise,
        "open": list(_open(data, found)),
    }
    if choice is not None:
        result["forms"] = [
            {"form": one.fit.form.name, "parameters": len(one.fit.values), "bic": one.fit.bic, "held_out": one.held_out}
            for one in choice.tried
        ]
    if out:
        write_file(out, plain(result))
    if chart:
        draw(data, found.discount, chart)
    if format is Format.json:
        write_json(result)
        return
    header = ["scored on", "log-likelihood per screen", "rho", "r", "MSE"]
    rows = [[where, *values.values()] for where, values in scored.items()]
    if format is not Format.table:
        write_rows(format, ["discount", *header], [[str(found.discount), *row] for row in rows])
        return
    _print(data, found, choice, intervals, noise, (header, rows))


def _scores(data: FitInput, found: LikelihoodFit, test: bool) -> dict[str, float | None]:
    """As the paper scores, and the log-likelihood of a screen: of its path or, after a fit to counts, of its cells."""
    seen, paths = (data.test, data.test_paths) if test else (data.train, data.paths)
    per_screen: float | None = None
    if paths is not None and data.paths is not None:
        from carouseval.attention.paths import path_log_likelihood
        from carouseval.attention.scan import MarkovScan

        scan = as_discount(found.discount)
        assert isinstance(scan, MarkovScan)
        per_screen = path_log_likelihood(scan, paths) / paths.screens
    elif isinstance(seen, Examination) and data.paths is None:
        per_screen = log_likelihood(found.discount, seen, data.grid) / seen.screens
    return {"log_likelihood_per_screen": per_screen, **vars(scores(found.discount, seen, data.grid))}


def _open(data: FitInput, found: LikelihoodFit) -> tuple[str, ...]:
    return found.open if data.paths is not None else (*found.open, ORDER)


def _print(
    data: FitInput,
    found: LikelihoodFit,
    choice: Choice | None,
    intervals: dict[str, Any],
    noise: str,
    scored: tuple[list[str], list[Any]],
) -> None:
    import sys

    from rich.console import Console

    from carouseval.show.reproduction import forms_table

    console = Console(highlight=False)
    header, scores = scored
    write_rows(Format.table, header, scores, f"{found.discount}\n")
    if not found.converged:
        console.print("The search did not come to an end: take these values for a stage on the way.", soft_wrap=True)
    parameters = [
        [name, value, *((ends.low, ends.high) if ends else ("open", "open"))]
        for (name, value), ends in zip(found.values.items(), intervals.values(), strict=True)
    ]
    write_rows(Format.table, ["", "value", "low", "high"], parameters, f"\n95% intervals; {noise}")
    console.print(f"\nNot identified: {' '.join(_open(data, found))}", soft_wrap=True)
    console.print()
    width = console.width if sys.stdout.isatty() else 120
    console.print(in_terminal(data, found.discount, width), soft_wrap=True)
    if choice is not None:
        header, forms = forms_table(choice)
        write_rows(Format.table, header, forms, f"\nForms tried; held out: {choice.folds}")
