"""What a metric is, and the registry of metrics by name.

A metric is a frozen value. It has a name that prints and parses, the weights of cells on a grid, the ideal that its
value is divided by, if any, and ``value``, which makes one number of each page. Pages come from arrays
(``array_pages.py``) or from tables (``evaluation/scoring/scoring_step.py``); a metric sees both as :class:`Pages`.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar, dataclass_transform, overload

import numpy as np
from numpy.typing import NDArray

from carouseval import _native
from carouseval.errors import DataError, ParameterError, ParseError
from carouseval.metrics.array_pages import ArrayPages
from carouseval.metrics.cutoffs import page_weights, parse_cutoff
from carouseval.metrics.discounts import Discount, parse
from carouseval.metrics.gain_names import IdealName
from carouseval.metrics.gains import Gain, gain_name
from carouseval.metrics.grid import Array, Grid, IntArray
from carouseval.metrics.page_stack import stack_pages
from carouseval.metrics.relevance import ManyPages, OnePage, Relevance, UnknownPages
from carouseval.validation import LARGEST_SIZE, parse_size, quoted, require_int

Cutoff: TypeAlias = tuple[int, int] | int | None
"""The cutoff of a metric: ``(rows, cols)`` for a page, one integer for a list, or None."""

CutoffKind: TypeAlias = Literal["page", "list", "none"]
"""What cutoff a metric takes: ``@3x5``, ``@10``, or none."""

ItemCodes: TypeAlias = NDArray[np.uint32]
"""Items as integer codes."""


class Pages(Protocol):
    """A batch of pages as metrics see it, whether it comes from an array or from tables.

    The argument ``pages`` of :meth:`Metric.value`. All pages have the same grid. Gains are those that the metric asks
    for: with ``binary = True`` they are 1 or 0. A *hit* is a cell whose item has a positive gain.

    Examples
    --------
    The number of hits per page, each item counting once:

    >>> import carouseval as cv
    >>> @cv.metrics.register_metric("Hits")
    ... class Hits(cv.metrics.Metric):
    ...     binary = True
    ...     def value(self, pages, weights):
    ...         return pages.gain_sum(weights, once=True)
    >>> cv.metric("Hits@1x3")([[[1, 0, 2], [3, 3, 3]], [[0, 0, 0], [1, 0, 0]]])
    array([2., 0.])
    """

    def __len__(self) -> int: ...

    def gain_sum(self, weights: Array, *, by_rank: bool = False, once: bool = False) -> Array:
        """Sum of gain times weight over each page.

        Parameters
        ----------
        weights : ndarray
            The weight of each cell, of shape (rows, cols); with ``by_rank``, of each rank, of shape (1, ranks).
        by_rank : bool, default False
            Whether weights are those of ranks in the list of occupied cells, read row by row.
        once : bool, default False
            Whether an item shown more than once counts once, in the cell of largest weight; otherwise the setting
            ``duplicates`` decides.

        Returns
        -------
        ndarray of float64, shape (pages,)
            One sum per page.
        """

    def gains(self, weights: Array) -> Iterator[Array]:
        """The gain of every cell, page by page.

        Parameters
        ----------
        weights : ndarray of shape (rows, cols)
            The weight of each cell, which decides where a repeated item counts (``duplicates="best"``).

        Returns
        -------
        iterator of ndarray of float64, shape (rows, cols)
            Gains of a page; 0 in empty cells and for repeats that do not count.
        """

    def hits(self) -> tuple[IntArray, IntArray, IntArray]:
        """All hits, repeats included.

        Returns
        -------
        tuple of ndarray of int64
            Page, row and column of every hit, counted from 0.
        """

    def relevant(self) -> IntArray:
        """The number of relevant items that each page could have shown.

        Returns
        -------
        ndarray of int64, shape (pages,)
            Items of positive gain among those judged, or among those on the page, as ``candidates`` says.
        """

    def occupied_before(self, order: IntArray, limit: IntArray) -> IntArray:
        """The number of occupied cells that come before a limit in some order of cells.

        Parameters
        ----------
        order : ndarray of int64, shape (rows, cols)
            The position of each cell in the order.
        limit : ndarray of int64, shape (pages,)
            The position to stop before, one per page.

        Returns
        -------
        ndarray of int64, shape (pages,)
            Occupied cells of each page whose position is below its limit.
        """


@dataclass(frozen=True)
class Metric:
    """A metric, such as ``cv.metric("N2DCG_cat@3x5")``: call it with relevances.

    Metrics are frozen values, equal if their parts are equal; ``str`` gives a name that :func:`carouseval.metric`
    parses. To write your own, subclass ``Metric``, define :meth:`value`, set the class variables below where the
    defaults do not fit, and register the class with :func:`~carouseval.metrics.register_metric`. It then works by name
    in every function and command.

    Class variables:

    - ``default_discount``: the discount if none is given; None if the metric takes no discount (the default);
    - ``cutoff_kind``: ``"page"`` for cutoffs such as ``@3x5`` (the default), ``"list"`` for ``@10``, or ``"none"``;
    - ``ideal``: the page whose value divides that of each page, ``"category"``, ``"unconstrained"`` or ``"none"`` (the
      default);
    - ``binary``: whether every positive gain counts as 1, by default False;
    - ``linear``: whether the value is the sum of gain times weight, by default False;
    - ``by_rank``: whether weights are those of ranks in the list of occupied cells, by default False;
    - ``no_discount``: why the metric takes no discount, for the error message.

    Parameters
    ----------
    discount : Discount, optional
        The weights of cells; by default the metric's own discount.
    cutoff : tuple of int or int, optional
        ``(rows, cols)``, or the length of the list for metrics that read a page as one.
    gain : {"exp2", "linear"} or callable, optional
        The gain; by default that of the function or evaluation that uses the metric.

    See Also
    --------
    carouseval.metric : A metric from its name.

    Examples
    --------
    The largest gain in view:

    >>> import numpy as np
    >>> import carouseval as cv
    >>> @cv.metrics.register_metric("Best")
    ... class Best(cv.metrics.Metric):
    ...     def value(self, pages, weights):
    ...         return np.array([(gains * (weights > 0)).max() for gains in pages.gains(weights)])
    >>> cv.metric("Best@1x2")([[1, 2, 3], [4, 0, 0]])
    3.0
    """

    base: ClassVar[str] = ""  # the name, set by register_metric
    default_discount: ClassVar[str | None] = None
    no_discount: ClassVar[str] = "counts cells in view and takes no discount"
    cutoff_kind: ClassVar[CutoffKind] = "page"
    ideal: ClassVar[IdealName | Literal["none"]] = "none"
    binary: ClassVar[bool] = False
    linear: ClassVar[bool] = False
    by_rank: ClassVar[bool] = False

    discount: Discount | None = None
    cutoff: Cutoff = None
    gain: Gain | None = None

    def __post_init__(self) -> None:
        if self.discount is None and self.default_discount is not None:
            object.__setattr__(self, "discount", parse(self.default_discount))

    @property
    def has_discount(self) -> bool:
        """Whether the metric has a discount."""
        return self.default_discount is not None

    def weights(self, grid: Grid) -> Array:
        """The weight of every cell; without a discount, 1 in view and 0 beyond the cutoff.

        Parameters
        ----------
        grid : Grid
            The screen.

        Returns
        -------
        ndarray of float64, shape (rows, cols)
            The weights, 0 beyond the cutoff; for metrics that read a page as a list, those of ranks, in one row.
        """
        cutoff = self.cutoff if isinstance(self.cutoff, tuple) else None  # that of a list has weights of its own
        if self.discount is not None:
            return page_weights(self.discount, grid, cutoff)
        rows, cols = cutoff or grid.shape
        return ((grid.row_index <= rows) & (grid.column_index <= cols)).astype(np.float64)

    def value(self, pages: Pages, weights: Array) -> Array:
        """The value of each page, before it is divided by the ideal: what a subclass defines.

        Parameters
        ----------
        pages : Pages
            Some pages.
        weights : ndarray
            What :meth:`weights` gives for their grid.

        Returns
        -------
        ndarray of float64, shape (pages,)
            One finite number per page.
        """
        raise NotImplementedError(f"{type(self).__name__} must define value(pages, weights).")

    def values(self, pages: Pages, weights: Array) -> Array:
        """What :meth:`value` returns, after a check that it is one number per page.

        Parameters
        ----------
        pages : Pages
            Some pages.
        weights : ndarray
            What :meth:`weights` gives for their grid.

        Returns
        -------
        ndarray of float64, shape (pages,)
            One number per page.
        """
        values = np.asarray(self.value(pages, weights), dtype=np.float64)
        if values.shape != (len(pages),):
            raise DataError(
                f"metric {self}: value must return a number for each of {len(pages)} pages, found shape {values.shape}."
            )
        return values

    def item_gains(self, gains: Array) -> Array:
        """Gains as the metric counts them: 1 for every positive gain if it is binary, else unchanged.

        Parameters
        ----------
        gains : ndarray
            Gains; NaN for cells without an item.

        Returns
        -------
        ndarray
            Gains of the same shape; NaN stays NaN.
        """
        return np.where(np.isnan(gains), np.nan, (gains > 0).astype(np.float64)) if self.binary else gains

    def __str__(self) -> str:
        default = None if self.default_discount is None else parse(self.default_discount)
        return self._with_discount("") if self.discount == default else self.full_name

    @property
    def full_name(self) -> str:
        """The name with its discount, which ``str`` leaves out if it is the default."""
        return self._with_discount("" if self.discount is None else self.discount.short)

    def _with_discount(self, discount: str) -> str:
        parts = [discount] if discount else []
        if self.gain is not None:
            parts.append(f"gain={gain_name(self.gain)}")
        size = "x".join(map(str, self.cutoff)) if isinstance(self.cutoff, tuple) else self.cutoff
        return self.base + (f"({', '.join(parts)})" if parts else "") + (f"@{size}" if size else "")

    @overload
    def __call__(
        self, relevance: UnknownPages, grid: Grid | None = None, gain: Gain = "exp2", *, threads: int | None = None
    ) -> Any: ...
    @overload
    def __call__(
        self, relevance: OnePage, grid: Grid | None = None, gain: Gain = "exp2", *, threads: int | None = None
    ) -> float: ...
    @overload
    def __call__(
        self, relevance: ManyPages, grid: Grid | None = None, gain: Gain = "exp2", *, threads: int | None = None
    ) -> Array: ...
    @overload
    def __call__(
        self, relevance: Relevance, grid: Grid | None = None, gain: Gain = "exp2", *, threads: int | None = None
    ) -> Any: ...
    def __call__(
        self, relevance: Relevance, grid: Grid | None = None, gain: Gain = "exp2", *, threads: int | None = None
    ) -> float | Array:
        """Score pages: a float for one page, an array for a batch. Arguments as in :func:`carouseval.dcg2d`."""
        stack = stack_pages(relevance, gain if self.gain is None else self.gain)
        if self.binary:
            stack = stack.with_gains(self.item_gains(stack.gains(threads)))
        return stack.unstacked(self._array_scores(ArrayPages(stack, stack.grid(grid), threads)))

    def _array_scores(self, pages: ArrayPages) -> Array:
        """Scores of pages from arrays; a metric with an ideal divides by that of each page's own items."""
        weights = self.weights(pages.grid)
        if self.ideal == "none":
            return self.values(pages, weights)
        _, best, ratios = pages.stack.score(weights, self.ideal, self.by_rank, pages.threads)
        return ratios if self.linear else _native.ratio(self.values(pages, weights), best)


def occupied_cells(pages: Pages, view: NDArray[np.bool_]) -> IntArray:
    """The number of cells of a view that hold an item, per page."""
    return pages.occupied_before(np.where(view, 0, 1), np.ones(len(pages), np.int64))


class SystemMetric(Metric):
    """A metric of a whole system, computed from the items in view on any of its pages; single pages have no score.

    Define :meth:`aggregate` instead of :meth:`~Metric.value`. The result has no interval and no p-value.

    Parameters
    ----------
    discount : Discount, optional
        The weights of cells; by default the metric's own discount, if it takes one.
    cutoff : tuple of int or int, optional
        ``(rows, cols)``: items beyond it are not in view.
    gain : {"exp2", "linear"} or callable, optional
        The gain; by default that of the evaluation.

    Examples
    --------
    >>> import carouseval as cv
    >>> @cv.metrics.register_metric("Distinct")
    ... class Distinct(cv.metrics.SystemMetric):
    ...     "The number of different items in view on any page."
    ...     def aggregate(self, shown, catalogue):
    ...         return float(len(shown))
    >>> layouts = {"user_id": [1, 1, 2], "row": [1, 1, 1], "col": [1, 2, 1], "item_id": [7, 8, 7]}
    >>> judgments = {"user_id": [1, 2], "item_id": [7, 7], "relevance": [1, 1]}
    >>> items = {"item_id": [7, 8, 9], "category": ["drama", "drama", "crime"]}
    >>> cv.evaluate(layouts, judgments, items, metrics="Distinct").mean
    {'Distinct': 2.0}
    """

    def aggregate(self, shown: ItemCodes, catalogue: ItemCodes) -> float:
        """The value of the metric for a system: what a subclass defines.

        Parameters
        ----------
        shown : ndarray of uint32
            Codes of the items in view on any page, each once.
        catalogue : ndarray of uint32
            Codes of all items: those of the items table, or else of the layouts.

        Returns
        -------
        float
            The value.
        """
        raise NotImplementedError(f"{type(self).__name__} must define aggregate(shown, catalogue).")

    def _array_scores(self, pages: ArrayPages) -> Array:
        raise ParameterError(f"{self} is a metric of a whole system, which needs items with ids: use evaluate.")


_classes: dict[str, type[Metric]] = {}
_M = TypeVar("_M", bound=type[Metric])


@dataclass_transform(frozen_default=True)
def register_metric(name: str) -> Callable[[_M], _M]:
    """Class decorator that makes a metric available by name.

    The class becomes a frozen dataclass; leave ``@dataclass`` out. See :class:`Metric` for what it must define.

    Parameters
    ----------
    name : str
        The name of the metric, one word. Registering the same class again, as in a notebook, replaces it.

    Returns
    -------
    callable
        The decorator.

    Examples
    --------
    >>> import carouseval as cv
    >>> @cv.metrics.register_metric("Sum")
    ... class Sum(cv.metrics.Metric):
    ...     "The sum of gains in view, whatever their position."
    ...     def value(self, pages, weights):
    ...         return pages.gain_sum(weights)
    >>> cv.metric("Sum@1x2")([[1, 2, 3], [1, 1, 1]])
    4.0
    """
    if not isinstance(name, str) or not re.fullmatch(r"\w+", name):
        raise ParameterError(f"register_metric takes a name, one word such as 'Precision', found {quoted(name)}.")

    def register(cls: Any) -> Any:
        if not (isinstance(cls, type) and issubclass(cls, Metric)):
            raise ParameterError(f"register_metric: {quoted(name)} must be a subclass of Metric, found {cls!r}.")
        method = "aggregate" if issubclass(cls, SystemMetric) else "value"
        if getattr(cls, method) is getattr(SystemMetric, method):
            raise ParameterError(f"register_metric: {cls.__name__} must define {method}.")
        registered = _classes.get(name)
        if registered and (registered.__module__, registered.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ParameterError(
                f"register_metric: {quoted(name)} is already {registered.__name__}; choose another name."
            )
        frozen: Any = dataclass(frozen=True)(cls)
        frozen.base = name
        _classes[name] = frozen
        return frozen

    return register


def metric_classes() -> dict[str, type[Metric]]:
    """All registered metrics by name."""
    return dict(_classes)


def parse_metric_cutoff(cls: type[Metric], text: str, cutoff: Any) -> Cutoff:
    """A cutoff as a class of metrics takes it, from an argument or from what follows the ``@`` in ``text``."""
    if cutoff is None:
        return None
    if cls.cutoff_kind == "none":
        raise ParseError(f"metric {quoted(text)}: {cls.base} applies to the whole page and takes no cutoff.")
    if cls.cutoff_kind == "page":
        if not isinstance(cutoff, int):
            with contextlib.suppress(ParseError):
                return parse_cutoff(cutoff)
        error = ParseError if isinstance(cutoff, str) else ParameterError
        raise error(
            f"metric {quoted(text)}: {cls.base} takes a cutoff of ROWSxCOLS, each at least 1, such as {cls.base}@3x5, "
            f"found {quoted(cutoff)}."
        )
    if isinstance(cutoff, str):
        length = parse_size(cutoff)
        if length is None:
            raise ParseError(
                f"metric {quoted(text)}: {cls.base} takes a cutoff of one integer from 1 to {LARGEST_SIZE:,}, such as "
                f"{cls.base}@10, found {quoted(cutoff)}."
            )
        return length
    return require_int(f"metric {quoted(text)}: cutoff", cutoff, 1, LARGEST_SIZE)
