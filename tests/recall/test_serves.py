"""Records of what was served: written in the background, in batches, for a time; and no recall waits for them."""

from __future__ import annotations

import time

import pytest

from graph.errors import StoreUnavailable
from graph.records import new_id
from recall.serves import Recorder, expire, first_id, query_hash

DAY_S = 86_400


def serve(id: str | None = None) -> dict[str, object]:
    return {"id": id or new_id(), "query_hash": "x", "profile_id": "default", "epoch": 0, "note_ids": ["a"]}


@pytest.fixture
def recorder(service):
    opened = Recorder(service.store)
    yield opened
    opened.close()


def kept(by_hand) -> set[str]:
    return {row["id"] for row in by_hand("MATCH (s:Serve {ns: $ns}) RETURN s.id AS id")}


def test_serves_of_several_recalls_share_a_transaction(recorder, ns, by_hand, service, monkeypatch):
    written = []
    write = type(service.store).write
    monkeypatch.setattr(
        type(service.store), "write", lambda self, work, **more: written.append(1) or write(self, work, **more)
    )
    serves = [serve() for _ in range(200)]
    for one in serves:
        recorder.keep(ns, one)
    recorder.flush()
    assert kept(by_hand) == {one["id"] for one in serves}
    assert len(written) <= 3  # one or two batches, and one look for what is too old


def test_nobody_waits_while_records_are_written(recorder, ns):
    started = time.perf_counter()
    for _ in range(1000):
        recorder.keep(ns, serve())
    assert time.perf_counter() - started < 0.5
    recorder.flush()


def test_closing_writes_what_is_waiting(service, ns, by_hand):
    opened = Recorder(service.store)
    one = serve()
    opened.keep(ns, one)
    opened.close()
    assert kept(by_hand) == {one["id"]}


def test_a_record_is_waited_for_and_an_unknown_one_is_not(recorder, service, ns):
    space = service.store.within(ns)
    one = serve()
    recorder.keep(ns, one)
    assert recorder.await_written(space, one["id"], 5)
    started = time.monotonic()
    assert not recorder.await_written(space, "01890000-0000-7000-8000-000000000000", 5)
    assert not recorder.await_written(space, "no id at all", 5)
    assert time.monotonic() - started < 0.5


def test_a_record_that_another_process_still_writes_is_waited_for(recorder, service, ns):
    other = Recorder(service.store)
    one = serve()
    other.keep(ns, one)
    try:
        assert recorder.await_written(service.store.within(ns), one["id"], 5)
    finally:
        other.close()


def test_a_batch_is_tried_again_while_the_database_is_away(recorder, service, ns, by_hand, monkeypatch):
    failures = [StoreUnavailable("away"), StoreUnavailable("away")]
    write = type(service.store).write

    def sometimes(self, work, **more):
        if failures:
            raise failures.pop()
        return write(self, work, **more)

    monkeypatch.setattr(type(service.store), "write", sometimes)
    one = serve()
    recorder.keep(ns, one)
    recorder.flush()
    assert kept(by_hand) == {one["id"]}


def test_serves_and_signals_are_forgotten_after_their_time(service, ns, by_hand):
    space = service.store.within(ns)
    old, young = first_id(time.time() - 91 * DAY_S) + "-7000-8000-000000000000", new_id()
    space.write(lambda tx: tx.rows("brain.serve_create", items=[serve(old), serve(young)]))
    for id in (old, young):
        space.write(lambda tx, id=id: tx.rows("brain.signal", properties={"id": id, "signal": "useful"}))
    other = service.store.within(f"{ns}.other")
    other.write(lambda tx: tx.rows("brain.serve_create", items=[serve(old)]))
    assert expire(space) == 2
    assert kept(by_hand) == {young}
    assert [row["id"] for row in by_hand("MATCH (s:Signal {ns: $ns}) RETURN s.id AS id")] == [young]
    assert other.value("brain.serve_found", id=old) == old


def test_a_serve_tells_the_same_question_again_and_not_what_it_was(ns):
    assert query_hash(ns, "who?") == query_hash(ns, "who?") != query_hash(ns, "who")
    assert query_hash(ns, "who?") != query_hash(f"{ns}.other", "who?")


def test_ids_sort_by_time():
    assert first_id(0) < first_id(1_700_000_000) <= new_id()
    assert new_id() > first_id(time.time() - 1)
