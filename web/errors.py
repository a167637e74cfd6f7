"""Errors over HTTP: one table from error class to status, one form for all, `application/problem+json` (RFC 9457).

A program matches `code`; `detail` is for people. What can't be the caller's doing is said in a sentence of the table, and
the error's own words go to the log.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson
from flask import Flask, Response, g
from werkzeug.exceptions import HTTPException

from graph import errors

log = logging.getLogger(__name__)
CONTENT_TYPE = "application/problem+json"
AWAY = "the database does not answer just now; try again"
SERVER = "the database could not be started; the service's log says why"
FAULT = "the service met an error of its own; its log has the details under this request id"


@dataclass(frozen=True)
class Told:
    """What a caller is told of an error. `detail` None: the error's own words, which are written for the caller."""

    status: int
    detail: str | None = None
    retry_after_s: int | None = None


STATUS: Mapping[type[errors.PalimpsestError], Told] = {
    errors.PalimpsestError: Told(500, FAULT),
    errors.SettingsError: Told(500, FAULT),
    errors.StatementError: Told(500, FAULT),
    errors.PackError: Told(500, FAULT),
    errors.ServerError: Told(503, SERVER),
    errors.DownloadError: Told(503, SERVER),
    errors.PortTaken: Told(503, SERVER),
    errors.DiskFull: Told(503, "the disk of the database is full"),
    errors.StartFailed: Told(503, SERVER),
    errors.StoreError: Told(503, AWAY),
    errors.StoreUnavailable: Told(503, AWAY, retry_after_s=5),
    errors.StoreTimeout: Told(504, "the request took longer than its limit"),
    errors.StoreConflict: Told(409, "another write stood in the way; try again", retry_after_s=1),
    errors.StatementFailed: Told(503, "the database refused a statement; `palimpsest doctor` finds what it lacks"),
    errors.SchemaError: Told(503, "the database's schema is not as it must be; `palimpsest doctor` says more"),
    errors.EmbeddingError: Told(503),
    errors.RequestError: Told(422),
    errors.ValidationFailed: Told(422),
    errors.NotAllowed: Told(422),
    errors.Unauthenticated: Told(401),
    errors.Forbidden: Told(403),
    errors.NotFound: Told(404),
    errors.Conflict: Told(409),
    errors.KeyInUse: Told(409),
    errors.SupersessionCycle: Told(409),
    errors.TaskActive: Told(409),
    errors.Busy: Told(409, retry_after_s=1),
    errors.TooLarge: Told(413),
    errors.RateLimited: Told(429, retry_after_s=1),
}

CODES = {404: "not_found", 413: errors.TooLarge.code, 500: "internal"}  # of statuses that HTTP itself gives
NOWHERE = "there is nothing at this address; GET /v1/verbs lists the verbs, each is POST /v1/<pack>/<verb>"


def told(error: errors.PalimpsestError) -> Told:
    """The table's row for `error`: its class's, else the nearest base's."""
    return next(STATUS[base] for base in type(error).__mro__ if base in STATUS)


def headers(error: errors.PalimpsestError) -> list[tuple[str, str]]:
    """What an answer says of `error` beside its body: when to come again, and that a key is wanted."""
    row = told(error)
    wait = getattr(error, "retry_after_s", row.retry_after_s)
    found = [] if wait is None else [("Retry-After", str(wait))]
    return [*found, ("WWW-Authenticate", "Bearer")] if row.status == 401 else found


def problem(status: int, code: str, detail: str, request_id: str | None, details: Mapping[str, Any] | None = None) -> bytes:
    """The body of a problem answer."""
    title = HTTPStatus(status).phrase
    body = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": request_id,
    }
    return orjson.dumps({**(details or {}), **body})


def register(app: Flask) -> None:
    """Every error of the app leaves it as a problem."""
    app.register_error_handler(errors.PalimpsestError, _palimpsest)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(Exception, _unexpected)


def _palimpsest(error: errors.PalimpsestError) -> Response:
    row = told(error)
    if row.status >= 500:
        log.error("%s: %s", error.code, error, exc_info=error, extra={"fields": {"request_id": _request_id()}})
    return _response(row.status, error.code, row.detail or str(error), error.details, headers(error))


def _http(error: HTTPException) -> Response:
    """Flask's and werkzeug's own: no such address, wrong method, body too long."""
    status = error.code or 500
    code = CODES.get(status, HTTPStatus(status).phrase.lower().replace(" ", "_").replace("-", "_"))
    kept = [(name, value) for name, value in error.get_headers() if name in ("Allow", "Retry-After")]
    return _response(status, code, NOWHERE if status == 404 else error.description or code, {}, kept)


def _unexpected(error: Exception) -> Response:
    log.error("internal: %s", error, exc_info=error, extra={"fields": {"request_id": _request_id()}})
    return _response(500, CODES[500], FAULT, {})


def _request_id() -> str | None:
    found: str | None = g.get("request_id")
    return found


def _response(
    status: int, code: str, detail: str, details: Mapping[str, Any], also: Iterable[tuple[str, str]] = ()
) -> Response:
    body = problem(status, code, detail, _request_id(), details)
    return Response(body, status=status, headers=list(also), content_type=CONTENT_TYPE)
