"""What the class of a significance test says of it is what is true of it; a test of one's own needs nothing else."""

import functools
import operator
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from scipy import stats

import carouseval as cv
from carouseval.comparison import tests
from carouseval.comparison.comparison_sums import PairPart, SummedUsers
from carouseval.comparison.pair_sums import PairScores, PairSums
from carouseval.comparison.result_tables import test_text as caption_of
from carouseval.comparison.settings import ComparisonSettings
from carouseval.comparison.significance import chosen_test, p_values
from carouseval.comparison.tests import NamedTest, known_test, listed_tests, register_test
from carouseval.comparison.tests.contract import (
    ColumnTest,
    MeansTest,
    MergedTest,
    RandomDraws,
    SignificanceTest,
    without_ties,
)
from carouseval.comparison.tests.function import FunctionTest
from carouseval.evaluation.exact_sums import Exact
from carouseval.evaluation.mean_estimates import MeanEstimate
from carouseval.metrics.grid import Array
from carouseval.settings import setting_doc
from tests.command_line import run
from tests.comparison.own_tests import Largest, Signs, registered
from tests.comparison.test_pair_tests import GRID, METRIC, compare

NAMES = get_args(NamedTest)
DRAWS = RandomDraws(499, 3)
NOT_TESTS = {"__init__", "contract", "counted_draws", "function"}


def the_test(name: str) -> SignificanceTest:
    found = known_test(name)
    assert found is not None
    return found


def differences(users: int = 60, pairs: int = 2, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(0.3, 1, (users, pairs))


def ids(users: int) -> pl.Series:
    return pl.Series([f"u{at}" for at in range(users)])


def scores(users: int, weighted: bool, seed: int = 0, effect: float = 0.1) -> PairScores:
    rng = np.random.default_rng(seed)
    baseline = rng.random((users, 1))
    weights = rng.integers(0, 4, users) / 2 if weighted else None
    return PairScores(baseline, baseline + rng.normal(effect, 1, (users, 1)).round(2), weights)


def test_a_file_a_test() -> None:
    """Each is known by the name of its file, and listed unless others turn into it."""
    folder = Path(str(tests.__file__)).parent
    files = {file.stem for file in folder.glob("*.py")} - NOT_TESTS
    assert {name.replace(" ", "_") for name in (*NAMES, "crossed t")} == files
    found = [the_test(name) for name in (*NAMES, "crossed t")]
    assert [type(test).__module__.rpartition(".")[2] for test in found] == [
        test.name.replace(" ", "_") for test in found
    ]
    assert tuple(test.name for test in listed_tests()) == NAMES
    assert len({test.words for test in found}) == len({test.described for test in found}) == len(found)


def test_lists_of_tests_are_those_of_the_classes() -> None:
    (doc,) = (setting_doc(setting) for setting in fields(ComparisonSettings) if setting.name == "test")
    for test in listed_tests():
        assert test.described in doc
        assert (f"not supported by {test.name!r}" in doc) == (not test.takes_weights)
    refused = run("compare", "a=a.csv", "b=b.csv", "c.csv", "--test", "crossed t")
    assert refused.returncode == 2
    listed = ", ".join(repr(name) for name in NAMES[:-1]) + f" or {NAMES[-1]!r}"
    assert listed in " ".join(refused.stderr.split())
    with pytest.raises(cv.ParameterError, match=listed.replace(" or", ",")):
        chosen_test("crossed t")  # type: ignore[arg-type]


def test_the_table_of_the_documentation() -> None:
    """docs/statistics.md says of every test what its class says."""
    collects = "with `collect=True`"
    merged = {(True, True): "yes", (True, False): f"yes, with `weight` only {collects}", (False, False): collects}
    lines = []
    for name, test in [*((f"`{test.name}`", test) for test in listed_tests()), ("a function", FunctionTest("any"))]:
        turned = test.over_runs()
        cells = ["yes" if test.takes_weights else "no", "no" if turned is None else f"turns into {turned.name}"]
        parts = merged[test.merges(weighted=False), test.merges(weighted=True)]
        lines.append(f"  | {' | '.join([name, *cells, parts])} |")
    folder = Path(__file__).parents[2] / "docs"
    assert "\n".join(["  |---|---|---|---|", *lines, ""]) in (folder / "statistics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_weights(name: str) -> None:
    """Taken or refused by name; those of all users alike change nothing, others do."""
    own: Any = {"test": name, "permutations": 499}
    rng = np.random.default_rng(5)
    old = rng.random(40) + 1
    values = {"old": old, "new": old + rng.normal(0.2, 0.5, 40)}

    def p(weights: Array | None) -> float:
        return float(weighted(values, weights, **own)["p"][0])

    if not the_test(name).takes_weights:
        with pytest.raises(cv.ParameterError, match=f"test={name!r} does not support weights"):
            p(np.ones(40))
        return
    assert p(np.full(40, 2.5)) == pytest.approx(p(None), rel=1e-9)
    assert p(np.arange(40) / 8) != p(None)


def weighted(values: dict[str, Array], weights: Array | None, **options: Any) -> pl.DataFrame:
    """Pairs of systems with these scores of users."""
    users = ids(len(next(iter(values.values()))))
    layouts = {
        name: pl.DataFrame({"user_id": users, "row": 1, "col": 1, "item_id": f"item of {name}"}) for name in values
    }
    judgments = pl.concat(
        pl.DataFrame({"user_id": users, "item_id": f"item of {name}", "relevance": own}) for name, own in values.items()
    )
    elsewhere = pl.DataFrame({"user_id": users, "item_id": "elsewhere", "relevance": 1.0})
    judgments = pl.concat([judgments, elsewhere])
    if weights is not None:
        by_user = pl.DataFrame({"user_id": users, "importance": weights})
        judgments, options = judgments.join(by_user, on="user_id"), options | {"weight": "importance"}
    return cv.compare(layouts, judgments, metrics=METRIC, grid=GRID, **options).pairs


@pytest.mark.parametrize("name", [None, *NAMES])
def test_runs(name: Any) -> None:
    """Where runs vary, a test turns into one that takes them, or is refused by name; the words say which."""
    rng = np.random.default_rng(2)
    old = rng.random((30, 1)) + 1
    runs = {"old": old, "new": old + rng.normal(0, 0.1, (30, 3)) + rng.normal(0.1, 0.1, (1, 3))}
    turned = the_test("crossed t") if name is None else the_test(name).over_runs()
    if turned is None:
        with pytest.raises(cv.ParameterError, match=f"test={name!r} takes runs as given, and new has several"):
            several_runs(runs, test=name)
    else:
        assert turned.takes_runs
        found = several_runs(runs, test=name)
        assert found.pairs["test"].to_list() == [turned.name]
        assert "Users and runs both vary" in found.summary
        assert turned.words in found.to_markdown()
        pair = PairScores(runs["old"], runs["new"])
        assert found.pairs["p"][0] == pytest.approx(p_of_pair(turned, pair, ids(30)))
    fixed = several_runs(runs, test=name, runs="fixed")
    assert fixed.pairs["test"].to_list() == [name or "permutation"]
    assert "conditional on these runs" in fixed.summary
    assert the_test(name or "permutation").words in fixed.to_markdown()
    if turned is not None:
        assert found.pairs["p"][0] > several_runs(runs, test="t", runs="fixed").pairs["p"][0]


def several_runs(scores_of: dict[str, Array], **options: Any) -> cv.Comparison:
    """A comparison of systems with these scores (users, runs)."""
    layouts: dict[str, Any] = {}
    judged = []
    for name, table in scores_of.items():
        layouts[name] = []
        for at, values in enumerate(table.T):
            frame = pl.DataFrame({"user_id": ids(len(values)), "row": 1, "col": 1, "item_id": f"{name} {at}"})
            layouts[name].append(frame)
            judged.append(frame.select("user_id", "item_id", relevance=pl.Series(values)))
    judged.append(judged[0].with_columns(item_id=pl.lit("elsewhere"), relevance=pl.lit(1.0)))
    return cv.compare(layouts, pl.concat(judged), metrics=METRIC, grid=GRID, permutations=99, **options)


@pytest.mark.parametrize("name", NAMES)
def test_clusters(name: Any) -> None:
    """Users of a cluster have one sign, as one user with the sum of their differences has; or clusters are refused."""
    table, clusters = differences(30, 3), pl.Series(np.arange(30) // 3)
    if not the_test(name).takes_clusters:
        with pytest.raises(cv.ParameterError, match=f"test='{name}' takes users as independent; .* use 'permutation'"):
            p_values(name, table, ids(30), 499, clusters=clusters)
        return
    found = p_values(name, table, ids(30), 499, clusters=clusters)
    assert found.tolist() == p_values(name, table.reshape(10, 3, 3).sum(axis=1), pl.Series(range(10)), 499).tolist()
    assert found.tolist() != p_values(name, table, ids(30), 499).tolist()
    assert (
        p_values(name, table, ids(30), 499, clusters=ids(30)).tolist() == p_values(name, table, ids(30), 499).tolist()
    )
    one = pl.Series(["all"] * 30)
    assert np.isnan(p_values(name, table, ids(30), 499, clusters=one)).all()
    with pytest.raises(cv.ParameterError, match="clusters must have one id for each of the 30 lines"):
        p_values(name, table, ids(30), 499, clusters=one[:3])


@pytest.mark.parametrize("name", NAMES)
def test_random_draws(name: Any) -> None:
    """The seed and the number of draws change what is random, and nothing else."""
    one, *others = (
        p_values(name, differences(30, 5), ids(30), draws, seed).tolist()
        for draws, seed in ((99, 0), (99, 1), (999, 0))
    )
    assert {other != one for other in others} == {the_test(name).is_random}
    rng = np.random.default_rng(0)
    values = {"old": np.ones(30), "new": rng.normal(1.1, 0.3, 30).clip(0)}
    done = compare(values, test=name, permutations=99)
    from carouseval.show.terminal.comparison import comparison as draw

    assert ("99 random draws, seed 0" in str(draw(done))) == the_test(name).is_random


@pytest.mark.parametrize("name", NAMES)
def test_smallest_p_values(name: Any) -> None:
    """None is smaller, and it is reached; with draws enough for all patterns of signs, about."""
    for users in (4, 200):
        table = 1 + differences(users, 1) / 1_000
        found = p_values(name, table, ids(users), 999)[0]
        least = the_test(name).smallest_p_value(users, 999)
        assert found >= 0.9 * least
        if the_test(name).is_random and (users == 200 or name == "permutation"):
            assert found == pytest.approx(least, rel=0.2)
        elif not the_test(name).is_random:
            assert least == 0


def merged_p_value(test: SignificanceTest, scores_: PairScores, users: pl.Series) -> float:
    """The p-value of users in parts, each as it arrives from another process, in two passes as on an engine."""
    parts = [np.arange(len(users)) % 5 == at for at in range(6)]  # the last is empty

    def some(at: Array) -> PairScores:
        weights = None if scores_.weights is None else scores_.weights[at]
        return PairScores(scores_.baseline[at], scores_.system[at], weights)

    whole = sent([part_of(some(at)) for at in parts])
    if isinstance(test, MeansTest):
        return test.p_of_means(whole.sums.means)
    assert isinstance(test, MergedTest)
    known = pickle.loads(pickle.dumps(test.known(SummedUsers(whole))))
    sums = []
    for at in parts:
        own = without_ties(some(at).scaled_by_weight(whole.sums.mean_weight)[:, None])
        sums.append(test.sums(own, users.filter(pl.Series(at)), known, DRAWS))
    return float(test.p_of_sums(sent(sums))[0])


def part_of(pair: PairScores) -> PairPart:
    weights = 1.0 if pair.weights is None else pair.weights
    largest = float(np.abs(pair.differences * weights).max(initial=0.0))
    return PairPart(PairSums.of(pair), (Exact(), Exact()), largest)


def p_of_pair(test: SignificanceTest, pair: PairScores, users: pl.Series) -> float:
    """The p-value of a pair whose users are at hand."""
    if isinstance(test, MeansTest):
        return test.p_of_means(PairSums.of(pair).means)
    return float(test.of_differences(pair.scaled_by_weight()[:, None], users, DRAWS)[0])


def sent(parts: list[Any]) -> Any:
    return functools.reduce(operator.add, pickle.loads(pickle.dumps(parts)))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [*NAMES, "crossed t", "signs"])
def test_merged(name: str, weighted: bool, own_tests: None) -> None:
    """Where the class says that parts add up, they do, sums to the bit; where it does not, they do not."""
    test = the_test(name)
    for users in (2, 3, 50, 200):
        pair = scores(users, weighted, users)
        expected = p_of_pair(test, pair, ids(users)) if test.takes_weights or not weighted else None
        if test.merges(weighted=weighted):
            found = merged_p_value(test, pair, ids(users))
            assert found == expected
    if isinstance(test, MergedTest) and not test.merges(weighted=weighted):
        with pytest.raises(cv.ParameterError, match="to which parts do not add up with weight"):
            merged_p_value(test, scores(5, weighted, effect=2.0), ids(5))
    assert test.merges(weighted=weighted) == (name not in ("wilcoxon", *(["bootstrap"] if weighted else [])))


@pytest.fixture
def own_tests() -> Iterator[None]:
    with registered():
        yield


def test_a_test_of_ones_own(own_tests: None) -> None:
    """Its name, words and limits are known wherever tests are."""
    rng = np.random.default_rng(1)
    values = {"old": np.full(30, 1.0), "new": 1 + rng.normal(0.2, 0.4, 30).clip(-1)}
    own = values["new"] - values["old"]
    signs: Any = "signs"
    done = compare(values, test=signs)
    plus, minus = int((own > 0).sum()), int((own < 0).sum())
    assert done.pairs["p"].to_list() == [pytest.approx(stats.binomtest(plus, plus + minus).pvalue)]
    assert done.pairs["test"].to_list() == ["signs"] == [done.config["test"]]
    assert "(sign test by user, p < 0.05)" in done.to_markdown()
    assert caption_of(done.pairs, done.config) == "sign test by user, p < 0.05"
    assert done.plan(0.1).table["users_needed"][0] > 5
    largest: Any = "largest"
    assert compare(values, test=largest).pairs["p"].to_list() == [pytest.approx(Largest().p_value(own))]
    with pytest.raises(cv.ParameterError, match="test='largest' does not support weights"):
        weighted(values, np.ones(30), test=largest)
    with pytest.raises(cv.ParameterError, match="test='signs' takes runs as given, and new has several"):
        several_runs({"old": np.ones((5, 1)), "new": np.ones((5, 2))}, test=signs)
    with pytest.raises(cv.ParameterError, match="test='signs' takes users as independent"):
        p_values(signs, differences(), ids(60), clusters=ids(60))
    with pytest.raises(cv.ParameterError, match=r"'bootstrap', 'signs', 'largest' or a function.*Did you mean 'signs'"):
        compare(values, test="signz")


class Beyond(MergedTest):
    """The share of users beyond some number that must be known of all users."""

    name, words = "beyond", "test of users far out"

    def __init__(self, what: str) -> None:
        self.what = what

    def known(self, everyone: Any) -> Array:
        return np.asarray(getattr(everyone, self.what)) / 2

    def sums(self, differences: Array, users: pl.Series, known: Array, draws: RandomDraws) -> Array:
        return np.array([(np.abs(differences) > known).sum(axis=0), np.full(differences.shape[1], len(differences))])

    def p_of_sums(self, sums: Array) -> list[float]:
        return [float(far / users) for far, users in sums.T]


@pytest.mark.parametrize("what", ["largest", "mean", "error", "furthest"])
def test_what_is_known_of_all_users(what: str) -> None:
    """The same of users at hand and of sums; with weights, what sums do not tell is refused, never another number."""
    test = Beyond(what)
    assert merged_p_value(test, scores(50, False), ids(50)) == p_of_pair(test, scores(50, False), ids(50))
    pair = scores(50, True)
    if what in ("largest", "mean"):
        assert merged_p_value(test, pair, ids(50)) == p_of_pair(test, pair, ids(50))
        return
    said = "their standard error" if what == "error" else "their largest deviation from the mean"
    with pytest.raises(cv.ParameterError) as refused:
        merged_p_value(test, pair, ids(50))
    assert str(refused.value) == (
        f"test: it needs to know of all users {said}, to which parts do not add up with weight. Its class must say "
        "merges_weights = False."
    )


@contextmanager
def registered_alone(test: type[SignificanceTest]) -> Iterator[None]:
    register_test(test)
    try:
        yield
    finally:
        del tests._registered[test.name]


class Error(MeansTest):
    """A test of means that takes several runs as it takes one."""

    name, words = "error", "test of the error"

    def over_runs(self) -> "Error":
        return self

    def p_value(self, estimate: MeanEstimate) -> float:
        return min(1.0, estimate.error)


def test_one_class_for_one_run_and_for_several() -> None:
    name: Any = "error"
    rng = np.random.default_rng(2)
    old = rng.random((30, 1)) + 1
    runs = {"old": old, "new": old + rng.normal(0.1, 0.1, (30, 3))}
    with registered_alone(Error):
        one = compare({name: table[:, 0] for name, table in runs.items()}, test=name)
        assert one.pairs["p"].to_list() == one.pairs["error"].to_list()
        assert "The result is conditional on this run of each system." in one.summary
        several = several_runs(runs, test=name)
        assert several.pairs["p"].to_list() == several.pairs["error"].to_list()
        assert "Users and runs both vary; old has one run" in several.summary
        assert "conditional on these runs" in several_runs(runs, test=name, runs="fixed").summary


class Crossed(Largest):
    name = "crossed"

    def over_runs(self) -> Any:
        return self


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (int, "register_test takes a class derived from MergedTest, MeansTest or ColumnTest, found <class 'int'>."),
        (type("A", (Signs,), {"name": 5}), "register_test: A needs name = '...', found 5."),
        (type("A", (Signs,), {"words": ""}), "register_test: A needs words = '...', found ''."),
        (type("A", (MergedTest,), {"name": "a"}), "register_test: A must define p_of_sums and sums."),
        (
            type("A", (ColumnTest,), {"name": "a", "p_value": None}),
            "register_test: A needs words = '...', found None.",
        ),
        (
            Crossed,
            "register_test: over_runs of Crossed must return a MeansTest, the only kind that knows how runs vary, or "
            "None, found Crossed.",
        ),
    ],
)
def test_classes_that_lack_something_are_refused_where_they_are_registered(test: Any, said: str) -> None:
    with pytest.raises(cv.ParameterError) as refused:
        register_test(test)
    assert str(refused.value) == said


@pytest.mark.parametrize("test", [Signs, Signs()])
def test_a_class_is_chosen_by_its_name(test: Any) -> None:
    with pytest.raises(cv.ParameterError, match=r"write @register_test above its class, and test='signs'\."):
        compare({"old": np.ones(9), "new": np.arange(9) / 3}, test=test)


def test_results_keep_the_name_of_a_test_that_is_not_registered_here(own_tests: None) -> None:
    signs: Any = "signs"
    done = compare({"old": np.ones(9), "new": np.arange(9) / 3}, test=signs)
    kept = tests._registered.pop("signs")
    assert "(signs paired by user, p < 0.05)" in done.to_markdown()
    tests._registered["signs"] = kept


def test_names_are_taken_once(own_tests: None) -> None:
    again = register_test(Signs)  # as in a notebook
    assert isinstance(known_test("signs"), again)
    for name in ("permutation", "crossed t", "signs"):
        other = type("Other", (Largest,), {"name": name})
        with pytest.raises(cv.ParameterError, match=f"register_test: there is a test {name!r}; choose another name"):
            register_test(other)
    assert type(the_test("permutation")).__name__ == "Permutation"


@pytest.mark.parametrize("name", NAMES)
def test_differences_beyond_floats(name: str) -> None:
    """Scaled by weight, they may be; means and their errors are taken of scores on a scale of their own."""
    pair = PairScores(np.zeros((3, 1)), np.full((3, 1), 1e308), np.array([0.1, 0.1, 5.0]))
    if isinstance(the_test(name), MeansTest):
        assert 0 <= p_of_pair(the_test(name), pair, ids(3)) <= 1
    else:
        refusal = r"differences must be finite, found inf at \[2, 0\]"
        with pytest.raises(cv.ParameterError, match=refusal), np.errstate(over="ignore"):
            p_of_pair(the_test(name), pair, ids(3))


def permutation(_: Array) -> float:
    return 0.25


def test_a_function_is_never_named_as_a_test_of_ours() -> None:
    done = compare({"old": np.ones(9), "new": np.arange(9) / 3}, test=permutation)
    assert done.pairs.select("test", "p").rows() == [("function permutation", 0.25)]
    assert "(function permutation paired by user, p < 0.05)" in done.to_markdown()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (MergedTest, "p_values"),
        (Signs, "p_values"),
        (Largest, "of_differences"),
        (MeansTest, "p_of_means"),
        (Largest, "merges"),
    ],
)
def test_one_machine_cannot_have_a_p_value_of_its_own(kind: type, name: str) -> None:
    """What would make a test differ between one machine and an engine cannot be written."""
    with pytest.raises(cv.ParameterError, match=f"Odd: {name} is the same for all tests of its kind; leave it out"):
        type("Odd", (kind,), {name: lambda *_, **__: 0.5})
