"""The Flask application: what every request and every answer has in common."""

from __future__ import annotations

import logging
import re
import time
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import orjson
from flask import Flask, Response, g, request
from flask.json.provider import JSONProvider
from flask_smorest import Api
from uuid_utils import uuid7

from graph.settings import Settings
from web import analytics, docs, errors, metrics, page, routes
from web.auth import Gate, recorded
from web.schemas import OPENAPI_VERSION
from web.sessions import Sessions

if TYPE_CHECKING:
    from recall.service import Service

log = logging.getLogger("web.access")
REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-Frame-Options": "DENY",
}


class Json(JSONProvider):
    """Flask's own JSON (the OpenAPI document) by orjson, which writes no NaN."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return orjson.loads(s)


def create_app(service: Service, settings: Settings) -> Flask:
    """The doors of `service`."""
    app = Flask(__name__, static_folder=None)
    app.json = Json(app)
    app.url_map.merge_slashes = False
    app.config.update(
        MAX_CONTENT_LENGTH=settings.max_body_mb << 20,
        API_TITLE="Palimpsest",
        API_VERSION=version("palimpsest"),
        OPENAPI_VERSION=OPENAPI_VERSION,
        OPENAPI_URL_PREFIX="/",
        PROPAGATE_EXCEPTIONS=False,
    )
    api = Api(app)
    routes.register(app, api, service)
    analytics.register(api, service)
    docs.register(app)
    errors.register(app)
    metrics.register(app, service, settings)
    sessions = Sessions(service.keys, service.endpoint.password)
    page.register(app, service, settings, sessions)
    app.before_request(_begin)
    app.before_request(Gate(service.keys, settings, sessions).admit)
    app.after_request(_finish)
    app.after_request(partial(_recorded, service))
    return app


def request_id(given: str | None) -> str:
    """`given` where it is fit for a header and a log line, else a new one."""
    return given if given and REQUEST_ID.fullmatch(given) else str(uuid7())


def _begin() -> None:
    g.started = time.perf_counter()
    g.request_id = request_id(request.headers.get("X-Request-Id"))


def _finish(response: Response) -> Response:
    response.headers["X-Request-Id"] = g.request_id
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    fields = {
        "request_id": g.request_id,
        "method": request.method,
        **({"verb": g.verb} if "verb" in g else {}),
        "path": request.path,
        "status": response.status_code,
        "ms": round((time.perf_counter() - g.started) * 1000, 1),
    }
    if key := g.get("key"):
        fields["key"] = key.id
    log.info("request", extra={"fields": fields})
    return response


def _recorded(service: Service, response: Response) -> Response:
    recorded(service.audit, response.status_code)
    return response
