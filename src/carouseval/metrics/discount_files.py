"""Discounts in JSON files: ``parse("@fitted.json")``."""

import json
import stat
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from carouseval.errors import ParameterError, ParseError, warn
from carouseval.metrics.discount_base import Discount, FittedScreen, as_discount, class_of, known_symbols
from carouseval.metrics.grid import Grid, sizes_by_row
from carouseval.tables.writing import write_atomically
from carouseval.validation import did_you_mean, quoted

_MOST_BYTES = 100_000_000


def save(discount: Discount, path: str | Path) -> None:
    """Write a discount to a JSON file, which :func:`load` and ``parse("@" + path)`` read.

    Parameters
    ----------
    discount : Discount
        The discount.
    path : str or Path
        The file; one that exists is replaced.

    Examples
    --------
    >>> import tempfile
    >>> import carouseval as cv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cv.discounts.save(cv.discounts.RowPage(mu=0.5), f"{folder}/ours.json")
    ...     cv.discounts.parse(f"@{folder}/ours.json")
    d_rpd(alpha=4, beta=9, mu=0.5, nu=0.95)
    """
    write_atomically(path, json.dumps(as_plain(as_discount(discount)), indent=1) + "\n")


def as_plain(discount: Discount) -> dict[str, Any]:
    """The symbol and parameters of a discount, for JSON."""
    return {"discount": discount.symbol, "parameters": discount.parameters}


def load(path: str | Path) -> Discount:
    """Read a discount from a JSON file.

    Parameters
    ----------
    path : str or Path
        A file such as ``{"discount": "d_rpd", "parameters": {"mu": 0.5}}``, written by :func:`save`, by a fit or by
        hand. Parameters that are left out have their default. A fit also writes the grid: metrics warn
        (:class:`carouseval.DataWarning`) where they use the discount with another page size. Other keys are ignored.

    Returns
    -------
    Discount
        The discount.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import carouseval as cv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "ours.json")
    ...     _ = path.write_text('{"discount": "d_t", "parameters": {"alpha": 3}}')
    ...     cv.discounts.load(path)
    d_t(alpha=3, beta=6)
    """
    where = f"discount file {str(path)[:255]!r}"
    try:
        _check_file(Path(path), where)
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ParseError(f"{where}: {error.strerror or error}.") from None
    except ParseError:
        raise
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{where} is not JSON: {error}.") from None
    try:
        discount = from_plain(content, where)
    except RecursionError:
        raise ParseError(f"{where}: mixtures are nested too deeply.") from None
    grid = content.get("grid")
    page_size = grid.get("page_size") if isinstance(grid, dict) else None
    sizes = {size for size in (page_size if isinstance(page_size, list) else [page_size]) if isinstance(size, int)}
    if sizes:
        object.__setattr__(discount, "_fitted_screen", FittedScreen(str(path), frozenset(sizes)))
    return discount


def _check_file(path: Path, where: str) -> None:
    """Refuse what need not end, such as pipes and devices, before it is opened."""
    status = path.stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise ParseError(f"{where} is a pipe or a device, not a file. Save its content to a file first.")
    if status.st_size > _MOST_BYTES:
        raise ParseError(f"{where} has {status.st_size:,} bytes; discounts have at most {_MOST_BYTES:,}.")


def warn_of_other_screen(discount: Discount, grid: Grid) -> None:
    """Warn if a discount was fitted with a page size that no row of the grid has."""
    if discount._fitted_screen is None:
        return
    path, fitted = discount._fitted_screen
    sizes = frozenset(sizes_by_row(grid))
    if fitted.isdisjoint(sizes):
        warn(
            f"{path} was fitted with page size {_listed(fitted)}, but the grid of {grid} has {_listed(sizes)}. Use a "
            "grid with that page size, or fit the discount again for this screen."
        )


def _listed(sizes: frozenset[int]) -> str:
    return " or ".join(map(str, sorted(sizes)))


def from_plain(content: Any, where: str) -> Discount:
    """The discount that :func:`as_plain` was given."""
    if not isinstance(content, dict) or not isinstance(content.get("discount"), str) or "parameters" not in content:
        example = '{"discount": "d_rpd", "parameters": {"mu": 0.5}}'
        raise ParseError(f"{where} needs the keys 'discount' and 'parameters', as in {example}.")
    symbol, parameters = content["discount"], content["parameters"]
    cls = class_of(symbol)
    if cls is None:
        raise ParseError(f"{where}: there is no discount {quoted(symbol)}.{did_you_mean(symbol, known_symbols())}")
    names = [f.name for f in fields(cast(Any, cls))]
    if not isinstance(parameters, dict) or not set(parameters) <= set(names):
        raise ParseError(f"{where}: 'parameters' of {symbol} are {', '.join(names)}.")
    try:
        return cls(**parameters)
    except TypeError:
        raise ParseError(f"{where}: 'parameters' of {symbol} are {', '.join(names)}.") from None
    except (ParameterError, ParseError) as error:
        message = str(error).removeprefix(f"{where}: ")  # once, however deep mixtures are nested
        raise type(error)(f"{where}: {message}") from None
