"""Messages: what Python reads never has the marks of fields, whatever is nested, quoted, pickled or forged."""

import copy
import inspect
import itertools
import json
import logging
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import carouseval as cv
from carouseval.cli.wording import with_options
from carouseval.errors import DataError, ParameterError, warn
from carouseval.evaluation.page_view import first_page_text
from carouseval.messages import Expression, Field, Message, function, nested, setting
from carouseval.tables.columns import Defect
from tests.message_fields import PYTHON_ONLY, Called, calls, names_of_settings, options_of_all_commands, strings
from tests.public_names import members, public_callables

RESERVED = re.compile("[\ufdd0-\ufdef]")
TOO_FEW = f"Set {setting('permutations')} to 600, or use {setting('test', 't')}."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (setting("permutations"), "permutations"),
        (setting("permutations", 600), "permutations=600"),
        (setting("no_relevant", "skip", "zero"), "no_relevant='skip' or 'zero'"),
        (setting("grades", (1, 10, 45)), "grades=(1, 10, 45)"),
        (
            setting("columns", {"user_id": "customer", "row": "it's"}),
            "columns={'user_id': 'customer', 'row': \"it's\"}",
        ),
        (setting("columns", {"user_id": "customer", ...: ...}), "columns={'user_id': 'customer', ...}"),
        (setting("grid", Expression("cv.Grid(rows=1)")), "grid=cv.Grid(rows=1)"),
        (setting("grid", {"it's": Expression("cv.Grid(rows=1)")}), 'grid={"it\'s": cv.Grid(rows=1)}'),
        (setting("capacity", text="capacity="), "capacity="),
        (function("judgments_from_events"), "judgments_from_events"),
    ],
    ids=itertools.count(),  # marks have a key of the process
)
def test_fields_in_python(text: str, message: str) -> None:
    assert Message(text) == message
    assert Message(f"{{}} %s {text}!").worded(lambda field: f"<{field.name}>").startswith("{} %s <")


def test_an_error_shows_python_alone(caplog: pytest.LogCaptureFixture) -> None:
    error = ParameterError(TOO_FEW)
    text = "Set permutations to 600, or use test='t'."
    assert str(error) == f"{error}" == f"{error!s}" == "%s" % error == "{}".format(error) == error.args[0] == text  # noqa: UP031, UP032
    assert repr(error) == f"ParameterError({text!r})"
    assert json.dumps(str(error)) == json.dumps(text)
    assert pl.Series([str(error)]).to_list() == [text]
    logging.getLogger("test").warning("%s", error)
    assert caplog.messages == [text]


ONE_PAGE = {"user_id": [1, 1], "row": [1, 1], "col": [1, 2], "item_id": [1, 2], "category": ["a", "a"]}
TWO_USERS = {"user_id": [1, 2], "item_id": [1, 1], "relevance": [1, 1]}


@pytest.mark.parametrize("kept", [pickle.loads, copy.copy, copy.deepcopy])
def test_fields_are_kept_in_copies_and_in_other_processes(kept: Any) -> None:
    error = ParameterError(TOO_FEW)
    same = kept(pickle.dumps(error)) if kept is pickle.loads else kept(error)
    assert str(same) == str(error)
    assert with_options(str(same), "compare") == "Set --permutations to 600, or use --test t."


REFUSED: dict[str, Callable[[], Any]] = {
    "a page that is missing": lambda: cv.evaluate(ONE_PAGE, TWO_USERS, missing_pages="error"),
    "the same, of a system": lambda: cv.compare({"a": ONE_PAGE, "b": ONE_PAGE}, TWO_USERS, missing_pages="error"),
    "a cell outside the grid": lambda: cv.evaluate(ONE_PAGE, TWO_USERS, grid=cv.Grid(1, 1)),
    "a value": lambda: cv.evaluate(ONE_PAGE | {"row": [0, 1]}, TWO_USERS),
}


@pytest.mark.parametrize("kept", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy, copy.deepcopy])
@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_errors_about_tables_are_the_same_in_copies(call: Callable[[], Any], kept: Callable[[Any], Any]) -> None:
    """A pool of processes hands on what its workers raise; what cannot be read there ends the pool, or blocks it."""
    with pytest.raises(cv.DataError) as caught:
        call()
    same = kept(caught.value)
    assert type(same) is type(caught.value)
    assert with_options(str(same), "compare") == with_options(str(caught.value), "compare")
    assert vars(same).keys() == vars(caught.value).keys()


def test_a_new_process_reads_an_error() -> None:
    """Errors of a pool's workers, and of executors, have fields; text that no message was made of has words."""
    code = (
        "import pickle, sys; from carouseval.messages import Message; from carouseval.cli.wording import with_options\n"
        "error, text = pickle.load(sys.stdin.buffer); print(with_options(str(error), 'compare')); print(Message(text))"
    )
    pickled = pickle.dumps((DataError(TOO_FEW), TOO_FEW))
    done = subprocess.run([sys.executable, "-c", code], input=pickled, capture_output=True, check=True)
    python, command_line = "Set permutations to 600, or use test='t'.", "Set --permutations to 600, or use --test t."
    assert done.stdout.decode().splitlines() == [command_line, python]


def test_messages_nest_in_errors_warnings_defects_and_reasons() -> None:
    inner = DataError(TOO_FEW)
    named = cv.DataError(f"prod: {nested(inner)}")
    assert with_options(str(named), "compare") == "prod: Set --permutations to 600, or use --test t."
    with pytest.warns(cv.DataWarning) as caught:
        warn(f"new: {nested(named)}")
    assert str(caught[0].message) == f"new: prod: {inner}"
    assert with_options(str(caught[0].message), "compare").startswith("new: prod: Set --permutations")
    defect = Defect("layouts", "row", 1, TOO_FEW)
    assert f"{defect.message} {defect}" == f"{inner} {inner}"
    assert not RESERVED.search(repr(defect))
    assert with_options(first_page_text(2), "explain") == (
        "Shown because no --page was given: the first of the user's 2 pages."
    )


def test_long_errors_are_cut_as_they_read() -> None:
    fields = " ".join([setting("permutations", 600)] * 1000)
    error = ParameterError(fields)
    assert str(error) == f"{' '.join(['permutations=600'] * 1000)[:5000]} ..."
    assert with_options(str(error), "compare").startswith("--permutations 600 --permutations 600")
    at_most = ParameterError("x" * 4984 + setting("permutations", 600))
    assert len(str(at_most)) == 5000
    assert len(Message(str(at_most)).parts) == 3


FORGED = [
    "\ufdd0permutations\ufdd1permutations=1\ufdd2",
    f"\ufdd0{'0' * 16}\ufdd1work\ufdd1work=1\ufdd11\ufdd2",
    f"\ufdd0{'0' * 16}\ufdd1work\ufdd1work=1\ufdd2",
    "\ufdd0" * 3,
    "\ufdd2\ufdd1",
    TOO_FEW[3:12],
]


@pytest.mark.parametrize("data", FORGED, ids=itertools.count())
def test_data_neither_forges_nor_breaks_a_field(data: str) -> None:
    message = Message(f"{data}{setting('permutations', 600)}{data} {setting('weight', data)}{data}")
    fields = [part for part in message.parts if isinstance(part, Field)]
    assert [field.name for field in fields] == ["permutations", "weight"]
    assert not RESERVED.search("".join(field.text for field in fields))


texts = st.text(st.sampled_from("ab{}%'\"\\ \n\ufdd0\ufdd1\ufdd2\ufdef=-") | st.characters(), max_size=20)
values = texts | st.integers() | st.tuples(st.integers(), st.integers()) | st.dictionaries(texts, texts, max_size=2)
settings = st.tuples(st.sampled_from(["permutations", "columns", "user_id", "unknown"]), st.lists(values, max_size=2))
trees = st.recursive(texts | settings, lambda inner: st.lists(inner, max_size=4), max_leaves=12)


def built(tree: Any) -> tuple[str, str, list[str]]:
    """The text of an f-string, what Python reads, and the settings named."""
    if isinstance(tree, str):
        return tree, tree, []
    if isinstance(tree, tuple):
        name, given_values = tree
        written = [repr(value) for value in given_values]
        return setting(name, *given_values), f"{name}={' or '.join(written)}" if written else name, [name]
    texts_of, read, names = zip(*map(built, tree), strict=True) if tree else ((), (), ())
    message = Message(f"{''.join(texts_of)}")
    return nested(ParameterError(f"{nested(message)}")), "".join(read), [name for some in names for name in some]


@given(trees)
def test_any_nesting_of_any_text(tree: Any) -> None:
    text, read, names = built(tree)
    message = Message(text)
    assert message == read
    assert [part.name for part in message.parts if isinstance(part, Field)] == names
    assert pickle.loads(pickle.dumps(message)).parts == message.parts
    with_options(message, "compare")


def test_every_field_names_a_parameter_or_a_function() -> None:
    public = public_callables()
    functions = {path.rpartition(".")[2] for path, value in public.items() if inspect.isroutine(value)}
    parameters: set[str] = set()
    for path, value in public.items():
        for _, member in [(path, value), *(members(path, value) if inspect.isclass(value) else ())]:
            if callable(member) and not (inspect.isclass(member) and issubclass(member, Warning)):
                parameters |= inspect.signature(member).parameters.keys()
    for call in calls():
        if call.name is not None:
            assert call.name in (functions if call.helper == "function" else parameters), call


def test_every_setting_is_an_option_or_is_of_python_alone() -> None:
    named = {call.name for call in calls() if call.name is not None and call.helper != "function"}
    assert named - options_of_all_commands() == PYTHON_ONLY.keys(), "give a reason, or an option"


# columns of tables in lines that are quoted, HTML, and names of metrics and discounts
NO_FIELDS = {
    ("engines/spark/spark_errors.py", "--archives"): "of spark-submit",
    ("evaluation/defects/page_defects.py", "capacity="): "a field's own text",
    ("extras.py", "--upgrade"): "of pip",
    ("evaluation/page_view.py", "page_id="): "a column",
    ("evaluation/page_view.py", "title="): "HTML",
    ("text_tables.py", "title="): "HTML",
    ("show/charts/chart.py", "name="): "HTML",
    ("metrics/discount_base.py", "name="): "the syntax of discounts, and a call",
    ("metrics/metric_base.py", "gain="): "the name of a metric",
    ("metrics/names.py", "gain="): "the name of a metric",
    ("show/studio/messages.py", "--work"): "the studio is started by its command",
    ("show/terminal/comparison.py", "--format"): "what is drawn in a terminal, a command draws",
    ("show/terminal/evaluation.py", "--format"): "what is drawn in a terminal, a command draws",
}
COLUMNS = {"user_id", "col", "carousel", "item_id"}


def test_no_message_writes_a_setting_or_an_option_out() -> None:
    names = "|".join(sorted(names_of_settings() - COLUMNS))
    written = re.compile(rf"\b(?:{names})=(?=\S|$)|--[a-z][a-z-]+")
    found = {(path, match[0]) for path, text in strings() for match in written.finditer(text)}
    assert found == NO_FIELDS.keys()


@pytest.mark.parametrize("call", calls(), ids=str)
def test_every_field_both_ways(call: Called) -> None:
    """Wherever a field stands, Python reads a name or ``name=value``, and each command its own option, or the same."""
    text = Message(call.sample())
    assert not RESERVED.search(text)
    for command, options in call.options().items():
        shown = with_options(text, command)
        assert shown == text if options is None else shown.startswith(options), (command, shown)
