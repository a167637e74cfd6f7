"""What the managed Neo4j keeps in its home.

HOME/neo4j/            Neo4j's own folder: conf/, data/, logs/
HOME/neo4j/password    of the user neo4j; mode 0600
HOME/run/server.lock   held while the server is started, joined or stopped
HOME/run/server.json   the process that was started last, and its ports
HOME/run/ports.json    the ports chosen for this home
HOME/run/restoring.json what a restore is about, until it is through
HOME/run/users/        one file, a ticket, for each ManagedServer that uses the server
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock

from graph import java
from graph.errors import DiskFull, PortTaken, ServerError, StartFailed

PORTS = range(20_000, 30_000)  # below those that systems hand out to outgoing connections
PORT_WAIT_S = 5.0
FIRST_START_MB = 512  # an empty graph takes 3 MB, and the transaction log of a bulk load 256 MB
LATER_START_MB = 64


class Home:
    """The folder of one managed server, as one of its users sees it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.neo4j = folder / "neo4j"
        self._run = folder / "run"
        self._ticket = self._run / "users" / f"{os.getpid()}-{uuid.uuid4().hex[:8]}.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other threads and processes out, and names the folder in what the disk has to say."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._run.mkdir(exist_ok=True)
            with FileLock(self._run / "server.lock"):
                yield
        except OSError as fault:
            if fault.errno == errno.ENOSPC:
                raise self.full() from fault
            raise ServerError(f"{self.folder} can't be used (PALIMPSEST_HOME sets another): {fault}") from fault

    def full(self) -> DiskFull:
        return DiskFull(f"too little room on the disk of {self.folder}: free some, or point PALIMPSEST_HOME elsewhere")

    def check_room(self) -> None:
        """Raises DiskFull when there is too little for a start."""
        wanted_mb = LATER_START_MB if self.has_data() else FIRST_START_MB
        if shutil.disk_usage(self.folder).free < wanted_mb << 20:
            raise self.full()

    def has_data(self) -> bool:
        return (self.neo4j / "data" / "databases" / "system").exists()

    def password(self) -> str:
        """The server's password, made up if there is no graph yet. Raises StartFailed if its file is lost."""
        path = self.neo4j / "password"
        if path.exists():
            return path.read_text(encoding="ascii").strip()
        if self.has_data():
            raise StartFailed(
                f"{path} is missing, but {self.neo4j / 'data'} has a graph that opens only with the password in it. "
                f"Put the file back (one line, mode 0600), or move {self.neo4j} away to begin with an empty graph."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        password = secrets.token_urlsafe(24)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(f"{password}\n")
        return password

    def choose_ports(self, pinned: Mapping[str, int | None]) -> dict[str, int]:
        """A port for each name: the pinned one, or the remembered one if still free, or a new one, then remembered.

        A server that was killed needs a moment to let go of its ports; they are waited for.
        Raises PortTaken when another program listens on a pinned port.
        """
        remembered, chosen = _read(self._run / "ports.json"), dict[str, int]()
        for name, port in pinned.items():
            if port is not None and not _becomes_free(port):
                raise PortTaken(f"another program listens on port {port}: end it, or set PALIMPSEST_{name.upper()}")
            port = port or remembered.get(name)
            if port is not None and not _becomes_free(port):
                port = None
            while port is None or port in chosen.values() or not java.port_is_free(port):
                port = PORTS.start + secrets.randbelow(len(PORTS))
            chosen[name] = port
        _write(self._run / "ports.json", chosen)
        return chosen

    def note(self, process: psutil.Process, ports: Mapping[str, int]) -> None:
        """Writes down the process that was started, for other users and later ones."""
        marks = {"pid": process.pid, "created": process.create_time(), "owner": os.getpid()}
        _write(self._run / "server.json", {**marks, **ports})

    def noted_ports(self) -> dict[str, int]:
        """The ports of the server that was started last."""
        noted = self.noted()
        return {name: noted[name] for name in ("bolt_port", "browser_port")}

    def noted(self) -> dict[str, Any]:
        return _read(self._run / "server.json") or _read(self._run / "ports.json")

    def restoring(self) -> dict[str, Any] | None:
        """What a restore noted that has not come to its end."""
        return _read(self._run / "restoring.json") or None

    def begin_restoring(self, noted: Mapping[str, Any]) -> None:
        self._run.mkdir(parents=True, exist_ok=True)
        _write(self._run / "restoring.json", noted)

    def end_restoring(self) -> None:
        (self._run / "restoring.json").unlink(missing_ok=True)

    def check_restored(self) -> None:
        """Raises StartFailed while a restore is half done: the data may be another graph's than the password."""
        if noted := self.restoring():
            raise StartFailed(f"a restore of {noted['file']} was ended in the middle: run `palimpsest restore` again")

    def forget(self) -> None:
        (self._run / "server.json").unlink(missing_ok=True)

    def process(self) -> psutil.Process | None:
        """The living Neo4j of this home."""
        noted = self.noted()
        return java.find(self.neo4j, noted.get("pid"), noted.get("created"))

    def join(self) -> None:
        _write(self._ticket, {"pid": os.getpid(), "created": psutil.Process().create_time()})

    def leave(self) -> None:
        self._ticket.unlink(missing_ok=True)

    def users(self) -> int:
        """How many living users there are; tickets of dead ones are swept."""
        count = 0
        for ticket in self._ticket.parent.glob("*.json"):
            user = _read(ticket)
            if user and java.living(user["pid"], user["created"]):
                count += 1
            else:
                ticket.unlink(missing_ok=True)
        return count


def _becomes_free(port: int) -> bool:
    until = time.monotonic() + PORT_WAIT_S
    while not java.port_is_free(port):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def _read(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty if there is none, or a damaged one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, value: Mapping[str, Any]) -> None:
    """Writes JSON so that a reader finds the old or the new, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value), encoding="utf-8")
    part.replace(path)
