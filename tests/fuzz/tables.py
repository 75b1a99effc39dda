"""Tables in any form, right or wrong: what a plain evaluation gives, or an error of ours where it must be one."""

import copy
import datetime
import math
import random
import uuid
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import carouseval as cv
from tests.evaluation.table_oracle import RefusedError, compare_tables
from tests.evaluation.test_evaluate_oracle import arguments_of, compare, evaluations_of, under_names
from tests.evaluation.tiny_systems import TinySystems, tiny_systems
from tests.fuzz import ViolationError
from tests.fuzz.table_forms import (
    CATEGORY_LISTS,
    FLAT_FORMS,
    FORMS,
    NESTED_FORMS,
    ODD_TYPES,
    PANDAS_OBJECTS,
    PLAIN_FORMS,
    TEXT_FORMS,
    can_nest,
)

Lines = list[dict[str, Any]]
Ids = dict[str, dict[Any, Any]]  # column -> the ids of the oracle -> those in the tables

ODD_TEXTS = [
    *("1.0", "1e3", "nan", "NaN", "inf", "null", "None", "NULL", "NA", "-0", "+1", "0x1F", "true", "False", "1_0"),
    *("007", "a b", "a,b", 'a"b', '"', "'", "a\nb", "a\tb", "a;b|c", "\\N", "é", "e\u0301", "\u202eabc", "=1+1"),
    *("[1]", "2026-01-31", "-", ".", "#x", "\x1b[31m", "😀", "item_id", "user_id", "(none)", "🇩🇪", "\u00a0x"),
    *("ü" * 300, "{3F2504E0}"),
]
LONGEST_MESSAGE = 1_500


@dataclass(frozen=True)
class Case:
    """Tables, in which form each is given, what is wrong with them, and what else is looked at."""

    tiny: TinySystems  # with the ids of the oracle
    ids: Ids
    forms: dict[str, str]  # by table
    forms_seed: int
    damage: "Damage | None"
    look: str
    renamed: bool

    def tables(self) -> dict[str, Lines]:
        """The lines of every table, with their own ids and what is wrong with them."""
        tables = {
            **{f"layouts {name} {n}": run for name, runs in self.tiny.systems.items() for n, run in enumerate(runs)},
            "judgments": self.tiny.judgments,
        }
        if self.tiny.items is not None:
            tables["items"] = self.tiny.items
        if self.tiny.options["carousels"] is not None:
            tables["carousels"] = self.tiny.options["carousels"]
        tables = {name: [_with_ids(line, self.ids) for line in lines] for name, lines in tables.items()}
        if self.damage is not None:
            tables[self.damage.table] = self.damage.apply(tables[self.damage.table])
        return tables


@dataclass(frozen=True)
class Damage:
    """A change that makes a table wrong; or perhaps wrong, if it need not be refused."""

    table: str
    what: str
    line: int
    column: str
    value: Any
    must_refuse: bool

    def apply(self, lines: Lines) -> Lines:
        """The lines with the change."""
        changed = copy.deepcopy(lines)
        at = self.line % len(changed)
        if self.what == "no lines":
            return []
        if self.what == "no column":
            return [{name: value for name, value in line.items() if name != self.column} for line in changed]
        if self.what == "twice":
            return [*changed, dict(changed[at])]
        changed[at][self.column] = self.value
        if self.what == "column":
            for line in changed:
                line[self.column] = self.value
        return changed


def _with_ids(line: dict[str, Any], ids: Ids) -> dict[str, Any]:
    return {
        name: ids[name].get(value, value) if name in ids and value is not None else value
        for name, value in line.items()
    }


# --- drawing ---


def draw(rng: random.Random) -> Case:
    """Tiny tables of the oracle, with other ids, in other forms; one in three with something wrong."""
    tiny = tiny_systems(rng.randrange(10**9))
    ids = _draw_ids(rng, tiny)
    case = Case(tiny, ids, {}, rng.randrange(10**9), None, rng.choice(LOOKS), renamed=rng.random() < 0.2)
    if rng.random() < 0.35:
        case = replace(case, damage=_draw_damage(rng, case.tables()))
    return replace(case, forms=_draw_forms(rng, case))


def _draw_forms(rng: random.Random, case: Case) -> dict[str, str]:
    forms = {}
    several = sum(map(len, case.tiny.systems.values())) > 1  # whose ids have the types of the first system's
    texts = rng.random() < 0.2
    for name, lines in case.tables().items():
        known = [*FLAT_FORMS]
        if case.damage is not None and name == case.damage.table:
            known = [form for form in PLAIN_FORMS if form != ODD_TYPES]  # into which -1e-300 fits as 0, or 1.5 as 1
        elif name.startswith("layouts") and can_nest(lines) and not case.renamed:
            known += NESTED_FORMS
        elif name == "items" and not case.renamed:
            known.append(CATEGORY_LISTS)
        forms[name] = rng.choice([form for form in known if not several or (form in TEXT_FORMS) == texts])
    return forms


def _draw_ids(rng: random.Random, tiny: TinySystems) -> Ids:
    """Other ids of users, items, pages and categories, of one type each."""
    tables = [*(run for runs in tiny.systems.values() for run in runs), tiny.judgments, tiny.items or []]
    tables.append(tiny.options["carousels"] or [])
    capacity = tiny.options["capacity"]
    named = [] if isinstance(capacity, str) else list(capacity)
    ids = {}
    for column in ("user_id", "item_id", "page_id", "category"):
        found = {line[column]: None for lines in tables for line in lines if line.get(column) is not None}
        values = list({**found, **(dict.fromkeys(named) if column == "category" else {})})
        ids[column] = dict(zip(values, ID_KINDS[rng.choice(list(ID_KINDS))](rng, len(values)), strict=True))
        if column == "category" and named and isinstance(next(iter(ids[column].values())), datetime.date):
            ids[column] = {value: str(date) for value, date in ids[column].items()}  # as capacity must name them
    return ids


ID_KINDS: dict[str, Callable[[random.Random, int], list[Any]]] = {
    "numbers": lambda rng, count: rng.sample(range(1000), count),
    "signed numbers": lambda rng, count: rng.sample(range(-50, 50), count),
    "large numbers": lambda rng, count: [2**62 + n for n in rng.sample(range(100), count)],
    "words": lambda rng, count: [f"x{n}" for n in rng.sample(range(1000), count)],
    "digits": lambda rng, count: [f"{n:03d}" for n in rng.sample(range(1000), count)],
    "odd texts": lambda rng, count: rng.sample(ODD_TEXTS, count),
    "UUIDs": lambda rng, count: [str(uuid.UUID(int=n << 64)) for n in rng.sample(range(1, 1000), count)],
    "dates": lambda rng, count: [
        datetime.date(2026, 1, 1) + datetime.timedelta(n) for n in rng.sample(range(300), count)
    ],
}

# values that a column must not hold
WRONG: dict[str, list[Any]] = {
    "user_id": [None],
    "item_id": [None],
    "row": [None, 0, -1, 1.5, 10**6, math.nan],
    "col": [None, 0, -1, 2.5, 10**6, math.inf],
    "relevance": [None, -1.0, math.nan, math.inf, -math.inf, -1e-300],
    "capacity": [0, -3, 1.5],
}
ZOO: list[Any] = [
    *(None, 0, 1, -1, 2**40, 1.5, -0.0, math.nan, math.inf, 1e300, 1e-300, "", " ", "x", "1", "1.0", "nan", "true"),
    *(True, False, [], [1], ["a", None], {}, {"a": 1}, b"", b"x", Decimal("1.5"), 2**63, 2**70, -(2**63), "\x00"),
    *(datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12), datetime.timedelta(1), datetime.time(1), object()),
    *(np.float32(1), np.datetime64("2026-01-01"), uuid.UUID(int=5), 1j, "9" * 400, range(3), np.nan, "\ud800"),
]


def _draw_damage(rng: random.Random, tables: dict[str, Lines]) -> Damage:
    table = rng.choice(list(tables))
    lines = tables[table]
    columns = list(dict.fromkeys(name for line in lines for name in line))
    required = {"judgments": ["user_id", "item_id"], "items": ["item_id", "category"], "carousels": ["category"]}.get(
        table, ["user_id", "row", "col", "item_id"]
    )
    what = rng.choice(["cell", "cell", "any cell", "any cell", "column", "twice", "no column", "no lines"])
    line, column, value, must_refuse = rng.randrange(1000), rng.choice(columns), None, True
    if what == "cell":
        column = rng.choice([name for name in WRONG if name in columns] or ["item_id"])
        value = rng.choice(WRONG[column])
        must_refuse = column in required or column in ("relevance", "capacity")
    elif what in ("any cell", "column"):
        value, must_refuse = rng.choice(ZOO), False
    elif what == "twice":
        must_refuse = table not in ("items", "carousels")
    elif what == "no column":
        column = rng.choice(required)
    return Damage(table, what, line, column, value, must_refuse)


# --- checking ---


def check(case: Case, folder: Path) -> str:
    """The same as the oracle, bit by bit the same however the tables are given; or refused by both."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, error = _evaluate(case, folder)
        if error is not None:
            _check_message(case, str(error))
        if case.damage is None:
            _check_oracle(case, found, error)
        elif case.damage.must_refuse and error is None:
            raise ViolationError(f"not refused\n{_text(case)}")
        return f"{'refused' if found is None else 'scored'}, {LOOK_AT[case.look](case, folder, found, error)}"


Found = dict[str, list[cv.Evaluation]]


def arguments_in_forms(case: Case, folder: Path, seed: int = 0, forms: dict[str, str] | None = None) -> dict[str, Any]:
    """What `compare` takes: the oracle's own arguments, with the tables in their forms."""
    rng = random.Random(case.forms_seed + seed)
    arguments = arguments_of(case.tiny)
    columns = {name: f"my {name}" for name in ("user_id", "item_id")} if case.renamed else {}
    given = {}
    for name, lines in case.tables().items():
        if seed:
            rng.shuffle(lines)
        lines = [{columns.get(column, column): value for column, value in line.items()} for line in lines]
        header = [columns.get(column, column) for column in _header(case, name)]
        place = folder / f"{name.replace(' ', '-')}-{seed}"
        given[name] = FORMS[(forms or case.forms)[name]](rng, lines, header, place)
    arguments["systems"] = {
        name: [given[f"layouts {name} {n}"] for n in range(len(runs))] for name, runs in case.tiny.systems.items()
    }
    arguments |= {name: given.get(name) for name in ("judgments", "items", "carousels")}
    capacity = arguments["capacity"]
    if not isinstance(capacity, str):
        arguments["capacity"] = {case.ids["category"][label]: room for label, room in capacity.items()}
    return {**arguments, "columns": columns or None}


def _header(case: Case, table: str) -> list[str]:
    """The columns of a table, also of one that has lost its lines."""
    whole = replace(case, damage=None).tables()[table]
    names = dict.fromkeys(name for line in whole for name in line)
    if case.damage is not None and case.damage.table == table and case.damage.what == "no column":
        del names[case.damage.column]
    return list(names)


def _evaluate(case: Case, folder: Path, **options: Any) -> tuple[Found | None, cv.CarousevalError | None]:
    return _attempt(case, lambda: evaluations_of({**arguments_in_forms(case, folder), **options}))


def _attempt(case: Case, call: Callable[[], Any]) -> tuple[Any, cv.CarousevalError | None]:
    try:
        return call(), None
    except cv.CarousevalError as error:
        return None, error
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ViolationError(f"{type(error).__name__}: {error}\n{_text(case)}") from error


def _check_message(case: Case, message: str) -> None:
    names = ("layouts", "judgments", "items", "carousels", "missing_pages", "no_relevant", "capacity", "ideal page")
    if len(message) > LONGEST_MESSAGE or not any(name in message for name in names):
        raise ViolationError(f"a message that names no table, or is too long: {message[:300]}\n{_text(case)}")
    if "\n" in message.strip():
        raise ViolationError(f"a message of several lines: {message[:300]}\n{_text(case)}")


def _check_oracle(case: Case, found: Found | None, error: Exception | None) -> None:
    try:
        wanted = compare_tables(case.tiny.systems, case.tiny.judgments, case.tiny.items, **case.tiny.options)
    except RefusedError as refused:
        if found is not None:
            raise ViolationError(f"not refused, though {refused}\n{_text(case)}") from None
        return
    if found is None:
        raise ViolationError(f"refused: {error}\n{_text(case)}")
    metrics = arguments_of(case.tiny)["metrics"]
    for name, results in wanted.items():
        for result, ours in zip(results, found[name], strict=True):
            pages = [{**page, **_shown_ids(page, case.ids)} for page in result["per_page"]]
            named = under_names(ours, metrics)
            named.per_page = _ids_as_text(named.per_page)
            try:
                compare(0, {**result, "per_page": pages}, named, list(metrics), True, case.tiny.items)
            except (AssertionError, KeyError) as different:
                raise ViolationError(f"unlike the oracle: {different!r:.500}\n{_text(case)}") from different


def _shown_ids(page: dict[str, Any], ids: Ids) -> dict[str, Any]:
    """A page's ids as text, which they are where all tables are CSV."""
    shown = {name: ids[name].get(page[name], page[name]) for name in ("user_id", "page_id")}
    return {name: None if value is None else str(value) for name, value in shown.items()}


# --- what else is looked at, one of these in each case ---


def _look_at_order(case: Case, folder: Path, found: Found | None, error: Exception | None) -> str:
    """Other lines first, in other forms, with other settings of memory and threads: the same bits."""
    rng = random.Random(case.forms_seed)
    settings = {"memory": rng.choice([1e-9, 1e-8, 4.0]), "threads": rng.choice([1, 2, 3])}
    if case.damage is None:
        forms = _draw_forms(rng, case)
    else:
        forms, settings = dict(case.forms), {"threads": 1}
        if forms[case.damage.table] == "dict" and repr(case.damage.value) != "nan":  # which pandas takes as missing
            forms[case.damage.table] = rng.choice(["dict", PANDAS_OBJECTS])
    again, other = _attempt(case, lambda: evaluations_of({**arguments_in_forms(case, folder, 1, forms), **settings}))
    if (found is None) != (again is None):
        raise ViolationError(f"{error or 'scored'} | but {forms} {settings}: {other or 'scored'}\n{_text(case)}")
    if found is not None:
        for name, runs in found.items():
            for one, two in zip(runs, again[name], strict=True):
                if _bits(one) != _bits(two):
                    raise ViolationError(
                        f"other bits with {forms} {settings}\n{_bits(one)}\n{_bits(two)}\n{_text(case)}"
                    )
    return "the same in another order"


def _ids_as_text(per_page: pl.DataFrame) -> pl.DataFrame:
    return per_page.with_columns(pl.col("^(user|page)_id$").cast(pl.String))


def _bits(result: cv.Evaluation) -> tuple[Any, ...]:
    pages = sorted(map(repr, _ids_as_text(result.per_page).rows()))
    return pages, {name: float(mean).hex() for name, mean in result.mean.items()}, result.counts


def _look_at_check(case: Case, folder: Path, found: Found | None, error: Exception | None) -> str:
    """What `check` finds agrees with what `evaluate` refuses."""
    if len(case.tiny.systems) > 1:
        return "several systems"
    arguments = arguments_in_forms(case, folder)
    ((layouts,),) = arguments.pop("systems").values()
    metrics = list(arguments.pop("metrics").values())
    checked, refused = _attempt(case, lambda: cv.check(layouts, metrics=metrics, **arguments))
    ok = checked is not None and checked.ok
    if ok != (error is None):
        raise ViolationError(f"check: {checked or refused} | evaluate: {error or 'scored'}\n{_text(case)}")
    return "check agrees"


def _look_at_explain(case: Case, folder: Path, found: Found | None, error: Exception | None) -> str:
    """The shares of the ideal add up to 1, and the score is that of `evaluate`."""
    if len(case.tiny.systems) > 1:
        return "several systems"
    arguments = arguments_in_forms(case, folder)
    ((layouts,),) = arguments.pop("systems").values()
    metric = next(iter(arguments.pop("metrics").values()))
    if arguments["candidates"] == "displayed":
        return "displayed candidates"
    explained, refused = _attempt(case, lambda: cv.explain(layouts, metrics=metric, **arguments))
    if found is None or explained is None:
        if found is not None:  # with one metric, others may be refused
            raise ViolationError(f"explain: {refused}\n{_text(case)}")
        return "explain refuses, or not"
    mean, score = found["a"][0].mean[str(metric)], explained.shares["score"]
    whole = math.fsum(explained.shares.values())
    if math.isnan(mean) != math.isnan(score) or (not math.isnan(mean) and not math.isclose(mean, score, rel_tol=1e-9)):
        raise ViolationError(f"explain: {score} in place of {mean}\n{_text(case)}")
    attainable = found["a"][0].counts["above_ideal"] == 0  # a page may show what no ideal page may
    if attainable and not math.isnan(mean) and not math.isclose(whole, 1.0, rel_tol=1e-9):
        raise ViolationError(f"explain: shares add up to {whole}: {explained.shares}\n{_text(case)}")
    return "explain agrees"


def _look_at_weights(case: Case, folder: Path, found: Found | None, error: Exception | None) -> str:
    """Weights of 1 change nothing but rounding."""
    if found is None or case.damage is not None:
        return "no weights"
    systems = {name: [_with_weights(lines) for lines in runs] for name, runs in case.tiny.systems.items()}
    judgments = _with_weights(case.tiny.judgments)  # of missing pages
    weighted = replace(case, tiny=replace(case.tiny, systems=systems, judgments=judgments))
    again, other = _evaluate(weighted, folder, weight="w")
    if again is None:
        raise ViolationError(f"weights of 1: {other}\n{_text(case)}")
    for name, runs in found.items():
        for one, two in zip(runs, again[name], strict=True):
            for metric, mean in one.mean.items():
                if not (math.isclose(mean, two.mean[metric], rel_tol=1e-12) or math.isnan(mean)):
                    raise ViolationError(f"weights of 1: {two.mean[metric]} in place of {mean}\n{_text(case)}")
    return "weights of 1"


def _with_weights(lines: Lines) -> Lines:
    return [{**line, "w": 1} for line in lines]


def _look_at_results(case: Case, folder: Path, found: Found | None, error: Exception | None) -> str:
    """Results can be shown and saved."""
    for result in [result for runs in (found or {}).values() for result in runs]:
        for show in (repr, cv.Evaluation.to_json, cv.Evaluation.to_markdown, cv.Evaluation.to_latex):
            _attempt(case, partial(show, result))
    return "results shown"


LOOK_AT: dict[str, Callable[[Case, Path, Found | None, Exception | None], str]] = {
    "order": _look_at_order,
    "check": _look_at_check,
    "explain": _look_at_explain,
    "weights": _look_at_weights,
    "results": _look_at_results,
}
LOOKS = ["order", "order", "order", "check", "check", "explain", "weights", "results"]


def _text(case: Case) -> str:
    parts = (f"{case.look}; {case.damage}", f"forms {case.forms}", f"ids {case.ids}", f"options {case.tiny.options}")
    lines = [f"{name}: {str(table)[:400]}" for name, table in case.tables().items()]
    return "\n".join([*parts, *lines])
