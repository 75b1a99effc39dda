"""Every table of results has the columns that are declared for it, and nothing else knows of columns by itself."""

import re
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import carouseval as cv
from carouseval.comparison import result_columns as of_comparisons
from carouseval.comparison.power_analysis import PowerAnalysis
from carouseval.errors import ParameterError
from carouseval.evaluation import per_page
from carouseval.evaluation import result_columns as of_evaluations
from carouseval.evaluation.result_columns import PER_PAGE, names_by
from carouseval.evaluation.result_table import Present, ResultColumn, ResultTable, When

DOCS = Path(__file__).parent.parent / "docs"
TEXT, NUMBER, INTEGER, BOOLEAN = pl.String(), pl.Float64(), pl.Int64(), pl.Boolean()
SCORE_PARTS = {"": NUMBER, ".dcg": NUMBER, ".ideal": NUMBER}


def tables(system: str, **sizes: Any) -> tuple[dict[str, pl.DataFrame], pl.DataFrame, pl.DataFrame]:
    data = cv.sample(12, systems=[system, "prod"], seed=3, **sizes)
    layouts = {name: pl.DataFrame(lines) for name, lines in data.layouts.items()}
    return layouts, pl.DataFrame(data.judgments), pl.DataFrame(data.items)


def assert_declared(frame: pl.DataFrame, table: ResultTable, present: Present, ids: dict[str, Any]) -> None:
    assert dict(frame.schema) == table.types(present, ids), table.name
    assert frame.columns == [*table.types(present, ids)], table.name


def test_all_tables_with_all_settings() -> None:
    """The columns as people have them: no change of a declaration goes unnoticed."""
    layouts, judgments, items = tables("new", pages=2, devices=True, missing=0.1, ids="int")
    layouts = {name: frame.with_columns(importance=1.0 + pl.col("row") * 0) for name, frame in layouts.items()}
    settings: dict[str, Any] = {
        "metrics": ["N2DCG_cat", "2DCG", "Coverage@3x5"],
        "by": "device",
        "weight": "importance",
        "missing_pages": "skip",
        "grid": cv.Grid(rows=20, cols=24, page_size=5),
    }
    runs: dict[str, Any] = {"new": [layouts["new"], layouts["prod"]], "prod": layouts["prod"]}
    comparison = cv.compare(runs, judgments, items, margin=0.01, baseline="prod", **settings)
    evaluation = comparison.evaluations["new"][0]
    user, page = {"user_id": INTEGER}, {"page_id": INTEGER}
    device, weight, count = {"device": TEXT}, {"weight": NUMBER}, {"pages": pl.UInt32()}
    scores = {f"N2DCG_cat{part}": kind for part, kind in SCORE_PARTS.items()} | {"2DCG": NUMBER}
    counted = {"duplicates": INTEGER, "unjudged": INTEGER, "invalid": BOOLEAN}
    means = {"N2DCG_cat": NUMBER, "2DCG": NUMBER}
    intervals = {f"{name}{end}": NUMBER for name in means for end in ("", ".low", ".high")}
    sizes = {"users": INTEGER, "pages": INTEGER}
    interval = {"low": NUMBER, "high": NUMBER}
    pairs = {"metric": TEXT, "baseline": TEXT, "system": TEXT, "difference": NUMBER, **interval, "error": NUMBER}
    pairs |= dict.fromkeys(("run_error", "df", "run_df", "lift", "lift_low", "lift_high", "effect"), NUMBER)
    pairs |= {"wins": INTEGER, "ties": INTEGER, "losses": INTEGER, "detectable": NUMBER, "users": INTEGER}
    pairs |= {"few_users": BOOLEAN, "break_even": NUMBER, "test": TEXT, "p": NUMBER, "p_adjusted": NUMBER}
    pairs |= {"significant": BOOLEAN, "not_inferior": BOOLEAN}
    systems = {"system": TEXT, "metric": TEXT, "mean": NUMBER, **interval, "users": INTEGER, "runs": INTEGER}
    systems |= {"spread": NUMBER, "left_out": INTEGER, "few_users": BOOLEAN}
    systems |= {"relevant_shown": NUMBER, "judged_share": NUMBER}
    expected: list[tuple[pl.DataFrame, dict[str, Any]]] = [
        (evaluation.per_page, user | page | device | weight | {"status": TEXT} | scores | counted),
        (evaluation.per_user, user | count | means | weight),
        (
            evaluation.users_by(["device", "invalid"]),
            user | device | {"invalid": BOOLEAN} | count | means | weight | {f"{one}.weight": NUMBER for one in means},
        ),
        (evaluation.segments, device | sizes | intervals),
        (evaluation.segment_means, device | sizes | means),
        (evaluation.to_frame(), device | {"metric": TEXT, "mean": NUMBER, **interval} | sizes),
        (comparison.pairs, pairs),
        (comparison.segments, device | pairs),
        (comparison.to_frame(), device | pairs),
        (comparison.systems, systems),
        (comparison.per_user, {"system": TEXT} | user | means | weight),
        (
            comparison.plan(0.1).table,
            {"metric": TEXT, "baseline": TEXT, "system": TEXT, "users": INTEGER, "deviation": NUMBER}
            | {"run_error": NUMBER, "detectable": NUMBER, "users_needed": INTEGER},
        ),
    ]
    for frame, columns in expected:
        assert [*frame.schema.items()] == [*columns.items()]
        assert frame.height


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "pages and segments": ({"pages": 2, "devices": True}, {"by": "device", "grid": cv.Grid(20, 24, page_size=5)}),
    "ideals without proof": ({}, {"work": 0.001, "metrics": ["N2DCG_cat", "N2DCG"]}),
}


@pytest.mark.parametrize("case", CASES)
def test_tables_have_what_is_declared(case: str) -> None:
    sizes, settings = CASES[case]
    layouts, judgments, items = tables("new", missing=0.1, **sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        comparison = cv.compare(layouts, judgments, items, test="t", **settings)
    evaluation = comparison.evaluations["new"][0]
    by = evaluation.by
    holds = [When.PAGE_IDS] * ("pages" in sizes)
    bounded = [name for name in evaluation.metrics if f"{name}.bounded" in evaluation.per_page.columns]
    assert bool(bounded) == ("work" in settings)
    metrics = {name: [When.IDEAL] + [When.UNPROVEN] * (name in bounded) for name in evaluation.metrics}
    present = Present(by, metrics, ["new", "prod"], holds)
    ids = {"user_id": TEXT, "page_id": TEXT}
    declared: list[tuple[pl.DataFrame, ResultTable]] = [
        (evaluation.per_page, PER_PAGE),
        (evaluation.per_user, of_evaluations.PER_USER),
        (evaluation.to_frame(), of_evaluations.MEANS),
        (comparison.systems, of_comparisons.SYSTEMS),
        (comparison.pairs, of_comparisons.PAIRS),
        (comparison.per_user, of_comparisons.PER_USER),
        (comparison.plan(0.1).table, of_comparisons.PLAN),
    ]
    if by:
        declared += [(evaluation.segments, of_evaluations.SEGMENTS), (comparison.segments, of_comparisons.SEGMENTS)]
        declared += [(evaluation.segment_means, of_evaluations.SEGMENT_MEANS)]
    else:
        for frame in (evaluation.segments, evaluation.segment_means, comparison.segments):
            assert not frame.columns
    if "work" not in settings:
        sensitivity = cv.sensitivity(layouts, judgments, items, discounts=["d_a"], **settings)
        explanation = cv.explain(layouts["new"], judgments, items, **settings)
        declared += [(sensitivity.table, of_comparisons.SENSITIVITY), (explanation.per_page, of_evaluations.LOSSES)]
        declared += [(explanation.worst, of_evaluations.WORST), (explanation.cells, of_evaluations.CELLS)]
        declared += [(explanation.rows, of_evaluations.ROWS)]
        shares = Present(by, holds=[When.MISSING])
        assert_declared(explanation.to_frame(), of_evaluations.SHARES, shares, ids)
    for frame, table in declared:
        assert_declared(frame, table, present, ids)


@pytest.fixture
def one_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that the table of pages makes, but that nobody declared."""
    made = per_page._attributes
    monkeypatch.setattr(per_page, "_attributes", lambda *given: [*made(*given), pl.Series("new", given[1].user)])


@pytest.fixture
def declared(one_more: None) -> Iterator[None]:
    """The same column, declared."""
    before = PER_PAGE.columns
    object.__setattr__(PER_PAGE, "columns", (*before, ResultColumn("new", pl.UInt32(), "something new")))
    yield
    object.__setattr__(PER_PAGE, "columns", before)


def score() -> pl.DataFrame:
    layouts, judgments, items = tables("new")
    return cv.evaluate(layouts["new"], judgments, items).per_page


@pytest.mark.usefixtures("one_more")
def test_a_column_that_is_not_declared_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"^Evaluation.per_page: column 'new' is not declared for it\. .*result_columns"
    ):
        score()


@pytest.mark.usefixtures("declared")
def test_a_column_that_is_declared_is_there() -> None:
    assert score().schema["new"] == pl.UInt32()
    assert score().columns[-1] == "new"


def test_tables_lack_nothing_and_hold_what_they_say() -> None:
    table = ResultTable("a table", "a line", (ResultColumn("a", INTEGER, "a"), ResultColumn("b", TEXT, "b")))
    with pytest.raises(TypeError, match=r"^a table: column 'b' is declared for it, but was not made\."):
        table.arranged(pl.DataFrame({"a": [1]}), Present())
    with pytest.raises(TypeError, match=r"^a table: column 'b' is declared for it, but was not made\."):
        table.of_lines([{"a": 1}], Present())
    with pytest.raises(TypeError, match=r"^a table: column 'c' is not declared for it\."):
        table.of_lines([{"a": 1, "b": "x", "c": 0}], Present())
    with pytest.raises(TypeError, match=r"^a table: column 'b' holds Int64, declared is String\.$"):
        table.arranged(pl.DataFrame({"a": [1], "b": [1]}), Present())
    assert table.arranged(pl.DataFrame({"b": ["x"], "a": [1]}), Present()).columns == ["a", "b"]


def test_segments_are_called_otherwise_than_columns() -> None:
    layouts, judgments, items = tables("new")
    own = of_evaluations.own_names(of_evaluations.EVALUATION_TABLES)
    assert {"status", "pages", "item_order", "nothing_to_show"} <= own
    of_metric = names_by("N2DCG_cat")
    assert {"N2DCG_cat", "N2DCG_cat.low", "N2DCG_cat.pages", "N2DCG_cat.unjudged_gain"} <= of_metric
    for name in own | of_metric:
        with pytest.raises(ParameterError, match=re.escape(f"by={name!r} is a column of the results")):
            cv.evaluate(layouts["new"], judgments, items, by=name)
    for name in of_comparisons.NAMES:
        with pytest.raises(ParameterError, match=re.escape(f"by={name!r} is a column of the results")):
            cv.compare(layouts, judgments, items, by=name)
        with pytest.raises(ParameterError, match=f"systems: {name!r} is a column of the results"):
            cv.compare({name: layouts["new"], "prod": layouts["prod"]}, judgments, items)
    assert {"flips", "wins", "not_inferior", "run", "judged_share"} <= of_comparisons.NAMES


def test_systems_are_called_otherwise_than_segments_where_both_are_columns() -> None:
    layouts, judgments, items = tables("new", devices=True)
    settings: dict[str, Any] = {"by": "device", "grid": cv.Grid(rows=20, cols=24, page_size=5)}
    systems = {"device": layouts["new"], "prod": layouts["prod"]}
    with pytest.raises(ParameterError, match=r"^systems: 'device' is the column of segments, too \(by\); choose"):
        cv.sensitivity(systems, judgments, items, **settings)
    assert not cv.compare(systems, judgments, items, permutations=99, **settings).segments.is_empty()


def test_systems_may_have_any_other_name() -> None:
    """Also names like those of columns by system, while systems are compared."""
    layouts, judgments, items = tables("new")
    plain = cv.compare(layouts, judgments, items, permutations=99)
    for new, prod in (("mean", "pages"), ("prod.run 0", "prod"), ("prod.unjudged_gain", "prod"), ("weight.run 0", "ü")):
        renamed = cv.compare({new: layouts["new"], prod: layouts["prod"]}, judgments, items, permutations=99)
        names = pl.col("system", "baseline").replace({new: "new", prod: "prod"})
        assert renamed.pairs.with_columns(names).equals(plain.pairs)


def test_the_page_of_columns_is_up_to_date(tmp_path: Path) -> None:
    runpy.run_path(str(DOCS / "result_columns.py"))["main"](tmp_path)
    page = (tmp_path / "columns.md").read_text(encoding="utf-8")
    assert page == (DOCS / "columns.md").read_text(encoding="utf-8"), "run `make pictures`"
    for table in (*of_evaluations.EVALUATION_TABLES, *of_comparisons.COMPARISON_TABLES):
        (section,) = re.findall(rf"^## `{re.escape(table.name)}`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
        assert re.findall(r"^\| `(.*?)`", section, re.MULTILINE) == [column.name for column in table.columns]


DOCUMENTED: list[tuple[type, str, ResultTable, set[str]]] = [  # and what else the text names
    (cv.Evaluation, "per_page", PER_PAGE, set()),
    (cv.Comparison, "systems", of_comparisons.SYSTEMS, set()),
    (cv.Comparison, "pairs", of_comparisons.PAIRS, {"simultaneous"}),
    (cv.Sensitivity, "table", of_comparisons.SENSITIVITY, set()),
    (PowerAnalysis, "table", of_comparisons.PLAN, set()),
]


@pytest.mark.parametrize(("result", "attribute", "table", "others"), DOCUMENTED)
def test_docstrings_name_all_columns(result: type, attribute: str, table: ResultTable, others: set[str]) -> None:
    described = re.findall(rf"^    {attribute} : .*?\n(.*?)(?=^    \w|^    -|^$)", result.__doc__ or "", re.M | re.S)
    (text,) = described or [getattr(result, attribute).__doc__]
    named = set(re.findall(r"``\.?([a-z_]+)``", text))
    ids = {"user_id", "page_id"}
    parts = {name.partition(".")[2] for column in table.columns if "." in (name := column.name)}
    assert named - others == (table.own_names - ids) | parts


def test_columns_are_named_in_one_place() -> None:
    """No other file of ``src`` has a name by metric, such as ``N2DCG.ideal``, put together by hand."""
    source = DOCS.parent / "src" / "carouseval"
    parts = "|".join(sorted(name.partition(".")[2] for name in names_by("metric") if "." in name))
    by_hand = re.compile(rf"""\}}\.({parts})["']""")
    found = {path.name for path in source.rglob("*.py") if by_hand.search(path.read_text(encoding="utf-8"))}
    assert found == {"columns.py"}
    assert not [path for path in source.rglob("*.py") if r"\0{" in path.read_text(encoding="utf-8")]
