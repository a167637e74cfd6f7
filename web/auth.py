"""Who may come in: the key that a request brings, how often it may, and which namespace and role it reaches."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from flask import g, request

from graph.errors import Forbidden, RateLimited, SettingsError, Unauthenticated
from graph.packs import DEFAULT_NAMESPACE
from graph.settings import Settings
from web.sessions import SESSION

if TYPE_CHECKING:
    from graph.audit import AuditLog
    from graph.keys import ApiKey, KeyRing
    from web.sessions import Sessions

Role = Literal["read", "write", "admin"]
PAGE = "page"  # the blueprint of the web page, where the cookie of a session stands for a key
OPEN = frozenset({"service.healthz", "service.readyz", "docs", "docs_start", "docs_file", "api-docs.openapi_json"})
OPEN |= {f"{PAGE}.login", f"{PAGE}.enter", f"{PAGE}.file", f"{PAGE}.style"}
MOST_BUCKETS = 10_000


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def needed(keys: KeyRing, settings: Settings, *, ask: bool = True) -> bool:
    """Whether a request needs a key. Raises StoreError.

    ask: whether the database may be asked; else what was last read tells.
    """
    if settings.auth != "auto":
        return settings.auth == "on"
    return not is_loopback(settings.host) or keys.any(ask=ask)


def startable(keys: KeyRing, settings: Settings) -> None:
    """Raises SettingsError where others reach the service and no key holds, StoreError."""
    if not is_loopback(settings.host) and not keys.usable():
        raise SettingsError(
            f"host {settings.host}: others reach it, and there is no API key. Make one with `palimpsest key create NAME`, "
            "or serve on 127.0.0.1"
        )


class Rates:
    """A bucket of `per_minute` requests for each key, filled again over a minute; 0: no limit. For any number of threads."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic):
        self._most, self._clock, self._lock = per_minute, clock, threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is left, and when that was

    def take(self, id: str) -> None:
        """Counts a request of a key. Raises RateLimited."""
        if not self._most:
            return
        with self._lock:
            now = self._clock()
            left, then = self._buckets.pop(id, (float(self._most), now))
            left = min(left + (now - then) * self._most / 60, float(self._most))
            self._buckets[id] = (left - 1 if left >= 1 else left, now)
            while len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
        if left < 1:
            wait = max(math.ceil((1 - left) * 60 / self._most), 1)
            raise RateLimited(f"the key may ask {self._most:,} times a minute; again in {wait} s", wait)


class Gate:
    """Asks every request for its key. What has no data of anybody is open: health, and the description of the verbs."""

    def __init__(self, keys: KeyRing, settings: Settings, sessions: Sessions):
        self._keys, self._settings, self._rates = keys, settings, Rates(settings.rate_per_minute)
        self._open = OPEN | {"metrics"} if settings.metrics == "open" else OPEN
        self._sessions = sessions

    def admit(self) -> None:
        """Puts the key into `g.key`, None where none is needed.

        Without keys a Host that is not this machine's is refused: a web page sends it that has given its name our address.
        Raises Unauthenticated, Forbidden, RateLimited, StoreError.
        """
        g.key = None
        is_open = request.endpoint in self._open
        if not needed(self._keys, self._settings, ask=not is_open):
            if not is_loopback(urlsplit(f"//{request.host}").hostname or ""):
                raise Forbidden("the Host header must be localhost or a loopback address")
        elif not is_open:
            g.key = self._verified()
            self._rates.take(g.key.id)

    def _verified(self) -> ApiKey:
        text = given(request.headers.get("Authorization"), request.headers.get("X-API-Key"))
        cookie = request.cookies.get(SESSION)
        if text is None and cookie and request.blueprint == PAGE:
            return self._sessions.key(cookie)
        return self._keys.verified(text)


def given(authorization: str | None, api_key: str | None) -> str | None:
    """The key's text, from whichever of the headers has it. Raises Unauthenticated where they have two."""
    scheme, _, bearer = (authorization or "").partition(" ")
    texts = (bearer.strip() if scheme.lower() == "bearer" else "", (api_key or "").strip())
    found = {text for text in texts if text}
    if len(found) > 1:
        raise Unauthenticated("Authorization and X-API-Key bring two different keys")
    return found.pop() if found else None


def recorded(audit: AuditLog, status: int) -> None:
    """Has a call of a writing verb that came with a key kept, whatever became of it."""
    key: ApiKey | None = g.get("key")
    if key is not None and "wrote" in g:
        verb, who = g.wrote
        audit.called(who["ns"], key, verb, status, actor=who["actor"], request_id=who["request_id"])


def namespace(role: Role) -> str:
    """The namespace of the request, which needs at least `role`. Raises Forbidden, ValidationFailed."""
    key: ApiKey | None = g.key
    asked = request.headers.get("X-Namespace")
    if key is None:
        return DEFAULT_NAMESPACE if asked is None else asked
    key.may(role)
    return key.namespace(asked)
