"""What the managed server keeps in its home: no Neo4j is started here."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from graph import home as home_module
from graph import java
from graph.errors import DiskFull, PortTaken, ServerError, StartFailed
from graph.home import Home
from graph.server import ManagedServer
from graph.settings import Settings


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of a home that does not exist yet."""
    monkeypatch.setattr(home_module, "PORT_WAIT_S", 0.2)
    return Settings(home=tmp_path / "home", cache=Settings.from_environment().cache)


def test_a_pid_that_is_another_program_s_by_now_is_left_alone(empty: Settings) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as bystander:
        home = Home(empty.home)
        home.note(psutil.Process(bystander.pid), {"bolt_port": 1, "browser_port": 2})
        home.neo4j.joinpath("run").mkdir(parents=True)
        home.neo4j.joinpath("run", "neo4j.pid").write_text(str(bystander.pid), encoding="ascii")
        server = ManagedServer(empty)
        assert not server.running()
        server.stop()
        assert bystander.poll() is None
        bystander.communicate(b"\n")


def test_a_process_of_another_start_time_is_not_the_one_remembered() -> None:
    created = psutil.Process().create_time()
    assert java.living(os.getpid(), created)
    assert java.living(os.getpid(), created - 60) is None


def test_a_remembered_port_that_was_taken_gives_way_to_a_new_one(empty: Settings) -> None:
    home = Home(empty.home)
    unpinned = {"bolt_port": None, "browser_port": None}
    first = home.choose_ports(unpinned)
    assert home.choose_ports(unpinned) == first
    with socket.create_server(("127.0.0.1", first["bolt_port"])):
        second = home.choose_ports(unpinned)
    assert second["bolt_port"] != first["bolt_port"]
    assert second["browser_port"] == first["browser_port"]
    assert home.choose_ports(unpinned) == second


def test_ports_that_a_killed_server_lets_go_of_in_a_moment_are_kept(
    empty: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_module, "PORT_WAIT_S", 10.0)
    home = Home(empty.home)
    first = home.choose_ports({"bolt_port": None, "browser_port": None})
    dying = socket.create_server(("127.0.0.1", first["bolt_port"]))
    with dying, ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: (time.sleep(0.5), dying.close()))
        assert home.choose_ports({"bolt_port": None, "browser_port": None}) == first


def test_a_pinned_port_that_is_taken_is_an_error(empty: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken, match=f"{port}.*PALIMPSEST_BOLT_PORT"):
            ManagedServer(replace(empty, bolt_port=port)).start()
    assert ManagedServer(empty).status().users == 0


def test_a_lost_password_file_is_an_error_that_says_what_to_do(empty: Settings) -> None:
    (empty.home / "neo4j" / "data" / "databases" / "system").mkdir(parents=True)
    with pytest.raises(StartFailed, match=r"password is missing.*Put the file back.*or move"):
        ManagedServer(empty).start()
    assert not (empty.home / "neo4j" / "password").exists()


def test_a_full_disk_is_found_before_the_first_start(empty: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home_module, "FIRST_START_MB", 1 << 40)
    with pytest.raises(DiskFull, match="PALIMPSEST_HOME"):
        ManagedServer(empty).start()


def test_a_home_that_can_t_be_made_is_named(empty: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match="PALIMPSEST_HOME"):
        ManagedServer(replace(empty, home=tmp_path / "file" / "home")).start()
