"""Where a key is needed: the form that asks for it, and the session that it opens."""

from __future__ import annotations

import logging

from flask import Response, g, make_response, redirect, render_template, request, url_for

from graph.errors import Unauthenticated
from web.auth import needed
from web.page.visit import Doors, is_ours
from web.sessions import LASTS_S, SESSION, cookie_flags

log = logging.getLogger(__name__)


def login() -> Response:
    """The form that asks for a key, where one is needed."""
    doors = Doors.here()
    if not needed(doors.service.keys, doors.settings):
        return make_response(redirect(url_for("page.ask")))
    return make_response(render_template("page/login.html", fault=None, onward=_onward()))


def enter() -> Response:
    """Opens a session for a key."""
    try:
        cookie = Doors.here().sessions.opened(request.form.get("key", "").strip())
    except Unauthenticated as error:
        log.warning("a login was refused", extra={"fields": {"request_id": g.request_id}})
        return make_response(render_template("page/login.html", fault=str(error), onward=_onward()), 401)
    response = make_response(redirect(_onward(), 303))
    response.set_cookie(SESSION, cookie, max_age=LASTS_S, **cookie_flags())
    return response


def leave() -> Response:
    """Ends the session."""
    response = make_response(redirect(url_for("page.login", said="out"), 303))
    response.delete_cookie(SESSION, **cookie_flags())
    return response


def _onward() -> str:
    """Where somebody wanted to go before the login."""
    given = request.values.get("onward", "")
    return given if is_ours(given) else url_for("page.ask")
