"""Metric names that read as they print: ``N2DCG_cat(d_rpd(mu=0.5))@3x5``.

2DCG N2DCG N2DCG_cat   [ (discount, gain=linear) ]   [ @ROWSxCOLS ]
DCG NDCG               [ (gain=linear) ]             [ @K ]
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np

from carouseval.errors import DataError, ParameterError, ParseError
from carouseval.metrics import score
from carouseval.metrics.cutoffs import page_weights, parse_cutoff
from carouseval.metrics.discounts import Discount, as_discount, parse
from carouseval.metrics.gains import NAMED, Gain, check_gain, gain_name
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.pages import Relevance, stack_pages
from carouseval.metrics.validation import did_you_mean, outside_brackets, require_int

# what each name means: its default discount and the ideal it is divided by
_PAGE_METRICS: dict[str, tuple[str, str]] = {
    "2DCG": ("d_rpd", "none"),
    "N2DCG": ("d_a", "unconstrained"),
    "N2DCG_cat": ("d_rpd", "category"),
}
_LIST_METRICS = {"DCG": score.dcg, "NDCG": score.ndcg}
_SPELLING = re.compile(r"([^(@]*)(?:\((.*)\))?\s*(?:@([^()@]*))?", flags=re.DOTALL)
_NAMES = (*_PAGE_METRICS, *_LIST_METRICS)

PageFunction: TypeAlias = Callable[[Array, Array], Any]
"""A user's metric: (gains, weights) of one page, both (rows, cols), to a number; empty cells gain 0."""


@dataclass(frozen=True)
class Metric:
    """One of the named metrics, with everything that identifies it. ``str`` prints a name that reads back.

    Call it with relevances: ``cv.metric("N2DCG_cat@3x5")(relevance)``.
    """

    base: str
    discount: Discount | None = None  # None for DCG and NDCG
    cutoff: tuple[int, int] | int | None = None
    gain: Gain | None = None  # None: the gain in force where the metric is used

    @property
    def ideal(self) -> str:
        """What the score is divided by: ``"category"``, ``"unconstrained"`` or ``"none"``."""
        if self.base in _PAGE_METRICS:
            return _PAGE_METRICS[self.base][1]
        return "unconstrained" if self.base == "NDCG" else "none"

    def __str__(self) -> str:
        parts = []
        if self.discount is not None and self.discount != parse(_PAGE_METRICS[self.base][0]):
            parts.append(self.discount.short)
        if self.gain is not None:
            parts.append(f"gain={gain_name(self.gain)}")
        size = "x".join(map(str, self.cutoff)) if isinstance(self.cutoff, tuple) else self.cutoff
        return self.base + (f"({', '.join(parts)})" if parts else "") + (f"@{size}" if size else "")

    def __call__(
        self, relevance: Relevance, grid: Grid | None = None, gain: Gain = "exp2", *, threads: int | None = None
    ) -> Any:
        """Score pages: a float for one, an array for a stack."""
        gain = gain if self.gain is None else self.gain
        if self.discount is None:
            assert not isinstance(self.cutoff, tuple)
            return _LIST_METRICS[self.base](relevance, grid, gain, cutoff=self.cutoff, threads=threads)
        assert not isinstance(self.cutoff, int)
        if self.ideal == "none":
            return score.dcg2d(relevance, self.discount, grid, gain, cutoff=self.cutoff, threads=threads)
        return score.normalised(relevance, self.discount, grid, gain, self.ideal, self.cutoff, threads)


@dataclass(frozen=True)
class FunctionMetric:
    """A user's function of (gains, weights), called once per page."""

    name: str
    function: PageFunction
    discount: Discount
    cutoff: tuple[int, int] | None = None
    gain: Gain | None = None
    ideal: ClassVar[str] = "none"  # the function itself says what it divides by

    def __str__(self) -> str:
        return self.name

    def __call__(
        self, relevance: Relevance, grid: Grid | None = None, gain: Gain = "exp2", *, threads: int | None = None
    ) -> Any:
        stack = stack_pages(relevance, gain if self.gain is None else self.gain)
        grid = stack.grid(grid)
        weights = page_weights(self.discount, grid, self.cutoff)
        return stack.unstacked(
            np.array([self.of_gains(page, weights) for page in stack.gains_on(grid, threads)], dtype=np.float64)
        )

    def of_gains(self, gains: Array, weights: Array) -> float:
        """The score of one page, given the gains of its cells."""
        value = self.function(gains, weights)
        if not isinstance(value, Real | np.generic) and not (isinstance(value, np.ndarray) and value.ndim == 0):
            kind = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
            raise DataError(f"metric {self.name!r} must return one number for a page, found {kind}.")
        return float(value)


AnyMetric: TypeAlias = Metric | FunctionMetric
MetricLike: TypeAlias = str | PageFunction | AnyMetric


def metric(
    name: str | PageFunction | AnyMetric,
    discount: str | Discount | None = None,
    cutoff: tuple[int, int] | int | str | None = None,
    gain: Gain | None = None,
) -> AnyMetric:
    """A metric from its name, with parts given apart; goes wherever a name goes.

    Parts may be in the name or in an argument, not in both. A function of (gains, weights) becomes a metric too.

    DCG and NDCG read the occupied cells row by row as one list: a hole is skipped there, while it keeps its place in
    the others. A function is called once per page with (gains, weights), both (rows, cols); empty cells gain 0.

    >>> import carouseval as cv
    >>> cv.metric("N2DCG_cat", discount="d_rpd(mu=0.5)", cutoff=(3, 5)) == cv.metric("N2DCG_cat(d_rpd(mu=0.5))@3x5")
    True
    >>> str(cv.metric("NDCG@10"))
    'NDCG@10'
    >>> cv.metric(lambda gains, weights: gains.max())([[1, 3], [2, 0]])
    7.0
    """
    if gain is not None:
        check_gain(gain)
    if isinstance(name, Metric | FunctionMetric):
        if (discount, cutoff, gain) != (None, None, None):
            raise ParameterError(f"metric {name} is complete; give a name to set its discount, cutoff or gain.")
        return name
    if callable(name):
        if isinstance(cutoff, int):
            raise ParameterError("metric: a function of a page takes a cutoff such as '3x5' or (3, 5).")
        label = getattr(name, "__name__", type(name).__name__)
        return FunctionMetric(label, name, as_discount(discount or "d_rpd"), parse_cutoff(cutoff), gain)
    if not isinstance(name, str):
        raise ParameterError(f"metric must be a name, a function of (gains, weights) or a metric, found {name!r}.")
    return _parsed(name, discount, cutoff, gain)


def _parsed(
    text: str, discount: str | Discount | None, cutoff: tuple[int, int] | int | str | None, gain: Gain | None
) -> Metric:
    match = _SPELLING.fullmatch(text.strip())
    base = match[1].strip() if match else text
    if not match or base not in _NAMES:
        known = f"Write one of {', '.join(_NAMES)}, such as N2DCG_cat(d_rpd(mu=0.5))@3x5 or NDCG@10."
        raise ParseError(f"there is no metric {text!r}.{did_you_mean(base, _NAMES)} {known}")
    for part in outside_brackets(match[2] or "", ","):
        if part.startswith("gain="):
            gain = _once(text, "gain", gain, _named_gain(text, part.removeprefix("gain=").strip()))
        elif base in _LIST_METRICS:
            raise ParseError(f"metric {text!r}: {base} reads a page as one list and takes no discount.")
        else:
            discount = _once(text, "discount", discount, parse(part))
    if match[3] is not None:
        cutoff = _once(text, "cutoff", cutoff, match[3].strip())
    if base in _LIST_METRICS:
        if discount is not None:
            raise ParameterError(f"metric {text!r}: {base} reads a page as one list and takes no discount.")
        return Metric(base, None, _list_cutoff(text, cutoff), gain)
    if isinstance(cutoff, int):
        raise ParameterError(f"metric {text!r}: its cutoff is rows x columns, such as '3x5' or (3, 5), found {cutoff}.")
    return Metric(base, as_discount(discount or _PAGE_METRICS[base][0]), parse_cutoff(cutoff), gain)


def _once(text: str, part: str, given: Any, read: Any) -> Any:
    if given is not None:
        raise ParseError(f"metric {text!r}: the {part} is given twice.")
    return read


def _named_gain(text: str, name: str) -> Gain:
    if name not in NAMED:
        raise ParseError(f"metric {text!r}: gain is exp2 or linear; a function goes through metric(..., gain=f).")
    return name


def _list_cutoff(text: str, cutoff: Any) -> int | None:
    if isinstance(cutoff, str):
        if not cutoff.isdecimal() or int(cutoff) < 1:
            raise ParseError(f"metric {text!r}: its cutoff is one number of at least 1, such as @10.")
        return int(cutoff)
    return None if cutoff is None else require_int(f"metric {text!r}: cutoff", cutoff, 1)
