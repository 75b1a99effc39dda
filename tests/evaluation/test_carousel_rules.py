"""What holds whatever the tables: of scores and ideals with carousels, capacities and personal rows."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.evaluation.explanation import LOSSES
from carouseval.evaluation.scoring import first_occurrence
from tests.depth import gate_or_deep, seeds
from tests.evaluation.table_oracle import Carousels, Id, evaluate_tables, kind_of, read_pages
from tests.evaluation.test_evaluate_oracle import arguments_of, evaluations_of, frame, under_names
from tests.evaluation.test_table_oracle import judge, members, page
from tests.evaluation.tiny_systems import TinySystems, tiny_systems
from tests.evaluation.tiny_tables import Lines

pytestmark = pytest.mark.filterwarnings("ignore::carouseval.DataWarning")

WEIGHTS = [[1.0, 0.5, 0.25], [0.8, 0.4, 0.2]]
GRID = cv.Grid(2, 3)
CAT = cv.metric("N2DCG_cat", discount=cv.discounts.Empirical(WEIGHTS, name="w"), gain="linear")
LENIENT = {"missing_pages": "zero", "no_relevant": "skip", "unjudged": "zero", "invalid": "count"}


def cases(numbers: Sequence[int], **options: Any) -> Iterator[tuple[int, TinySystems]]:
    """Tiny systems under policies that refuse nothing, and other options."""
    for seed in numbers:
        case = tiny_systems(seed)
        duplicates = case.options["duplicates"].replace("error", "best")
        yield seed, replace(case, options=case.options | LENIENT | {"duplicates": duplicates} | options)


def results(case: TinySystems, **options: Any) -> dict[str, list[Any]] | None:
    """Every run's result under the oracle's names; None if systems pin different rows."""
    arguments = arguments_of(case) | options
    try:
        found = evaluations_of(arguments)
    except cv.DataError as error:
        if "different ideal page" in str(error):
            return None
        raise
    return {name: [under_names(one, arguments["metrics"]) for one in runs] for name, runs in found.items()}


def keys_of(table: pl.DataFrame) -> list[str]:
    return [name for name in ("user_id", "page_id") if name in table.columns]


def columns_of(case: TinySystems) -> list[str]:
    """The scores, values and ideals of a case's metrics."""
    parts = {"N2DCG_cat": ("", ".dcg", ".ideal"), "N2DCG": ("", ".dcg", ".ideal"), "NDCG": ("", ".dcg", ".ideal")}
    return [name + part for name, *_ in case.options["metrics"] for part in parts.get(kind_of(name), ("",))]


# --- ideals ---


def test_no_clean_page_scores_above_1() -> None:
    """A page without gaps, repeats or invalid rows."""
    scored, numbers = 0, seeds(50, 200, start=10_000)
    for seed, case in cases(numbers):
        found = results(case)
        for name, runs in (found or {}).items():
            for lines, result in zip(case.systems[name], runs, strict=True):
                clean = clean_pages(lines)
                for row in result.per_page.filter(~pl.col("invalid")).iter_rows(named=True):
                    if (row["user_id"], row.get("page_id")) not in clean:
                        continue
                    for metric, *_ in case.options["metrics"]:
                        if kind_of(metric) in ("N2DCG_cat", "N2DCG", "NDCG") and row[metric] is not None:
                            assert row[metric] <= 1 + 1e-12, (seed, metric, row)
                            scored += 1
    assert scored > 4 * len(numbers)


def clean_pages(lines: Lines) -> set[tuple[Id, Id | None]]:
    """The pages without gaps and without repeated items."""
    cells: dict[tuple[Id, Id | None], Lines] = {}
    for line in lines:
        cells.setdefault((line["user_id"], line.get("page_id")), []).append(line)
    clean = set()
    for key, shown in cells.items():
        rows = {line["row"]: [other["col"] for other in shown if other["row"] == line["row"]] for line in shown}
        full = all(sorted(cols) == list(range(1, len(cols) + 1)) for cols in rows.values())
        if full and len({line["item_id"] for line in shown}) == len(shown):
            clean.add(key)
    return clean


def ideals_of(systems: dict[str, Lines], judgments: Lines, items: Lines | None = None, **options: Any) -> list[Any]:
    """The ideals of the first system's pages, in order of users."""
    tables = {name: frame(lines) for name, lines in systems.items()}
    found = cv.compare(
        tables, frame(judgments), None if items is None else frame(items),
        metrics=[CAT], grid=GRID, permutations=9, **options,
    )  # fmt: skip
    pages = next(iter(found.evaluations.values()))[0].per_page
    return pages.filter(pl.col("status") == "scored")[f"{CAT}.ideal"].to_list()


def test_a_system_lowers_an_ideal_by_a_category_that_no_other_showed() -> None:
    """B = {b, c, d}, of gain 1: 1 + .5 + .25 where nobody shows it, 1 where c shows one item of it."""
    items = members(A="a", B="b c d")
    judgments = judge("u", b=1, c=1, d=1)
    systems = {"one": page("u", "A: a"), "other": page("u", "A: a")}
    shown = systems | {"more": page("u", "A: a", "B: b")}
    assert ideals_of(systems, judgments, items, capacity="shown") == [1.75]
    assert ideals_of(shown, judgments, items, capacity="shown") == [1.0]
    assert ideals_of(shown, judgments, items) == [1.75]  # by the grid no system has such power
    # a longer row of a category that is shown raises it
    assert ideals_of(shown | {"most": page("u", "B: b c")}, judgments, items, capacity="shown") == [1.5]
    # without an items table what nobody shows has no items to lose
    assert ideals_of(systems, judgments, capacity="shown") == [0.0]
    assert ideals_of(shown, judgments, capacity="shown") == [1.0]


def test_a_system_lowers_an_ideal_by_a_category_that_becomes_personal() -> None:
    """B is all that the only user with a page is shown; beside a page of v it is that user's own.

    Until then v has no page whose score would be divided by the ideal, so it is the oracle's that falls.
    """
    judgments = judge("u", a=1, b=1) + judge("v", a=1, b=1)
    one, more = page("u", "A: a", "B: b"), page("v", "A: a")
    options: dict[str, Any] = {"metrics": [("N2DCG_cat", WEIGHTS)], "rows": 2, "cols": 3, "gain": "linear"}
    options |= {"capacity": "shown"}

    def oracle_ideals(*at_hand: Lines) -> list[float]:
        result = evaluate_tables(one, judgments, None, at_hand=at_hand, **options)
        return [line["N2DCG_cat"]["ideal"] for line in result["per_page"]]

    assert oracle_ideals(one, one) == [1.8, 1.8]
    assert oracle_ideals(one, one, more) == [1.8, 1.0]
    systems = {"more": more, "one": one}
    assert ideals_of(systems, judgments, capacity="shown") == [1.0]
    shared = frame([{"category": "B", "personal": False}])
    assert ideals_of(systems, judgments, capacity="shown", carousels=shared) == [1.8]


def test_ideals_must_agree_between_any_two_systems() -> None:
    """B above A is worth 3 + .8, A above B, where it is pinned, 1 + 2.4; the first system has no page of v."""
    judgments = judge("u", a=1, b=3) + judge("v", a=1, b=3)
    free, pinned = page("v", "A: a", "B: b"), page("v", "A: a", "B: b", pinned=[1])
    first = page("u", "A: a", "B: b")
    with pytest.raises(cv.DataError, match="different ideal page"):
        ideals_of({"free": free, "pinned": pinned}, judgments)
    with pytest.raises(cv.DataError, match="different ideal page"):
        ideals_of({"first": first, "free": free, "pinned": pinned}, judgments)


def test_nothing_else_lowers_an_ideal() -> None:
    """Lines that undo what the third system brought give back every ideal, at least."""
    lowered, numbers = 0, gate_or_deep(range(20_100, 20_200), seeds(0, 400, start=20_000))  # 1 in 100 is lowered
    for seed, case in cases(numbers, candidates="judged", capacity="shown", carousels=None):
        runs = [lines for tables in case.systems.values() for lines in tables]
        new = random.Random(seed).choice(runs[-1])["category"]  # shown by the third system alone, unless it is pinned
        runs[:-1] = [[line for line in lines if line["pinned"] or line["category"] != new] for lines in runs[:-1]]
        if len(runs) < 3 or not all(runs):
            continue
        few = replace(case, systems={"a": [runs[0]], "b": [runs[1]]})
        all_three = replace(case, systems=few.systems | {"c": [runs[2]]})
        before, after = results(few), results(all_three)
        if before is None or after is None:
            continue
        was, now = (rules_of(one) for one in (few, all_three))
        lines = [
            {"category": category, "capacity": 9, "personal": False if now.is_personal(category) else None}
            for category in sorted(now.categories(), key=str)
            if now.is_personal(category) > was.is_personal(category)
            or any(was.last_column(category, at) is None is not now.last_column(category, at) for at in case.screens)
        ]
        undone = results(all_three, carousels=frame(lines)) if lines else after
        if undone is None:
            continue
        for name in few.systems:
            ideals = [name for name in columns_of(case) if name.endswith(".ideal")]
            tables = [one[name][0].per_page for one in (before, after, undone)]
            values = [table.sort(keys_of(table)).select(ideals).to_numpy() for table in tables]
            lowered += bool((values[1] < values[0] * (1 - 1e-12)).any())
            assert not (values[2] < values[0] * (1 - 1e-12)).any(), seed
    assert lowered > 0.008 * len(numbers)


def rules_of(case: TinySystems) -> Carousels:
    """What the oracle makes of a case's layouts."""
    grids, by = case.options["grids"], case.options["by"]
    tables = [lines for runs in case.systems.values() for lines in runs]
    pages = [one for lines in tables for one in read_pages(lines, grids, by).values()]
    return Carousels(pages, grids, case.items, case.options["carousels"] or [], case.options["capacity"])


# --- one number, however it is asked for ---


@pytest.mark.parametrize("candidates", ["judged", "displayed"])
def test_explain_and_evaluate_agree(candidates: str) -> None:
    """Page by page, under every policy."""
    compared = 0
    for seed in (numbers := seeds(25, 150, start=30_000)):
        rng, case = random.Random(seed), tiny_systems(seed)
        arguments = arguments_of(case) | {"candidates": candidates}
        metric = rng.choice([one for name, one in arguments["metrics"].items() if name.startswith("N2DCG_cat")])
        layouts = next(iter(arguments.pop("systems").values()))[0]
        compared += agreements({**arguments, "metrics": metric, "layouts": layouts})[0]
    assert compared > 0.67 * len(numbers)


@pytest.mark.parametrize("duplicates", ["best", "first", "every"])
@pytest.mark.parametrize("candidates", ["judged", "displayed"])
def test_explain_and_evaluate_agree_on_bounds(
    monkeypatch: pytest.MonkeyPatch, candidates: str, duplicates: str
) -> None:
    """The same where the search for ideals ends at once, so that they are only bounded."""
    monkeypatch.setattr(first_occurrence, "WIDTH", 0)  # the limit of the search by the rule "first"
    rng = random.Random(5)
    layouts, judgments, items = crowded_pages(rng)
    arguments: dict[str, Any] = {
        "layouts": frame(layouts),
        "judgments": frame(judgments),
        "metrics": cv.metric("N2DCG_cat", gain="linear"),
        "grid": cv.Grid(6, 5, page_size=2),
        "candidates": candidates,
        "duplicates": duplicates,
        "work": 0,
    }
    few = [{"category": "c1", "capacity": 4}, {"category": "c2", "capacity": 3}]
    for more in ({}, {"items": frame(items)}, {"capacity": "shown"}, {"carousels": frame(few), "invalid": "count"}):
        compared, bounded = agreements(arguments | more)
        assert compared > 30
        assert (bounded > 5) == (duplicates != "every"), bounded  # copies that all count do not couple rows


@pytest.mark.parametrize("candidates", ["judged", "displayed"])
def test_past_the_limit_of_work_scores_are_shares_of_the_bound(candidates: str) -> None:
    """The ideal is between the page found and the bound; a score by the page found could be too high."""
    layouts, judgments, items = map(frame, crowded_pages(random.Random(5)))
    settings: dict[str, Any] = {"grid": cv.Grid(6, 5, page_size=2), "gain": "linear", "candidates": candidates}
    proven = cv.evaluate(layouts, judgments, items, **settings).per_page
    pages = cv.evaluate(layouts, judgments, items, work=0, **settings).per_page.with_columns(
        proven=proven["N2DCG_cat.ideal"], proven_score=proven["N2DCG_cat"]
    )
    for line in pages.iter_rows(named=True):
        best, ideal, bound = line["N2DCG_cat.ideal_found"], line["proven"], line["N2DCG_cat.ideal"]
        assert best <= ideal * (1 + 1e-12) <= bound * (1 + 2e-12)
        assert line["N2DCG_cat"] == pytest.approx(line["N2DCG_cat.dcg"] / bound, rel=1e-12)
    bounded = pages.filter("N2DCG_cat.bounded")
    assert bounded.height > 5
    assert (bounded["N2DCG_cat.ideal"] > bounded["N2DCG_cat.ideal_found"]).all()
    assert (bounded["N2DCG_cat"] <= bounded["proven_score"] * (1 + 1e-12)).all()


def test_past_the_limit_of_sets_the_rule_first_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of 4 x 3 with a few repeats, the order of whose rows is not searched for."""
    rng, lines = random.Random(7), []
    for user in range(60):
        rows = [rng.sample(range(9), 3) for _ in range(4)]
        places = [(row, col, item) for row, items in enumerate(rows, 1) for col, item in enumerate(items, 1)]
        lines += [{"user_id": user, "row": row, "col": col, "item_id": item} for row, col, item in places]
    liked = [{"user_id": user, "item_id": item, "relevance": item % 4} for user in range(60) for item in range(9)]
    settings: dict[str, Any] = {"grid": cv.Grid(4, 3, page_size=2), "candidates": "displayed", "duplicates": "first"}
    proven = cv.evaluate(frame(lines), frame(liked), **settings)
    monkeypatch.setattr(first_occurrence, "WIDTH", 0)
    found = cv.evaluate(frame(lines), frame(liked), **settings)
    assert proven.counts["bounded"] == 0 < found.counts["bounded"]
    assert (found.per_page["N2DCG_cat.ideal"] >= proven.per_page["N2DCG_cat.ideal"] * (1 - 1e-12)).all()


def agreements(arguments: dict[str, Any]) -> tuple[int, int]:
    """The number of pages on which explain and evaluate agree, and of ideals that are only bounded."""
    metric = arguments["metrics"]
    try:
        wanted = cv.evaluate(**arguments)
    except cv.DataError:
        with pytest.raises(cv.DataError):
            cv.explain(**arguments)
        return 0, 0
    found = cv.explain(**arguments)
    assert found.evaluation.counts == wanted.counts
    table = wanted.per_page.rename({str(metric): "score", f"{metric}.dcg": "dcg", f"{metric}.ideal": "ideal"})
    keys, columns = keys_of(table), ["status", "score", "dcg", "ideal"]
    table, explained = (one.sort(keys).select(*keys, *columns) for one in (table, found.per_page))
    assert table["score"].is_null().equals(explained["score"].is_null())
    # what is not scored is not explained
    explained = explained.with_columns(
        pl.when(explained["dcg"].is_null()).then(table[name]).otherwise(explained[name]).alias(name)
        for name in ("dcg", "ideal")
    )
    assert not explained.filter(pl.col("dcg").is_null(), pl.col("score") > 0).height
    same_tables(table, explained, 0)
    for line in found.per_page.drop_nulls("ideal").iter_rows(named=True):
        losses = [line[name] for name in LOSSES]
        assert min(losses) >= 0
        assert line["dcg"] + sum(losses) == pytest.approx(max(line["dcg"], line["ideal"]))
    return found.per_page.drop_nulls("ideal").height, wanted.counts["bounded"]


def crowded_pages(rng: random.Random) -> tuple[Lines, Lines, Lines]:
    """Pages of 6 x 5 whose items have several categories each and stand in several rows; judgments and items."""
    labels: list[Id] = [f"c{n}" for n in range(8)]
    homes = {f"i{n}": rng.sample(labels, rng.randint(2, 5)) for n in range(24)}
    layouts: Lines = []
    judgments: Lines = []
    for user in range(40):
        for row, label in enumerate(rng.sample(labels, 6), start=1):
            its = [item for item, its_labels in homes.items() if label in its_labels]
            layouts += [
                {"user_id": user, "row": row, "col": col, "item_id": item, "category": label}
                for col, item in enumerate(rng.sample(its, min(len(its), 5)), start=1)
            ]
        judgments += [{"user_id": user, "item_id": item, "relevance": rng.uniform(0.5, 4)} for item in homes]
    return layouts, judgments, [{"item_id": item, "category": label} for item, its in homes.items() for label in its]


def test_a_mean_does_not_depend_on_the_other_metrics() -> None:
    for seed, case in cases(seeds(12, 80, start=40_000)):
        arguments = arguments_of(case)
        found = results(case)
        if found is None:
            continue
        for one in random.Random(seed).sample(case.options["metrics"], 2):
            alone = results(replace(case, options=case.options | {"metrics": [one]}))
            if alone is None:
                continue
            for name in arguments["systems"]:
                for wanted, result in zip(found[name], alone[name], strict=True):
                    assert result.mean[one[0]] == pytest.approx(wanted.mean[one[0]], nan_ok=True), (seed, one[0])
                    columns = [column for column in columns_of(case) if column in result.per_page.columns]
                    same_tables(result.per_page.select(columns), wanted.per_page.select(columns), seed)


class TestCounts:
    """What is left out is counted, whatever else is asked for; what is not in force is not."""

    LAYOUTS = frame(page("u", "A: a") + page("v", "A: b"))
    ITEMS = frame(members(A="a b"))

    @pytest.mark.parametrize("more", [[], ["2DCG"], ["DCG@3"]])
    def test_a_page_with_nothing_to_arrange(self, more: list[str]) -> None:
        judgments = frame(judge("u", a=1) + judge("v", a=1))
        options: dict[str, Any] = {"metrics": ["N2DCG_cat", *more], "grid": GRID, "candidates": "displayed"}
        assert cv.evaluate(self.LAYOUTS, judgments, **options).counts["no_relevant"] == 1

    @pytest.mark.parametrize("more", [[], ["2DCG"], ["N2DCG"]])
    def test_a_user_without_a_relevant_item_that_has_a_category(self, more: list[str]) -> None:
        judgments = frame(judge("u", a=1) + judge("v", z=1))
        found = cv.evaluate(self.LAYOUTS, judgments, self.ITEMS, metrics=["N2DCG_cat", *more], grid=GRID)
        assert (found.counts["no_category"], found.mean["N2DCG_cat"]) == (1, 1.0)

    def test_a_page_that_is_left_out_is_above_its_ideal_of_nothing(self) -> None:
        layouts, judgments = frame(page("u", "A: z")), frame(judge("u", z=1))
        found = cv.evaluate(layouts, judgments, self.ITEMS, metrics="N2DCG_cat", grid=GRID, invalid="count")
        assert found.per_page["N2DCG_cat"].to_list() == [None]
        assert (found.counts["no_category"], found.counts["above_ideal"]) == (1, 1)

    def test_a_category_that_holds_enough_for_all_that_have_it_is_not_limited(self) -> None:
        layouts, judgments = frame(page("u", "A: a")), frame(judge("u", a=1))
        for room, limited in ((3, 0), (2, 1)):
            lines = frame([{"category": "A", "user_id": "u", "capacity": room}])
            found = cv.evaluate(layouts, judgments, grid=GRID, carousels=lines, capacity="shown")
            assert found.counts["limited"] == limited


def same_tables(one: pl.DataFrame, other: pl.DataFrame, seed: int) -> None:
    assert one.columns == other.columns, seed
    for left, right in zip(one.iter_rows(), other.iter_rows(), strict=True):
        for a, b in zip(left, right, strict=True):
            assert a == b or a == pytest.approx(b, rel=1e-12, abs=1e-14, nan_ok=True), (seed, left, right)


@pytest.mark.parametrize("change", ["order", "names", "batches"])
def test_what_does_not_matter(change: str) -> None:
    """The order of lines, the names of ids, and the size of batches."""
    for seed, case in cases(seeds(12, 80, start=50_000)):
        rng = random.Random(seed)
        found, options = results(case), {}
        other, names = case, dict[Id, str]()
        if change == "order":
            other = reordered(case, rng)
        elif change == "names":
            other, names = renamed(case, rng)
        else:
            options = {"memory": 1e-8}
        again = results(other, **options)
        assert (found is None) == (again is None), seed
        for name, runs in (found or {}).items():
            for one, two in zip(runs, (again or {})[name], strict=True):
                assert one.counts == two.counts, seed
                columns = [*keys_of(one.per_page), "status", "invalid", *columns_of(case)]
                keys, table = keys_of(one.per_page), one.per_page.select(columns)
                if names:
                    ids = {key: [names.get(value) for value in table[key]] for key in keys}
                    table = table.with_columns(pl.Series(key, values) for key, values in ids.items())
                same_tables(table.sort(keys), two.per_page.select(columns).sort(keys), seed)


def reordered(case: TinySystems, rng: random.Random) -> TinySystems:
    def shuffled(lines: Lines) -> Lines:
        return rng.sample(lines, len(lines))

    carousels, items = case.options["carousels"], case.items
    return replace(
        case,
        systems={name: [shuffled(lines) for lines in runs] for name, runs in case.systems.items()},
        judgments=shuffled(case.judgments),
        items=None if items is None else shuffled(items),
        options=case.options | {"carousels": None if carousels is None else shuffled(carousels)},
    )


def renamed(case: TinySystems, rng: random.Random) -> tuple[TinySystems, dict[Id, str]]:
    """Other ids for the same things, whose order is another one too."""
    ids = ("user_id", "page_id", "item_id", "category")
    capacity, carousels, items = case.options["capacity"], case.options["carousels"], case.items
    layouts = [lines for runs in case.systems.values() for lines in runs]
    tables = [case.judgments, items or [], carousels or [], *layouts]
    known = {line[name] for lines in tables for line in lines for name in ids if line.get(name) is not None}
    known |= set(capacity) if isinstance(capacity, dict) else set()
    numbers = rng.sample(range(100, 999), len(known))
    names = {one: f"x{number}" for one, number in zip(sorted(known, key=str), numbers, strict=True)}

    def changed(lines: Lines) -> Lines:
        return [{key: names.get(its, its) if key in ids else its for key, its in line.items()} for line in lines]

    options = case.options | {"carousels": None if carousels is None else changed(carousels)}
    if isinstance(capacity, dict):
        options["capacity"] = {names[label]: room for label, room in capacity.items()}
    other = replace(
        case,
        systems={name: [changed(lines) for lines in runs] for name, runs in case.systems.items()},
        judgments=changed(case.judgments),
        items=None if items is None else changed(items),
        options=options,
    )
    return other, names


def test_an_evaluator_with_collected_tables_equals_compare() -> None:
    """Where there is one grid and no pinned row, what the layouts show is all that capacity="shown" takes from them."""
    compared, numbers = 0, seeds(60, 400, start=60_000)
    for seed, case in cases(numbers, capacity="shown", candidates="judged", carousels=None):
        tables = [lines for runs in case.systems.values() for lines in runs]
        if case.options["by"] or len(tables) < 2 or any(line["pinned"] for lines in tables for line in lines):
            continue
        case = replace(case, items=None)
        found, arguments = results(case), arguments_of(case)
        if found is None or any(one.counts["invalid"] for runs in found.values() for one in runs):
            continue
        metrics = arguments["metrics"]
        layouts = [table for runs in arguments["systems"].values() for table in runs]
        given = {name: value for name, value in arguments.items() if name not in ("systems", "items", "capacity")}
        given |= {"metrics": list(metrics.values()), "carousels": cv.carousels_from_layouts(*layouts)}
        evaluator = cv.Evaluator(items=cv.items_from_layouts(*layouts), **given)
        for wanted, table in zip([one for runs in found.values() for one in runs], layouts, strict=True):
            result = under_names(evaluator.evaluate(table), metrics)
            # with a given items table, users whose relevant items have no category are left out
            columns = columns_of(case)
            scored = result.per_page.select(columns)
            left_out = scored.select(pl.all().is_null())
            same = wanted.per_page.select(pl.when(~left_out[name]).then(pl.col(name)).alias(name) for name in columns)
            same_tables(scored, same, seed)
            compared += scored.height
    assert compared > len(numbers) / 2
