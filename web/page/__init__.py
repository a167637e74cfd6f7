"""The web page: Palimpsest for people. It needs no network and, but for the picture, no scripts.

A blueprint whose views call the same dispatcher as the HTTP routes. `web.auth.Gate` has let in whoever comes here, by a
key in a header or by the session that `web.sessions` opened.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from flask import (
    Blueprint,
    Flask,
    Response,
    g,
    make_response,
    redirect,
    render_template,
    request,
    send_from_directory,
    url_for,
)
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

import seeds
from graph.errors import PalimpsestError, RateLimited, TooLarge, Unauthenticated, ValidationFailed
from web.auth import PAGE
from web.errors import FAULT, told
from web.page import analytics, ask, context, login, memory, words
from web.page.forms import words_of
from web.page.visit import Doors, Visit
from web.sessions import FIELD, Sessions

if TYPE_CHECKING:
    from graph.settings import Settings
    from recall.service import Service

log = logging.getLogger(__name__)
STATIC: Final = Path(__file__).parent / "static"
BROWSER: Final = Path(seeds.__file__).parent / "browser"
FILES: Final = ("page.css", "page.js", "icon.svg", "cytoscape.min.js")
MOST_FORM: Final = 4 << 20  # bytes: a content of 1 MiB whose every byte is written as three
HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",  # else browsers send the Origin of a form as null
}


def register(app: Flask, service: Service, settings: Settings, sessions: Sessions) -> None:
    """Adds the page."""
    Doors.keep(app, service=service, settings=settings, sessions=sessions)
    page = Blueprint(PAGE, __name__, template_folder="templates")
    for rule, view, methods in (
        ("/", ask.ask, ["GET"]),
        ("/feedback", ask.feedback, ["POST"]),
        ("/remember", memory.remember_form, ["GET"]),
        ("/remember", memory.remember, ["POST"]),
        ("/memories/<path:id>", memory.memory, ["GET"]),
        ("/supersede", memory.supersede, ["POST"]),
        ("/context", context.context, ["GET"]),
        ("/context", context.build, ["POST"]),
        ("/traces", context.traces, ["GET"]),
        ("/traces/<id>", context.trace, ["GET"]),
        ("/analytics", analytics.every, ["GET"]),
        ("/analytics/<name>", analytics.one, ["GET"]),
        ("/login", login.login, ["GET"]),
        ("/login", login.enter, ["POST"]),
        ("/logout", login.leave, ["POST"]),
        ("/page/style.grass", style, ["GET"]),
        (f"/page/<any({', '.join(map(repr, FILES))}):name>", file, ["GET"]),
    ):
        page.add_url_rule(rule, view.__name__, view, methods=methods)
    page.before_request(_checked)
    page.after_request(_finished)
    page.register_error_handler(PalimpsestError, _told)
    page.register_error_handler(Exception, _unexpected)
    page.register_error_handler(RequestEntityTooLarge, lambda _error: _told(TooLarge("the form is too large")))
    app.register_blueprint(page)
    app.jinja_env.filters |= {"day": words.day, "shortened": words.shortened, "score": lambda value: f"{value:.2f}"}
    app.jinja_env.globals |= {
        "said": words.SAID,
        "floor": words.FLOOR,
        "version": version("palimpsest"),
        "form_field": FIELD,
        "form_token": sessions.form_token,
    }


def _checked() -> None:
    """Before every view. Raises Forbidden for a form that is not ours."""
    request.max_content_length = request.max_form_memory_size = MOST_FORM
    if request.method == "POST":
        Doors.here().sessions.check_form()


def _finished(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    return Doors.here().sessions.remembered(response)


def file(name: str) -> Response:
    """A style sheet, a script, the icon."""
    return send_from_directory(STATIC, name, max_age=3600)


def style() -> Response:
    """The style sheet of Neo4j Browser, to save and drop on its window."""
    return send_from_directory(BROWSER, "style.grass", as_attachment=True)


def _told(error: PalimpsestError) -> Response:
    """An error as a page; without a key, the login."""
    status = told(error).status
    if status >= 500:
        log.error("%s: %s", error.code, error, exc_info=error, extra={"fields": {"request_id": g.request_id}})
    if isinstance(error, Unauthenticated):
        onward = request.full_path.rstrip("?") if request.method == "GET" else None
        return make_response(redirect(url_for("page.login", onward=onward if onward != "/" else None), 303))
    values: dict[str, Any] = {"title": words.STATUS.get(status, "An error"), "detail": words_of(error), "status": status}
    if isinstance(error, ValidationFailed):
        values["faults"] = error.errors
    response = make_response(
        render_template("page/error.html", request_id=g.request_id, visit=_visit_or_none(), **values), status
    )
    if isinstance(error, RateLimited):
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response


def _unexpected(error: Exception) -> Response:
    """HTTP's own errors as a page, and what nobody foresaw."""
    if isinstance(error, HTTPException):
        status, detail = error.code or 500, error.description or ""
    else:
        status, detail = 500, FAULT
        log.error("internal: %s", error, exc_info=error, extra={"fields": {"request_id": g.request_id}})
    title = words.STATUS.get(status, HTTPStatus(status).phrase)
    return make_response(
        render_template("page/error.html", request_id=g.request_id, visit=None, title=title, detail=detail, status=status),
        status,
    )


def _visit_or_none() -> Visit | None:
    """Who looks, for the head of an error's page; None where even that can't be said."""
    try:
        return Visit.now()
    except (PalimpsestError, RequestEntityTooLarge):
        return None
