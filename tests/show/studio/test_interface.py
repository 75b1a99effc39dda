"""The JSON interface answers with the package's numbers, and with one message to whatever is wrong."""

import io
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

import carouseval as cv
from carouseval.show.studio.routes import MOST_JSON
from tests.show.studio.conftest import SCRIPT, home, home_settings

RPD = {"alpha": 4, "beta": 9, "mu": 0.65, "nu": 0.95}
CHOICES: dict[str, Any] = {
    "metric": "N2DCG_cat",
    "discount": "d_rpd",
    "parameters": RPD,
    "cutoff": None,
    "gain": "exp2",
    "candidates": "judged",
    "screen": None,
}


def page_of(client: TestClient, user: str, system: int = 0) -> dict[str, Any]:
    answer = client.get("/api/page", params={"user": user, "system": system})
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


def question(page: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "data": 1,
        "system": page["system"],
        "code": page["code"],
        "rows": page["rows"],
        "choices": CHOICES | changes,
    }


def post(client: TestClient, path: str, content: Any) -> dict[str, Any]:
    answer = client.post(f"/api/{path}", json=content)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def test_state_names_systems_and_choices(client: TestClient) -> None:
    state = client.get("/api/state").json()
    assert [system["name"] for system in state["systems"]] == ["new", "prod"]
    assert state["systems"][0]["pages"] == home().layouts["new"]["user_id"].n_unique()
    assert state["chosen"] == CHOICES
    assert {"N2DCG_cat", "N2DCG", "RR"} <= {metric["name"] for metric in state["metrics"]}
    assert "Coverage" not in {metric["name"] for metric in state["metrics"]}
    discounts = {discount["name"]: discount for discount in state["discounts"]}
    assert {parameter["name"]: parameter["default"] for parameter in discounts["d_rpd"]["parameters"]} == RPD
    for discount in discounts.values():
        assert all(one["low"] <= one["default"] <= one["high"] for one in discount["parameters"])
    assert not {"d_emp", "d_mix"} & set(discounts)


@pytest.mark.parametrize(
    ("changes", "metric", "settings"),
    [
        ({}, "N2DCG_cat", {}),
        ({"candidates": "displayed"}, "N2DCG_cat", {"candidates": "displayed"}),
        ({"gain": "linear"}, "N2DCG_cat", {"gain": "linear"}),
        ({"parameters": RPD | {"mu": 0.3}, "cutoff": [3, 5]}, "N2DCG_cat(d_rpd(mu=0.3))@3x5", {}),
        ({"metric": "N2DCG", "discount": "d_a", "parameters": {}}, "N2DCG", {}),
        ({"metric": "NDCG", "cutoff": 10}, "NDCG@10", {}),
        ({"metric": "RR"}, "RR", {}),
    ],
)
def test_scores_are_those_of_evaluate(
    client: TestClient, changes: dict[str, Any], metric: str, settings: dict[str, Any]
) -> None:
    data = home()
    expected = cv.evaluate(
        data.layouts["prod"], data.judgments, data.items, metrics=[metric], **(home_settings() | settings)
    )
    for user, score in expected.per_page.select("user_id", metric).head(12).iter_rows():
        if user in data.layouts["prod"]["user_id"]:
            assert post(client, "score", question(page_of(client, user, 1), **changes))["score"] == score


def test_losses_and_ideal_are_those_of_explain(client: TestClient) -> None:
    data = home()
    explanation = cv.explain(data.layouts["new"], data.judgments, data.items, **home_settings())
    for line in explanation.worst.tail(5).iter_rows(named=True):
        answer = post(client, "score", question(page_of(client, line["user_id"])))
        assert (answer["value"], answer["ideal"]) == (line["dcg"], line["ideal"])
        for name in ("item_order", "row_order", "choice"):
            assert answer["losses"][name] == line[name] / line["ideal"]
        view = explanation.page(line["user_id"])
        cells = [(row + 1, col + 1, answer["items"][str(item)]["id"]) for row, col, item, _ in answer["ideal_cells"]]
        assert cells == view.ideal.select("row", "col", "item_id").rows()


def test_the_ideal_page_scores_1(client: TestClient) -> None:
    page = page_of(client, "u0000")
    before = post(client, "score", question(page))
    ideal = post(client, "ideal", question(page))
    after = post(client, "score", question(page | {"rows": ideal["rows"]}))
    assert before["score"] < 0.9
    assert after["score"] == 1.0
    assert after["ideal"] == before["ideal"]
    assert sum(after["losses"].values()) < 1e-12
    assert set(ideal["items"]) >= {str(item) for row in ideal["rows"] for item in row["items"] if item is not None}


def test_an_edit_scores_as_its_exported_table(client: TestClient) -> None:
    page = page_of(client, "u0000")
    rows = [page["rows"][0], *reversed(page["rows"][1:])]
    rows[1] = rows[1] | {"items": rows[1]["items"][::-1]}
    score = post(client, "score", question(page | {"rows": rows}))["score"]
    answer = client.post("/api/layout", json=question(page | {"rows": rows}))
    assert answer.headers["content-type"].startswith("text/csv")
    layout = pl.read_csv(io.StringIO(answer.text))
    result = cv.evaluate(layout, home().judgments, home().items, missing_pages="skip", **home_settings())
    assert result.mean["N2DCG_cat"] == score != post(client, "score", question(page))["score"]


def test_items_outside_their_category_are_named(client: TestClient) -> None:
    page = page_of(client, "u0000")
    first, second = page["rows"][1], page["rows"][2]
    swapped = [first["items"][-1], *second["items"][1:]], [*first["items"][:-1], second["items"][0]]
    rows = [page["rows"][0], first | {"items": swapped[1]}, second | {"items": swapped[0]}, *page["rows"][3:]]
    answer = post(client, "score", question(page | {"rows": rows}))
    assert answer["notices"] == ["At least one item is outside its row's category."]
    assert [1, len(swapped[1]) - 1] in answer["outside"] or [2, 0] in answer["outside"]
    assert post(client, "score", question(page))["notices"] == []


def test_weights_follow_the_discount_and_the_screen(client: TestClient) -> None:
    page = page_of(client, "u0000")
    own = post(client, "weights", question(page))
    assert own["weights"] == cv.discounts.RowPage().weights(home().grids["tv"]).tolist()
    assert own["metric"] == "N2DCG_cat"
    screen = {"rows": 9, "cols": 20, "page_size": 4, "visible_rows": 2}
    wide = post(client, "weights", question(page, screen=screen, parameters=RPD | {"mu": 0.5}))
    grid = cv.Grid(9, 20, page_size=(1, *[4] * 8), visible_rows=2)  # the billboard keeps its page size
    assert wide["weights"] == cv.discounts.RowPage(mu=0.5).weights(grid).tolist()
    assert wide["screen"]["page_sizes"] == [1, *[4] * 8]
    assert post(client, "weights", question(page, metric="NDCG"))["weights"] is None


def test_pages_are_found_and_listed_in_part(client: TestClient) -> None:
    everything = client.get("/api/pages", params={"limit": 3}).json()
    assert len(everything["pages"]) == 3
    assert everything["total"] == home().layouts["new"]["user_id"].n_unique()
    found = client.get("/api/pages", params={"text": "U000", "offset": 2}).json()
    assert all("u000" in page["user"] for page in found["pages"])
    assert found["total"] == len(found["pages"]) + 2
    assert client.get("/api/pages", params={"text": "nobody"}).json() == {"total": 0, "pages": []}
    users = [page["user"] for page in client.get("/api/pages").json()["pages"]]
    step = client.get("/api/page", params={"user": users[1], "step": "next"}).json()
    assert step["user"] == users[2]
    assert client.get("/api/page", params={"code": step["code"], "step": "previous"}).json()["user"] == users[1]
    assert client.get("/api/page").json()["user"] == users[0]


def test_names_of_items_that_no_page_shows(client: TestClient) -> None:
    rows = [{"category": 3, "pinned": False, "items": [5, None, 60]}]
    names = post(client, "names", {"data": 1, "rows": rows})
    assert list(names["items"]) == ["5", "60"]
    assert list(names["categories"]) == ["3"]
    titles = dict(home().items.select("item_id", "title").iter_rows())
    assert all(item["title"] == titles[item["id"]] for item in names["items"].values())
    assert client.post("/api/names", json={"data": 2, "rows": rows}).status_code == 409
    assert client.post("/api/names", json={"data": 1, "rows": [rows[0] | {"items": [10**6]}]}).status_code == 400


def test_titles_stay_text(client: TestClient) -> None:
    titles = {item["title"] for item in page_of(client, "u0000")["items"].values()}
    assert SCRIPT in titles
    assert client.get("/api/page").headers["content-type"] == "application/json"


def test_a_discount_given_at_start_can_be_chosen(client: TestClient) -> None:
    from carouseval.evaluation.settings import Settings
    from carouseval.show.studio.offer import Offer

    table = cv.discounts.Empirical([[1.0, 0.5], [0.5, 0.25]], name="lab")
    offer = Offer(Settings(metrics=[cv.metric("N2DCG_cat", discount=table)]))
    chosen = offer.as_dict()["chosen"]
    assert chosen["discount"] == "d_emp(lab)"
    assert offer.read(chosen).metric == cv.metric("N2DCG_cat", discount=table)


BAD_CHOICES = [
    ({"metric": "N2DCG_kat"}, "metric must be one of"),
    ({"metric": "N2DCG_cat(@/etc/passwd)"}, "metric must be one of"),
    ({"discount": "@/etc/passwd"}, "discount must be one of"),
    ({"parameters": {"mv": 1}}, "a parameter must be one of alpha, beta, mu, nu, found 'mv'."),
    ({"parameters": {"mu": "1"}}, "mu must be a finite number, found '1'."),
    ({"parameters": {"mu": 2}}, "d_rpd: mu must be"),
    ({"parameters": {"alpha": 0, "beta": 0}}, "weights must be finite and above 0"),
    ({"parameters": [1]}, "parameters must be a JSON object, found a list."),
    ({"cutoff": [3]}, "cutoff must be a list of rows and columns, such as [3, 5]."),
    ({"cutoff": [0, 5]}, "cutoff: rows must be an integer from 1 to 200, found 0."),
    ({"gain": "cubic"}, "gain must be one of exp2, linear, found 'cubic'."),
    ({"candidates": None}, "candidates must be one of judged, displayed, found null."),
    (
        {"screen": {"rows": 1, "cols": 1, "page_size": 1, "visible_rows": 1}},
        "layouts: at least one cell lies outside the grid.",
    ),
    ({"screen": {"rows": 10**9}}, "rows must be an integer from 1 to 200, found 1000000000."),
    ({"screen": 3}, "screen must be a JSON object, found 3."),
]


@pytest.mark.parametrize(("changes", "message"), BAD_CHOICES)
def test_bad_choices_are_refused_with_a_message(client: TestClient, changes: dict[str, Any], message: str) -> None:
    answer = client.post("/api/score", json=question(page_of(client, "u0000"), **changes))
    assert answer.status_code == 400
    assert message in answer.json()["error"]


BAD_QUESTIONS = [
    ({"data": 2}, 409, "other tables were opened in the meantime; reload the page."),
    ({"data": None}, 400, "data must be an integer"),
    ({"system": 2}, 400, "system must be an integer from 0 to 1, found 2."),
    ({"code": 10**6}, 404, "system 0 has no page 1000000."),
    ({"rows": []}, 400, "layouts: the page has no items; it must show at least one."),
    ({"rows": {}}, 400, "rows must be a list, found an object."),
    ({"rows": [{}]}, 400, "items of row 1 must be a list, found null."),
    ({"rows": [{"items": [], "pinned": 1}]}, 400, "pinned must be true or false, found 1."),
    ({"rows": [{"items": [10**7], "pinned": False}]}, 400, "item must be an integer from 0 to"),
    ({"rows": [{"items": [1], "pinned": False, "category": -1}]}, 400, "category must be an integer from 0 to"),
    (
        {"rows": [{"items": [0] * 501, "pinned": False}]},
        400,
        "items of row 1 must have at most 500 entries, found 501.",
    ),
    ({"choices": "N2DCG_cat"}, 400, "choices must be a JSON object, found 'N2DCG_cat'."),
]


@pytest.mark.parametrize(("changes", "status", "message"), BAD_QUESTIONS)
def test_bad_questions_are_refused_with_a_message(
    client: TestClient, changes: dict[str, Any], status: int, message: str
) -> None:
    answer = client.post("/api/score", json=question(page_of(client, "u0000")) | changes)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]


BODIES = [
    (b"", "the request is not JSON."),
    (b"{", "the request is not JSON."),
    (b"\xff\xfe", "the request is not JSON."),
    (b'{"data": NaN}', "the request is not JSON."),
    (b"[" * 100_000, "the request is not JSON."),
    (b"9" * 10_000, "the request is not JSON."),
    (b"[]", "the request must be a JSON object, found a list."),
    (b'{"data": 1e999}', "data must be an integer"),
]


@pytest.mark.parametrize(("body", "message"), BODIES)
@pytest.mark.parametrize("path", ["score", "weights", "ideal", "layout", "names", "open"])
def test_bodies_that_are_no_questions_are_refused(client: TestClient, path: str, body: bytes, message: str) -> None:
    answer = client.post(f"/api/{path}", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert message in answer.json()["error"] or path == "open"


def test_limits_of_a_request(client: TestClient) -> None:
    headers = {"content-type": "application/json"}
    assert client.post("/api/score", content=b" " * (MOST_JSON + 1), headers=headers).status_code == 413
    assert client.post("/api/score", content=b"{}", headers={"content-type": "text/plain"}).status_code == 415


BAD_QUERIES = [
    ("/api/pages?limit=0", 400, "limit must be an integer from 1 to 100, found 0."),
    ("/api/pages?limit=101", 400, "limit must be an integer from 1 to 100, found 101."),
    ("/api/pages?offset=-1", 400, "offset must be an integer"),
    ("/api/pages?offset=٣", 400, "offset must be an integer"),
    (f"/api/pages?offset={'9' * 5000}", 400, "offset must be an integer"),
    (f"/api/pages?text={'x' * 201}", 400, "text must be text of at most 200 characters"),
    ("/api/pages?system=2", 400, "system must be an integer from 0 to 1, found 2."),
    ("/api/pages?data=7", 409, "other tables were opened in the meantime; reload the page."),
    ("/api/page?user=nobody", 404, "new has no page of user nobody."),
    ("/api/page?code=99999", 404, "system 0 has no page 99999."),
    ("/api/page?step=up", 400, "step must be one of previous, next, found 'up'."),
    ("/api/nothing", 404, "there is nothing at this address."),
    ("/../../pyproject.toml", 404, "there is nothing at this address."),
    ("/%2e%2e/server.py", 404, "there is nothing at this address."),
    ("/api/score", 404, "there is nothing at this address."),
]


@pytest.mark.parametrize(("path", "status", "message"), BAD_QUERIES)
def test_bad_queries_are_refused_with_a_message(client: TestClient, path: str, status: int, message: str) -> None:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]
