"""Every setting acts in every function that takes settings, and results say which were in force."""

import inspect
import json
import random
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.evaluation.settings import Settings, SettingsDict
from carouseval.settings import setting_default

Tables = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame | None]

# u shows a twice and x without a judgment; v likes nothing; w has judgments but no page
LAYOUTS = pl.DataFrame(
    [
        ("u", 1, 1, "x", "A", "tv", 1.0),
        ("u", 1, 2, "a", "A", "tv", 1.0),
        ("u", 2, 1, "a", "B", "tv", 1.0),
        ("u", 2, 2, "b", "B", "tv", 1.0),
        ("v", 1, 1, "a", "A", "web", 2.0),
        ("t", 1, 1, "x", "A", "web", 5.0),
        ("t", 1, 2, "c", "A", "web", 5.0),
    ],
    schema=["user_id", "row", "col", "item_id", "category", "device", "traffic"],
    orient="row",
)
JUDGMENTS = pl.DataFrame(
    [
        ("u", "a", 1.0),
        ("u", "b", 3.0),
        ("u", "c", 2.0),
        ("v", "a", 0.0),
        ("w", "a", 1.0),
        ("t", "c", 2.0),
        ("t", "b", 1.0),
    ],
    schema=["user_id", "item_id", "relevance"],
    orient="row",
)
ITEMS = pl.DataFrame(
    [("a", "A"), ("c", "A"), ("x", "A"), ("a", "B"), ("b", "B")], schema=["item_id", "category"], orient="row"
)
TABLES: Tables = (LAYOUTS, JUDGMENTS, ITEMS)
BARE: Tables = (LAYOUTS.drop("category"), JUDGMENTS, None)
INVALID: Tables = (LAYOUTS.with_columns(category=pl.lit("A")), JUDGMENTS, ITEMS)
HUGE: Tables = (LAYOUTS, JUDGMENTS.with_columns(relevance=pl.col("relevance") * 2000), ITEMS)
UNSTEADY: Tables = (LAYOUTS.with_columns(device=pl.col("col").cast(pl.String)), JUDGMENTS, ITEMS)
RENAMED: Tables = (
    LAYOUTS.rename({"user_id": "customer"}),
    JUDGMENTS.rename({"user_id": "customer"}),
    ITEMS,
)
JOINED: Tables = (
    LAYOUTS,
    JUDGMENTS,
    pl.DataFrame({"item_id": ["a", "b", "c", "x"], "category": ["A|B", "B", "A", "A"]}),
)


def hard_tables(seed: int = 5) -> Tables:
    """A user whose 24 items have two to five of eight categories each: the ideal page takes a search."""
    rng = random.Random(seed)
    lines = [(f"i{n}", category) for n in range(24) for category in rng.sample("ABCDEFGH", rng.randint(2, 5))]
    items = pl.DataFrame(lines, schema=["item_id", "category"], orient="row")
    judgments = items.select("item_id").unique(maintain_order=True).with_columns(user_id=pl.lit("u"))
    shown = items.unique("item_id", keep="first", maintain_order=True).unique("category", maintain_order=True).head(6)
    layouts = shown.with_columns(pl.lit("u").alias("user_id"), col=1).with_row_index("row", 1)
    return layouts, judgments.with_columns(relevance=pl.Series([rng.randint(1, 3) for _ in range(24)])), items


def systems(layouts: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The layouts, and the same with the first row alone."""
    return {"one": layouts, "other": layouts.filter(pl.col("row") == 1)}


def evaluator(layouts: Any, judgments: Any, items: Any, **settings: Any) -> Any:
    return cv.Evaluator(judgments, items, **settings).evaluate(layouts)


def compare(layouts: Any, judgments: Any, items: Any, **settings: Any) -> Any:
    return cv.compare(systems(layouts), judgments, items, permutations=9, **settings)


def sensitivity(layouts: Any, judgments: Any, items: Any, **settings: Any) -> Any:
    return cv.sensitivity(systems(layouts), judgments, items, discounts=["d_a"], **settings)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "evaluate": cv.evaluate,
    "Evaluator": evaluator,
    "explain": cv.explain,
    "compare": compare,
    "sensitivity": sensitivity,
    "check": cv.check,
}
TAKE_SETTINGS: dict[str, Callable[..., Any]] = {
    "evaluate": cv.evaluate,
    "Evaluator": cv.Evaluator,
    "explain": cv.explain,
    "compare": cv.compare,
    "sensitivity": cv.sensitivity,
    "check": cv.check,
}


@dataclass
class Case:
    """A setting changed, on tables where that matters; ``where`` limits the functions, ``base`` holds in both runs."""

    value: Any
    tables: Tables = TABLES
    base: dict[str, Any] = field(default_factory=dict)
    where: tuple[str, ...] = tuple(FUNCTIONS)


HARD_GRID = {"grid": cv.Grid(6, 5, page_size=2)}
SCORING = ("evaluate", "Evaluator", "explain", "compare", "sensitivity")
CASES: dict[str, list[Case]] = {
    "metrics": [Case("N2DCG_cat(d_t)@2x1", where=SCORING), Case("NDCG@5", BARE)],
    "grid": [
        Case(cv.Grid(2, 1)),
        Case(cv.Grid(4, 6, page_size=1), where=SCORING),
        Case({"tv": cv.Grid(2, 2, page_size=1), "web": cv.Grid(1, 2)}, base={"by": "device"}, where=SCORING),
    ],
    "gain": [
        Case("linear", where=SCORING),
        Case("linear", HUGE, where=("evaluate", "check")),
        Case(lambda rel: rel * (rel > 2), where=SCORING),
    ],
    "candidates": [Case("displayed", where=SCORING), Case("displayed", BARE, where=("evaluate", "check"))],
    "duplicates": [Case("error"), Case("every", where=SCORING), Case("first", where=SCORING)],
    "missing_pages": [Case("error"), Case("skip", where=SCORING)],
    "no_relevant": [Case("error"), Case("zero", where=SCORING)],
    "unjudged": [Case("error")],
    "invalid": [Case("count", INVALID)],
    "by": [Case("device", where=SCORING), Case("device", UNSTEADY), Case("nothing")],
    "columns": [Case({"user_id": "customer"}, RENAMED), Case({"user_id": "nobody"})],
    "carousels": [
        Case({"category": ["A"], "capacity": [1]}),
        Case({"category": ["A"], "user_id": ["u"]}, base={"invalid": "count"}, where=SCORING),
        Case({"category": ["A", "A"]}),
    ],
    "capacity": [
        Case({"A": 1}),
        Case("shown", where=("evaluate", "explain", "Evaluator")),
        Case({"B": 1}, base={"invalid": "count"}, where=SCORING),
    ],
    "split": [Case("|", JOINED), Case("|", BARE)],
    "weight": [Case("traffic"), Case("traffic", base={"missing_pages": "skip"}, where=SCORING), Case("nothing")],
    "tolerance": [Case(0.1, hard_tables(), HARD_GRID, where=SCORING), Case(1.0)],
    "work": [Case(0.0, hard_tables(), HARD_GRID, where=SCORING), Case(-1.0)],
    "memory": [Case(1e-7), Case(100.0)],
    "threads": [Case(1), Case(7)],
}
NEVER = ("memory", "threads")  # change no result
ALL = [
    pytest.param(function, name, case, id=f"{function}-{name}-{at}")
    for name, cases in CASES.items()
    for at, case in enumerate(cases)
    for function in case.where
]


def outcome(function: str, tables: Tables, settings: dict[str, Any]) -> tuple[Any, Any]:
    """All that comes out, apart from the settings themselves: values and counts, or the error; and the settings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.DataWarning)
        try:
            result = FUNCTIONS[function](*tables, **settings)
        except cv.CarousevalError as error:
            return (type(error), str(error)), None
        plain = result.to_dict()
        config = plain.pop("config", None)
        return json.dumps(plain, sort_keys=True, default=str), config


def test_every_setting_has_a_case_for_every_function() -> None:
    assert set(CASES) == {one.name for one in fields(Settings)} == set(SettingsDict.__annotations__)
    for name, cases in CASES.items():
        assert {function for case in cases for function in case.where} == set(FUNCTIONS), name


@pytest.mark.parametrize(("function", "name", "case"), ALL)
def test_every_setting_acts(function: str, name: str, case: Case) -> None:
    """It changes what comes out; and where something does, ``config`` says that it was in force."""
    before, _ = outcome(function, case.tables, case.base)
    after, config = outcome(function, case.tables, case.base | {name: case.value})
    assert (before == after) == (name in NEVER)
    if config is not None:
        check_config(config, name, case)


@pytest.mark.parametrize("function", SCORING)
def test_other_names_without_items(function: str) -> None:
    """A name that only judgments have is not missed in what is collected from layouts."""
    items = ITEMS if function == "Evaluator" else None
    usual, _ = outcome(function, (LAYOUTS, JUDGMENTS, items), {})
    renamed = (LAYOUTS, JUDGMENTS.rename({"relevance": "grade"}), items)
    assert outcome(function, renamed, {"columns": {"relevance": "grade"}})[0] == usual
    assert outcome(function, renamed, {"columns": {"judgments": {"relevance": "grade"}}})[0] == usual
    assert outcome(function, renamed, {})[0] != usual


@pytest.mark.parametrize("name", NEVER)
def test_single_pages_do_not_depend_on_memory_and_threads(name: str) -> None:
    data = cv.sample(60, systems=["new"], pages=2, ragged=True, pinned=True)
    tables = data.layouts["new"].sample(fraction=1, shuffle=True, seed=1), data.judgments, data.items
    metrics = ["N2DCG_cat", "Precision@3x5", "Recall@3x5", "RR", "NDCG@10", "Coverage@2x2"]
    usual = cv.evaluate(*tables, metrics=metrics)
    for value in (1e-5, 1e-4) if name == "memory" else (1, 5):
        other = cv.evaluate(*tables, metrics=metrics, **{name: value})  # type: ignore[arg-type]
        assert other.per_page.equals(usual.per_page)
        assert other.mean == usual.mean


def echo(name: str, value: Any) -> Any:
    """A setting as ``config`` has it: plain values."""
    if name == "metrics":
        return {one: one for one in ([value] if isinstance(value, str) else value)}
    if name == "grid":
        return {key: asdict(one) for key, one in value.items()} if isinstance(value, dict) else asdict(value)
    if name == "gain":
        return value if isinstance(value, str) else value.__name__
    if name == "by":
        return [] if value is None else [value]
    if name == "carousels":
        return "none" if value is None else "given"
    return {} if name == "columns" and value is None else value


def check_config(config: dict[str, Any], name: str, case: Case) -> None:
    """The setting that was changed, and the defaults of the others."""
    assert config[name] == echo(name, case.value)
    rest = {one.name: setting_default(one) for one in fields(Settings) if one.name not in (name, *case.base)}
    rest = {key: echo(key, value) for key, value in rest.items()}
    assert {key: config[key] for key in rest} == rest


@pytest.mark.parametrize("function", TAKE_SETTINGS)
def test_unknown_names(function: str) -> None:
    for wrong, hint in (("duplicate", "duplicates"), ("metric", "metrics"), ("thread", "threads")):
        with pytest.raises(TypeError, match=rf"{function}\(\) got an unexpected keyword argument '{wrong}'.*'{hint}'"):
            FUNCTIONS[function](*TABLES, **{wrong: None})


@pytest.mark.parametrize("function", TAKE_SETTINGS)
def test_signatures_and_help_name_every_setting(function: str) -> None:
    shown = inspect.signature(TAKE_SETTINGS[function]).parameters
    told = TAKE_SETTINGS[function].__doc__ or ""
    for one in fields(Settings):
        assert shown[one.name].default == setting_default(one)
        assert f"\n{one.name} : " in told


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("candidates", "all"),
        ("duplicates", "once"),
        ("missing_pages", "ignore"),
        ("no_relevant", "ignore"),
        ("unjudged", "skip"),
        ("invalid", "skip"),
        ("metrics", []),
        ("metrics", "MAP"),
        ("grid", (2, 3)),
        ("grid", {"tv": cv.TV}),
        ("gain", "log"),
        ("by", 3),
        ("weight", "user_id"),
        ("tolerance", -0.1),
        ("tolerance", 1),
        ("tolerance", float("nan")),
        ("work", -1),
        ("work", float("inf")),
        ("work", "8000"),
        ("memory", 0),
        ("memory", float("nan")),
        ("threads", 0),
        ("threads", 1.5),
        ("columns", "user"),
        ("columns", {"user": "customer"}),
        ("capacity", "show"),
        ("capacity", {"A": 0}),
        ("carousels", {"capacity": [1]}),
        ("split", ""),
        ("split", 3),
    ],
)
def test_what_is_no_value_is_refused_by_name(function: str, name: str, value: Any) -> None:
    """Where settings are wrong, not tables: ``check`` raises too, or lists it."""
    base = {"metrics": "N2DCG_cat"} if name != "metrics" else {}
    if function == "check" and name in ("weight", "columns", "carousels"):
        assert not cv.check(*TABLES, **{name: value}).ok
        return
    with pytest.raises(cv.CarousevalError, match=name.removesuffix("s")):
        FUNCTIONS[function](*TABLES, **(base | {name: value}))


def test_an_evaluator_shows_what_was_chosen() -> None:
    assert repr(cv.Evaluator(JUDGMENTS, ITEMS)) == "Evaluator(metrics=('N2DCG_cat',))"
    assert repr(cv.Evaluator(JUDGMENTS, ITEMS, by="device")) == "Evaluator(metrics=('N2DCG_cat',), by='device')"
