"""``carouseval fit`` by trying every combination of parameters, as the paper does."""

import math
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from carouseval.attention import fit as fitting
from carouseval.attention.bootstrap import bootstrap as intervals
from carouseval.attention.examination import write_json as write_file
from carouseval.attention.parameters import DECAYS, FACTORS, discount_class, is_share
from carouseval.cli.fit_picture import draw
from carouseval.cli.inputs import FitInput
from carouseval.cli.output import Format, plain, progress_bar, step, write_json, write_rows
from carouseval.errors import ParameterError, ParseError
from carouseval.metrics.validation import did_you_mean

_MOST_SETS = 10_000_000


def fit_by_search(
    data: FitInput,
    model: str,
    objective: str,
    values: list[str] | None,
    refine: bool,
    bootstrap: int,
    top: int,
    chart: Path | None,
    out: Path | None,
    format: Format,
) -> None:
    """Search, and print the best and its runners-up."""
    if bootstrap and (objective != "spearman" or refine):
        raise ParameterError("--bootstrap repeats the search by spearman; leave out --objective and --refine.")
    from carouseval.show.terminal import brief

    train, grid, axes = data.train, data.grid, _axes(values)
    _check_size(model, axes or {})
    with progress_bar() as bar:
        found = fitting.grid_search(model, train, grid, axes, objective, top, progress=step(bar, f"fit {model}"))
        trust = bootstrap and intervals(model, train, grid, axes, bootstrap, progress=step(bar, "bootstrap"))
    if refine:
        found = fitting.refine(found, train, grid)
    result: dict[str, Any] = {
        "discount": found.discount.symbol,
        "parameters": found.discount.parameters,
        "objective": found.objective,
        "fitted_to": data.name,
        "grid": asdict(grid),
        "tried": found.tried,
        "skipped": found.skipped,
        "train": vars(found.train),
        **({"test": vars(fitting.scores(found.discount, data.test, grid))} if data.test is not None else {}),
    }
    if trust:
        result["bootstrap"] = asdict(trust)
    if out:
        write_file(out, plain(result))
    if chart:
        draw(data, found.discount, chart)
    if format is Format.json:
        write_json(
            {**result, "top": [{"discount": str(one.discount), "objective": one.objective} for one in found.top]}
        )
        return
    scores = [["train", *vars(found.train).values()]]
    if "test" in result:
        scores.append(["test", *result["test"].values()])
    if format is not Format.table:
        write_rows(
            format, ["discount", "scored on", "rho", "r", "MSE"], [[str(found.discount), *row] for row in scores]
        )
        return
    title = f"{brief(str(found.discount))}\nfitted to {data.said}\n"
    write_rows(format, ["scored on", "rho", "r", "MSE"], scores, title)
    runners = [[brief(str(one.discount)), one.objective, one.spearman, one.pearson] for one in found.top]
    if trust:
        rows = [[name, interval.low, interval.high] for name, interval in trust.parameters.items()]
        heading = f"\n{trust.level:.0%} bootstrap intervals, {trust.samples:,} samples: {trust.what}"
        write_rows(format, ["", "low", "high"], rows, heading)
    title = f"\nBest of {found.tried:,} by {objective}" + (f", {found.skipped:,} unusable" if found.skipped else "")
    write_rows(format, ["discount", objective, "rho", "r"], runners, title)


def _check_size(model: str, axes: dict[str, list[float]]) -> None:
    """Refuse searches that nobody waits for."""
    cls = discount_class(model)
    names = [f.name for f in fields(cls)]
    for name in axes:
        if name not in names:
            hint = did_you_mean(name, names)
            raise ParameterError(f"{model} has no parameter {name!r}.{hint} It takes {', '.join(names)}.")
    sets = math.prod(len(axes.get(f.name, DECAYS if is_share(cls, f.name) else FACTORS)) for f in fields(cls))
    if sets > _MOST_SETS:
        raise ParameterError(
            f"{model}: {sets:,} combinations of parameters are too many to try. Give --values of more of them"
            f"{', or leave out --objective and --values' if cls().is_probability else ''}."
        )


def _axes(values: list[str] | None) -> dict[str, list[float]] | None:
    axes = {}
    for text in values or []:
        name, equals, numbers = text.partition("=")
        try:
            if not equals or name.strip() in axes:
                raise ValueError
            axes[name.strip()] = [
                float(part) if set(part.lower()) & set(".e") else int(part) for part in numbers.split(",")
            ]
        except ValueError:
            raise ParseError(
                f"--values {text!r} does not read; write each parameter once, for example mu=0.1,0.2,0.3."
            ) from None
    return axes or None
