"""Who has logged in on the page, and which forms are ours. Nothing is kept on the server, so any process can answer.

The cookie of a session names the key that was shown at the login, and when; it never holds the key. It is signed with the
key's own hash, so it ends with the key; by itself it opens the page alone, not the routes under /v1.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from flask import g, request
from itsdangerous import BadSignature, TimestampSigner

from graph.errors import Forbidden, Unauthenticated

if TYPE_CHECKING:
    from flask import Response

    from graph.keys import ApiKey, KeyRing

SESSION: Final = "palimpsest_session"
VISITOR: Final = "palimpsest_visitor"
FIELD: Final = "form_token"
LASTS_S: Final = 12 * 3600
FOREIGN: Final = "the form did not come from this page; open it again and send it from there"


class Sessions:
    """Sessions of keys, and the tokens of forms."""

    def __init__(self, keys: KeyRing, secret: str):
        """secret: what the processes of one database share, and nobody else knows; none: one of this process."""
        self._keys = keys
        self._secret = hashlib.sha256(b"palimpsest page\0" + (secret or secrets.token_hex()).encode()).hexdigest()

    def opened(self, text: str) -> str:
        """The cookie of a session for the key `text`. Raises Unauthenticated, StoreError."""
        key = self._keys.verified(text)
        return self._signer(key).sign(key.id).decode()

    def key(self, cookie: str) -> ApiKey:
        """The key of a session. Raises Unauthenticated, StoreError."""
        key = self._keys.holding(cookie.partition(".")[0])
        try:
            self._signer(key).unsign(cookie, max_age=LASTS_S)
        except BadSignature:
            raise Unauthenticated("the session is over; log in again") from None
        return key

    def _signer(self, key: ApiKey) -> TimestampSigner:
        return TimestampSigner(self._secret + key.hash, salt="session", digest_method=hashlib.sha256)

    def form_token(self) -> str:
        """What a form of this visitor has to bring back."""
        if "visitor" not in g:
            given = request.cookies.get(VISITOR, "")
            g.visitor, g.new_visitor = (given, False) if len(given) == 43 else (secrets.token_urlsafe(32), True)
        key: ApiKey | None = g.get("key")
        told = f"{g.visitor}\0{key.id if key else ''}".encode()
        return hmac.new(self._secret.encode(), told, hashlib.sha256).hexdigest()

    def check_form(self) -> None:
        """Raises Forbidden for a form that another site has sent, or made somebody send."""
        site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
        ours = site == "same-origin" if site else origin is None or urlsplit(origin).netloc == request.host
        token = request.form.get(FIELD, "")
        if not ours or not hmac.compare_digest(token.encode(), self.form_token().encode()):
            raise Forbidden(FOREIGN)

    def remembered(self, response: Response) -> Response:
        """`response` with the cookie of a new visitor."""
        if g.get("new_visitor"):
            response.set_cookie(VISITOR, g.visitor, **cookie_flags())
        return response


def cookie_flags() -> dict[str, Any]:
    """No script reads the cookie, no other site sends it, and over TLS it goes over nothing else."""
    secure = request.is_secure or request.headers.get("Origin", "").startswith("https://")
    return {"httponly": True, "samesite": "Strict", "secure": secure, "path": "/"}
