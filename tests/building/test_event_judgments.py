"""Events become the judgments that a plain loop over the lines makes of them."""

import json
import math
import random
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import carouseval as cv
from carouseval.building import event_log
from carouseval.tables import table as tables
from tests.building.random_logs import Log, random_log

RELEVANCE: dict[str, float | None] = {"add_to_list": 2, "thumbs_down": 0, "impression": None}


def plain_reason(line: dict[str, Any], at_least: float, at_most: float) -> str | None:
    value = line["minutes"]
    if value is None:
        return "missing"
    if not math.isfinite(value):
        return "not finite"
    if value < 0:
        return "negative"
    if value < at_least:
        return "below at_least"
    return "above at_most" if value > at_most else None


def plain_judgments(
    log: Log,
    combine: str,
    thresholds: list[float] | None,
    event_relevance: dict[str, float | None],
    keys: tuple[str, ...] = ("user_id", "item_id"),
    at_least: float = 0,
    at_most: float = 1e16,
) -> tuple[dict[Any, float], dict[Any, float], dict[str, list[int]]]:
    """Relevances, the combined values they come from, and the excluded lines by reason, counted from 0."""
    lines: dict[Any, list[tuple[str, float, int]]] = {}
    excluded: dict[str, list[int]] = {}
    for number, line in enumerate(log):
        named = line["event"] in event_relevance
        own = event_relevance.get(line["event"])
        reason = plain_reason(line, at_least, at_most) if not named else "event left out" if own is None else None
        if reason:
            excluded.setdefault(reason, []).append(number)
        else:
            known = ("event", own) if named else ("value", line["minutes"])
            lines.setdefault(tuple(line[key] for key in keys), []).append((*known, line["time"]))
    combined = {}
    for key, of_pair in lines.items():
        values = [value for kind, value, _ in of_pair if kind == "value"]
        if combine == "last":
            kind, value, _ = max(enumerate(of_pair), key=lambda at: (at[1][2], at[0]))[1]
            values = [value] if kind == "value" else []
        if values:
            total = sum(Fraction(round(value * 1e9), 10**9) for value in values)  # to the nearest millionth
            combined[key] = math.floor(total * 10**6 + Fraction(1, 2)) / 10**6 if combine == "sum" else max(values)
    relevances = {}
    for key, of_pair in lines.items():
        own_relevances = [value for kind, value, _ in of_pair if kind == "event"]
        if combine == "last":
            kind, value, _ = max(enumerate(of_pair), key=lambda at: (at[1][2], at[0]))[1]
            own_relevances = [value] if kind == "event" else []
        candidates = list(own_relevances)
        if key in combined:
            value = combined[key]
            grade = value if thresholds is None else sum(value >= threshold for threshold in thresholds)
            candidates.append(grade)
        relevances[key] = 0.0 if 0 in own_relevances else float(max(candidates))
    return relevances, combined, excluded


def made(log: Any, *arguments: Any, **settings: Any) -> cv.EventJudgments:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cv.DataWarning)
        return cv.judgments_from_events(log, *arguments, **settings)


def relevances(result: cv.EventJudgments) -> dict[Any, float]:
    return {tuple(row[:-1]): row[-1] for row in result.judgments.iter_rows()}


@pytest.mark.parametrize("batch", [None, 7])
@pytest.mark.parametrize("combine", ["sum", "max", "last"])
@pytest.mark.parametrize("seed", range(12))
def test_random_logs(
    seed: int, combine: Literal["sum", "max", "last"], batch: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if batch:
        monkeypatch.setattr(tables, "_BATCH", batch)
        monkeypatch.setattr(event_log, "_MERGE_FROM", 5)
    rng = random.Random(seed)
    log = random_log(rng, 90)
    thresholds: Any = rng.choice([None, [1, 10, 45], [0, 0.1], [0.5]])
    named: dict[str, float | None] = rng.choice([RELEVANCE, {}])
    limits: Any = rng.choice([{}, {"at_most": 1440}, {"at_least": 0.2, "at_most": 45}])
    per_page = rng.random() < 0.3
    keys = ("user_id", "page_id", "item_id") if per_page else ("user_id", "item_id")
    wanted, _, excluded = plain_judgments(log, combine, thresholds, named, keys, **limits)
    result = made(
        pl.DataFrame(log), "minutes", combine=combine, grades=thresholds, event_relevance=named, per_page=per_page,
        **limits,
    )  # fmt: skip
    assert relevances(result) == wanted
    assert result.judgments.columns == [*keys, "relevance"]
    assert list(relevances(result)) == sorted(wanted)
    found = {row["reason"]: (row["lines"], row["first"]) for row in result.excluded.iter_rows(named=True)}
    assert found == {reason: (len(lines), f"line {lines[0] + 1}") for reason, lines in excluded.items()}
    assert result.table["pairs"].sum() == len(wanted) == result.counts["judgments"]
    for row in result.table.iter_rows(named=True):
        users = {key[0] for key, relevance in wanted.items() if relevance == row["relevance"]}
        pairs = [key for key, relevance in wanted.items() if relevance == row["relevance"]]
        assert (row["pairs"], row["users"]) == (len(pairs), len(users))
        assert row["share"] == pytest.approx(len(pairs) / len(wanted))


def test_small_batches_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_BATCH", 7)
    done: list[tuple[str, int, int]] = []
    made(pl.DataFrame(random_log(random.Random(0), 90)), "minutes", progress=lambda *what: done.append(what))
    assert len(done) > 5
    assert done[-1] == ("reading", 90, 90)


@pytest.mark.parametrize("seed", range(6))
def test_quantiles_are_those_of_positive_values(seed: int) -> None:
    log = random_log(random.Random(seed), 80)
    shares = [0, 0.5, 0.9]
    _, combined, _ = plain_judgments(log, "sum", None, RELEVANCE)
    positive = sorted(value for value in combined.values() if value > 0)
    thresholds = []
    for share in shares:  # linear interpolation between the values at either side
        at = share * (len(positive) - 1)
        low, high = positive[math.floor(at)], positive[math.ceil(at)]
        thresholds.append(low + (high - low) * (at - math.floor(at)))
    result = made(pl.DataFrame(log), "minutes", quantiles=shares, event_relevance=RELEVANCE)
    np.testing.assert_allclose(result.config["thresholds"], thresholds, rtol=1e-12)
    assert relevances(result) == plain_judgments(log, "sum", result.config["thresholds"], RELEVANCE)[0]
    disliked = {(line["user_id"], line["item_id"]) for line in log if line["event"] == "thumbs_down"}
    assert all(relevances(result)[key] > 0 for key, value in combined.items() if value > 0 and key not in disliked)


def one_item(values: list[float], **settings: Any) -> float:
    events = {"user_id": [1] * len(values), "item_id": [1] * len(values), "minutes": values}
    return float(made(events, "minutes", **settings).judgments["relevance"][0])


@pytest.mark.parametrize(
    ("minutes", "grade"),
    [(0, 0), (0.999999, 0), (1, 1), (9.999999, 1), (10, 2), (44.999999, 2), (45, 3), (1e9, 3)],
)
def test_thresholds_are_exact(minutes: float, grade: int) -> None:
    assert one_item([minutes], grades=(1, 10, 45)) == grade
    assert one_item([minutes], grades=(1, 10, 45), combine="max") == grade


def test_sums_reach_the_threshold_that_people_expect() -> None:
    assert one_item([0.1], grades=[0.1]) == 1
    assert one_item([0.1] * 10, grades=[1]) == 1  # by floats 0.9999999999999999
    assert one_item([1 / 12] * 12, grades=[1]) == 1
    assert one_item([1e15, 1e15, 0.5]) == 2e15 + 0.5
    assert one_item([1e16] * 3) == pytest.approx(3e16, rel=1e-15)


def test_sums_do_not_depend_on_the_order_of_lines() -> None:
    rng = np.random.default_rng(0)
    log = pl.DataFrame(
        {"user_id": rng.integers(0, 5, 5000), "item_id": rng.integers(0, 5, 5000), "minutes": rng.random(5000) * 1e6}
    )
    wanted = made(log, "minutes").judgments
    for seed in range(3):
        shuffled = log.sample(fraction=1, shuffle=True, seed=seed)
        assert_frame_equal(made(shuffled, "minutes").judgments, wanted, check_exact=True)


def test_without_values_lines_are_counted() -> None:
    events = {"user_id": [1, 1, 1, 2], "item_id": ["a", "a", "b", "a"]}
    assert relevances(cv.judgments_from_events(events)) == {(1, "a"): 2, (1, "b"): 1, (2, "a"): 1}
    assert set(relevances(cv.judgments_from_events(events, combine="max")).values()) == {1}
    assert relevances(cv.judgments_from_events(events, grades=[2])) == {(1, "a"): 1, (1, "b"): 0, (2, "a"): 0}


DISLIKE = {
    "user_id": [1, 1, 1, 1],
    "item_id": ["a", "a", "b", "b"],
    "event": ["play", "thumbs_down", "thumbs_down", "play"],
    "minutes": [60, None, None, 60],
    "time": ["2026-01-01 10:00:00", "2026-01-02T10:00:00Z", "2026-01-01 10:00", "2026-01-01 10:00"],
}


def test_a_dislike_overrides_all_unless_the_last_line_holds() -> None:
    named = {"thumbs_down": 0.0}
    for combine in ("sum", "max"):
        result = cv.judgments_from_events(DISLIKE, "minutes", combine=combine, grades=[1, 10], event_relevance=named)
        assert relevances(result) == {(1, "a"): 0, (1, "b"): 0}
    result = cv.judgments_from_events(DISLIKE, "minutes", combine="last", grades=[1, 10], event_relevance=named)
    assert relevances(result) == {(1, "a"): 0, (1, "b"): 2}  # equal times: the last line


def test_of_several_events_the_largest_relevance_holds() -> None:
    events = {
        "user_id": [1, 1, 1, 2, 2],
        "item_id": ["a"] * 5,
        "event": ["like", "add_to_list", "play", "add_to_list", "play"],
        "minutes": [None, None, 20, None, 60],
    }
    for combine in ("sum", "max"):
        result = made(
            events, "minutes", combine=combine, grades=[1, 10, 45], event_relevance={"like": 3, "add_to_list": 1}
        )
        assert relevances(result) == {(1, "a"): 3, (2, "a"): 3}


def test_numbers_of_events_are_names_too() -> None:
    events = {"user_id": [1, 1], "item_id": [1, 2], "event": [10, 11]}
    result = cv.judgments_from_events(events, event_relevance={10: 3})  # type: ignore[dict-item]
    assert relevances(result) == {(1, 1): 3, (1, 2): 1}


def test_the_table_of_other_relevances() -> None:
    result = made({"user_id": [1, 2], "item_id": [1, 1], "rating": [4.5, 2]}, "rating")
    assert result.table.rows() == [(2.0, None, None, 1, 0, 0.5, 1), (4.5, None, None, 1, 0, 0.5, 1)]
    minutes = [0.0, *(0.5 + step for step in range(30)), 250.0]
    many = made({"user_id": [1] * 32, "item_id": range(32), "minutes": minutes}, "minutes")
    assert many.table.select("relevance", "from", "to", "pairs").rows() == [
        (None, 0.0, 1.0, 2), (None, 1.0, 2.0, 1), (None, 2.0, 5.0, 3), (None, 5.0, 10.0, 5), (None, 10.0, 100.0, 20),
        (None, 100.0, 1000.0, 1), (None, 1000.0, None, 0),
    ]  # fmt: skip
    named = made(
        {"user_id": [1, 1], "item_id": [1, 2], "event": ["play", "like"]}, grades=[1], event_relevance={"like": 2.5}
    )
    assert named.table.select("relevance", "from", "to", "pairs", "by_event").rows() == [
        (0.0, 0.0, 1.0, 0, 0), (1.0, 1.0, None, 1, 0), (2.5, None, None, 1, 1),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson", "pandas", "lazy"])
def test_every_kind_of_table(kind: str, tmp_path: Path) -> None:
    log = pl.DataFrame(random_log(random.Random(3), 60))
    wanted = made(log, "minutes", combine="last", event_relevance=RELEVANCE)
    path = tmp_path / f"events.{kind}"
    sources: dict[str, Any] = {"pandas": log.to_pandas(), "lazy": log.lazy()}
    if kind not in sources:
        getattr(log, f"write_{kind}")(path)
    result = made(sources.get(kind, path), "minutes", combine="last", event_relevance=RELEVANCE)
    assert_frame_equal(result.judgments, wanted.judgments)
    assert isinstance(log.to_pandas(), pd.DataFrame)


def test_names_and_types_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text(
        "customer,sku,what,ts,seconds\nu1,007,play,1,60\nu1,007,down,2,\n\nu2,008,play,3,n/a\nu2,008,play,4,5\n"
    )
    names = {"user_id": "customer", "item_id": "sku", "event": "what", "time": "ts"}
    with pytest.warns(
        cv.DataWarning, match=r"column seconds: 1 of 4 lines is excluded: 1 not a number \(first: line 5\)"
    ):
        result = cv.judgments_from_events(path, "seconds", event_relevance={"down": 0}, columns=names)
    assert relevances(result) == {("u1", "007"): 0, ("u2", "008"): 5}  # ids with zeros in front stay text
    assert result.config["columns"] == names


def test_exclusions_are_reported_by_name() -> None:
    events = {"user_id": [1] * 7, "item_id": [1] * 7, "m": [5.0, -3.0, None, math.nan, 2000.0, -1.0, 0.5]}
    with pytest.warns(cv.DataWarning) as caught:
        result = cv.judgments_from_events(events, "m", at_least=1, at_most=1440)
    assert str(caught[0].message) == (
        "events: column m: 6 of 7 lines are excluded: 2 negative (first: line 2, found -3), 1 above at_most (first: "
        "line 5, found 2000), 1 below at_least (first: line 7, found 0.5), 1 missing (first: line 3), 1 not finite "
        "(first: line 4, found nan). Correct them."
    )
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert result.heading == "1 judgment (1 relevant) of 1 user from 7 events"  # the exclusions are in a table
    assert repr(result) == f"EventJudgments({result.heading})"


def test_a_clean_log_and_events_left_out_raise_no_warning() -> None:
    events = {"user_id": [1, 1], "item_id": [1, 2], "event": ["play", "impression"], "minutes": [3, None]}
    result = cv.judgments_from_events(events, "minutes", event_relevance={"impression": None})
    assert result.excluded.rows() == [("event left out", 1, "line 2", None)]
    assert result.counts == {"lines": 2, "excluded": 1, "judgments": 1, "relevant": 1, "users": 1, "items": 1}


def test_a_misspelt_event_is_noticed() -> None:
    with pytest.warns(cv.DataWarning) as caught:
        cv.judgments_from_events(DISLIKE, event_relevance={"thumbsdown": 0})
    assert [str(warning.message) for warning in caught] == [
        "events: no event is called 'thumbsdown', as event_relevance has it. Did you mean 'thumbs_down'?"
    ]


def messages(log: Any, *arguments: Any, **settings: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cv.judgments_from_events(log, *arguments, **settings)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("batch", [1, 100])
def test_names_that_count_alike_are_noticed(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_BATCH", batch)
    events = {"user_id": [1] * 5, "item_id": range(5), "act": ["thumbs_down", "play", None, "play", "add"]}
    names = {"event": "act"}
    assert messages(events, columns=names) == [
        "events: every line counts 1, but column act has several names: 2 'play', 1 'add', 1 'thumbs_down'. Give "
        "dislikes and other events a relevance of their own: event_relevance={'thumbs_down': 0}."
    ]
    assert not messages(events)  # act may hold anything
    assert not messages(events | {"act": ["play"] * 5}, columns=names)
    assert not messages(events | {"act": ["play"] * 5}, columns=names, event_relevance={"play": 2})


def test_only_a_few_of_many_names_are_listed_and_ids_are_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    events = {"user_id": [1] * 12, "item_id": range(12), "event": [f"e{number:02}" for number in range(12)]}
    (message,) = messages(events)
    assert "1 'e08', 1 'e09' and 2 more. Give" in message
    monkeypatch.setattr(event_log, "_MOST_NAMES", 11)
    assert not messages(events)


def test_a_column_event_may_be_used_otherwise() -> None:
    concerts = {"user_id": [1, 1], "event": ["opera", "jazz"], "score": [1, 2]}
    assert not messages(concerts, columns={"item_id": "event"})
    assert not messages({"user_id": [1, 1], "item_id": [1, 2], "event": [1, 2]}, "event")


def test_events_without_a_value_are_named() -> None:
    nameless: dict[str, Any] = {"user_id": [1] * 5, "item_id": range(5), "minutes": [5, None, None, None, -1]}
    events = nameless | {"event": ["play", "play", "thumbs_down", "thumbs_down", "play"]}
    listed = "events: column minutes: 4 of 5 lines are excluded: 3 missing (first: line 2), 1 negative (first: line 5, "
    assert messages(events, "minutes") == [
        f"{listed}found -1). Correct them. Without a value: 2 of 2 'thumbs_down', 1 of 3 'play'; give events that have "
        "none a relevance in event_relevance."
    ]
    assert messages(nameless, "minutes") == [f"{listed}found -1). Correct them."]


def test_values_that_are_no_grades_are_noticed() -> None:
    events = {
        "user_id": [1, 1, 1],
        "item_id": [1, 2, 3],
        "minutes": [10.0, 0.5, 2.0],
        "event": ["play", "play", "like"],
    }
    assert not messages(events, "minutes")
    assert not messages(events, "minutes", event_relevance={"like": 11})  # as asked for
    events["minutes"] = [10006.7, 0.5, 2.0]
    assert messages(events, "minutes") == [
        "events: without grades or quantiles, values are relevances, up to 10006.7; with gain='exp2' one above 10 "
        "outweighs all others. Give grades=(1, 10, 45) or quantiles=(0, 0.5, 0.9), or use gain='linear' when "
        "evaluating."
    ]
    assert not messages(events, "minutes", grades=(1, 10, 45))
    assert not messages(events, "minutes", quantiles=(0, 0.5))


def test_relevances_that_events_gave_are_counted() -> None:
    """Of four items of relevance 3 two have the minutes for it; a dislike of what has no minutes changes nothing."""
    plays = [(1, "play", 50), (2, "play", 2), (2, "up", None), (3, "up", None), (4, "up", None), (4, "play", 60)]
    dislikes = [(5, "play", 90), (5, "down", None), (6, "play", 0), (6, "down", None), (7, "play", 3)]
    events = pl.DataFrame(
        [(1, *line) for line in plays + dislikes], ["user_id", "item_id", "event", "minutes"], orient="row"
    )
    settings: Any = {"grades": (1, 10, 45), "event_relevance": {"up": 3, "down": 0}}
    result = cv.judgments_from_events(events, "minutes", **settings)
    assert result.table.select("relevance", "pairs", "by_event").rows() == [(0, 2, 1), (1, 1, 0), (2, 0, 0), (3, 4, 2)]
    assert "| 3 | 45 |  | 4 | 2 | 57.1% | 1 |" in result.to_markdown()
    latest = cv.judgments_from_events(events.with_row_index("time"), "minutes", combine="last", **settings)
    assert latest.table["by_event"].to_list() == [2, 0, 0, 2]


def test_equal_quantiles_are_noticed() -> None:
    plays = {"user_id": [1] * 10, "item_id": [*range(9), 8]}
    with pytest.warns(cv.DataWarning, match="quantiles 0 and 0.5 are both 1, so no value gets relevance 1. Use fewer"):
        cv.judgments_from_events(plays, quantiles=(0, 0.5))


EVENTS = {"user_id": [1], "item_id": [1], "minutes": [5], "event": ["play"]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"value": "minuts"},
            "value: there is no column 'minuts' in events. Did you mean 'minutes'? Columns: user_id,",
        ),
        ({"value": 3}, "value must be the name of a column, found 3."),
        ({"combine": "mean"}, "combine must be 'sum', 'max' or 'last', found 'mean'."),
        ({"grades": "1,2"}, "grades must be a list of numbers such as (1, 10, 45), found '1,2'."),
        ({"grades": ()}, "grades must be a list of numbers such as (1, 10, 45), found ()."),
        ({"grades": [10, 1]}, "grades must increase, found 1 after 10."),
        ({"grades": [1, 1]}, "grades must increase, found 1 after 1."),
        ({"grades": [-1]}, "grades: each number must be a finite number of at least 0, found -1."),
        ({"quantiles": [0.5, 1]}, "quantiles must be below 1, found 1."),
        ({"grades": [1], "quantiles": [0.5]}, "quantiles: give grades or quantiles, not both."),
        ({"event_relevance": ["play"]}, "event_relevance must be a dict such as {'thumbs_down': 0}, found ['play']."),
        (
            {"event_relevance": {"play": -1}},
            "event_relevance: the relevance of 'play' must be a finite number of at least 0, found -1.",
        ),
        ({"at_most": 5}, "at_most: without a column of values every line counts 1. Name the column in value."),
        ({"at_least": 5}, "at_least: without a column of values every line counts 1. Name the column in value."),
        ({"value": "minutes", "at_least": 5, "at_most": 4}, "at_most must be a finite number of at least 5"),
        ({"value": "minutes", "at_least": -1}, "at_least must be a finite number of at least 0"),
        ({"per_page": 1}, "per_page must be True or False, found 1."),
        ({"columns": {"value": "minutes"}}, "columns: there is no column 'value'."),
    ],
)
def test_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.ParameterError) as caught:
        cv.judgments_from_events(EVENTS, **arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("events", "arguments", "message"),
    [
        (
            EVENTS,
            {"combine": "last"},
            "events: missing column time; it has user_id, item_id, minutes, event. The last line of a user and an item "
            "is found by its time. If yours have other names, use columns={'user_id': 'customer', 'time': 'timestamp', "
            "...}.",
        ),
        (
            EVENTS,
            {"per_page": True},
            "events: missing column page_id; it has user_id, item_id, minutes, event. If yours have other names, use "
            "columns={'user_id': 'customer', 'page_id': 'visit', ...}.",
        ),
        (
            {"item_id": [1]},
            {},
            "events: missing column user_id; it has item_id. If yours have other names, use columns={'user_id': "
            "'customer', ...}.",
        ),
        ({"user_id": [1], "item_id": [1]}, {"event_relevance": {"x": 0}}, "events: missing column event; it has"),
        (
            {"user_id": [], "item_id": []},
            {},
            "events: the table has no lines. Give at least one line of user_id, item_id.",
        ),
        (
            {"user_id": [1, None], "item_id": [1, 1]},
            {},
            "events: column user_id, line 2: found nothing. Every line needs",
        ),
        (
            EVENTS | {"event": [None]},
            {"event_relevance": {"x": 0}},
            "events: column event, line 1: found nothing. Every line needs the name of its event; drop lines",
        ),
        (
            EVENTS | {"time": ["soon"]},
            {"combine": "last"},
            "events: column time, line 1: found 'soon'. Every line needs a time: a number, or a date and time.",
        ),
        (
            EVENTS | {"minutes": [-5]},
            {"value": "minutes"},
            "events: all lines are excluded: 1 negative (first: line 1, found -5). Correct them.",
        ),
        ({"user_id": [1], "item_id": [[1, 2]]}, {}, "events: found lists of items. Write one line per event."),
        (
            EVENTS | {"minutes": [[5]]},
            {"value": "minutes"},
            "events: column minutes holds List(Int64); expected numbers.",
        ),
        (EVENTS, {"value": "item_id"}, "events: column item_id is used for both item_id and value."),
        (
            EVENTS | {"event": [["play"]]},
            {},
            "events: column event holds List(String); expected text. Rename it, if it holds no names of events.",
        ),
    ],
)
def test_tables_are_refused(events: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(cv.DataError) as caught:
        cv.judgments_from_events(events, **arguments)
    assert str(caught.value).startswith(message)


def test_quantiles_need_positive_values() -> None:
    with pytest.raises(cv.DataError, match=r"^events: no combined value is positive, so there are no quantiles. Give"):
        cv.judgments_from_events(EVENTS | {"minutes": [0]}, "minutes", quantiles=[0.5])


def test_into_an_evaluation() -> None:
    """Two plays of item 2 and a dislike of item 1 give the scores of the judgments they stand for."""
    layouts = {
        "user_id": [1, 1, 1],
        "row": [1, 1, 2],
        "col": [1, 2, 1],
        "item_id": [1, 2, 3],
        "category": ["a", "a", "b"],
    }
    events = {
        "user_id": [1, 1, 1, 1, 1],
        "item_id": [2, 2, 1, 1, 3],
        "event": ["play", "play", "play", "thumbs_down", "play"],
        "minutes": [30, 20, 90, None, 4],
    }
    result = cv.judgments_from_events(events, "minutes", grades=(1, 10, 45), event_relevance={"thumbs_down": 0})
    judgments = {"user_id": [1, 1, 1], "item_id": [1, 2, 3], "relevance": [0, 3, 1]}
    assert cv.evaluate(layouts, result.judgments).mean == cv.evaluate(layouts, judgments).mean
    assert cv.evaluate(layouts, result).mean == cv.evaluate(layouts, judgments).mean  # it is a table itself
    assert pl.DataFrame(result).equals(result.judgments)


def test_judgments_of_pages() -> None:
    layouts = {
        "user_id": [1, 1], "page_id": ["x", "y"], "row": [1, 1], "col": [1, 1], "item_id": [1, 1], "category": [1, 1]
    }  # fmt: skip
    events = {"user_id": [1, 1], "page_id": ["x", "y"], "item_id": [1, 2]}
    result = cv.judgments_from_events(events, per_page=True)
    assert result.judgments.rows() == [(1, "x", 1, 1.0), (1, "y", 2, 1.0)]
    scores = cv.evaluate(layouts, result.judgments, items={"item_id": [1, 2], "category": [1, 1]})
    assert scores.per_page["N2DCG_cat"].to_list() == [1.0, 0.0]


def test_save_and_show(tmp_path: Path) -> None:
    result = made(pl.DataFrame(random_log(random.Random(5), 50)), "minutes", grades=(1, 10, 45))
    assert_frame_equal(pl.read_parquet(result.save(tmp_path / "j.parquet")), result.judgments)
    assert pl.read_csv(result.save(tmp_path / "j.csv")).height == result.judgments.height
    content = json.loads(result.save(tmp_path / "j.json").read_text())
    assert content["counts"] == result.counts
    assert content["excluded"][0]["reason"] == result.excluded["reason"][0]
    assert content["config"]["thresholds"] == [1, 10, 45]
    assert result.save(tmp_path / "j.md").read_text().startswith(result.heading)
    with pytest.raises(cv.DataError, match="unsupported file type"):
        result.save(tmp_path / "j.txt")
    assert_frame_equal(result.to_frame(), result.table)
    assert result.excluded["reason"][0] in result._repr_html_()


def test_integers_are_printed_as_integers() -> None:
    events = {"user_id": [1, 1, 2], "item_id": [1, 2, 1], "minutes": [0.5, 30, -2]}
    result = made(events, "minutes", grades=(0.25, 1000))
    assert result.to_markdown() == (
        "2 judgments (2 relevant) of 1 user from 3 events\n\n"
        "| relevance | minutes from | to below | judgments | share | users |\n"
        "|---:|---:|---:|---:|---:|---:|\n"
        "| 0 | 0 | 0.25 | 0 | 0.0% | 0 |\n"
        "| 1 | 0.25 | 1,000 | 2 | 100.0% | 1 |\n"
        "| 2 | 1,000 |  | 0 | 0.0% | 0 |\n\n"
        "| excluded | lines | first | value |\n"
        "|---|---:|---|---:|\n"
        "| negative | 1 | line 3 | -2 |\n"
    )
    assert "0.0000" not in result._repr_html_() + result.to_latex()
