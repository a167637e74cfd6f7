"""Backup and restore of a managed Neo4j: what was in the graph is read back from another home, node by node."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from graph import backup as backup_module
from graph.backup import backup, restore
from graph.errors import Busy, PalimpsestError, ServerError, StartFailed, StoreUnavailable, ValidationFailed
from graph.home import Home
from graph.server import ManagedServer
from graph.settings import Settings
from recall.exporting import export
from recall.service import Service, connected, open_service
from tests.conftest import Caller

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(
        home=tmp_path_factory.mktemp("backed-up") / "home",
        cache=Settings.from_environment().cache,
        embedder="hashing",
        multilingual="off",
        heap="512m",
        page_cache="64m",
    )


@pytest.fixture(scope="module")
def served(settings: Settings) -> Iterator[Service]:
    """A service of a home of its own, with a small graph."""
    opened = open_service(settings)
    call = Caller(opened.dispatcher, "tides")
    call(
        "memory.remember",
        items=[{"content": f"Buoy {n} is moored off berth {n % 7}.", "tags": ["buoy"]} for n in range(120)],
    )
    old = call.note("The ferry leaves from pier one.")
    call.note("It leaves from pier two.", supersedes=[old])
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def archive(served: Service, settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("backups") / "graph.tar"
    backup(settings, file)
    return file


@pytest.fixture
def empty(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a home that does not exist yet."""
    yield replace(settings, home=tmp_path / "home")
    for process in psutil.process_iter(["cmdline"]):
        if any(str(tmp_path) in part for part in process.info["cmdline"] or ()):
            process.kill()


def read(store: Any, folder: Path) -> list[str]:
    """Everything in a graph, as an export tells it."""
    file = folder / "read.jsonl"
    export(store, file)
    return file.read_text("utf-8").splitlines()[1:-1]  # the first line has a time, the last a checksum


def test_everything_is_read_back_in_another_home(served, archive, empty, tmp_path):
    before = read(served.store, tmp_path)
    done = restore(empty, archive)
    assert done.kept is None
    opened = open_service(empty)
    try:
        assert read(opened.store, tmp_path) == before
        assert opened.doctor()["problems"] == []
        served.dispatcher.runtime.states["memory"].warmer.now()  # its plans went with the stop
        both = [Caller(one.dispatcher, "tides").found("which pier does the ferry leave from") for one in (served, opened)]
        assert both[0] == both[1]
    finally:
        opened.close()


def test_a_service_goes_on_by_itself_after_a_backup(served, settings, tmp_path):
    call = Caller(served.dispatcher, "while")
    ended, answers, refused = threading.Event(), [], []

    def ask() -> None:
        while not ended.is_set():
            try:
                answers.append(call.note(f"Written as number {len(answers)}."))
            except PalimpsestError as error:
                refused.append(error)
            time.sleep(0.05)

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(1)
    done = backup(settings, tmp_path / "graph.tar.gz")
    written = len(answers)
    until = time.monotonic() + 60
    while len(answers) < written + 3 and time.monotonic() < until:
        time.sleep(0.1)
    ended.set()
    thread.join()
    assert len(answers) >= written + 3
    assert {type(error) for error in refused} <= {StoreUnavailable, Busy}
    assert done.away_s > 0
    assert all(call("kg.get", id=id) for id in answers), "what was confirmed is there"
    assert (tmp_path / "graph.tar.gz").stat().st_mode & 0o777 == 0o600


def test_a_home_that_is_not_running_is_backed_up_without_starting_it(archive, empty, tmp_path):
    restore(empty, archive)
    assert backup(empty, tmp_path / "again.tar").away_s == 0
    assert not ManagedServer(empty).running()


def test_a_graph_that_is_there_is_replaced_only_when_asked_and_kept_aside(archive, empty, tmp_path):
    restore(empty, archive)
    with connected(empty) as store:
        first = read(store, tmp_path)
    with pytest.raises(ServerError, match="has a graph already; --replace puts it aside"):
        restore(empty, archive)
    kept = restore(empty, archive, replace=True).kept
    assert kept
    assert (Path(kept) / "databases").is_dir()
    assert (Path(kept) / "password").exists()
    with connected(empty) as store:
        assert read(store, tmp_path) == first


def test_a_home_in_use_is_not_restored_over(served, settings, archive):
    with pytest.raises(ServerError, match="is used by 1 other process"):
        restore(settings, archive, replace=True)


@pytest.mark.parametrize("damage", ["cut", "changed", "other"])
def test_a_damaged_backup_is_refused_and_nothing_is_changed(archive, empty, tmp_path, damage):
    file = tmp_path / "damaged.tar"
    content = bytearray(archive.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "changed":
        with tarfile.open(archive) as tar:
            member = max(tar.getmembers(), key=lambda m: m.size)
        content[member.offset_data + member.size // 2] ^= 255
    else:
        content = bytearray(b"something else")
    file.write_bytes(content)
    with pytest.raises(ValidationFailed):
        restore(empty, file)
    assert not Home(empty.home).has_data()


def test_an_archive_can_put_nothing_outside_the_home(archive, empty, tmp_path):
    file = tmp_path / "evil.tar"
    shutil.copy(archive, file)
    with tarfile.open(file, "a") as tar:
        tar.add(__file__, "../../evil.py")
    with pytest.raises(ValidationFailed, match="is not of a backup"):
        restore(empty, file)


KILLED = """
import sys, time
from pathlib import Path
from graph import backup
from graph.settings import Settings

step, seen = sys.argv[3], 0
real = Path.replace
def replace(self, target):
    global seen
    if self.parent.name != "run":
        seen += 1
        if seen == int(step):
            print("here", flush=True)
            time.sleep(60)
    return real(self, target)
Path.replace = replace
backup.restore(Settings(home=Path(sys.argv[1]), cache=Path(sys.argv[2])), Path(sys.argv[4]), replace=True)
"""


@pytest.mark.parametrize("step", [1, 2, 3], ids=["before-the-old-is-aside", "before-the-new-is-in", "before-the-password"])
def test_a_restore_that_was_killed_is_completed_by_running_it_again(archive, empty, tmp_path, step):
    restore(empty, archive)
    command = [sys.executable, "-c", KILLED, str(empty.home), str(empty.cache), str(step), str(archive)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert process.stdout
    assert process.stdout.readline() == b"here\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with pytest.raises(StartFailed, match="was ended in the middle: run `palimpsest restore` again"):
        ManagedServer(empty).start()
    done = restore(empty, archive)
    assert done.kept
    assert (Path(done.kept) / "databases").is_dir(), "the graph from before is not lost"
    with connected(empty) as store:
        lines = read(store, tmp_path)
    assert sum('"label":"Note"' in line and '"type":"node"' in line for line in lines) >= 122


def test_neo4j_killed_while_it_opens_what_was_restored_opens_it_again(archive, empty, tmp_path):
    restore(empty, archive)
    server = ManagedServer(empty)
    with connected(empty) as store:
        before = read(store, tmp_path)
    refused: list[StartFailed] = []

    def start() -> None:
        try:
            server.start()
        except StartFailed as error:
            refused.append(error)

    starter = threading.Thread(target=start)
    starter.start()
    until = time.monotonic() + 60
    while not server.running() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(0.5)
    if process := Home(empty.home).process():
        process.kill()
    starter.join()
    assert refused
    with connected(empty) as store:
        assert read(store, tmp_path) == before


def test_a_full_disk_is_told_before_anything_is_stopped(served, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(backup_module, "SLACK", 1 << 60)
    with pytest.raises(PalimpsestError, match="than its disk has"):
        backup(settings, tmp_path / "x.tar")
    assert served.store.ready()
