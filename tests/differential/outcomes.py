"""What a case gives: of each call the value, or the error, and the warnings; of each result all that it shows."""

import json
import pickle
import re
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import carouseval as cv
from tests.differential.plain import fields_of, plain, plain_json

TEXT_FILES = (".json", ".md", ".tex", ".csv", ".tsv", ".ndjson", ".html", ".svg")
# what differs between pictures of the same data to the last digit: their ids, and coordinates as text
_PICTURE = re.compile(r"""\bc[0-9a-f]{10}\b|\b(transform|d|[xy][12]?|width|height)="[^"]*\"""")
CHARTS = (
    *(None, "distribution", "means", "differences", "systems", "users", "waterfall", "losses", "gains", "page"),
    *("matrix", "rows", "grades", "no such kind"),
)


class Outcomes:
    """The outcomes of a case's calls by their names, as plain values, in their order."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: dict[str, Any] = {}

    def call(self, name: str, function: Callable[[], Any], as_plain: Callable[[Any], Any] = plain) -> Any:
        """The value of a call, and None after an error."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value, outcome = None, {}
            try:
                value = function()
                outcome["value"] = as_plain(value)
            except BaseException as error:  # panics of Polars too
                if isinstance(error, KeyboardInterrupt):
                    raise
                outcome["error"] = f"{_public_class(error)}: {error}"
                outcome["class"] = f"{type(error).__module__}.{type(error).__name__}"
        outcome["warnings"] = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
        self.found[name] = outcome
        return value

    def result(self, name: str, function: Callable[[], Any]) -> Any:
        """A result, with all its fields and properties, and what each of its methods gives."""
        result = self.call(name, function, fields)
        if result is not None:
            self.methods(name, result)
        return result

    def methods(self, name: str, result: Any) -> None:
        """What the methods give that all results have, and those of single ones where it has them."""
        for method in ("to_frame", "to_dict", "to_markdown", "to_latex", "_repr_html_"):
            if hasattr(result, method):
                self.call(f"{name}.{method}", getattr(result, method))
        self.call(f"{name}.repr", lambda: repr(result))
        if hasattr(result, "to_json"):
            self.call(f"{name}.to_json", result.to_json, plain_json)
        self.call(f"{name}.pickle", lambda: pickle.loads(pickle.dumps(result)), fields)
        for method, calls in _METHODS.items():
            if hasattr(result, method):
                for label, call in calls(result):
                    self.call(f"{name}.{method}({label})", call, fields)

    def saved(self, name: str, result: Any) -> None:
        """The files that a result is saved as."""
        for ending in (".json", ".md", ".tex", ".csv", ".parquet"):
            self.call(f"{name}.save({ending})", partial(result.save, self.folder / f"saved{ending}"), content)

    def charts(self, name: str, result: Any, kinds: Iterable[str | None] = CHARTS, **options: Any) -> None:
        """What the charts of a result show; kinds that it does not have are errors."""
        for kind in kinds:
            self.call(f"{name}.chart({kind})", partial(result.chart, kind, **options), _figure)

    def file(self, name: str, path: Path) -> None:
        """What is in a file."""
        self.call(name, lambda: path, content)

    def note(self, name: str, text: str) -> None:
        """Something that a reader of the outcomes should know."""
        self.found[name] = text


def fields(value: Any) -> Any:
    """All that a result says without being called; a plain value as it is."""
    module = type(value).__module__
    return plain(fields_of(value)) if module.startswith("carouseval") else plain(value)


def _public_class(error: BaseException) -> str:
    """The class of an error by which users catch it."""
    known = [cls.__name__ for cls in type(error).__mro__ if getattr(cv.errors, cls.__name__, None) is cls]
    return known[0] if known else type(error).__name__


def _figure(chart: Any) -> Any:
    """A chart whose data are named by their place, no longer by a hash of them."""
    figure = chart.to_dict()
    text = json.dumps(figure)
    for number, name in enumerate(figure.get("datasets", ())):
        text = text.replace(name, f"data {number}")
    return plain(json.loads(text))


def content(path: Path) -> Any:
    """What is in a file."""
    if path.suffix == ".parquet":
        return plain(pl.read_parquet(path))
    if path.suffix == ".json":
        return plain_json(path.read_text(encoding="utf-8"))
    if path.suffix not in TEXT_FILES:
        return f"{len(path.read_bytes())} bytes"
    text = path.read_text(encoding="utf-8")
    return text if path.suffix not in (".html", ".svg") else _PICTURE.sub("...", text)


Call = tuple[str, Callable[[], Any]]


def _intervals(result: Any) -> list[Call]:
    calls = [(f"{metric}, 0.8", partial(result.interval, metric, ci=0.8)) for metric in result.metrics]
    return [*calls, ("no metric", lambda: result.interval("nope"))]


def _left_out(result: Any) -> list[Call]:
    return [(metric, partial(result.left_out, metric)) for metric in result.metrics]


def _users_by(result: Any) -> list[Call]:
    return [("by", lambda: result.users_by(result.by)), ("nothing", lambda: result.users_by([]))]


def _pairs(result: Any) -> list[Call]:
    one, other = [*result.evaluations][:2]
    metric = result.metrics[-1]
    return [
        ("first", lambda: result.pair(one, other)),
        ("turned round", lambda: result.pair(other, one, metric)),
        ("itself", lambda: result.pair(one, one)),
        ("unknown", lambda: result.pair(one, "nope")),
    ]


def _worse(result: Any) -> list[Call]:
    one, other = [*result.evaluations][:2]
    return [("first", lambda: result.worse(one, other)), ("turned round", lambda: result.worse(other, one))]


def _plans(result: Any) -> list[Call]:
    return [
        ("0.01", lambda: result.plan(0.01)),
        ("0.1, 0.95", lambda: result.plan(0.1, power=0.95)),
        ("0", lambda: result.plan(0)),
    ]


def _pages(result: Any) -> list[Call]:
    users = result.per_page["user_id"].to_list()[:3]
    calls: list[Call] = [("default", result.page), ("unknown", lambda: result.page("nobody"))]
    return [*calls, *((f"user {n}", partial(result.page, user)) for n, user in enumerate(users))]


_METHODS: dict[str, Callable[[Any], list[Call]]] = {
    "interval": _intervals,
    "left_out": _left_out,
    "users_by": _users_by,
    "pair": _pairs,
    "worse": _worse,
    "plan": _plans,
    "page": _pages,
}
