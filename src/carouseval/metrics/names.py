"""Metric names that read as they print: ``N2DCG_cat(d_rpd(mu=0.5))@3x5``.

A name is a metric's own, then in brackets its discount and ``gain=linear``, then its cutoff: ``@3x5`` or ``@10``.
What a metric is stands in ``metric_base.py``; to add one, write a file like ``precision.py`` and import it here.
"""

import re
from typing import Any, TypeAlias

from carouseval.errors import ParameterError, ParseError
from carouseval.metrics import coverage, dcg, hit, precision, recall, reciprocal_rank  # noqa: F401 - they register
from carouseval.metrics.cutoffs import parse_cutoff
from carouseval.metrics.discounts import Discount, as_discount, parse
from carouseval.metrics.function_metric import FunctionMetric, PageFunction
from carouseval.metrics.gains import NAMED, Gain, check_gain
from carouseval.metrics.metric_base import Metric, metric_classes, read_cutoff
from carouseval.metrics.validation import did_you_mean, outside_brackets

_SPELLING = re.compile(r"([^(@]*)(?:\((.*)\))?\s*(?:@([^()@]*))?", flags=re.DOTALL)

MetricLike: TypeAlias = str | PageFunction | Metric


def metric(
    name: MetricLike,
    discount: str | Discount | None = None,
    cutoff: tuple[int, int] | int | str | None = None,
    gain: Gain | None = None,
) -> Metric:
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
    if isinstance(name, Metric):
        if (discount, cutoff, gain) != (None, None, None):
            raise ParameterError(f"metric {name} is complete; give a name to set its discount, cutoff or gain.")
        return name
    if isinstance(name, type):
        raise ParameterError(
            f"metric: {name.__name__} is a class; give the name it is registered by, or make one of it."
        )
    if callable(name):
        if isinstance(cutoff, int):
            raise ParameterError("metric: a function of a page takes a cutoff such as '3x5' or (3, 5).")
        label = getattr(name, "__name__", type(name).__name__)
        return FunctionMetric(as_discount(discount or "d_rpd"), parse_cutoff(cutoff), gain, label, name)
    if not isinstance(name, str):
        raise ParameterError(f"metric must be a name, a function of (gains, weights) or a metric, found {name!r}.")
    return _parsed(name, discount, cutoff, gain)


def _parsed(text: str, discount: str | Discount | None, cutoff: Any, gain: Gain | None) -> Metric:
    known = metric_classes()
    match = _SPELLING.fullmatch(text.strip())
    base = match[1].strip() if match else text
    if not match or base not in known:
        hint = f"Write one of {', '.join(sorted(known))}, such as N2DCG_cat(d_rpd(mu=0.5))@3x5 or NDCG@10."
        raise ParseError(f"there is no metric {text!r}.{did_you_mean(base, known)} {hint}")
    cls = known[base]
    for part in outside_brackets(match[2] or "", ","):
        if part.startswith("gain="):
            gain = _once(text, "gain", gain, _named_gain(text, part.removeprefix("gain=").strip()))
        else:
            discount = _once(text, "discount", discount, parse(part) if cls.default_discount else part)
    if discount is not None and cls.default_discount is None:
        raise ParseError(f"metric {text!r}: {base} {cls.no_discount}.")
    if match[3] is not None:
        cutoff = _once(text, "cutoff", cutoff, match[3].strip())
    weighed = None if discount is None else as_discount(discount)
    return cls(weighed, read_cutoff(cls, text, cutoff), gain)


def _once(text: str, part: str, given: Any, read: Any) -> Any:
    if given is not None:
        raise ParseError(f"metric {text!r}: the {part} is given twice.")
    return read


def _named_gain(text: str, name: str) -> Gain:
    if name not in NAMED:
        raise ParseError(f"metric {text!r}: gain is exp2 or linear; a function goes through metric(..., gain=f).")
    return name
