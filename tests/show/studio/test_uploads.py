"""Uploaded tables: read like any others, limited in size and kind, and refused with the package's own messages."""

import asyncio
import gzip
import io
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

import carouseval as cv
from carouseval.evaluation.settings import Settings
from carouseval.show.studio import uploads as module
from carouseval.show.studio.bad_request import BadRequestError
from carouseval.show.studio.server import create_app
from carouseval.show.studio.uploads import Uploads
from carouseval.show.studio.workspace import Workspace, system_names
from tests.show.studio.conftest import ADDRESS, PORT
from tests.show.studio.test_interface import CHOICES

LAYOUTS = "user_id,row,col,item_id,category\n1,1,1,10,new\n1,1,2,11,new\n1,2,1,12,drama\n"
OTHER = "user_id,row,col,item_id,category\n1,1,1,12,drama\n1,2,1,11,new\n"
JUDGMENTS = "user_id,item_id,relevance\n1,11,1\n1,12,3\n"


def upload(client: TestClient, table: str, text: str | bytes, name: str = "") -> str:
    content = text.encode() if isinstance(text, str) else text
    query = {"table": table, "name": name or f"{table}.csv"}
    answer = client.post("/api/upload", params=query, content=content)
    assert answer.status_code == 200, answer.text
    key: str = answer.json()["key"]
    return key


def open_files(client: TestClient, **texts: str) -> Any:
    keys = {table: upload(client, table, text) for table, text in texts.items()}
    return client.post("/api/open", json={"source": "upload", **keys})


def test_whoever_starts_it_words_what_is_wrong(workspace: Workspace) -> None:
    uploads = Uploads()
    app = create_app(workspace, uploads, PORT, lambda error: f"{type(error).__name__}: {error}")
    with TestClient(app, base_url=ADDRESS, headers={"origin": ADDRESS}) as client:
        answer = open_files(client, layouts="a,b\n1,2\n", judgments=JUDGMENTS)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("DataError: layouts: missing columns user_id")
    uploads.close()


def test_uploaded_tables_are_opened_and_scored(client: TestClient) -> None:
    state = open_files(client, layouts=LAYOUTS, judgments=JUDGMENTS, other=OTHER).json()
    assert state["data"] == 2
    assert state["source"] == "layouts.csv, judgments.csv, other.csv"
    assert [system["name"] for system in state["systems"]] == ["layouts", "other"]
    page = client.get("/api/page", params={"system": 1}).json()
    question = {"data": 2, "system": 1, "code": page["code"], "rows": page["rows"], "choices": CHOICES}
    score = client.post("/api/score", json=question).json()["score"]
    tables = {
        "layouts": {
            "user_id": [1, 1, 1],
            "row": [1, 1, 2],
            "col": [1, 2, 1],
            "item_id": [10, 11, 12],
            "category": ["new", "new", "drama"],
        },
        "other": {"user_id": [1, 1], "row": [1, 2], "col": [1, 1], "item_id": [12, 11], "category": ["drama", "new"]},
    }
    judgments = {"user_id": [1, 1], "item_id": [11, 12], "relevance": [1, 3]}
    compared = cv.evaluate(tables["other"], judgments, cv.items_from_layouts(*tables.values()))
    assert score == compared.mean["N2DCG_cat"]
    assert client.post("/api/score", json=question | {"data": 1}).status_code == 409


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"layouts": LAYOUTS}, "judgments are missing; choose a file."),
        ({"judgments": JUDGMENTS}, "layouts are missing; choose a file."),
        ({"layouts": "a,b\n1,2\n", "judgments": JUDGMENTS}, "layouts: missing columns user_id, row, col, item_id"),
        ({"layouts": LAYOUTS, "judgments": "user_id,item_id,relevance\n1,11,-1\n"}, "found '-1'"),
        ({"layouts": LAYOUTS, "judgments": JUDGMENTS, "items": "item_id,category\n"}, "items: the table has no lines."),
        ({"layouts": LAYOUTS.replace(",category", ""), "judgments": JUDGMENTS}, "layouts"),
    ],
)
def test_bad_tables_get_the_messages_of_the_package_and_change_nothing(
    client: TestClient, texts: dict[str, str], message: str
) -> None:
    answer = open_files(client, **texts)
    assert answer.status_code == 400
    assert message in answer.json()["error"]
    assert "carouseval-studio-" not in answer.json()["error"]  # no temporary paths
    assert client.get("/api/state").json()["data"] == 1


def test_names_of_files_stand_in_messages(client: TestClient) -> None:
    keys = {
        "layouts": upload(client, "layouts", b"PAR1 this is not Parquet", "my pages.parquet"),
        "judgments": upload(client, "judgments", JUDGMENTS),
    }
    answer = client.post("/api/open", json={"source": "upload", **keys})
    assert answer.status_code == 400
    assert "my pages.parquet" in answer.json()["error"]


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ({"table": "secrets", "name": "x.csv"}, 400, "table must be one of layouts, judgments, items, other"),
        ({"table": "layouts"}, 400, "name must be text of at most 255 characters, found null."),
        ({"table": "layouts", "name": "x" * 256}, 400, "name must be text of at most 255 characters"),
        ({"table": "layouts", "name": "x.csv.gz"}, 400, "x.csv.gz: a table is a file that ends in .csv"),
        ({"table": "layouts", "name": "../../etc/passwd"}, 400, "../../etc/passwd: a table is a file that ends in"),
    ],
)
def test_bad_uploads_are_refused(client: TestClient, query: dict[str, str], status: int, message: str) -> None:
    answer = client.post("/api/upload", params=query, content=b"x")
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_empty_and_large_files_are_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    query = {"table": "layouts", "name": "x.csv"}
    assert client.post("/api/upload", params=query, content=b"").json()["error"] == "x.csv is empty."
    monkeypatch.setattr(Uploads.add, "__defaults__", (2**20,))
    answer = client.post("/api/upload", params=query, content=b"x" * (2**20 + 1))
    assert answer.status_code == 413
    assert answer.json()["error"] == "x.csv is larger than 1 MB; give its path at start."


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, lambda text: b"\x28\xb5\x2f\xfd" + text])
@pytest.mark.parametrize("name", ["x.csv", "x.ndjson", "x.tsv"])
def test_compressed_text_is_refused_whatever_its_name(
    client: TestClient, pack: Callable[[bytes], bytes], name: str
) -> None:
    answer = client.post("/api/upload", params={"table": "layouts", "name": name}, content=pack(LAYOUTS.encode()))
    assert answer.status_code == 400
    assert answer.json()["error"] == f"{name} is compressed; unpack it, or give its path at start."


def test_a_small_file_of_very_many_lines_is_refused(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    pl.DataFrame({"user_id": [1] * 101}).write_parquet(content)
    query = {"table": "layouts", "name": "x.parquet"}
    assert client.post("/api/upload", params=query, content=content.getvalue()).status_code == 200
    monkeypatch.setattr(module, "MOST_LINES", 100)
    answer = client.post("/api/upload", params=query, content=content.getvalue())
    assert answer.status_code == 413
    assert answer.json()["error"] == "x.parquet has more than 100 lines; give its path at start."


def test_files_in_use_outlive_other_uploads(client: TestClient, workspace: Workspace) -> None:
    workspace.settings = Settings(gain="linear")
    data = open_files(client, layouts=LAYOUTS, judgments=JUDGMENTS.replace(",3", ",3000")).json()["data"]
    for _ in range(module.MOST_FILES + 1):
        upload(client, "items", "item_id,category\n1,a\n")
    page = client.get("/api/page").json()
    question = {"data": data, "system": 0, "code": page["code"], "rows": page["rows"], "choices": CHOICES}
    answer = client.post("/api/score", json=question)  # whose message names a line of the file
    assert answer.json()["error"].startswith("judgments: column relevance, line 3: found 3000")


def test_paths_are_no_uploads(client: TestClient) -> None:
    for key in ("/etc/passwd", "../layouts.csv", ""):
        answer = client.post("/api/open", json={"source": "upload", "layouts": key, "judgments": key})
        assert answer.status_code == 404
        assert answer.json()["error"] == "this upload is gone; upload the file again."


def test_uploads_of_one_tab_outlive_those_that_another_opens(client: TestClient) -> None:
    mine = {
        "layouts": upload(client, "layouts", OTHER, "mine.csv"),
        "judgments": upload(client, "judgments", JUDGMENTS),
    }
    assert open_files(client, layouts=LAYOUTS, judgments=JUDGMENTS).status_code == 200
    assert client.post("/api/open", json={"source": "sample"}).status_code == 200
    answer = client.post("/api/open", json={"source": "upload", **mine})
    assert answer.json()["source"] == "mine.csv, judgments.csv"


async def chunks(content: bytes) -> AsyncIterator[bytes]:
    yield content


def add(uploads: Uploads, content: bytes = b"x") -> str:
    return asyncio.run(uploads.add("layouts", "x.csv", chunks(content)))


@pytest.mark.parametrize(("limit", "most"), [("MOST_FILES", 3), ("MOST_BYTES_OF_ALL", 30)])
def test_the_oldest_unused_files_are_removed(limit: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, limit, most)
    uploads = Uploads()
    used = add(uploads, b"0123456789")
    with uploads.opening([used]):
        keys = [add(uploads, b"0123456789") for _ in range(4)]
    assert uploads[used].path.exists()
    with pytest.raises(BadRequestError, match="this upload is gone"):
        uploads[keys[0]]
    assert len(list(uploads.folder.iterdir())) == 1 + 3
    with uploads.opening([keys[1]]):  # which makes the first the oldest of those that are not in use
        pass
    add(uploads, b"0123456789")
    assert sorted(uploads.folder.iterdir()) == sorted(upload.path for upload in uploads._files.values())
    assert used not in uploads._files
    uploads.close()


def test_files_stay_in_use_when_others_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 1)
    uploads = Uploads()
    used = add(uploads)
    with uploads.opening([used]):
        pass
    with pytest.raises(ValueError, match="damaged"), uploads.opening([add(uploads)]):
        raise ValueError("damaged")
    add(uploads)
    assert uploads[used].path.exists()
    uploads.close()


def test_sample_and_start_can_be_opened_again(client: TestClient, workspace: Workspace) -> None:
    open_files(client, layouts=LAYOUTS, judgments=JUDGMENTS)
    sample = client.post("/api/open", json={"source": "sample"}).json()
    assert sample["source"] == "sample data"
    start = client.post("/api/open", json={"source": "start"}).json()
    assert (start["source"], start["is_start"], start["data"]) == ("home pages", True, 4)
    answer = client.post("/api/open", json={"source": "elsewhere"})
    assert answer.json()["error"] == "source must be one of upload, sample, start, found 'elsewhere'."


def test_systems_are_named_by_their_files() -> None:
    assert system_names("out/new.parquet", "prod.csv.gz") == ["new", "prod"]
    assert system_names("a/layouts.csv", "b/layouts.csv") == ["layouts (1)", "layouts (2)"]
    assert system_names("a/layouts.csv") == ["layouts"]


def test_an_upload_that_is_broken_off_leaves_nothing_behind(
    workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    uploads = Uploads()
    app = create_app(workspace, uploads, PORT)
    first: dict[str, Any] = {"type": "http.request", "body": b"user_id", "more_body": True}
    events = iter([first, {"type": "http.disconnect"}])
    headers = {"host": f"127.0.0.1:{PORT}", "origin": ADDRESS}
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/upload",
        "query_string": b"table=layouts&name=x.csv",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }

    async def receive() -> dict[str, Any]:
        return next(events)

    async def send(_: Any) -> None:
        pass

    asyncio.run(app(scope, receive, send))
    assert list(uploads.folder.iterdir()) == []
    assert capfd.readouterr().err == ""
    uploads.close()
