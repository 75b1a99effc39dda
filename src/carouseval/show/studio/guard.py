"""Checks which host a request is for and where it comes from; tells browsers what they may do with answers."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

_Scope = MutableMapping[str, Any]
_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """Refuses requests that another site made a browser send.

    A name that some site rebinds to this machine arrives in the header Host, and a form or script of another site in
    the header Origin, which browsers send with every POST.
    """

    def __init__(self, app: _App, port: int) -> None:
        self._app = app
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Pass a request on, or refuse it; add headers to the answer."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: _Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        app = self._app if refusal is None else JSONResponse({"error": refusal}, 403)
        await app(scope, receive, send_with_headers)

    def _refusal(self, method: str, headers: Headers) -> str | None:
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return f"this server answers at http://{self._hosts[0]} only."
        if method not in ("GET", "HEAD"):
            origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
            if origin not in [f"http://{host}" for host in self._hosts] or site != "same-origin":
                return "this request comes from another site."
        return None
