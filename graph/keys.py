"""API keys: nodes that hold a hash, a role and namespaces, and what a request may do by its key.

A key reads `palimpsest_ID_SECRET`. The secret is 256 bits from the system's source of randomness, so one SHA-256 of it is
enough: there is nothing to guess. It is shown once, when the key is made, and kept nowhere.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import logging
import re
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from graph.errors import Forbidden, NotFound, StoreError, StoreUnavailable, Unauthenticated, ValidationFailed
from graph.packs import DEFAULT_NAMESPACE, checked_namespace
from graph.store import Store

log = logging.getLogger(__name__)
ROLES: Final = ("read", "write", "admin")  # each may do what those before it may
EVERY: Final = "*"  # instead of a list of namespaces
FRESH_S = 5.0  # how long what was read of the keys holds: a revocation is seen within it
STALE_S = 60.0  # how long it still holds while the database is there, and fails to say
AGAIN_S = 1.0  # how often the database is asked while it is away, or for a key that is not known
ASK_S = 2.0  # how long the question may take
MOST_NAME_BYTES = 200
_KEY = re.compile(r"palimpsest_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NO_HASH = "0" * 64


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """A key as it is stored. namespaces: those that it reaches, or `*` alone for all.  revoked_at: None while it holds."""

    id: str
    name: str
    role: str
    namespaces: tuple[str, ...]
    created_at: dt.datetime | None = None
    revoked_at: dt.datetime | None = None
    hash: str = field(default="", repr=False)

    def may(self, role: str) -> None:
        """Raises Forbidden where the key's role is less than `role`."""
        if ROLES.index(self.role) < ROLES.index(role):
            raise Forbidden(f"this needs a key of the role {role}; this one has {self.role}")

    def namespace(self, asked: str | None) -> str:
        """The namespace to work in. asked: what the request names.  Raises Forbidden, ValidationFailed."""
        if asked is not None:
            if EVERY not in self.namespaces and checked_namespace(asked) not in self.namespaces:
                raise Forbidden(f"the key does not reach the namespace {asked}")
            return asked
        if len(self.namespaces) == 1 and EVERY not in self.namespaces:
            return self.namespaces[0]
        if EVERY in self.namespaces or DEFAULT_NAMESPACE in self.namespaces:
            return DEFAULT_NAMESPACE
        raise Forbidden("the key reaches several namespaces: name one of them in X-Namespace")


def create(store: Store, *, name: str, role: str, namespaces: Sequence[str]) -> tuple[ApiKey, str]:
    """Makes a key. Returns it and its text, which can't be had again.

    name: for people, 1 to 200 bytes.  role: read, write or admin.  namespaces: one or more, or `*`.
    Raises ValidationFailed, StoreError.
    """
    if not name.strip() or not name.isprintable() or len(name.encode()) > MOST_NAME_BYTES:
        raise ValidationFailed.of("name", f"must be 1 to {MOST_NAME_BYTES} bytes of printable text")
    if role not in ROLES:
        raise ValidationFailed.of("role", f"must be one of: {', '.join(ROLES)}")
    reached = tuple(dict.fromkeys(namespaces))
    if not reached or (EVERY in reached and len(reached) > 1):
        raise ValidationFailed.of("namespaces", f"must be one namespace or more, or {EVERY} alone for all")
    for ns in reached:
        if ns != EVERY:
            checked_namespace(ns)
    id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    made = {"id": id, "name": name, "role": role, "namespaces": list(reached), "hash": _hash(secret)}
    store.write(lambda tx: tx.rows("key.create", properties=made))
    key = ApiKey(id=id, name=name, role=role, namespaces=reached, created_at=dt.datetime.now(dt.UTC))
    return key, f"palimpsest_{id}_{secret}"


def every(store: Store, *, timeout_s: float | None = None) -> list[ApiKey]:
    """All keys, revoked ones too, the oldest first. Raises StoreError."""
    return [_key(row) for row in store.rows("key.list", timeout_s=timeout_s)]


def revoke(store: Store, id: str) -> ApiKey:
    """Takes a key's power away for good; every service sees it within FRESH_S. Raises NotFound, StoreError."""
    rows = store.write(lambda tx: tx.rows("key.revoke", id=id))
    if not rows:
        raise NotFound(f"no key {id!r}", "id")
    return _key(rows[0])


class KeyRing:
    """The keys as last read, for a service that asks at each request. Safe for any number of threads.

    While the database is away the keys hold on: there is nothing that one could read with them, and nobody to revoke them.
    """

    def __init__(self, store: Store, *, fresh_s: float = FRESH_S):
        self._store, self._fresh_s = store, fresh_s
        self._lock = threading.Lock()
        self._keys: dict[str, ApiKey] = {}
        self._read_at = self._asked_at = self._next = float("-inf")

    def any(self, *, ask: bool = True) -> bool:
        """Whether a key was ever made: a revoked one counts, lest revoking the last opens the doors. Raises StoreError.

        ask: whether to ask the database where it is time to.
        """
        return bool(self._current() if ask else self._keys)

    def usable(self) -> bool:
        """Whether some key holds. Raises StoreError."""
        return any(key.revoked_at is None for key in self._current().values())

    def verified(self, text: str | None) -> ApiKey:
        """The key that a request brings. Raises Unauthenticated, StoreError."""
        if not text:
            raise Unauthenticated("a key is needed: Authorization: Bearer KEY, or X-API-Key: KEY")
        match = _KEY.fullmatch(text)
        key = (self._current().get(match[1]) or self._current(AGAIN_S).get(match[1])) if match else None
        same = hmac.compare_digest(_hash(match[2] if match else text), key.hash if key else _NO_HASH)
        if key is None or not same or key.revoked_at is not None:
            raise Unauthenticated("the key is not known, or it is revoked")
        return key

    def holding(self, id: str) -> ApiKey:
        """The key of that id, if it still holds: for a session that a key has opened. Raises Unauthenticated, StoreError."""
        key = self._current().get(id)
        if key is None or key.revoked_at is not None:
            raise Unauthenticated("the key of this session is not known, or it is revoked")
        return key

    def _current(self, fresh_s: float | None = None) -> Mapping[str, ApiKey]:
        """The keys by id, not older than `fresh_s`: a new key is looked for sooner than a known one is looked after."""
        with self._lock:
            now = time.monotonic()
            if now < self._next and (fresh_s is None or now - self._asked_at < fresh_s):
                return self._keys
            self._asked_at = now
            try:
                self._keys = {key.id: key for key in every(self._store, timeout_s=ASK_S)}
                self._read_at = now
                self._next = now + self._fresh_s
            except StoreError as error:
                old = now - self._read_at
                if old == float("inf") or (old > STALE_S and not isinstance(error, StoreUnavailable)):
                    raise
                log.warning("the keys of %.0f s ago hold on: %s", old, error)
                self._next = time.monotonic() + AGAIN_S
            return self._keys


def _key(row: Mapping[str, Any]) -> ApiKey:
    made, revoked = row["created_at"], row["revoked_at"]
    return ApiKey(
        id=row["id"],
        name=row["name"],
        role=row["role"],
        namespaces=tuple(row["namespaces"]),
        created_at=made and made.to_native(),
        revoked_at=revoked and revoked.to_native(),
        hash=row.get("hash", ""),
    )


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
