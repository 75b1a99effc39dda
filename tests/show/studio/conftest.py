"""A studio with small tables, as a test client and as a server that a browser can open."""

import threading
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
import uvicorn
from starlette.testclient import TestClient

import carouseval as cv
from carouseval.building.sample import Sample
from carouseval.evaluation.settings import Settings
from carouseval.show.studio.server import bind, create_app
from carouseval.show.studio.uploads import Uploads
from carouseval.show.studio.workspace import StudioTables, Workspace

if TYPE_CHECKING:  # Playwright is imported by the fixtures that need it: other tests run without
    from playwright.sync_api import Browser

    from tests.show.studio.browser import StudioPage

PORT = 8737
ADDRESS = f"http://127.0.0.1:{PORT}"
SCRIPT = "<script>document.title = 'taken over'</script><img src=x onerror=alert(1)>"


@cache
def home() -> Sample:
    """Home pages of two systems."""
    return cv.sample(users=40, kind="home", systems=["new", "prod"])


def home_settings() -> dict[str, Any]:
    """The settings that these pages are evaluated with."""
    return {"by": "device", "grid": home().grids, "carousels": home().carousels}


def home_tables() -> StudioTables:
    """The same with one title that is a script."""
    data = home()
    items = data.items.with_columns(title=data.items["title"].replace("Electric Signal", SCRIPT))
    return StudioTables(data.layouts, data.judgments, items, Settings(**home_settings()), "home pages")


def expected_score(user: str = "u0000", system: str = "new", **settings: object) -> float:
    """What the package gives the page of a user, the first by default."""
    layouts = home().layouts[system].filter(pl.col("user_id") == user)
    changed = home_settings() | {"missing_pages": "skip", "invalid": "count"} | settings
    result = cv.evaluate(layouts, home().judgments, home().items, **changed)
    return next(iter(result.mean.values()))


@pytest.fixture
def workspace() -> Iterator[Workspace]:
    space = Workspace(home_tables(), Settings())
    space.revision = 1
    yield space
    space.close()


@pytest.fixture
def client(workspace: Workspace) -> Iterator[TestClient]:
    uploads = Uploads()
    with TestClient(create_app(workspace, uploads, PORT), base_url=ADDRESS, headers={"origin": ADDRESS}) as client:
        yield client
    uploads.close()


class Studio(threading.Thread):
    """A server on a free port, in a thread of its own."""

    def __init__(self, tables: StudioTables) -> None:
        super().__init__(daemon=True)
        self._listener = bind(0)  # not the usual port: another test's studio would answer there once this one is gone
        port = self._listener.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/"
        self.workspace = Workspace(tables, Settings())
        self.uploads = Uploads()
        app = create_app(self.workspace, self.uploads, port)
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))

    def run(self) -> None:
        self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        self._server.should_exit = True
        self.join()
        self._listener.close()
        self.workspace.close()
        self.uploads.close()


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    from tests.show.studio.browser import open_browser

    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def server() -> Iterator[Studio]:
    """A studio for tests that open no other tables."""
    studio = Studio(home_tables())
    studio.start()
    yield studio
    studio.stop()


@pytest.fixture
def own_server() -> Iterator[Studio]:
    """A studio for one test."""
    studio = Studio(home_tables())
    studio.start()
    yield studio
    studio.stop()


@pytest.fixture
def studio(browser: "Browser", server: Studio) -> Iterator["StudioPage"]:
    """A page, which must have logged no error."""
    from tests.show.studio.browser import StudioPage

    page = StudioPage(browser, server.address)
    yield page
    page.close()
