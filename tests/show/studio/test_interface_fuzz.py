"""Whatever is sent, the interface answers: with a result, or with a status of 4xx and a message."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from carouseval.evaluation.settings import Settings
from carouseval.show.studio.server import create_app
from carouseval.show.studio.uploads import Uploads
from carouseval.show.studio.workspace import Workspace
from tests.depth import gate_or_deep
from tests.show.studio.conftest import ADDRESS, PORT, home_tables
from tests.show.studio.test_interface import CHOICES

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=9)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
SIZES = st.integers(-1, 30) | st.sampled_from([200, 201, 500, 501, 2**31, 2**63, 10**30])
NUMBERS = FINITE | st.integers(-3, 12) | st.sampled_from([0, 1e-300, 1e300, -0.0])


@pytest.fixture(scope="module")
def studio() -> Iterator[TestClient]:
    workspace, uploads = Workspace(home_tables(), Settings()), Uploads()
    workspace.revision = 1
    app = create_app(workspace, uploads, PORT)
    with TestClient(app, base_url=ADDRESS, headers={"origin": ADDRESS}) as client:
        yield client
    workspace.close()
    uploads.close()


def answer_is_sound(client: TestClient, path: str, content: Any) -> int:
    headers = {"content-type": "application/json"}
    answer = client.post(f"/api/{path}", content=json.dumps(content), headers=headers)
    assert answer.status_code in (200, 400, 404, 409), answer.text
    if answer.status_code != 200:
        assert answer.json()["error"].endswith((".", "?"))
    elif path != "layout":
        assert isinstance(answer.json(), dict)
    return answer.status_code


@given(path=st.sampled_from(["score", "weights", "ideal", "layout", "names", "open"]), content=VALUES)
@settings(max_examples=gate_or_deep(75, 500))
def test_any_json(studio: TestClient, path: str, content: Any) -> None:
    if path != "open" or not isinstance(content, dict) or content.get("source") not in ("sample", "start"):
        answer_is_sound(studio, path, content)


def parameters() -> st.SearchStrategy[Any]:
    names = st.sampled_from(["alpha", "beta", "gamma", "lam", "mu", "nu", "e", "kappa", "swipe_on", "w", "self"])
    return st.dictionaries(names, NUMBERS | VALUES, max_size=5)


@st.composite
def choices(draw: st.DrawFn) -> dict[str, Any]:
    keys = ("rows", "cols", "page_size", "visible_rows")
    screen = st.none() | st.fixed_dictionaries(dict.fromkeys(keys, SIZES)) | VALUES
    metrics = ["N2DCG_cat", "N2DCG", "2DCG", "RR", "NDCG", "Hit", "Recall", "Precision", "DCG", "Coverage", "x"]
    discounts = ["d_rpd", "d_a", "d_t", "d_mir", "d_add", "d_mul", "d_rcb", "d_rpb", "d_scan", "d_emp", "@x.json"]
    return {
        "metric": draw(st.sampled_from(metrics)),
        "discount": draw(st.none() | st.sampled_from(discounts)),
        "parameters": draw(parameters()),
        "cutoff": draw(st.none() | SIZES | st.lists(SIZES, max_size=3)),
        "gain": draw(st.sampled_from(["exp2", "linear", "none"])),
        "candidates": draw(st.sampled_from(["judged", "displayed"])),
        "screen": draw(screen),
    }


def some_rows(items: int) -> st.SearchStrategy[Any]:
    codes = st.none() | st.integers(0, items)
    row = st.fixed_dictionaries(
        {
            "category": st.none() | st.integers(0, 60),
            "pinned": st.booleans(),
            "items": st.lists(codes, max_size=14),
        }
    )
    return st.lists(row, max_size=10)


@given(data=st.data(), path=st.sampled_from(["score", "weights", "ideal", "layout"]))
@settings(max_examples=gate_or_deep(100, 1000))
def test_any_choices(studio: TestClient, data: st.DataObject, path: str) -> None:
    page = studio.get("/api/page").json()
    question = {"data": 1, "system": 0, "code": page["code"], "rows": page["rows"], "choices": data.draw(choices())}
    answer_is_sound(studio, path, question)


@given(
    rows=some_rows(120),
    path=st.sampled_from(["score", "ideal", "layout", "names"]),
    candidates=st.sampled_from(["judged", "displayed"]),
    system=st.integers(0, 1),
)
@settings(max_examples=gate_or_deep(100, 1000))
def test_any_rows(studio: TestClient, rows: Any, path: str, candidates: str, system: int) -> None:
    page = studio.get("/api/page", params={"system": system}).json()
    question = {"data": 1, "system": system, "code": page["code"], "rows": rows}
    answer_is_sound(studio, path, question | {"choices": CHOICES | {"candidates": candidates}})


@given(
    path=st.sampled_from(["pages", "page", "state"]),
    query=st.dictionaries(
        st.sampled_from(["data", "system", "text", "offset", "limit", "user", "page", "code", "step"]),
        st.text(max_size=12) | st.integers(-2, 50).map(str),
    ),
)
@settings(max_examples=gate_or_deep(75, 500))
def test_any_query(studio: TestClient, path: str, query: dict[str, str]) -> None:
    answer = studio.get(f"/api/{path}", params=query)
    assert answer.status_code in (200, 400, 404, 409), answer.text


@given(body=st.binary(max_size=200))
@settings(max_examples=gate_or_deep(60, 300))
def test_any_upload(studio: TestClient, body: bytes) -> None:
    name = "x.parquet" if len(body) % 2 else "x.csv"
    answer = studio.post("/api/upload", params={"table": "layouts", "name": name}, content=body)
    assert answer.status_code in ((200, 400) if body else (400,))  # 400: it begins as compressed files do
    if answer.status_code == 200:
        key = answer.json()["key"]
        answer_is_sound(studio, "open", {"source": "upload", "layouts": key, "judgments": key})
