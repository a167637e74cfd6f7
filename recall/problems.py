"""A problem that the service answered, as the error that it was there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graph import errors
from graph.errors import PalimpsestError


def _tree(root: type[PalimpsestError]) -> Iterator[type[PalimpsestError]]:
    yield root
    for inner in root.__subclasses__():
        yield from _tree(inner)


CLASSES: Mapping[str, type[PalimpsestError]] = {
    error.code: error for error in _tree(PalimpsestError) if error.__module__ == errors.__name__
}
CODES: Mapping[str, type[PalimpsestError]] = {
    "bad_request": errors.RequestError,
    "unsupported_media_type": errors.RequestError,
    "headers_too_large": errors.TooLarge,
    "service_unavailable": errors.StoreUnavailable,
}  # of HTTP's own


def error_of(problem: Mapping[str, Any], status: int, retry_after_s: int | None = None) -> PalimpsestError:
    """The error of a problem (RFC 9457): of the class whose `code` it has, else of the next best by status.

    A note on it says the request's id, by which the service's log has it.
    """
    code, detail = str(problem.get("code", "")), str(problem.get("detail") or f"the service answered {status}")
    made = _made(CLASSES.get(code) or CODES.get(code) or _by_status(status), detail, problem, retry_after_s)
    if request_id := problem.get("request_id"):
        made.add_note(f"request {request_id}")
    return made


def _made(
    kind: type[PalimpsestError], detail: str, problem: Mapping[str, Any], retry_after_s: int | None
) -> PalimpsestError:
    faults = problem.get("errors") or []
    field = faults[0].get("field") if faults else None
    if issubclass(kind, errors.ValidationFailed):
        return kind(faults or [{"field": "", "message": detail}])
    if issubclass(kind, errors.NotAllowed):
        return kind(detail, field or "", problem.get("allowed") or ())
    if issubclass(kind, errors.NotFound):
        return kind(detail, field)
    if issubclass(kind, errors.KeyInUse | errors.TaskActive):
        return kind(detail, str(problem.get("existing_id", "")))
    if issubclass(kind, errors.SupersessionCycle):
        return kind(detail, problem.get("chain") or ())
    if issubclass(kind, errors.RateLimited):
        return kind(detail, retry_after_s or 1)
    return kind(detail)


def _by_status(status: int) -> type[PalimpsestError]:
    known = {401: errors.Unauthenticated, 403: errors.Forbidden, 404: errors.NotFound, 409: errors.Conflict}
    known |= {413: errors.TooLarge, 429: errors.RateLimited, 503: errors.StoreUnavailable, 504: errors.StoreTimeout}
    return known.get(status) or (errors.RequestError if 400 <= status < 500 else PalimpsestError)
