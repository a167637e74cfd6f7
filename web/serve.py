"""The service as a process: its socket, waitress, signals, log lines, and a clean end."""

from __future__ import annotations

import errno
import logging
import os
import socket
import sys
import time
from typing import TYPE_CHECKING, Any

import orjson
from flask import g, has_request_context
from waitress import wasyncore
from waitress.server import create_server

from graph.errors import PortTaken, SettingsError
from graph.settings import Settings
from web import otel
from web.app import create_app
from web.auth import is_loopback, startable
from web.channel import Channel

if TYPE_CHECKING:
    from recall.service import Service

log = logging.getLogger(__name__)
FINISH_S = 10.0  # how long running requests may take to end after the signal
STOP_SEEN_S = 0.2  # how soon the signal is seen while nothing else happens
LISTEN_QUEUE = 1_024


class Server:
    """waitress on a bound socket. `run` serves until `stop` is called, from a signal or another thread."""

    def __init__(self, service: Service, settings: Settings, sock: socket.socket):
        self._sockets: dict[int, Any] = {}
        self._stopping = False
        startable(service.keys, settings)
        self._tracing = otel.start()
        app = create_app(service, settings)
        if self._tracing:
            self._tracing.follow(app)
        try:
            sock.listen(LISTEN_QUEUE)
        except OSError as error:
            raise _taken(settings.host, sock.getsockname()[1], error) from error
        self._waitress = create_server(
            app,
            map=self._sockets,
            sockets=[sock],
            threads=settings.threads,
            ident=None,
            backlog=LISTEN_QUEUE,
            connection_limit=1_000,
            recv_bytes=1 << 16,
            max_request_body_size=(settings.max_body_mb << 20) + 1,  # waitress refuses what reaches it
            expose_tracebacks=False,
        )
        self._waitress.channel_class = Channel
        self.url = f"http://{_shown(self._waitress.effective_host)}:{self._waitress.effective_port}"

    def run(self) -> None:
        """Returns when the requests that ran at `stop` have their answers, or after FINISH_S."""
        try:
            while not self._stopping:
                self._turn(STOP_SEEN_S)
            until = time.monotonic() + FINISH_S
            self._waitress.del_channel()
            self._waitress.socket.close()
            while self._busy() and time.monotonic() < until:
                self._turn(0.05)
        finally:
            self._waitress.task_dispatcher.shutdown(timeout=0.5)
            for channel in list(self._waitress.active_channels.values()):
                channel.end()
            wasyncore.close_all(self._sockets, ignore_all=True)
            if self._tracing:
                self._tracing.close()

    def stop(self) -> None:
        """Has `run` return soon. May be called from a signal handler or another thread, and any number of times."""
        self._stopping = True

    def _turn(self, timeout_s: float) -> None:
        wasyncore.loop(timeout=timeout_s, use_poll=True, map=self._sockets, count=1)

    def _busy(self) -> bool:
        channels = list(self._waitress.active_channels.values())
        return any(channel.requests or channel.total_outbufs_len for channel in channels)


def bind(settings: Settings) -> socket.socket:
    """A socket bound to the service's address, not listening yet. Raises SettingsError, PortTaken."""
    host, port = settings.host, settings.port
    if settings.auth == "off" and not is_loopback(host):
        raise SettingsError(f"PALIMPSEST_AUTH=off: must be auto or on where others reach the service (host {host})")
    host = "127.0.0.1" if host == "localhost" else host
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two programs share the port
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise _taken(host, port, error) from error
    return sock


def configure_logging(level: str = "info") -> None:
    """Log lines as one JSON object each, to stderr, from `level` on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # it warns of each request that waits for a thread
    logging.getLogger("neo4j").setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """`extra={"fields": {...}}` of a record goes into its object, and the id of the request that it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{record.msecs:03.0f}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **({"request_id": g.request_id} if has_request_context() and "request_id" in g else {}),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        try:
            return orjson.dumps(line, default=str).decode()
        except TypeError:  # half a surrogate pair in a text
            return ascii(line)


def _taken(host: str, port: int, error: OSError) -> PortTaken | SettingsError:
    if error.errno == errno.EADDRINUSE:
        return PortTaken(
            f"port {port} on {host} is taken by another program: end it, or choose another with --port or PALIMPSEST_PORT "
            "(0 takes a free one)"
        )
    return SettingsError(f"the service can't listen on {host} port {port}: {error.strerror or error}")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
