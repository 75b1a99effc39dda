"""The JSON interface: one function for each question that the page asks."""

import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from carouseval.errors import CarousevalError
from carouseval.show.studio import messages
from carouseval.show.studio.bad_request import (
    BadRequestError,
    parse_json,
    query_integer,
    require_integer,
    require_text,
    require_word,
)
from carouseval.show.studio.offer import screen_of
from carouseval.show.studio.uploads import TABLES, Upload, Uploads
from carouseval.show.studio.workspace import StudioTables, Workspace, system_names

MOST_JSON = 2**21  # bytes of a request: a page of 200 x 500 items has 1.1 million at most
_MOST_PAGES = 100  # in one list
Endpoint = Callable[[Request], Awaitable[Response]]


class Interface:
    """Answers about one workspace."""

    def __init__(
        self, workspace: Workspace, uploads: Uploads, message_of: Callable[[CarousevalError], str] = str
    ) -> None:
        self._workspace, self._uploads, self._message_of = workspace, uploads, message_of

    def routes(self) -> list[BaseRoute]:
        """The addresses of all questions."""
        return [
            Route("/api/state", self._get(self._state)),
            Route("/api/pages", self._get(self._pages)),
            Route("/api/page", self._get(self._page)),
            Route("/api/poster", self._get(self._poster)),
            Route("/api/weights", self._post(self._weights), methods=["POST"]),
            Route("/api/score", self._post(self._score), methods=["POST"]),
            Route("/api/ideal", self._post(self._ideal), methods=["POST"]),
            Route("/api/names", self._post(self._names), methods=["POST"]),
            Route("/api/layout", self._post(self._layout), methods=["POST"]),
            Route("/api/upload", self._answer(self._upload), methods=["POST"]),
            Route("/api/open", self._post(self._open), methods=["POST"]),
        ]

    def _state(self, _: Mapping[str, str]) -> Any:
        return messages.state_json(self._workspace)

    def _pages(self, query: Mapping[str, str]) -> Any:
        system = self._system(query)
        text = require_text("text", query.get("text", ""), 200)
        offset = query_integer("offset", query.get("offset"), 0, 0, messages.MOST_CODE)
        limit = query_integer("limit", query.get("limit"), 25, 1, _MOST_PAGES)
        total, names = self._workspace.pages.find(system, text, offset, limit)
        return {"total": total, "pages": [messages.name_json(name) for name in names]}

    def _page(self, query: Mapping[str, str]) -> Any:
        """A page by its code or by its ids; without either, the first. With a step, the one before or after it."""
        system, pages = self._system(query), self._workspace.pages
        if "user" in query:
            user = require_text("user", query["user"])
            name = pages.look_up(system, user, query.get("page"))
            if name is None:
                raise BadRequestError(f"{pages.names[system]} has no page of user {user}.", 404)
            code = name.code
        elif "code" in query:
            code = query_integer("code", query["code"], 0, 0, messages.MOST_CODE)
        else:
            code = pages.find(system, "", 0, 1)[1][0].code
        self._workspace.check_page(system, code)
        if "step" in query:
            step = {"previous": -1, "next": 1}[require_word("step", query["step"], ("previous", "next"))]
            code = pages.neighbour(system, code, step)
        return messages.page_json(self._workspace, system, code)

    def _poster(self, query: Mapping[str, str]) -> Any:
        self._system(query)
        item = query_integer("item", query.get("item"), 0, 0, messages.MOST_CODE)
        poster = self._workspace.poster(item)
        if poster is None:
            raise BadRequestError(f"item {item} has no poster.", 404)
        # the address has the revision of the tables: it never stands for another picture
        return Response(
            poster.path.read_bytes(), media_type=poster.media_type, headers={"cache-control": "private, max-age=3600"}
        )

    def _system(self, query: Mapping[str, str]) -> int:
        workspace = self._workspace
        workspace.check_revision(query_integer("data", query.get("data"), workspace.revision, 0, messages.MOST_CODE))
        return query_integer("system", query.get("system"), 0, 0, len(workspace.pages.names) - 1)

    def _weights(self, content: Mapping[str, Any]) -> Any:
        request = messages.read_page_request(content, self._workspace, with_rows=False)
        scorer = self._workspace.scorer(request.system, request.code, request.choices)
        weights, grid = scorer.weights, scorer.grid
        by_cell = weights.shape == grid.shape  # a list metric has weights of ranks
        return {
            "weights": weights.tolist() if by_cell else None,
            "metric": str(request.choices.metric),
            "screen": screen_of(grid),
        }

    def _score(self, content: Mapping[str, Any]) -> Any:
        request = messages.read_page_request(content, self._workspace)
        scorer = self._workspace.scorer(request.system, request.code, request.choices)
        return messages.score_json(self._workspace, scorer.score(request.rows), scorer.plan.settings)

    def _ideal(self, content: Mapping[str, Any]) -> Any:
        request = messages.read_page_request(content, self._workspace)
        scorer = self._workspace.scorer(request.system, request.code, request.choices)
        rows = scorer.ideal_rows(request.rows)
        return {"rows": messages.rows_json(rows), **messages.names_json(self._workspace, rows)}

    def _names(self, content: Mapping[str, Any]) -> Any:
        self._workspace.check_revision(require_integer("data", content.get("data"), 0, messages.MOST_CODE))
        return messages.names_json(self._workspace, messages.read_rows(content.get("rows"), self._workspace.pages))

    def _layout(self, content: Mapping[str, Any]) -> Any:
        request = messages.read_page_request(content, self._workspace)
        if not any(item is not None for row in request.rows for item in row.items):
            raise BadRequestError("the page has no items; there is nothing to export.")
        frame = self._workspace.pages.layout(request.system, request.code, request.rows)
        headers = {"content-disposition": 'attachment; filename="layout.csv"'}
        return Response(frame.write_csv(), media_type="text/csv; charset=utf-8", headers=headers)

    async def _upload(self, request: Request) -> Response:
        table = require_word("table", request.query_params.get("table"), TABLES)
        name = require_text("name", request.query_params.get("name"), 255)
        return JSONResponse({"key": await self._uploads.add(table, name, request.stream())})

    def _open(self, content: Mapping[str, Any]) -> Any:
        """Open what was uploaded, the sample, or the tables of the start."""
        workspace = self._workspace
        source = require_word("source", content.get("source"), ("upload", "sample", "start"))
        if source != "upload":
            with self._uploads.opening():
                workspace.open(workspace.start if source == "start" else StudioTables.sample(workspace.settings))
        else:
            keys = {name: require_text(name, content[name]) for name in TABLES if content.get(name) is not None}
            for name in ("layouts", "judgments"):
                if name not in keys:
                    raise BadRequestError(f"{name} are missing; choose a file.")
            with self._uploads.opening(keys.values()):
                workspace.open(self._uploaded({name: self._uploads[key] for name, key in keys.items()}))
        return messages.state_json(workspace)

    def _uploaded(self, files: Mapping[str, Upload]) -> StudioTables:
        """The tables in uploaded files."""
        systems = [files[name] for name in ("layouts", "other") if name in files]
        names = system_names(*(file.name for file in systems))
        return StudioTables(
            systems={name: str(file.path) for name, file in zip(names, systems, strict=True)},
            judgments=str(files["judgments"].path),
            items=str(files["items"].path) if "items" in files else None,
            settings=self._workspace.settings,
            source=", ".join(file.name for file in files.values()),
        )

    def _get(self, answer: Callable[[Mapping[str, str]], Any]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(self._locked, answer, dict(request.query_params))

        return self._answer(endpoint)

    def _post(self, answer: Callable[[Mapping[str, Any]], Any]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                raise BadRequestError("the content type must be application/json.", 415)
            return await run_in_threadpool(self._locked, answer, parse_json(await _body(request)))

        return self._answer(endpoint)

    def _locked(self, answer: Callable[[Any], Any], content: Any) -> Response:
        with self._workspace.lock:
            result = answer(content)
        return result if isinstance(result, Response) else JSONResponse(result)

    def _answer(self, endpoint: Endpoint) -> Endpoint:
        """The same endpoint, with a message in place of an error."""

        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except BadRequestError as error:
                return _error(error.message, error.status)
            except CarousevalError as error:
                return _error(self._uploads.with_names(self._message_of(error)), 400)
            except OSError as error:  # a full disk, a poster that is gone
                return _error(f"{error.filename or 'the file'}: {error.strerror or error}.", 500)
            except ClientDisconnect:  # a page that was closed meanwhile: nobody reads the answer
                return _error("the request was broken off.", 400)
            except MemoryError:
                return _error("not enough memory; try smaller tables or a smaller screen.", 400)
            except Exception:
                traceback.print_exc(file=sys.stderr)
                return _error("something went wrong; the terminal of the studio says what.", 500)

        return answer


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_JSON:
            raise BadRequestError(f"the request is larger than {MOST_JSON >> 10:,} KB.", 413)
    return bytes(body)


def _error(message: str, status: int) -> Response:
    return JSONResponse({"error": message}, status)
