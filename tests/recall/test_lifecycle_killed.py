"""Neo4j killed in the middle of prune, vacuum, consolidate, import, forget: run again, each is completed, nothing twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.errors import PalimpsestError, StoreError
from graph.settings import Settings
from graph.store import Store
from recall import consolidate, importing, lifecycle
from recall.exporting import export
from recall.forgetting import forget_source
from recall.importing import Importer
from recall.index import Indexer
from recall.service import Service, open_service
from tests.conftest import Caller

AGAIN_S = 120
TOPICS = (
    "harbour ferry pier noon", "greenhouse fan breaker humidity", "telescope mirror dust cover", "choir verdi hall",
    "bakery invoice tuesday oven", "lighthouse tour school pier", "tram depot lamp rota", "glass negatives archive vault",
)  # fmt: skip


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a Neo4j of its own, which the tests kill."""
    settings = Settings(
        home=tmp_path_factory.mktemp("killed") / "home",
        cache=Settings.from_environment().cache,
        embedder="hashing",
        multilingual="off",
        heap="512m",
        page_cache="64m",
    )
    opened = open_service(settings)
    yield opened
    opened.close()


@pytest.fixture
def call(service: Service, ns: str) -> Caller:
    return Caller(service.dispatcher, ns)


@pytest.fixture
def killed(service: Service, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs something while Neo4j is killed in one of its writes, and then again until it succeeds; gives the last result."""

    def run(work: Callable[[], Any], *, at: int) -> Any:
        write, writes = Store.write, []
        assert service.server is not None
        pid = service.server.status().pid
        assert pid is not None

        def counted(self: Store, *args: Any, **more: Any) -> Any:
            writes.append(self)
            if len(writes) == at:
                threading.Timer(0.005, os.kill, (pid, signal.SIGKILL)).start()
            return write(self, *args, **more)

        monkeypatch.setattr(Store, "write", counted)
        with pytest.raises(StoreError):
            work()
        monkeypatch.setattr(Store, "write", write)
        until = time.monotonic() + AGAIN_S
        while True:
            try:
                return work()
            except PalimpsestError:
                assert time.monotonic() < until, "Neo4j did not come back"
                time.sleep(0.3)

    return run


def alive(call: Caller, **more: Any) -> dict[str, str]:
    """Contents by id of the notes that are there."""
    found, cursor = {}, None
    while True:
        page = call("kg.list", limit=1000, cursor=cursor, **more)
        found |= {node["id"]: node["content"] for node in page["results"]}
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def wrong(service: Service, ns: str) -> list[Any]:
    return [problem for problem in service.doctor()["problems"] if ns in str(problem)]


def test_prune(service, call, killed, monkeypatch):
    monkeypatch.setattr(lifecycle, "TOGETHER", 20)
    items = [{"content": f"Crate {n} is in bay {n}.", "salience": 0.1 if n % 2 else 0.9} for n in range(300)]
    call("memory.remember", items=items)
    killed(lambda: call("memory.prune", min_salience=0.5), at=4)
    assert sorted(alive(call, kind="memory").values()) == sorted(
        item["content"] for item in items if item["salience"] == 0.9
    )
    assert call("memory.prune", min_salience=0.5)["count"] == 0
    assert wrong(service, call.ns) == []


def test_vacuum(service, call, killed, monkeypatch):
    monkeypatch.setattr(lifecycle, "TOGETHER", 20)
    call("memory.remember", items=[{"content": f"Crate {n} is in bay {n}.", "salience": n % 2} for n in range(200)])
    call("memory.prune", min_salience=0.5)
    killed(lambda: call("memory.vacuum", retention_days=0), at=3)
    assert len(alive(call, kind="memory")) == 100
    assert call("memory.vacuum", retention_days=0)["count"] == 0
    assert wrong(service, call.ns) == []


def test_consolidate(service, call, killed, monkeypatch):
    monkeypatch.setattr(consolidate, "TOGETHER", 2)
    items = [{"content": f"The {topic} was seen to on sheet {n}, as {topic} is."} for topic in TOPICS for n in range(3)]
    call("memory.remember", items=items)
    before = alive(call, kind="memory")
    killed(lambda: call("memory.consolidate"), at=3)
    found = call("memory.consolidate")
    assert (found["groups"], found["created"], found["unchanged"]) == (8, 0, 8)
    assert alive(call, kind="memory") == before
    for kind in ("knowledge", "abstraction"):
        drawn = call("kg.list", kind=kind, limit=100)["results"]
        assert len(drawn) == 8, "none is lost, none is doubled"
        assert {node["state"] for node in drawn} == {"current"}
        for node in drawn:
            sources = call("kg.neighbors", id=node["id"], relations=["derived_from"], direction="out")["results"]
            assert len(sources) == 3
    assert wrong(service, call.ns) == []


def moved(service: Service, ns: str, file: Path) -> list[str]:
    """Everything of a namespace, as an export tells it."""
    export(service.store, file, namespaces=[ns])
    return file.read_text("utf-8").splitlines()[2:-1]  # behind the header and what the namespace keeps about itself


@pytest.mark.parametrize("at", [6, 18], ids=["nodes", "edges"])
def test_import(service, call, killed, monkeypatch, tmp_path, at):
    monkeypatch.setattr(importing, "BATCH", 40)
    monkeypatch.setattr(importing, "EDGES", 40)
    call("memory.remember", items=[{"content": f"Rowan put crate {n} in bay {n % 9}."} for n in range(400)])
    ids = sorted(alive(call, kind="memory"))
    call("kg.link", items=[{"source": ids[n], "target": ids[n - 1], "relation": "follows"} for n in range(1, 400)])
    call("kg.link", items=[{"source": ids[n], "target": ids[n - 5], "relation": "supersedes"} for n in range(10, 400, 10)])
    file, ns = tmp_path / "graph.jsonl", f"{call.ns}-b"
    before = [line.replace(f'"ns":"{call.ns}"', f'"ns":"{ns}"') for line in moved(service, call.ns, file)]
    importer = Importer(service.store, service.models, Indexer(service.models))
    killed(lambda: importer.run(file, into=ns), at=at)
    after = moved(service, ns, tmp_path / "after.jsonl")
    assert [line.partition('"named"')[0] for line in after] == [line.partition('"named"')[0] for line in before]
    again = importer.run(file, into=ns)
    assert (again.nodes, again.edges) == (0, 0)
    assert wrong(service, ns) == []
    assert len(call.within(ns).found("Rowan put crate 7 in bay 7", limit=50)) == 50


def test_forget(service, call, killed, monkeypatch):
    monkeypatch.setattr("recall.forgetting.TOGETHER", 20)
    call("memory.remember", items=[{"content": f"Crate {n}.", "source": "crm" if n % 2 else "wiki"} for n in range(200)])
    killed(lambda: forget_source(service.store, service.models, call.ns, "crm"), at=4)
    assert len(alive(call, kind="memory")) == 100
    assert wrong(service, call.ns) == []
