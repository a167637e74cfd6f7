"""MCP over stdin and stdout: answers at once, while the graph is opened beside it; ends when stdin does."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.server.stdio import stdio_server

from graph.errors import PalimpsestError, StoreUnavailable
from web.mcp.server import Context, Tools, new_request_id, server
from web.mcp.tool import Caller
from web.signals import interruptible

if TYPE_CHECKING:
    from recall.service import Service

log = logging.getLogger(__name__)
WAIT_S: Final = 50.0  # how long a call waits for the graph: clients give up after a minute
LAST_S: Final = 5.0  # how long the protocol may take to end once it is over


class Opening:
    """The service, opened in the main thread, where signals arrive; the calls of other threads wait for it.

    It begins when the tools are asked for, so that the handshake is answered first. An opening that failed is told to the
    calls that waited, and tried again for the next.
    """

    def __init__(self, open: Callable[[], Service]):
        self._open, self._main = open, threading.main_thread().ident
        self._asked: SimpleQueue[bool] = SimpleQueue()
        self._lock = threading.Lock()
        self._found: Future[Service] | None = None
        self._opening = False

    def service(self, wait_s: float = WAIT_S) -> Service:
        """Raises what the opening raised, and StoreUnavailable where it takes longer."""
        try:
            return self.begin().result(wait_s)
        except TimeoutError:
            words = "the memory is still being opened (the first start fetches Neo4j and the model); try again in a minute"
            raise StoreUnavailable(words) from None

    def begin(self) -> Future[Service]:
        """Has it opened, unless it is or has been."""
        with self._lock:
            if self._found is None or (self._found.done() and self._found.exception()):
                self._found = Future()
                self._asked.put(True)
            return self._found

    def run(self) -> None:
        """Opens whenever that is asked for, until `end`, SIGTERM or Ctrl-C; then closes. For the main thread."""
        with interruptible() as hand_over:
            hand_over(lambda: self._asked.put(False))
            service: Service | None = None
            while self._asked.get():
                service = self._attempt()
            if service:
                service.close()

    def end(self) -> None:
        """Has `run` return soon, from any thread."""
        self._asked.put(False)
        if self._opening and hasattr(signal, "pthread_kill") and self._main:
            signal.pthread_kill(self._main, signal.SIGTERM)

    def _attempt(self) -> Service | None:
        found = self.begin()
        try:
            with interruptible():
                self._opening = True
                service = self._open()
                self._opening = False
        except PalimpsestError as error:
            log.error("%s: %s", error.code, error)
            found.set_exception(error)
        except SystemExit:
            found.set_exception(StoreUnavailable("the memory is being closed"))
            self._asked.put(False)
        except Exception as error:
            log.exception("internal")
            found.set_exception(StoreUnavailable(f"the memory can't be opened: {type(error).__name__}: {error}"))
        else:
            found.set_result(service)
            return service
        finally:
            self._opening = False
        return None


def run(open: Callable[[], Service], *, profile: str, ns: str) -> None:
    """Serves one client. Returns when stdin has ended, and everything is closed."""
    opening = Opening(open)

    def find(_: Context, actor: str | None) -> Caller:
        return Caller(service=opening.service(), ns=ns, actor=actor, request_id=new_request_id())

    def protocol() -> None:
        try:
            anyio.run(_serve, server(Tools(profile, find, begin=opening.begin), profile))
        except Exception:
            log.exception("the protocol ended")
        finally:
            opening.end()

    thread = threading.Thread(target=protocol, name="mcp", daemon=True)
    thread.start()
    opening.run()
    thread.join(LAST_S)
    if thread.is_alive():  # it waits for stdin, which nothing can end: everything else is closed
        logging.shutdown()
        sys.stderr.flush()
        os._exit(0)


async def _serve(made: Any) -> None:
    async with stdio_server() as (read, write):
        await made.run(read, write, made.create_initialization_options())
