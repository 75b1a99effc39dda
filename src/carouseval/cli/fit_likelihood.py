"""``carouseval fit`` by likelihood: browsing models, with intervals and what the data leave open."""

import math
import sys
from dataclasses import asdict, replace
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from carouseval.attention.bootstrap import Interval
from carouseval.attention.choice import Choice, choose_form
from carouseval.attention.examination import Examination
from carouseval.attention.examination import write_json as write_file
from carouseval.attention.fit import scores_of
from carouseval.attention.forms import FORMS, OF_ROWS_AND_PAGES, spelled
from carouseval.attention.likelihood import LikelihoodFit, bootstrap_fit, fit_likelihood, log_likelihood
from carouseval.attention.recgaze import GROUPS
from carouseval.cli.fit_picture import draw, in_terminal
from carouseval.cli.inputs import FitInput
from carouseval.cli.output import Format, plain, progress_bar, step, write_json, write_rows
from carouseval.errors import ParameterError
from carouseval.metrics.discounts import Mixture
from carouseval.metrics.validation import did_you_mean

CELLS, PATH = "log_likelihood_per_screen", "log_likelihood_per_path"
WORDS = {
    CELLS: "log-likelihood of a screen's cells",
    PATH: "of its path",
    "spearman": "rho",
    "pearson": "r",
    "mse": "MSE",
}
_MOST_IN_VIEW, _CLEARLY = 15, 20.0  # swipe pages tried, and by how much one must be likelier
_GOOD = 0.97  # a correlation; d_rpd, fitted by rank, has .977 on the paper's test set


def check_form(form: str, model: str) -> None:
    """Refuse what is no form of the model."""
    if model != "d_rpb":
        raise ParameterError("--form goes with --model d_rpb, fitted by likelihood.")
    known = [one.name for one in FORMS if one.symbol == model]
    if spelled(form) not in known:
        hint = did_you_mean(form, known)
        raise ParameterError(f"--form: {model} has no form {form!r}.{hint} Known: {'; '.join(known)}.")


def fit_by_likelihood(
    data: FitInput, model: str, form: str | None, bootstrap: int, chart: Path | None, out: Path | None, format: Format
) -> None:
    """Fit, choose a form where there are several, and print all that is known."""
    if not isinstance(data.train, Examination):
        counted = (data.train == data.train.round()).all() and data.train.max() > 1
        remedy = "say with --screens of how many screens" if counted else "these are frequencies: give whole counts"
        raise ParameterError(f"{model} is fitted to counts of screens; {remedy}.")
    if bootstrap < 0:
        raise ParameterError(f"--bootstrap takes a number of samples, 0 for none, found {bootstrap}.")
    if bootstrap and data.paths is not None:
        raise ParameterError("--bootstrap resamples counts, not paths; leave it out.")
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
    intervals: dict[str, Interval | None] = dict(found.intervals)
    noise = found.noise
    if bootstrap:
        trust = bootstrap_fit(found, data.train, data.grid, bootstrap)
        intervals = {name: trust.parameters.get(name) for name in intervals}
        noise = f"{trust.samples:,} bootstrap samples: {trust.what}"
    scored = {"train": _scores(data, found, test=False)}
    if data.test is not None:
        scored["test"] = _scores(data, found, test=True)
    result: dict[str, Any] = {
        "discount": found.discount.symbol,
        "parameters": found.discount.parameters,
        "objective": "likelihood",
        "fitted_to": data.name,
        "screens": data.train.screens,
        "participants": data.train.participants,
        "grid": asdict(data.grid),
        "form": found.form.name,
        "converged": found.converged,
        **scored,
        "bic": found.bic,
        "dispersion": found.dispersion,
        "intervals": {name: vars(ends) if ends else None for name, ends in intervals.items()},
        "noise": noise,
        "open": [*found.open, *([] if bootstrap else found.unsure)],
        "notes": notes(data, found),
    }
    if choice is not None:
        result["forms"] = [
            {
                "form": one.fit.form.name,
                "parameters": len(one.fit.values),
                "log_likelihood": one.fit.log_likelihood,
                "bic": one.fit.bic,
                "held_out": one.held_out,
                "chosen": one.fit is choice.chosen,
            }
            for one in choice.tried
        ]
    if out:
        write_file(out, plain(result))
    if chart:
        draw(data, found.discount, chart)
    if format is Format.json:
        write_json(result)
        return
    header = ["scored on", *(WORDS[name] for name in scored["train"])]
    rows = [[where, *values.values()] for where, values in scored.items()]
    if format is not Format.table:
        write_rows(format, ["discount", *header], [[str(found.discount), *row] for row in rows])
        return
    _print(data, found, choice, intervals, result, (header, rows))


def _scores(data: FitInput, found: LikelihoodFit, test: bool) -> dict[str, float | None]:
    """As the paper scores, and the log-likelihood of a screen: of its cells and, where it was fitted, of its path."""
    seen, paths = (data.test, data.test_paths) if test else (data.train, data.paths)
    out: dict[str, float | None] = {CELLS: None}
    if isinstance(seen, Examination):
        out[CELLS] = log_likelihood(found.discount, seen, data.grid) / seen.screens
    if data.paths is not None:
        from carouseval.attention.paths import path_log_likelihood
        from carouseval.metrics.scan import MarkovScan

        scan = found.discount
        out[PATH] = None
        if paths is not None and isinstance(scan, MarkovScan):
            out[PATH] = path_log_likelihood(scan, paths) / paths.screens
    target = seen.frequencies if isinstance(seen, Examination) else seen
    return {**out, **vars(scores_of(found.discount.weights(data.grid), target))}


def notes(data: FitInput, found: LikelihoodFit) -> list[str]:
    """What a person should look at before relying on the fit."""
    counts, said = data.train.counts, _page_size(data)
    for what, seen in (("row", counts.any(axis=1)), ("column", counts.any(axis=0))):
        last = int(np.flatnonzero(seen).max(initial=-1)) + 1
        if last < len(seen):
            said.append(f"Nobody looked beyond {what} {last} of {len(seen)}. If the screen ends there, say so: --grid.")
    if data.paths is None and data.train.participants and data.train.by_participant is None and data.name not in GROUPS:
        said.append("Whose the screens without a look are is not known, so that intervals are not by participant.")
    if not found.converged:
        said.append("The search did not come to an end: take these values for a stage on the way.")
    if found.train.pearson < _GOOD:
        said.append(
            f"The fitted weights follow the data only so far (r = {found.train.pearson:.2f}): people look in ways that "
            f"{found.discount.symbol} has no parameter for."
        )
    return said


def _page_size(data: FitInput) -> list[str]:
    """A hint, where the number of items in view was assumed, and another fits clearly better."""
    if data.page_size_given or data.grid.cols < 3:
        return []
    sizes = range(2, min(data.grid.cols, _MOST_IN_VIEW) + 1)
    likely = {
        size: fit_likelihood("six", data.train, replace(data.grid, page_size=size)).log_likelihood for size in sizes
    }
    best, assumed = max(likely, key=lambda size: likely[size]), min(data.grid.page_size, data.grid.cols)
    if best == assumed or likely[best] - likely.get(assumed, -math.inf) < _CLEARLY:
        return []
    return [f"{best} items of a row in view fit much better than {assumed}. If they were, say --page-size {best}."]


def _print(
    data: FitInput,
    found: LikelihoodFit,
    choice: Choice | None,
    intervals: dict[str, Interval | None],
    result: dict[str, Any],
    scored: tuple[list[str], list[Any]],
) -> None:
    from rich.console import Console

    from carouseval.show.reproduction import forms_table
    from carouseval.show.terminal import brief

    console = Console(highlight=False)
    width = console.width if sys.stdout.isatty() else 120

    def say(text: str) -> None:
        console.print("\n".join(wrap(text, min(width, 120))), soft_wrap=True)

    say(brief(str(found.discount)))
    say(f"fitted to {data.said}")
    header, scores = scored
    write_rows(Format.table, header, scores, "\nScores; MSE after scaling both sides to maximum 1")
    parameters = [[name, value, *_ends(intervals[name])] for name, value in found.values.items()]
    if not isinstance(found.discount, Mixture):
        tied = {name: value for name, value in found.discount.parameters.items() if name not in found.values}
        parameters += [[name, float(value), "tied" if value else "left out", ""] for name, value in tied.items()]
    write_rows(Format.table, ["", "value", "low", "high"], parameters, f"\n95% intervals; {result['noise']}")
    if not math.isnan(found.dispersion):
        free = found.cells - len(found.values)
        say(
            f"Deviance {found.deviance:.0f} on {free} degrees of freedom, {found.dispersion:.2f} each; 1 would be "
            "binomial noise alone."
        )
    console.print()
    for note in result["notes"]:
        say(f"Note: {note}")
    say(f"Left open: {' '.join(result['open'])}")
    console.print()
    console.print(in_terminal(data, found.discount, width), soft_wrap=True)
    if choice is not None:
        header, forms = forms_table(choice)
        write_rows(Format.table, header, forms, f"\nForms tried; held out: {choice.folds}")


def _ends(interval: Interval | None) -> tuple[Any, Any]:
    return ("open", "open") if interval is None else (interval.low, interval.high)
