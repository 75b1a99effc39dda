"""Only this machine's own page is answered, and browsers are told to trust nothing else."""

import pytest
from starlette.testclient import TestClient

from carouseval.show.studio.guard import HEADERS
from tests.show.studio.conftest import ADDRESS, PORT

OTHER_HOSTS = ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "localhost:1", "", f"127.0.0.1:{PORT}.evil.example"]


@pytest.mark.parametrize("host", OTHER_HOSTS)
@pytest.mark.parametrize("path", ["/", "/api/state", "/main.js"])
def test_other_hosts_are_refused(client: TestClient, host: str, path: str) -> None:
    answer = client.get(path, headers={"host": host})
    assert answer.status_code == 403
    assert answer.json() == {"error": f"this server answers at {ADDRESS} only."}


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}"])
def test_this_machine_is_answered(client: TestClient, host: str) -> None:
    assert client.get("/api/state", headers={"host": host}).status_code == 200
    answer = client.post("/api/open", json={"source": "start"}, headers={"host": host, "origin": f"http://{host}"})
    assert answer.status_code == 200


@pytest.mark.parametrize("path", ["score", "ideal", "weights", "layout", "open", "upload"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8737", "http://127.0.0.1:1", ""])
def test_posts_of_other_sites_are_refused(client: TestClient, path: str, origin: str) -> None:
    answer = client.post(f"/api/{path}", json={}, headers={"origin": origin})
    assert answer.status_code == 403
    assert answer.json() == {"error": "this request comes from another site."}


def test_posts_without_an_origin_or_from_another_site_are_refused(client: TestClient) -> None:
    del client.headers["origin"]
    assert client.post("/api/open", json={"source": "start"}).status_code == 403
    headers = {"origin": ADDRESS, "sec-fetch-site": "cross-site"}
    assert client.post("/api/open", json={"source": "start"}, headers=headers).status_code == 403


@pytest.mark.parametrize("path", ["/", "/main.js", "/base.css", "/api/state", "/nothing", "/api/page?code=x"])
def test_every_answer_has_the_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert client.get(path, headers={"host": "x"}).headers["content-security-policy"].startswith("default-src 'none'")


def test_static_files_hold_no_inline_scripts_or_styles(client: TestClient) -> None:
    page = client.get("/").text
    assert "<style" not in page
    assert " style=" not in page
    assert " onclick=" not in page
    assert page.count("<script") == 1
    assert '<script type="module" src="main.js"></script>' in page
    assert "http://" not in page
    assert "https://" not in page


def test_static_files_have_their_types(client: TestClient) -> None:
    kinds = {"/": "text/html", "/main.js": "text/javascript", "/base.css": "text/css", "/icon.svg": "image/svg+xml"}
    for path, kind in kinds.items():
        assert client.get(path).headers["content-type"].startswith(kind)
