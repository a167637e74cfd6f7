"""MCP over streamable HTTP, at /mcp: a process of its own beside `palimpsest serve`, with the same keys and namespaces."""

from __future__ import annotations

import logging
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import uvicorn
from anyio import to_thread
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from graph.errors import Forbidden, NotFound, PalimpsestError
from graph.keys import ApiKey
from graph.packs import checked_namespace
from graph.settings import Settings
from web.auth import Rates, given, is_loopback, needed, startable
from web.errors import CONTENT_TYPE, headers, problem, told
from web.mcp.server import Context, Tools, new_request_id, server
from web.mcp.tool import Caller
from web.serve import FINISH_S, LISTEN_QUEUE

if TYPE_CHECKING:
    from recall.service import Service

log = logging.getLogger(__name__)
PATH, HEALTH = "/mcp", "/healthz"
STATE = "palimpsest"  # of a scope: what the gate found


@dataclass(frozen=True, kw_only=True)
class Admitted:
    """A request that may come in: its key, if one is needed, and its namespace."""

    key: ApiKey | None
    ns: str
    request_id: str


class Gate:
    """Asks every request for its key, and refuses those of web pages of elsewhere.

    Without keys the Host must be this machine's, since a page may have given its name our address. An Origin, which
    browsers send, must be this machine's or the Host's own.
    """

    def __init__(self, app: ASGIApp, service: Service, settings: Settings, ns: str):
        self._app, self._keys, self._settings, self._ns = app, service.keys, settings, ns
        self._rates = Rates(settings.rate_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        request_id = new_request_id()
        try:
            admitted = await to_thread.run_sync(self._admitted, scope["path"], Headers(scope=scope), request_id)
        except PalimpsestError as error:
            return await _refusal(error, request_id)(scope, receive, send)
        if admitted is None:
            return await Response(b'{"status":"ok"}', media_type="application/json")(scope, receive, send)
        if admitted.key:  # the SDK lets a session be used only by who opened it
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=admitted.key.id, scopes=[]))
        scope.setdefault("state", {})[STATE] = admitted
        return await self._app(scope, receive, send)

    def _admitted(self, path: str, headers: Mapping[str, str], request_id: str) -> Admitted | None:
        """None for health, which is open. Raises PalimpsestError."""
        if path == HEALTH:
            return None
        if path != PATH:
            raise NotFound(f"there is nothing at this address; MCP is at {PATH}")
        host, key = _hostname(f"//{headers.get('Host', '')}"), None
        if origin := headers.get("Origin"):
            asking = _hostname(origin)
            if not is_loopback(asking) and asking != host:
                raise Forbidden("the Origin must be a loopback address, or that of the Host")
        asked = headers.get("X-Namespace")
        if not needed(self._keys, self._settings):
            if not is_loopback(host):
                raise Forbidden("the Host header must be localhost or a loopback address")
            return Admitted(key=None, ns=checked_namespace(asked or self._ns), request_id=request_id)
        key = self._keys.verified(given(headers.get("Authorization"), headers.get("X-API-Key")))
        self._rates.take(key.id)
        return Admitted(key=key, ns=checked_namespace(key.namespace(asked)), request_id=request_id)


def _hostname(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _refusal(error: PalimpsestError, request_id: str) -> Response:
    row = told(error)
    if row.status >= 500:
        log.error("%s: %s", error.code, error, extra={"fields": {"request_id": request_id}})
    body = problem(row.status, error.code, row.detail or str(error), request_id, error.details)
    return Response(body, status_code=row.status, headers=dict(headers(error)), media_type=CONTENT_TYPE)


def app(service: Service, settings: Settings, *, profile: str, ns: str) -> ASGIApp:
    """The ASGI application: the SDK's, behind the gate. ns: where no key and no header names another."""

    def admitted(context: Context) -> Admitted:
        found: Admitted = context.request.scope["state"][STATE]
        return found

    def find(context: Context, actor: str | None) -> Caller:
        who = admitted(context)
        return Caller(service=service, ns=who.ns, actor=actor, request_id=who.request_id, key=who.key)

    made: Any = server(Tools(profile, find, lambda context: admitted(context).key), profile)
    inner = made.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        max_request_body_size=settings.max_body_mb << 20,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the gate does it
    )
    return Gate(inner, service, settings, ns)


class Server:
    """uvicorn on a bound socket. `run` serves until `stop` is called. Raises SettingsError, StoreError."""

    def __init__(self, service: Service, settings: Settings, sock: socket.socket, *, profile: str, ns: str):
        startable(service.keys, settings)
        sock.listen(LISTEN_QUEUE)
        config = uvicorn.Config(
            app(service, settings, profile=profile, ns=ns),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(FINISH_S),
        )
        self._uvicorn, self._socket = uvicorn.Server(config), sock
        host, port = sock.getsockname()[:2]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"

    def run(self) -> None:
        """Returns when it is stopped, by `stop`, SIGTERM or Ctrl-C."""
        self._uvicorn.run(sockets=[self._socket])

    def stop(self) -> None:
        """Has `run` return soon; from a signal or another thread, any number of times."""
        self._uvicorn.should_exit = True
