"""Any array as relevances: what the definitions give for its numbers, or an error of ours; and it stays as it was."""

import copy
import math
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import carouseval as cv
from tests import oracles
from tests.evaluation.table_oracle import DEFAULTS
from tests.fuzz import ViolationError

NAN = math.nan
PLAIN: list[list[float]] = [[0, 1], [0, 0, 1, 2, 3], [0, 1, 2, 3, NAN], [0, 0.5, 1.25, NAN, 2.75, 7], [NAN, NAN, 1]]
EXTREME = [1e-320, 1e-9, 60.0, 1000.0, 1023.5, 1024.0, 1e15, 1e300, 1.7e308, -0.0, -1.0, -1e-300, math.inf, -math.inf]
SHAPES: list[tuple[int, ...]] = [
    *((1, 1), (1, 4), (4, 1), (2, 3), (3, 3), (3, 2), (2, 7), (1, 2, 3), (3, 2, 2), (2, 2, 3, 2)),
]
ODD_SHAPES: list[tuple[int, ...]] = [
    *((), (0,), (3,), (0, 0), (0, 3), (2, 0), (0, 2, 3), (2, 0, 3), (2, 3, 0), (2, 1, 1, 2, 2)),
]
METRICS = ["2DCG", "N2DCG_cat", "N2DCG", "DCG", "NDCG", "Precision", "Recall", "Hit", "RR"]
LISTS, VIEWS = ("DCG", "NDCG"), ("Precision", "Recall", "Hit")
NORMALISED = ("N2DCG_cat", "N2DCG", "NDCG", "Precision", "Recall", "Hit", "RR")


class Subclass(np.ndarray[Any, Any]):
    """An array of a class of its own."""


class Column:
    """What only ``__array__`` makes an array of."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._values, dtype)

    def __repr__(self) -> str:
        return f"Column({self._values!r})"


@dataclass(frozen=True)
class Case:
    """Relevances in some form, what is computed of them, and whether it must be (None: it may be refused)."""

    function: str
    relevance: Any
    pages: Any  # the same as a float64 array; None where they are not numbers
    form: str
    accepted: bool | None
    options: dict[str, Any]


def draw(rng: random.Random) -> Case:
    """Relevances of any shape, type and content, and a function of them."""
    shape = rng.choice(SHAPES if rng.random() < 0.85 else ODD_SHAPES)
    values = np.array([rng.choice(rng.choice(PLAIN)) for _ in range(math.prod(shape))], float).reshape(shape)
    if values.size and rng.random() < 0.25:
        values.reshape(-1)[rng.randrange(values.size)] = rng.choice(EXTREME)
    form = rng.choice(list(FORMS))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        relevance, pages = FORMS[form](rng, values)
    accepted: bool | None = pages is not None and _is_valid(pages)
    if form == "g" or (0 in shape and (pages is None or not isinstance(relevance, np.ndarray))):
        accepted = None  # a long double may be more than a float holds; lists without cells have no shape, or no type
    return Case(
        function=rng.choice(["call", "call", "call", "ideal", "layout", "metric"]),
        relevance=relevance,
        pages=pages,
        form=form,
        accepted=accepted,
        options=_options(rng, shape),
    )


def _is_valid(pages: Any) -> bool:
    filled = pages[~np.isnan(pages)]
    enough = pages.ndim >= 2 and 0 not in pages.shape[-2:]
    return bool(enough and np.isfinite(filled).all() and (filled >= 0).all())


def _options(rng: random.Random, shape: Sequence[int]) -> dict[str, Any]:
    rows, cols = ([*shape, 1, 1][:2] if len(shape) < 2 else shape[-2:]) if shape else (1, 1)
    rows, cols = max(rows, 1), max(cols, 1)
    grid = None
    if rng.random() < 0.6:
        larger = rng.choice([0, 0, 1, 3])
        grid = cv.Grid(
            rows + larger,
            cols + rng.choice([0, larger]),
            page_size=rng.randint(1, 4),
            visible_rows=rng.randint(1, 3),
            swipe_step=rng.choice([None, 1, 2]),
            scroll_step=rng.randint(1, 2),
        )
    area = grid or cv.Grid(rows, cols)
    table = [[rng.choice([0.0, 0.5, 1.0, 1e-8, rng.random()]) for _ in range(area.cols)] for _ in range(area.rows)]
    table[0][0] = table[0][0] or 1.0
    return {
        "metric": rng.choice(METRICS),
        "discount": rng.choice([*DEFAULTS, table]),
        "grid": grid,
        "gain": rng.choice(["exp2", "linear", np.sqrt] if rng.random() < 0.9 else ODD_GAINS),
        "cutoff": rng.choice([None, None, (rng.randint(1, 4), rng.randint(1, 4))]),
        "ideal": rng.choice(["category", "unconstrained"]),
        "threads": rng.choice([None, 1, 2]),
    }


# --- forms of the same numbers: what is passed, and what numbers that is ---


def _typed(dtype: str) -> Callable[[random.Random, Any], tuple[Any, Any]]:
    def typed(_: random.Random, values: Any) -> tuple[Any, Any]:
        has_nan = np.dtype(dtype).kind in "fc"
        array = (values if has_nan else np.nan_to_num(values, posinf=9, neginf=0)).astype(dtype)
        return array, array.astype(np.float64)

    return typed


def _ragged(rng: random.Random, values: Any) -> tuple[Any, Any]:
    """Lists whose rows end early; a missing cell is an empty one."""
    if values.ndim < 2 or not values.size:
        return values.tolist(), values
    pages = np.array(values)
    rows = pages.reshape(-1, pages.shape[-1])
    lists = [row.tolist() for row in rows]
    for row, cells in zip(rows, lists, strict=True):
        if len(cells) > 1 and rng.random() < 0.4:
            end = rng.randrange(1, len(cells))
            del cells[end:]
            row[end:] = NAN
    longest = max(map(len, lists))  # as wide as the longest row of all
    nested: Any = lists
    for size in reversed(pages.shape[1:-1]):
        nested = [nested[at : at + size] for at in range(0, len(nested), size)]
    return nested, pages[..., :longest]


def _masked(rng: random.Random, values: Any) -> tuple[Any, Any]:
    mask = np.array([rng.random() < 0.3 for _ in range(values.size)], bool).reshape(values.shape)
    return np.ma.masked_array(values, mask), np.where(mask, NAN, values)


def _misaligned(_: random.Random, values: Any) -> tuple[Any, Any]:
    buffer = np.zeros(values.nbytes + 1, np.uint8)
    array = buffer[1:].view(np.float64).reshape(values.shape)
    array[...] = values
    return array, values


def _strided(rng: random.Random, values: Any) -> tuple[Any, Any]:
    if not values.ndim:
        return values, values
    step = rng.choice([2, 3, -1, -2])
    wide = np.repeat(values[..., ::-1] if step < 0 else values, abs(step), axis=-1)
    array = wide[..., ::step] if step > 0 else wide[..., ::-1][..., :: abs(step)]
    return array, values


def _broadcast(_: random.Random, values: Any) -> tuple[Any, Any]:
    """All columns in the memory of the first."""
    array = np.broadcast_to(values[..., :1], values.shape) if values.ndim and values.shape[-1] else values
    return array, array


def _read_only(_: random.Random, values: Any) -> tuple[Any, Any]:
    array = np.array(values)
    array.flags.writeable = False
    return array, values


def _objects(rng: random.Random, values: Any) -> tuple[Any, Any]:
    """Cells of various classes that are numbers, or None, in an array of objects or in lists."""
    array = np.empty(values.shape, object)
    for at in np.ndindex(values.shape):
        value = float(values[at])
        kinds: list[Callable[[float], Any]] = [float, np.float32, np.float64]
        if math.isnan(value):
            kinds = [lambda _: None, float, lambda _: pd.NA]
        elif value.is_integer() and abs(value) < 2**60:
            kinds += [int, np.int16 if abs(value) < 2**15 else int, Decimal, Fraction]
        array[at] = rng.choice(kinds)(value)
    pages = np.array([NAN if x is None or x is pd.NA else float(x) for x in array.ravel()]).reshape(values.shape)
    return (array if rng.random() < 0.5 or not values.ndim else array.tolist()), pages


def _not_numbers(rng: random.Random, values: Any) -> tuple[Any, Any]:
    kinds: list[Callable[[], Any]] = [
        lambda: values.astype(complex),
        lambda: values.astype(str),
        lambda: values.astype("S8"),
        lambda: np.zeros(values.shape, [("a", float), ("b", int)]),
        lambda: np.full(values.shape, np.datetime64("2026-01-01")),
        lambda: np.full(values.shape, np.timedelta64(1, "s")),
        lambda: np.full(values.shape, "x", object),
        lambda: "".join(map(str, values.ravel())),
        lambda: {"a": values},
        lambda: None,
        lambda: iter(values.ravel()),
        lambda: [values.tolist(), [[[[[[[1]]]]]]]],
        lambda: np.full(values.shape, {}, object),
        lambda: [[object()]],
    ]
    return rng.choice(kinds)(), None


FORMS: dict[str, Callable[[random.Random, Any], tuple[Any, Any]]] = {
    "list": lambda _, values: (values.tolist(), values),
    "ragged list": _ragged,
    "tuple": lambda _, values: (tuple(values), values) if values.ndim else (values, values),
    "float64": lambda _, values: (values, values),
    **{dtype: _typed(dtype) for dtype in ("f2", "f4", ">f4", ">f8", "g", "?", "i1", "u1", "i8", ">i4", "u8")},
    "Fortran order": lambda _, values: (np.asfortranarray(values), values),
    "strided": _strided,
    "misaligned": _misaligned,
    "read-only": _read_only,
    "broadcast": _broadcast,
    "masked": _masked,
    "subclass": lambda _, values: (np.array(values).view(Subclass), values),
    "__array__": lambda _, values: (Column(values), values),
    "memory": lambda _, values: (np.array(values).data, values),
    "list of arrays": lambda _, values: (list(values) if values.ndim else values, values),
    "pandas": lambda _, values: (pd.DataFrame(values), values) if values.ndim == 2 else (values, values),
    "objects": _objects,
    "not numbers": _not_numbers,
}


def _raises(_: Any) -> Any:
    raise ValueError("no")


def _another_shape(relevance: Any) -> Any:
    return np.append(relevance, 1.0)


def _negative(relevance: Any) -> Any:
    return -relevance - 1.0


def _not_a_number(relevance: Any) -> Any:
    return relevance * np.nan


ODD_GAINS = (_raises, _another_shape, _negative, _not_a_number)


# --- the check ---


def check(case: Case, folder: Path) -> str:
    """The value of the definitions, or an error of ours."""
    before = copy.deepcopy(case.relevance) if isinstance(case.relevance, np.ndarray | list | tuple) else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", cv.DataWarning)
        try:
            result = compute(case)
        except cv.CarousevalError as error:
            return _refused(case, str(error))
        except Exception as error:
            raise ViolationError(f"{type(error).__name__}: {error}\n{case}") from error
    if before is not None and not _same(before, case.relevance):
        raise ViolationError(f"the input was changed\n{case}")
    odd_gain = case.options["gain"] in ODD_GAINS and case.pages is not None and not np.isnan(case.pages).all()
    if case.accepted is False or odd_gain:
        raise ViolationError(f"accepted, {result}\n{case}")
    if case.options["gain"] in ODD_GAINS or case.pages is None:
        return "scored, nothing to gain"
    _compare(case, result)
    return f"scored, {case.function}"


def _same(before: Any, after: Any) -> bool:
    """Whether relevances have the same cells, of the same types."""
    if isinstance(before, np.ndarray):
        return before.dtype == after.dtype and repr(before.tolist()) == repr(after.tolist())
    return repr(before) == repr(after)


def _discount(case: Case) -> Any:
    discount = case.options["discount"]
    return discount if isinstance(discount, str) else cv.discounts.Empirical(discount, name="fuzz")


def compute(case: Case) -> Any:
    """What the function gives for the relevances."""
    options = {name: case.options[name] for name in ("grid", "gain", "threads")}
    discount, cutoff, name = _discount(case), case.options["cutoff"], case.options["metric"]
    if case.function == "ideal":
        ideal = case.options["ideal"]
        return cv.ideal_dcg2d(case.relevance, discount, ideal=ideal, cutoff=cutoff, **options)
    if case.function == "layout":
        return cv.ideal_layout(case.relevance, discount, ideal=case.options["ideal"], cutoff=cutoff, **options)
    if case.function == "call" and name in CALLS:
        return CALLS[name](case.relevance, discount, cutoff=cutoff, **options)
    if name in LISTS:
        return cv.metric(name, cutoff=cutoff and cutoff[0])(case.relevance, **options)
    own = {} if name in VIEWS else {"discount": discount}
    return cv.metric(name, cutoff=None if name == "RR" else cutoff, **own)(case.relevance, **options)


CALLS: dict[str, Any] = {"2DCG": cv.dcg2d, "N2DCG_cat": cv.n2dcg_cat, "N2DCG": cv.n2dcg}


def _refused(case: Case, message: str) -> str:
    if not message or "\n" in message or len(message) > 1_000:
        raise ViolationError(f"a message of {len(message)} characters: {message[:200]}\n{case}")
    if case.accepted and case.options["gain"] not in ODD_GAINS:
        largest = float(np.nanmax(case.pages, initial=0.0))
        too_large = largest >= (1000 if case.options["gain"] == "exp2" else 1e300)
        if not too_large:
            raise ViolationError(f"refused: {message}\n{case}")
    return "refused"


def _gain(case: Case) -> Callable[[float], float]:
    gains: dict[Any, Callable[[float], float]] = {
        "exp2": lambda relevance: 2.0**relevance - 1.0 if relevance > 1 else math.expm1(relevance * math.log(2.0)),
        "linear": float,
        np.sqrt: math.sqrt,
    }
    return gains[case.options["gain"]]


def _weights(case: Case, rows: int, cols: int) -> Any:
    grid: Any = case.options["grid"] or cv.Grid(rows, cols)
    discount: Any = case.options["discount"]
    step = grid.swipe_step or grid.page_size
    table = [row[: grid.cols] for row in discount[: grid.rows]]
    if isinstance(discount, str):
        sizes: Any = (grid.page_size, grid.page_size, step, grid.visible_rows, grid.scroll_step)
        parameters: Any = DEFAULTS[discount]
        table = [
            [oracles.weight(discount, i, j, *sizes, **parameters) for j in range(1, grid.cols + 1)]
            for i in range(1, grid.rows + 1)
        ]
    cutoff = case.options["cutoff"]
    return oracles.apply_cutoff(table, *cutoff) if cutoff else np.array(table)


def _expected(case: Case, page: Any) -> float:
    gain, name, cutoff = _gain(case), case.options["metric"], case.options["cutoff"]
    if case.function != "ideal" and name in LISTS:
        length = cutoff and cutoff[0]
        return (oracles.list_dcg if name == "DCG" else oracles.list_ndcg)(page, gain, length)
    if case.function != "ideal" and name in VIEWS:
        views = {"Precision": oracles.view_precision, "Recall": oracles.view_recall, "Hit": oracles.view_hit}
        return views[name](page, gain, cutoff)
    weights = _weights(case, *page.shape)
    if case.function != "ideal" and name == "RR":
        whole = Case(**{**vars(case), "options": {**case.options, "cutoff": None}})
        return oracles.reciprocal_rank(page, _weights(whole, *page.shape), gain)
    value = oracles.page_dcg(page, weights, gain)
    if case.function != "ideal" and name == "2DCG":
        return value
    rows = oracles.displayed_categories(page, gain)
    kind = case.options["ideal"] if case.function == "ideal" else "category" if name == "N2DCG_cat" else "unconstrained"
    if kind == "category":
        best = oracles.assignment_category_ideal([(len(row), row) for row in rows], weights)
    else:
        best = oracles.sorted_unconstrained_ideal([g for row in rows for g in row], weights)
    if case.function == "ideal":
        return best
    return value / best if best > 0 else NAN


def _compare(case: Case, result: Any) -> None:
    shape = case.pages.shape[:-2]
    if case.function == "layout":
        grid = case.options["grid"] or cv.Grid(*case.pages.shape[-2:])
        if result.shape != (*shape, *grid.shape, 2) or result.dtype != np.int64:
            raise ViolationError(f"a layout of shape {result.shape}\n{case}")
        _compare_layout(case, result)
        return
    if (type(result) is float) != (shape == ()) or np.shape(result) != shape:
        raise ViolationError(f"a result of shape {np.shape(result)}\n{case}")
    pages = case.pages.reshape(-1, *case.pages.shape[-2:])
    for page, found in zip(pages, np.ravel(result), strict=True):
        if not _close(found, _expected(case, page), _gain(case), page):
            raise ViolationError(f"{found} in place of {_expected(case, page)}\n{case}")
        if (
            case.function != "ideal"
            and case.options["metric"] in NORMALISED
            and not (np.isnan(found) or 0 <= found <= 1)
        ):
            raise ViolationError(f"{found} is not between 0 and 1\n{case}")


def _compare_layout(case: Case, result: Any) -> None:
    """The ideal page must be worth the ideal, and hold every item once at most."""
    whole = Case(**{**vars(case), "function": "ideal"})
    pages = case.pages.reshape(-1, *case.pages.shape[-2:])
    for page, source in zip(pages, result.reshape(-1, *result.shape[-3:]), strict=True):
        cells = [(int(row), int(col)) for row, col in source.reshape(-1, 2) if row >= 0]
        if len(set(cells)) < len(cells):
            raise ViolationError(f"an item twice\n{case}")
        ideal = np.array([[page[row, col] if row >= 0 else NAN for row, col in line] for line in source.tolist()])
        weights = _weights(case, *page.shape)
        if not _close(oracles.page_dcg(ideal, weights, _gain(case)), _expected(whole, page), _gain(case), page):
            raise ViolationError(f"an ideal page that is not worth the ideal\n{case}")


def _close(found: float, expected: float, gain: Callable[[float], float], page: Any) -> bool:
    """Equal but for rounding; of gains below the smallest float with all its digits, nothing can be said."""
    if math.isnan(expected) or math.isnan(found):
        return math.isnan(expected) and math.isnan(found)
    gains = [gain(float(cell)) for cell in page.ravel() if not math.isnan(cell)]
    return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-300) or max(gains, default=0.0) < 1e-290
