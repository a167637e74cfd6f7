"""A server that runs in a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from graph.settings import Settings
from recall.service import Service
from web.serve import Server, bind


@contextmanager
def served(service: Service, settings: Settings) -> Iterator[str]:
    """The address of `service` over HTTP, while the block runs."""
    with bind(settings) as sock:
        server = Server(service, settings, sock)
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield server.url
        finally:
            server.stop()
            thread.join(20)
