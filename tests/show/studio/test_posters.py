"""Posters: pictures of this machine that the table of items names, and nothing else."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from carouseval.evaluation.settings import Settings
from carouseval.show.studio.server import create_app
from carouseval.show.studio.uploads import Uploads
from carouseval.show.studio.workspace import StudioTables, Workspace
from tests.show.studio.conftest import ADDRESS, PORT
from tests.show.studio.test_uploads import JUDGMENTS, LAYOUTS, open_files


def png(red: int, green: int, blue: int) -> bytes:
    """A picture of one pixel."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(bytes([0, red, green, blue]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def write_tables(folder: Path, posters: dict[int, str]) -> StudioTables:
    """Tables of three items in a folder."""
    (folder / "layouts.csv").write_text(LAYOUTS)
    (folder / "judgments.csv").write_text(JUDGMENTS)
    lines = [f"{item},{'drama' if item == 12 else 'new'},{posters.get(item, '')}\n" for item in (10, 11, 12)]
    (folder / "items.csv").write_text("item_id,category,poster\n" + "".join(lines))
    paths = [str(folder / f"{name}.csv") for name in ("layouts", "judgments", "items")]
    return StudioTables({"new": paths[0]}, paths[1], paths[2], Settings(), "files", has_posters=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(png(200, 60, 60))
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path


@pytest.fixture
def client(folder: Path, request: pytest.FixtureRequest) -> Iterator[TestClient]:
    workspace, uploads = Workspace(write_tables(folder, request.param), Settings()), Uploads()
    app = create_app(workspace, uploads, PORT)
    with TestClient(app, base_url=ADDRESS, headers={"origin": ADDRESS}) as client:
        yield client
    workspace.close()
    uploads.close()


def items_of_page(client: TestClient) -> dict[str, tuple[int, bool]]:
    """The code of each item, and whether it has a poster."""
    items = client.get("/api/page").json()["items"]
    return {item["id"]: (int(code), item["poster"]) for code, item in items.items()}


@pytest.mark.parametrize("client", [{10: "pictures/a.png"}], indirect=True)
def test_a_poster_is_relative_to_the_file_of_items(client: TestClient) -> None:
    items = items_of_page(client)
    assert [has_poster for _, has_poster in items.values()] == [True, False, False]
    answer = client.get("/api/poster", params={"item": items["10"][0]})
    assert answer.content == png(200, 60, 60)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.get("/api/poster", params={"item": items["10"][0], "data": 0}).status_code == 409


BAD = ["secret.txt", "../../etc/passwd", "pictures", "nothing.png", "https://example.com/a.png", "x" * 5000, "\x00"]


@pytest.mark.parametrize("client", [{10: name} for name in BAD], indirect=True)
def test_what_is_no_local_picture_is_not_read(client: TestClient) -> None:
    code, has_poster = items_of_page(client)["10"]
    assert not has_poster
    answer = client.get("/api/poster", params={"item": code})
    assert (answer.status_code, answer.json()) == (404, {"error": f"item {code} has no poster."})
    assert client.get("/api/poster", params={"item": 10**9}).status_code == 404


@pytest.mark.parametrize("client", [{}], indirect=True)
def test_uploaded_tables_name_no_files(client: TestClient, folder: Path) -> None:
    items = f"item_id,category,poster\n10,new,{folder}/pictures/a.png\n11,new,\n12,drama,\n"
    assert open_files(client, layouts=LAYOUTS, judgments=JUDGMENTS, items=items).status_code == 200
    code, has_poster = items_of_page(client)["10"]
    assert not has_poster
    assert client.get("/api/poster", params={"item": code}).status_code == 404
