"""Another embedding model for a graph that goes on being read and written."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph import models
from graph.errors import EmbeddingError
from graph.slots import FIRST, SECOND
from recall import embed
from recall.embed import HASHING_NAME, Hashing, register
from recall.reindex import fill, reindex
from recall.service import Service, open_service
from tests.conftest import Caller

SMALL = "hashing-64"
ROOT = Path(__file__).parents[2]


class Small(Hashing):
    """The hashing embedder of other dimensions, under a name of its own."""

    name = SMALL

    def __init__(self, dimensions: int = 64, pause_s: float = 0.0):
        super().__init__(dimensions)
        self.pause_s = pause_s

    def documents(self, texts: Any) -> Any:
        if any(text.startswith(("Crate", "Locker")) for text in texts):  # not over what other tests left behind
            time.sleep(self.pause_s)
        return super().documents(texts)


@pytest.fixture(autouse=True)
def clean(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The model is known during a test, and nothing of it stays."""
    monkeypatch.setattr(embed, "_FACTORIES", dict(embed._FACTORIES))
    register(SMALL, lambda _cache: Small())
    yield
    if any(model.name == SMALL for model in models.stored(service.store)):
        models.drop(service.store, SMALL, used=HASHING_NAME)


@pytest.fixture
def changed(service: Service) -> Iterator[Service]:
    """A second service on the same graph, set to the new model. Reindex first."""
    reindex(service.store, Small())
    opened = open_service(replace(service.settings, embedder=SMALL))
    opened.filler.join()
    yield opened
    opened.close()


def lacking(service: Service, ns: str) -> int:
    """Texts of a namespace that have no vector of the new model."""
    asked: dict[str, Any] = {"suffix": SECOND.suffix, "model": SMALL, "after": "", "limit": 1000}
    row = service.store.within(ns).one("note.unembedded", **asked)
    return len(row["texts"]) if row else 0


def test_recall_and_remember_go_on_while_the_vectors_are_computed(service, call, by_hand):
    call("memory.remember", items=[{"content": f"Crate {n} holds brass fittings"} for n in range(150)])
    written: list[str] = []
    failed: list[BaseException] = []
    ended = threading.Event()

    def work() -> None:
        while not ended.is_set():
            try:
                written.append(call.note(f"Barrel {len(written)} holds tar"))
                assert call("memory.recall", query="brass fittings in crate 7", min_score=0)["results"]
            except BaseException as error:
                failed.append(error)
                return

    thread = threading.Thread(target=work)
    thread.start()
    try:
        done = reindex(service.store, Small(pause_s=0.2), batch=32)
        until = time.monotonic() + 60
        while len(written) < 10 and not failed and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        ended.set()
        thread.join()
    assert failed == []
    assert done.embedded >= 150
    assert len(written) > 5
    rows = {model.name: (model.slot, model.dimensions, model.state) for model in models.stored(service.store)}
    assert rows == {HASHING_NAME: (FIRST, 384, "ready"), SMALL: (SECOND, 64, "ready")}

    opened = open_service(replace(service.settings, embedder=SMALL))
    try:
        opened.filler.join()
        assert lacking(service, call.ns) == 0, "what was written meanwhile is caught up"
        other = Caller(opened.dispatcher, call.ns)
        found = other("memory.recall", query="Crate 7 holds brass fittings", min_score=0, fusion="vector_only", limit=1)
        assert found["results"][0]["content"] == "Crate 7 holds brass fittings"
        rows = by_hand("MATCH (n:Note {ns: $ns}) WHERE n.embedding_b IS NOT NULL RETURN n.id AS id")
        assert {row["id"] for row in rows} >= set(written), "no note is lost"
        newest = other.note("Winch 3 lifts the boom")
        assert other.found("Winch 3 lifts the boom")[0] == newest
        assert lacking(service, call.ns) == 0
        assert opened.doctor()["indexes"].keys() >= {*FIRST.indexes, *SECOND.indexes}
    finally:
        opened.close()


KILLED = """
import sys
from graph.settings import Settings
from recall.embed import Hashing
from recall.reindex import reindex
from recall.service import connected
from tests.recall.test_reindex import Small
with connected(Settings.from_environment({}, home=sys.argv[1], heap="512m", page_cache="64m")) as store:
    reindex(store, Small(pause_s=0.3), batch=16, report=lambda done, total: print(done, flush=True))
"""


def test_a_killed_reindexing_goes_on_where_it_was(service, call, store):
    call("memory.remember", items=[{"content": f"Locker {n} holds flares"} for n in range(120)])
    command = [sys.executable, "-c", KILLED, str(service.settings.home)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert process.stdout
    process.stdout.readline()
    until = time.monotonic() + 120
    while lacking(service, call.ns) == 120 and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.wait()
    process.stdout.close()
    left = lacking(service, call.ns)
    assert 0 < left < 120
    with pytest.raises(EmbeddingError, match=r"not of hashing-64, whose reindexing was begun and not finished: set PALIMP"):
        models.primary(store, SMALL, 64)
    read: list[str] = []
    model = Small()
    documents = model.documents
    model.documents = lambda texts: read.extend(texts) or documents(texts)  # type: ignore[method-assign]
    reindex(store, model)
    assert len([text for text in read if text.startswith("Locker")]) == left
    assert lacking(service, call.ns) == 0


def test_a_text_that_changes_meanwhile_keeps_no_vector_of_the_old_one(service, call, store, by_hand):
    id = call.note("The pump is blue")
    held = models.building(store, SMALL, 64)
    space = store.within(call.ns)
    (text,) = space.one("note.unembedded", suffix=held.slot.suffix, model=SMALL, after="", limit=10)["texts"]
    item = text | {"embedding": Small().documents(["x"])[0].tolist(), "packed": b"x" * 64}
    call("kg.update", id=id, content="The pump is red")
    asked: dict[str, Any] = {"suffix": held.slot.suffix, "model": SMALL, "items": [item]}
    assert space.write(lambda tx: tx.value("note.embed", **asked)) == 0
    assert lacking(service, call.ns) == 1
    reindex(store, Small())
    assert lacking(service, call.ns) == 0
    call("kg.update", id=id, content="The pump is green")
    assert lacking(service, call.ns) == 1, "a service of the old model takes the new one's vector away with the old text"


def test_passages_are_read_by_the_new_model_too(changed, service, call, monkeypatch, store, by_hand):
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 48)
    call.note(" ".join(f"Sentence {n} tells of the heron." for n in range(40)))
    assert lacking(service, call.ns) > 2
    reindex(store, Small())
    rows = by_hand("MATCH (p:Passage {ns: $ns}) RETURN size(p.embedding_b) AS size, p.embedding_model_b AS model")
    assert {(row["size"], row["model"]) for row in rows} == {(64, SMALL)}
    found = Caller(changed.dispatcher, call.ns)("memory.recall", query="Sentence 7 tells of the heron", min_score=0)
    assert "Sentence 7 " in found["results"][0]["passage"]


def test_a_graph_of_another_model_is_not_served_and_the_error_says_what_to_do(service):
    with pytest.raises(EmbeddingError) as error:
        open_service(replace(service.settings, embedder=SMALL))
    said = str(error.value)
    assert "holds vectors of hashing (384 dimensions), not of hashing-64" in said
    assert "set PALIMPSEST_EMBEDDER to what it holds" in said
    assert "`palimpsest reindex hashing-64`" in said


def test_another_model_of_the_same_name_is_refused(store):
    with pytest.raises(EmbeddingError, match="hashing with 384 dimensions, this hashing makes 32"):
        models.primary(store, HASHING_NAME, 32)


def test_a_model_that_gives_other_dimensions_than_it_says_is_an_error(service, store, call, monkeypatch):
    call.note("The davit swings out")
    model = Small()
    model.documents = lambda texts: np.ones((len(texts), 7), np.float32)  # type: ignore[method-assign]
    with pytest.raises(EmbeddingError, match=r"hashing-64 gave vectors of shape \(\d+, 7\), not \(n, 64\)"):
        reindex(store, model)
    monkeypatch.setattr(service.models.primary.embedder, "documents", model.documents)
    with pytest.raises(EmbeddingError, match="hashing gave vectors of shape"):
        call.note("The davit swings in")


def test_there_is_room_for_two_models(changed, store):
    class Third(Small):
        name = "hashing-third"

    with pytest.raises(EmbeddingError, match=r"holds vectors of hashing \(384 .*\) and hashing-64 \(64 .*--drop MODEL"):
        reindex(store, Third())


def test_a_model_that_is_used_or_the_last_is_not_dropped(changed, service, store, call, by_hand):
    id = call.note("The keel was laid in May")
    assert lacking(service, call.ns) == 1
    with pytest.raises(EmbeddingError, match="stay"):
        models.drop(store, HASHING_NAME, used=HASHING_NAME)
    with pytest.raises(EmbeddingError, match="holds no vectors of nothing"):
        models.drop(store, "nothing", used=HASHING_NAME)
    fill(store, changed.models, changed.models.primary)
    assert models.drop(store, SMALL, used=HASHING_NAME) > 0
    (row,) = by_hand("MATCH (n:Note {ns: $ns}) RETURN properties(n) AS held")
    assert not [name for name in row["held"] if name.endswith("_b")]
    with pytest.raises(EmbeddingError, match="stay"):
        models.drop(store, HASHING_NAME, used="whatever")
    assert call.found("keel laid May") == [id]


def test_the_background_of_a_namespace_is_measured_for_the_new_model(service, call, store, by_hand):
    call("memory.remember", items=[{"content": f"Shelf {n} holds rope"} for n in range(70)])
    reindex(store, Small())
    (row,) = by_hand("MATCH (s:Namespace {name: $ns}) RETURN s.background_model_b AS model, s.background_measured AS notes")
    assert row["model"] == SMALL
    assert row["notes"] >= 70


def test_the_doctor_finds_what_lacks_a_vector_of_the_serving_model_and_mends_it(changed, call, by_hand):
    id = call.note("The bilge alarm rings")
    kinds = {problem["kind"]: problem["examples"] for problem in changed.doctor()["problems"]}
    assert f"{call.ns}/{id}" in kinds["no_vector"]
    mended = {problem["kind"]: problem for problem in changed.doctor(repair=True)["problems"]}["no_vector"]
    assert mended["repaired"] == mended["count"]
    assert "no_vector" not in {problem["kind"] for problem in changed.doctor()["problems"]}


def test_a_database_of_before_models_were_kept_goes_on_as_it_is(service, store, driver, call):
    call.note("The log is kept in ink")
    driver.execute_query("MATCH (m:Model) DELETE m")
    before = driver.execute_query("SHOW INDEXES YIELD id, name RETURN id, name ORDER BY id").records
    assert models.primary(store, HASHING_NAME, 384).slot == FIRST
    assert driver.execute_query("SHOW INDEXES YIELD id, name RETURN id, name ORDER BY id").records == before
    driver.execute_query("MATCH (m:Model) DELETE m")
    with pytest.raises(EmbeddingError, match="holds vectors of hashing"):
        models.primary(store, "e5-small-v2", 384)
    assert call("memory.recall", query="log in ink", min_score=0)["results"]
