"""The managed local Neo4j: started when first needed, shared by all processes of one home, stopped by the last."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import LiteralString

import neo4j
import psutil
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from graph import java
from graph.artifacts import classpath
from graph.errors import PortTaken, StartFailed
from graph.home import Home
from graph.settings import Settings, masked_repr, memory_bytes

log = logging.getLogger(__name__)
USERNAME = DATABASE = "neo4j"
FIRST_PASSWORD = "neo4j"  # noqa: S105  (Neo4j's own, changed at the first start)
START_TIMEOUT_S = 180.0
POLL_S = 0.1


@dataclass(frozen=True, kw_only=True, repr=False)
class Endpoint:
    """Where a Neo4j answers, and as whom. `http_url`: the base of Neo4j Browser, for the managed server."""

    uri: str
    username: str
    password: str = field(metadata={"secret": True})
    database: str
    http_url: str | None = None

    __repr__ = masked_repr


@dataclass(frozen=True, kw_only=True)
class ServerStatus:
    """`owner`: pid of the process that started it. `users`: how many living ManagedServers use it."""

    running: bool
    home: Path
    pid: int | None = None
    bolt_port: int | None = None
    browser_port: int | None = None
    owner: int | None = None
    users: int = 0


@dataclass
class Stop:
    """How long `ManagedServer.stopped` kept Neo4j away; known when it is over."""

    away_s: float = 0.0


class ManagedServer:
    """One user of the Neo4j of `settings.home`. Safe for several threads, and for any number of processes."""

    def __init__(self, settings: Settings, *, record: Path | None = None):
        """`record`: a file into which Java writes its start-up cache when it stops (see graph.aot)."""
        self.settings = settings
        self._home = Home(settings.home)
        self._record = record
        self._endpoint: Endpoint | None = None  # what `start` gave out

    def start(self) -> Endpoint:
        """Starts the server, or joins the one that runs for this home; returns when a query answers.

        Raises DownloadError, PortTaken, DiskFull or StartFailed.
        """
        with self._home.locked():
            try:
                self._endpoint = self._ensure()
            except BaseException:
                self._home.leave()
                raise
            return self._endpoint

    def ensure_running(self) -> None:
        """Starts the server again, at the same endpoint, if its process has ended.

        Does nothing before `start` and after `stop`. Raises as `start` does.
        """
        with self._home.locked():
            if self._endpoint:
                self._ensure()

    def stop(self, *, timeout_s: float = java.STOP_TIMEOUT_S) -> None:
        """Leaves the server, and stops it if nobody else uses it; kills it if that takes longer than `timeout_s`."""
        with self._home.locked():
            self._endpoint = None
            self._home.leave()
            if self._home.users():
                return
            if process := self._home.process():
                started = time.monotonic()
                java.end(process, timeout_s)
                log.info("Neo4j stopped in %.1f s", time.monotonic() - started)
            self._home.forget()

    @contextmanager
    def stopped(self, *, again: bool = True) -> Iterator[Stop]:
        """Holds the home, its Neo4j stopped; started again at the end, at the same ports, if it ran and `again`.

        Whoever uses it finds it away, and waits with starting it until the block ends.
        """
        with self._home.locked():
            stop, process, started = Stop(), self._home.process(), time.monotonic()
            if process:
                self._endpoint = _endpoint(**self._home.noted_ports(), password=self._home.password())
                java.end(process)
            try:
                yield stop
            finally:
                if process and again:
                    self._launch()
                    stop.away_s = time.monotonic() - started
                self._endpoint = None

    def running(self) -> bool:
        """Whether the process of this home's server lives."""
        return self._home.process() is not None

    def status(self) -> ServerStatus:
        process, noted = self._home.process(), self._home.noted()
        if process is None:
            return ServerStatus(running=False, home=self.settings.home, users=self._home.users())
        return ServerStatus(
            running=True,
            home=self.settings.home,
            pid=process.pid,
            bolt_port=noted.get("bolt_port"),
            browser_port=noted.get("browser_port"),
            owner=noted.get("owner"),
            users=self._home.users(),
        )

    def _ensure(self) -> Endpoint:
        """The endpoint of a server that answers. The caller holds the lock."""
        self._home.join()
        process = self._home.process()
        if process is None:
            return self._launch()
        endpoint = _endpoint(**self._home.noted_ports(), password=self._home.password())
        self._await(process, endpoint)
        return endpoint

    def _launch(self) -> Endpoint:
        started = time.monotonic()
        self._home.check_restored()
        self._home.check_room()
        self._home.password()
        jars = classpath(java.NEO4J, self.settings.cache)
        endpoint = self._boot_quickly(jars)
        log.info("Neo4j started in %.1f s at %s", time.monotonic() - started, endpoint.uri)
        return endpoint

    def _boot_quickly(self, jars: Sequence[Path]) -> Endpoint:
        """Boots with Java's start-up cache, if there is one; has it made anew if it is missing or of no use."""
        if self._record:
            return self._boot(jars, [f"-XX:AOTCacheOutput={self._record}"])
        if memory_bytes(self.settings.heap) >= java.STARTUP_CACHE_HEAP_LIMIT:
            return self._boot(jars)
        cache = java.startup_cache(self.settings.cache, jars)
        useful = cache.exists()
        try:
            endpoint = self._boot(jars, [f"-XX:AOTCache={cache}"] if useful else [])
        except StartFailed:
            if not java.blames_startup_cache(self._home.neo4j):
                raise
            useful, endpoint = False, self._boot(jars)
        if not useful or java.blames_startup_cache(self._home.neo4j):
            cache.unlink(missing_ok=True)
            java.train_in_background(self.settings.cache)
        return endpoint

    def _boot(self, jars: Sequence[Path], java_options: Sequence[str] = ()) -> Endpoint:
        """Starts the process on free ports, and waits until it answers."""
        settings, home = self.settings, self._home
        pinned = {"bolt_port": settings.bolt_port, "browser_port": settings.browser_port}
        ports = home.choose_ports(home.noted_ports() if self._endpoint else pinned)
        java.write_configuration(home.neo4j, settings, **ports)
        try:
            process = java.launch(home.neo4j, settings.heap, jars, java_options)
            home.note(process, ports)
        except psutil.NoSuchProcess as gone:
            raise StartFailed(self._diagnosis("Neo4j ended as soon as it was started")) from gone
        try:
            endpoint = _endpoint(**ports, password=home.password())
            self._await(process, endpoint)
        except BaseException:
            java.end(process)
            raise
        return endpoint

    def _await(self, process: psutil.Process, endpoint: Endpoint) -> None:
        """Returns when a query answers; raises what stood in its way."""
        until = time.monotonic() + START_TIMEOUT_S
        port = int(endpoint.uri.rpartition(":")[2])
        while java.living(process.pid):
            if java.port_answers(port) and self._answers(endpoint):
                return
            if time.monotonic() > until:
                raise StartFailed(self._diagnosis(f"Neo4j (pid {process.pid}) gave no answer in {START_TIMEOUT_S:.0f} s"))
            time.sleep(POLL_S)
        words = java.last_words(self._home.neo4j)
        if "No space left on device" in words:
            raise self._home.full()
        if "Address already in use" in words:
            raise PortTaken(self._diagnosis("another program took one of Neo4j's ports meanwhile: start again"))
        raise StartFailed(self._diagnosis("Neo4j ended while it started"))

    def _diagnosis(self, what: str) -> str:
        folder, settings = self._home.neo4j, self.settings
        return (
            f"{what}. Its last words, from {folder / 'logs'}:\n{java.last_words(folder)}\n"
            f"If it lacked memory, lower PALIMPSEST_NEO4J_HEAP ({settings.heap}) and PALIMPSEST_NEO4J_PAGECACHE "
            f"({settings.page_cache}); more is in {folder / 'logs' / 'debug.log'}."
        )

    def _answers(self, endpoint: Endpoint) -> bool:
        """Whether a query answers; on the way, gives the server its password if it still has the first one."""
        try:
            try:
                ask(endpoint, "RETURN 1")
            except AuthError:
                first = replace(endpoint, password=FIRST_PASSWORD, database="system")
                change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
                ask(first, change, old=first.password, new=endpoint.password)
                ask(endpoint, "RETURN 1")
        except AuthError as fault:
            path = self._home.neo4j / "password"
            raise StartFailed(f"Neo4j does not accept the password in {path}: put the right one there") from fault
        except (Neo4jError, DriverError):
            return False
        return True


def _endpoint(bolt_port: int, browser_port: int, password: str) -> Endpoint:
    return Endpoint(
        uri=f"bolt://127.0.0.1:{bolt_port}",
        username=USERNAME,
        password=password,
        database=DATABASE,
        http_url=f"http://127.0.0.1:{browser_port}",
    )


def ask(endpoint: Endpoint, statement: LiteralString, **params: str) -> None:
    """Runs one statement on a connection of its own."""
    auth = (endpoint.username, endpoint.password)
    with (
        neo4j.GraphDatabase.driver(endpoint.uri, auth=auth, connection_timeout=5.0) as driver,
        driver.session(database=endpoint.database) as session,
    ):
        session.run(statement, params).consume()
