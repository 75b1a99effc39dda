"""The studio's server: static files and the JSON interface, for this machine alone."""

import mimetypes
import socket
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from carouseval.errors import CarousevalError, ParameterError
from carouseval.show.studio.guard import Guard
from carouseval.show.studio.routes import Interface
from carouseval.show.studio.uploads import Uploads
from carouseval.show.studio.workspace import Workspace

HOST = "127.0.0.1"
PORT = 8737  # unless it is taken
_STATIC = Path(__file__).with_name("static")
mimetypes.add_type("text/javascript", ".js")  # some systems call it text/plain, which no browser would run


def create_app(
    workspace: Workspace, uploads: Uploads, port: int, message_of: Callable[[CarousevalError], str] = str
) -> Starlette:
    """The application, which answers requests for this port; ``message_of`` words what is wrong with tables."""
    static = Mount("/", StaticFiles(directory=_STATIC, html=True))
    return Starlette(
        routes=[*Interface(workspace, uploads, message_of).routes(), static],
        middleware=[Middleware(Guard, port=port)],
        exception_handlers={404: _not_found, 405: _not_found},
    )


def _not_found(_: Any, error: Any) -> JSONResponse:
    return JSONResponse({"error": "there is nothing at this address."}, error.status_code)


def bind(port: int | None) -> socket.socket:
    """A socket of this machine: at the port given, else at the usual one, or at a free one where that is taken."""
    for choice in (PORT, 0) if port is None else (port,):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, choice))
            listener.listen()
            return listener
        except OSError as error:
            listener.close()
            problem = error.strerror or str(error)
    raise ParameterError(f"port {port} cannot be used ({problem}); choose another, or leave it out for a free one.")


def serve(
    workspace: Workspace,
    listener: socket.socket,
    *,
    browser: bool,
    announce: Callable[[str], None],
    message_of: Callable[[CarousevalError], str] = str,
) -> None:
    """Answer requests until interrupted."""
    port = listener.getsockname()[1]
    address = f"http://{HOST}:{port}/"
    uploads = Uploads()
    try:
        app = create_app(workspace, uploads, port, message_of)
        config = uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        announce(address)  # the socket listens: requests wait until they are answered
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # some browsers block
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        workspace.close()
        uploads.close()
