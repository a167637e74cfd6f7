"""One look at the page: who looks, into which namespace, and the verbs that it calls on the way."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from flask import Flask, Response, current_app, g, make_response, redirect, render_template, request, url_for

from graph.errors import Forbidden, PalimpsestError, StoreError
from graph.keys import EVERY
from graph.packs import DEFAULT_NAMESPACE, checked_namespace
from web.auth import recorded
from web.errors import told
from web.neo4j_browser import Browser

if TYPE_CHECKING:
    from graph.keys import ApiKey
    from graph.settings import Settings
    from graph.store import Space
    from recall.service import Service
    from web.sessions import Sessions

KEPT: Final = "palimpsest_page"  # in `app.extensions`
_OURS: Final = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
MOST_SPACES: Final = 200  # namespaces that the field offers


@dataclass(frozen=True, kw_only=True)
class Doors:
    """What the page's views share."""

    service: Service
    settings: Settings
    sessions: Sessions

    @classmethod
    def keep(cls, app: Flask, **shared: Any) -> None:
        app.extensions[KEPT] = cls(**shared)

    @classmethod
    def here(cls) -> Doors:
        """Those of the app that answers."""
        found: Doors = current_app.extensions[KEPT]
        return found


@dataclass(frozen=True, kw_only=True)
class Visit:
    """ns: a namespace that the key reaches.  key: None where none is needed, and everything is allowed."""

    service: Service
    ns: str
    key: ApiKey | None

    @classmethod
    def now(cls, ns: str | None = None) -> Visit:
        """Of this request. ns: instead of the one that the address or the form names. Raises Forbidden, ValidationFailed."""
        service = Doors.here().service
        asked = (ns or request.values.get("ns", "")).strip() or None
        key: ApiKey | None = g.get("key")
        if key is None:
            return cls(service=service, ns=checked_namespace(asked or DEFAULT_NAMESPACE), key=None)
        try:
            return cls(service=service, ns=key.namespace(asked), key=key)
        except Forbidden:
            if asked is not None:
                raise
            return cls(service=service, ns=key.namespaces[0], key=key)

    @property
    def writes(self) -> bool:
        """Whether what changes something may be offered."""
        return self.key is None or self.key.role != "read"

    @property
    def space(self) -> Space:
        return self.service.store.within(self.ns)

    @property
    def browser(self) -> Browser:
        """Links to Neo4j Browser, as far as whoever looks can reach it."""
        return Browser.seen_from(self.service.endpoint, request.host, self.service.store.statements, ns=self.ns)

    def call(self, verb: str, **body: Any) -> Mapping[str, Any]:
        """The answer of a verb, as over HTTP: the key's role holds, and what writes is kept. Raises as the verb does.

        body: fields that are None are left out.
        """
        found = self.service.dispatcher.find(verb)
        who = {"ns": self.ns, "actor": None, "request_id": g.request_id}
        if self.key is not None:
            self.key.may(found.role)
        if found.role == "read":
            return self._answer(verb, body, who)
        g.wrote = (verb, who)
        try:
            answer = self._answer(verb, body, who)
        except PalimpsestError as error:
            self._kept(told(error).status)
            raise
        self._kept(200)
        return answer

    def _answer(self, verb: str, body: Mapping[str, Any], who: Mapping[str, Any]) -> Mapping[str, Any]:
        given = {name: value for name, value in body.items() if value is not None}
        return self.service.dispatcher.call(verb, given, **who).body

    def _kept(self, status: int) -> None:
        """Several verbs may write in one request; the request's own end then has nothing left to keep."""
        recorded(self.service.audit, status)
        g.pop("wrote", None)

    def spaces(self) -> list[str]:
        """The namespaces to choose from: the key's own, or those that there are."""
        if self.key is not None and EVERY not in self.key.namespaces:
            return list(self.key.namespaces)
        try:
            rows = self.service.store.rows("schema.namespaces", timeout_s=2.0)
        except StoreError:  # the page's own business says so where it matters
            return [self.ns]
        return [row["name"] for row in rows[:MOST_SPACES]]

    def url(self, view: str, **values: Any) -> str:
        """The address of a view of the page, in this namespace."""
        kept = {name: value for name, value in values.items() if value not in (None, "", False)}
        if self.ns != DEFAULT_NAMESPACE:
            kept["ns"] = self.ns
        return url_for(f"page.{view}", **kept)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page of the namespace."""
        return make_response(render_template(f"page/{template}", visit=self, **values), status)

    def to(self, view: str, **values: Any) -> Response:
        """Sends the browser on, so that going back or loading again sends no form twice."""
        return make_response(redirect(self.url(view, **values), 303))


def is_ours(address: str) -> bool:
    """Whether `address` leads nowhere but to this service: browsers take `//`, backslashes and control characters amiss."""
    return _OURS.fullmatch(address) is not None
