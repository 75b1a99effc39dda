"""Relevance judgments of pages as users pass them: arrays, or nested lists whose rows may differ in length."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, Never, ParamSpec, Protocol, TypeAlias, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carouseval.errors import DataError
from carouseval.metrics.grid import Array
from carouseval.validation import quoted

Cell: TypeAlias = float | np.number[Any] | np.bool_ | None
"""The relevance of one cell, finite and 0 or more; NaN and None mark a cell without an item."""

OnePage: TypeAlias = (
    np.ndarray[tuple[int, int], np.dtype[Any]]
    | Sequence[Sequence[Cell]]
    | Sequence[np.ndarray[tuple[int], np.dtype[Any]]]
)
"""One page: an array of shape (rows, cols), or a list of rows, which may differ in length."""

ManyPages: TypeAlias = np.ndarray[tuple[int, int, int, *tuple[int, ...]], np.dtype[Any]] | Sequence[OnePage]
"""A batch of pages: an array of shape (..., rows, cols) with at least three dimensions, or a list of pages."""

_AnyShape: TypeAlias = np.ndarray[tuple[Never, Never, Never, Never, Never, Never], np.dtype[Any]]
UnknownPages: TypeAlias = _AnyShape | Sequence[_AnyShape]
"""Arrays whose number of dimensions a type checker does not know, such as the result of ``np.asarray``.

An unknown shape, ``tuple[Any, ...]``, is the only one that counts as a tuple of ``Never``. In the first overload of a
function it keeps such arrays from being taken for a single page.
"""

Relevance: TypeAlias = OnePage | ManyPages | ArrayLike | Sequence[Any]
"""One page or a batch: anything NumPy reads as numbers of shape (..., rows, cols), and lists of different lengths."""

_P = ParamSpec("_P")  # the other arguments
_One_co = TypeVar("_One_co", covariant=True)
_Many_co = TypeVar("_Many_co", covariant=True)
_Unknown_co = TypeVar("_Unknown_co", covariant=True)


class FunctionOfPages(Protocol[_P, _One_co, _Many_co, _Unknown_co]):
    """A function of relevances, as type checkers see it: what it returns follows from how many pages it is given."""

    @overload
    def __call__(self, relevance: UnknownPages, *args: _P.args, **kwargs: _P.kwargs) -> _Unknown_co: ...
    @overload
    def __call__(self, relevance: OnePage, *args: _P.args, **kwargs: _P.kwargs) -> _One_co: ...
    @overload
    def __call__(self, relevance: ManyPages, *args: _P.args, **kwargs: _P.kwargs) -> _Many_co: ...
    @overload
    def __call__(self, relevance: Relevance, *args: _P.args, **kwargs: _P.kwargs) -> _Unknown_co: ...


def number_per_page(
    function: Callable[Concatenate[Relevance, _P], float | Array],
) -> FunctionOfPages[_P, float, Array, Any]:
    """The function itself, for type checkers one that returns a float for one page and an array for a batch."""
    return cast(FunctionOfPages[_P, float, Array, Any], function)


PAGE_HINT = "Give an array of shape (..., rows, cols) with NaN in cells that hold nothing"


def relevance_array(relevance: Relevance) -> NDArray[Any]:
    """Relevances as one array of numbers; NaN where there is no item."""
    if "numpy.ma" in sys.modules:  # which takes 10 ms to import
        relevance = _without_masks(relevance)
    try:
        pages = np.asarray(relevance)
    except ValueError:  # rows of different lengths
        return padded(relevance)
    if pages.dtype.kind in "biuf":
        return pages
    if pages.dtype.kind == "O" and pages.ndim:  # None, a missing value of pandas, Decimal, or lists inside a column
        return padded(pages) if pages.size else pages.astype(np.float64)
    for cell in pages.ravel().tolist():
        if not isinstance(cell, float | int):
            raise DataError(f"relevance holds {quoted(cell)}, which is not a number. {PAGE_HINT}.")
    raise DataError(f"relevance has type {pages.dtype}, not numbers. {PAGE_HINT}.")


def _without_masks(relevance: Any) -> Any:
    """Masked arrays, also in lists, as arrays with NaN where they are masked; anything else as it is."""
    if isinstance(relevance, np.ma.MaskedArray):
        return np.ma.filled(relevance.astype(np.float64), np.nan)
    if isinstance(relevance, list | tuple) and relevance and _is_list(relevance[0]):
        return [_without_masks(part) for part in relevance]
    return relevance


def padded(nested: Any) -> Array:
    """Nested lists as one array: missing cells of shorter lists, and None, become NaN.

    >>> padded([[1, 0, 2], [3]])
    array([[ 1.,  0.,  2.],
           [ 3., nan, nan]])
    """
    nested = nested.tolist() if hasattr(nested, "tolist") else nested
    pages = np.full(_shape(nested), np.nan)
    _fill(pages, nested)
    return pages


def _shape(nested: Any) -> tuple[int, ...]:
    """The shape of the smallest array that holds nested lists: the greatest length at every depth."""
    if not _is_list(nested):
        return ()
    inner = [_shape(part) for part in nested]
    depths = {len(shape) for shape in inner}
    if len(depths) > 1:
        raise DataError(f"relevance: the nested lists differ in depth. {PAGE_HINT}.")
    return len(inner), *(max(sizes) for sizes in zip(*inner, strict=True))


def _fill(pages: Array, nested: Any) -> None:
    for index, part in enumerate(nested):
        if _is_list(part):
            _fill(pages[index], part)
        elif part is not None and type(part).__name__ != "NAType":  # pandas.NA, without importing pandas
            try:
                if isinstance(part, str | bytes):
                    raise TypeError
                pages[index] = float(part)
            except (TypeError, ValueError, OverflowError):
                raise DataError(f"relevance holds {quoted(part)}, which is not a number. {PAGE_HINT}.") from None


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
