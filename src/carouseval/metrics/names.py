"""Metrics from names that print and parse alike: ``N2DCG_cat(d_rpd(mu=0.5))@3x5``.

A name is that of the metric, then in brackets its discount and ``gain=linear``, then its cutoff: ``@3x5`` or ``@10``.
To add a metric, write a file like ``precision.py`` and import it here; ``metric_base.py`` says what a metric is.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from carouseval.errors import ParameterError, ParseError
from carouseval.messages import setting
from carouseval.metrics import coverage, dcg, hit, precision, recall, reciprocal_rank  # noqa: F401 - they register
from carouseval.metrics.cutoffs import parse_cutoff
from carouseval.metrics.discount_base import Discount, as_discount, parse
from carouseval.metrics.function_metric import FunctionMetric, PageFunction
from carouseval.metrics.gains import GAIN_NAMES, Gain, check_gain
from carouseval.metrics.metric_base import Metric, metric_classes, parse_metric_cutoff
from carouseval.validation import check_name, did_you_mean, quoted, split_outside_brackets, unmatched_brackets

_SPELLING = re.compile(r"([^(@]*)(?:\((.*)\))?\s*(?:@([^()@]*))?", flags=re.DOTALL)

MetricLike: TypeAlias = str | PageFunction | Metric
"""A metric as an argument: its name, a function of (gains, weights) of one page, or a :class:`~.Metric`."""


def metric(
    name: MetricLike,
    discount: str | Discount | None = None,
    cutoff: tuple[int, int] | int | str | None = None,
    gain: Gain | None = None,
) -> Metric:
    """A metric from its name, such as ``"N2DCG_cat(d_rpd(mu=0.5))@3x5"``, or from a function.

    The result is accepted wherever a name is, and can be called with relevances like :func:`carouseval.n2dcg_cat`. Each
    part may be in the name or in an argument, not in both.

    Parameters
    ----------
    name : str, callable or Metric
        ``2DCG``, ``N2DCG``, ``N2DCG_cat``, ``DCG``, ``NDCG``, ``Precision``, ``Recall``, ``Hit``, ``RR``, ``Coverage``
        or a registered metric; or a function called once per page with (gains, weights), both of shape (rows, cols),
        with gain 0 in empty cells. DCG and NDCG read the occupied cells row by row as one list.
    discount : str or Discount, optional
        The discount; by default the metric's own, ``d_rpd`` for a function.
    cutoff : tuple of int, int or str, optional
        ``(rows, cols)`` or ``"3x5"``; for DCG and NDCG the length of the list.
    gain : {"exp2", "linear"} or callable, optional
        The gain; by default that of the function or evaluation that uses the metric.

    Returns
    -------
    Metric
        A frozen value; ``str`` gives its name.

    Examples
    --------
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
            f"{setting('metric')}: {name.__name__} is a class; give the name it is registered under, or an instance."
        )
    if callable(name):
        if isinstance(cutoff, int):
            raise ParameterError(f"{setting('metric')}: a function of a page takes a cutoff such as '3x5' or (3, 5).")
        label = getattr(name, "__name__", type(name).__name__)
        return FunctionMetric(as_discount(discount or "d_rpd"), parse_cutoff(cutoff), gain, label, name)
    if not isinstance(name, str):
        raise ParameterError(
            f"{setting('metric')} must be a name, a function of (gains, weights) or a metric, found {quoted(name)}."
        )
    check_name("metric", name)
    try:
        return _parse_name(name, discount, cutoff, gain)
    except ParseError:
        if brackets := unmatched_brackets(name):
            raise ParseError(
                f"{setting('metric')} {quoted(name)}: {brackets}. Write it as in N2DCG_cat(d_rpd(mu=0.5))@3x5."
            ) from None
        raise


def _parse_name(text: str, discount: str | Discount | None, cutoff: Any, gain: Gain | None) -> Metric:
    classes = metric_classes()
    match = _SPELLING.fullmatch(text.strip())
    base = match[1].strip() if match else text
    if not match or base not in classes:
        hint = f"Write one of {', '.join(sorted(classes))}, such as N2DCG_cat(d_rpd(mu=0.5))@3x5 or NDCG@10."
        raise ParseError(f"there is no metric {quoted(text)}.{did_you_mean(base, classes)} {hint}")
    cls = classes[base]
    for part in split_outside_brackets(match[2] or "", ","):
        if part.startswith("gain="):
            gain = _given_once(text, "gain", gain, _named_gain(text, part.removeprefix("gain=").strip()))
        else:
            discount = _given_once(text, "discount", discount, parse(part) if cls.default_discount else part)
    if discount is not None and cls.default_discount is None:
        raise ParseError(f"{setting('metric')} {quoted(text)}: {base} {cls.no_discount}.")
    if match[3] is not None:
        cutoff = _given_once(text, "cutoff", cutoff, match[3].strip())
    return cls(None if discount is None else as_discount(discount), parse_metric_cutoff(cls, text, cutoff), gain)


def _given_once(text: str, part: str, argument: Any, value: Any) -> Any:
    """A part of a name, unless it is also an argument."""
    if argument is not None:
        raise ParseError(f"{setting('metric')} {quoted(text)}: the {part} is given twice.")
    return value


def _named_gain(text: str, name: str) -> Gain:
    for gain in GAIN_NAMES:
        if name == gain:
            return gain
    raise ParseError(
        f"{setting('metric')} {quoted(text)}: gain is exp2 or linear; pass a function as metric(..., gain=function)."
    )
