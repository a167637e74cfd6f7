"""What waitress answers by itself (a body too long, a broken request), in our form, and so that it reaches the client."""

from __future__ import annotations

import logging
import socket
import time
from contextlib import suppress

from uuid_utils import uuid7
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.task import ErrorTask

from web.app import HEADERS
from web.errors import CODES, CONTENT_TYPE, problem

log = logging.getLogger("web.access")
LINGER_S = 10.0
_CODES = CODES | {400: "bad_request", 431: "headers_too_large", 501: "not_implemented"}


class Refusal(ErrorTask):  # type: ignore[misc]
    """An answer that no application was asked for."""

    def execute(self) -> None:
        error, request_id = self.request.error, str(uuid7())
        detail = error.body
        if error.code == 413:
            detail = f"the body may be at most {self.channel.adj.max_request_body_size - 1:,} bytes"
        body = problem(error.code, _CODES.get(error.code, "bad_request"), detail, request_id)
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", CONTENT_TYPE),
            ("X-Request-Id", request_id),
            *HEADERS.items(),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)
        log.info("refused", extra={"fields": {"request_id": request_id, "status": error.code, "detail": detail}})


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Does not ask for the body (100 Continue) of a request that is refused by its headers."""

    def received(self, data: bytes) -> int:
        consumed: int = super().received(data)
        if self.error:
            self.expect_continue = False
        return consumed


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection. After a refusal it reads on for a while and throws away what comes.

    A socket that is closed with bytes unread resets the connection, and the reset may overtake the answer.
    """

    error_task_class = Refusal
    parser_class = Parser
    refused = False
    lingers_until: float | None = None

    def service(self) -> None:
        self.refused = bool(self.requests and self.requests[0].error)
        super().service()

    def handle_close(self) -> None:
        if self.refused and self.connected and self.lingers_until is None:
            self.lingers_until = time.monotonic() + LINGER_S
            self.will_close = False
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
                return
        self.end()

    def end(self) -> None:
        """Closes the connection at once."""
        super().handle_close()

    def readable(self) -> bool:
        return self.lingers_until is not None or bool(super().readable())

    def writable(self) -> bool:
        """Polled at least once a second, so this is where lingering ends."""
        if self.lingers_until is None:
            return bool(super().writable())
        self.will_close = time.monotonic() > self.lingers_until
        return self.will_close

    def handle_read(self) -> None:
        if self.lingers_until is None:
            super().handle_read()
        else:
            with suppress(OSError):
                self.recv(1 << 16)  # closes at the end of what the client sends
