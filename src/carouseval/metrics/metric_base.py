"""What a metric is: the contract, and the registry in which names are found.

A metric is a frozen value. It has a name that prints and parses, the weights it wants on a grid, the ideal that its
value is divided by, if any, and ``value``, which makes one number of each page. Pages come from arrays
(``array_pages.py``) or from tables (``evaluation/scoring/table_pages.py``); a metric sees both as :class:`Pages`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from carouseval.errors import DataError, ParameterError, ParseError
from carouseval.metrics.array_pages import ArrayPages
from carouseval.metrics.cutoffs import page_weights, parse_cutoff
from carouseval.metrics.discounts import Discount, parse
from carouseval.metrics.gains import Gain, gain_name
from carouseval.metrics.grid import Array, Grid
from carouseval.metrics.page_stack import Relevance, stack_pages
from carouseval.metrics.validation import require_int

Ideal: TypeAlias = Literal["none", "category", "unconstrained"]
Cutoff: TypeAlias = tuple[int, int] | int | None
Items: TypeAlias = NDArray[np.uint32]


class Pages(Protocol):
    """Some pages as metrics see them; a *hit* is a cell whose item gains something."""

    def __len__(self) -> int: ...

    def gain_sum(self, weights: Array, *, by_rank: bool = False, once: bool = False) -> Array:
        """Per page, gain times weight of its items.

        An item shown twice counts as the rule for repeats says, or ``once``, where it weighs most. Weights are of
        cells, or of ranks in the list of occupied cells, row by row.
        """

    def gains(self, weights: Array) -> Iterator[Array]:
        """Page by page, the gain of every cell, ``(rows, cols)``; 0 where it is empty, or a repeat that does not count.

        By the rule "best", a repeated item counts in the heaviest of its cells.
        """

    def hits(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Page, row and column of every hit, from 0, repeats included."""

    def relevant(self) -> NDArray[np.int64]:
        """Per page, how many items gain that it might have shown: those judged, or those on the page."""

    def occupied_before(self, order: NDArray[np.int64], limit: NDArray[np.int64]) -> NDArray[np.int64]:
        """Per page, how many occupied cells come before its limit in an order of cells, ``(rows, cols)``."""


@dataclass(frozen=True)
class Metric:
    """A metric with everything that identifies it; ``str`` prints a name that reads back.

    Call it with relevances: ``cv.metric("N2DCG_cat@3x5")(relevance)``. Subclasses say in class variables what parts
    their name takes and what they are, and define ``value``.
    """

    base: ClassVar[str] = ""  # set by register_metric
    default_discount: ClassVar[str | None] = None  # None: takes no discount
    no_discount: ClassVar[str] = "counts cells in view and takes no discount"  # said where one is given
    cutoff_kind: ClassVar[Literal["page", "list", "none"]] = "page"  # "@3x5", "@10", or none at all
    ideal: ClassVar[Ideal] = "none"  # what the value is divided by
    binary: ClassVar[bool] = False  # whether all items that gain count alike
    linear: ClassVar[bool] = False  # whether the value is the sum of gain times weight
    by_rank: ClassVar[bool] = False  # whether weights are of ranks in the list of occupied cells, rather than of cells

    discount: Discount | None = None
    cutoff: Cutoff = None
    gain: Gain | None = None  # None: the gain in force where the metric is used

    def __post_init__(self) -> None:
        if self.discount is None and self.default_discount is not None:
            object.__setattr__(self, "discount", parse(self.default_discount))

    @property
    def weighs_cells(self) -> bool:
        """Whether a discount says what its cells weigh."""
        return self.default_discount is not None

    def weights(self, grid: Grid) -> Array:
        """What each cell weighs; without a discount, 1 in view and 0 past the cutoff."""
        cutoff = _page_cutoff(self.cutoff)
        if self.discount is not None:
            return page_weights(self.discount, grid, cutoff)
        rows, cols = cutoff or grid.shape
        return ((grid.row_index <= rows) & (grid.column_index <= cols)).astype(np.float64)

    def value(self, pages: Pages, weights: Array) -> Array:
        """What each page is worth, before it is divided by its ideal."""
        raise NotImplementedError(f"{type(self).__name__} must define value(pages, weights).")

    def values(self, pages: Pages, weights: Array) -> Array:
        """The same, checked: one number for each page."""
        found = np.asarray(self.value(pages, weights), dtype=np.float64)
        if found.shape != (len(pages),):
            raise DataError(
                f"metric {self}: value must give a number for each of {len(pages)} pages, found {found.shape}."
            )
        return found

    def item_gains(self, gains: Array) -> Array:
        """What items count for, given what they gain; NaN stays NaN."""
        return np.where(np.isnan(gains), np.nan, (gains > 0).astype(np.float64)) if self.binary else gains

    def __str__(self) -> str:
        default = None if self.default_discount is None else parse(self.default_discount)
        return self._spelled("") if self.discount == default else self.full_name

    @property
    def full_name(self) -> str:
        """The name with its discount, which ``str`` leaves out where it is the default."""
        return self._spelled("" if self.discount is None else self.discount.short)

    def _spelled(self, discount: str) -> str:
        parts = [discount] if discount else []
        if self.gain is not None:
            parts.append(f"gain={gain_name(self.gain)}")
        size = "x".join(map(str, self.cutoff)) if isinstance(self.cutoff, tuple) else self.cutoff
        return self.base + (f"({', '.join(parts)})" if parts else "") + (f"@{size}" if size else "")

    def __call__(
        self, relevance: Relevance, grid: Grid | None = None, gain: Gain = "exp2", *, threads: int | None = None
    ) -> Any:
        """Score pages: a float for one, an array for a stack."""
        stack = stack_pages(relevance, gain if self.gain is None else self.gain)
        if self.binary:
            stack = stack.with_gains(self.item_gains(stack.gains(threads)))
        pages = ArrayPages(stack, stack.grid(grid), threads)
        return stack.unstacked(self.of_arrays(pages))

    def of_arrays(self, pages: ArrayPages) -> Array:
        """Scores of pages that come in arrays; metrics with an ideal divide by that of each page's own items."""
        weights = self.weights(pages.grid)
        if self.ideal == "none":
            return self.values(pages, weights)
        total, best = pages.sum_and_ideal(weights, self.ideal, by_rank=self.by_rank)
        return ratio(total if self.linear else self.values(pages, weights), best)


def ratio(total: Array, best: Array) -> Array:
    """Score over ideal; NaN where the ideal is 0.

    The two add up in different orders, so they may differ by rounding where they are equal: a score that close to 1
    (2^-48) is 1.
    """
    with np.errstate(invalid="ignore"):
        return np.where((total > 0) & (total >= best * (1 - 2.0**-48)), 1.0, total / best)


def occupied_in(pages: Pages, view: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Per page, how many cells of a view hold an item."""
    return pages.occupied_before(np.where(view, 0, 1), np.ones(len(pages), np.int64))


class SystemMetric(Metric):
    """A figure of a whole system, made of the items that stand in view on any of its pages; no page has a score."""

    def figure(self, shown: Items, catalogue: Items) -> float:
        """The figure, given the items shown to anyone and all there are, each once."""
        raise NotImplementedError(f"{type(self).__name__} must define figure(shown, catalogue).")

    def of_arrays(self, pages: ArrayPages) -> Array:
        raise ParameterError(f"{self} is a figure of a whole system, which needs items with ids: use evaluate.")


def _page_cutoff(cutoff: Cutoff) -> tuple[int, int] | None:
    """A cutoff of a page; one of a list has its own weights."""
    return cutoff if isinstance(cutoff, tuple) else None


_classes: dict[str, type[Metric]] = {}
_M = TypeVar("_M", bound=type[Metric])


@dataclass_transform(frozen_default=True)
def register_metric(name: str) -> Callable[[_M], _M]:
    """Class decorator: makes a frozen dataclass of a metric and lets :func:`carouseval.metric` know its name.

    >>> @register_metric("Sum")
    ... class Sum(Metric):
    ...     "All that a page gains, wherever it stands."
    ...     def value(self, pages, weights):
    ...         return pages.gain_sum(weights)
    >>> import carouseval as cv
    >>> cv.metric("Sum@1x2")([[1, 2, 3], [1, 1, 1]])
    4.0
    """
    if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
        raise ParameterError(f"register_metric takes a name, one word such as 'Precision', found {name!r}.")

    def join(cls: Any) -> Any:
        if not (isinstance(cls, type) and issubclass(cls, Metric)):
            raise ParameterError(f"register_metric: {name!r} must be a class of Metric, found {cls!r}.")
        needed = "figure" if issubclass(cls, SystemMetric) else "value"
        if getattr(cls, needed) is getattr(SystemMetric, needed):
            raise ParameterError(f"register_metric: {cls.__name__} must define {needed}.")
        known = _classes.get(name)
        if known and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ParameterError(f"register_metric: {name!r} is already {known.__name__}; choose another name.")
        made: Any = dataclass(frozen=True)(cls)
        made.base = name
        _classes[name] = made
        return made

    return join


def metric_classes() -> dict[str, type[Metric]]:
    """All registered metrics by name."""
    return dict(_classes)


def read_cutoff(cls: type[Metric], text: str, cutoff: Any) -> Cutoff:
    """A cutoff as a class of metrics takes it, given as a value or as what follows the ``@`` in ``text``."""
    if cutoff is None:
        return None
    if cls.cutoff_kind == "none":
        raise ParseError(f"metric {text!r}: {cls.base} looks at the whole page and takes no cutoff.")
    if cls.cutoff_kind == "page":
        if isinstance(cutoff, int):
            hint = "its cutoff is rows x columns, such as '3x5' or (3, 5)"
            raise ParameterError(f"metric {text!r}: {hint}, found {cutoff}.")
        return parse_cutoff(cutoff)
    if isinstance(cutoff, str):
        if not cutoff.isdecimal() or int(cutoff) < 1:
            raise ParseError(f"metric {text!r}: its cutoff is one number of at least 1, such as @10.")
        return int(cutoff)
    return require_int(f"metric {text!r}: cutoff", cutoff, 1)
