"""Trace v5: what is kept of a build, its edges, readers of every version, and retention."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import uuid
from typing import Any

import pytest

from graph.errors import NotFound
from graph.packs import Call
from graph.records import timestamp
from recall.trace import ADDED, INFERENCE_TRACE_SCHEMA_VERSION, Shelf, Trace, TraceLog, read
from tests.conftest import Caller

TASK = "Find out why the greenhouse fan trips its breaker"


def build(call: Caller, task: str = TASK, **fields: Any) -> dict[str, Any]:
    return call("context.build", task_id=call("context.task_start", description=task)["id"], **fields)


@pytest.fixture
def fact(call) -> str:
    return str(call.note("The greenhouse fan trips its breaker whenever humidity passes ninety percent."))


@pytest.fixture
def log(service, ns) -> TraceLog:
    runtime = service.dispatcher.runtime
    return TraceLog(Call(space=service.store.within(ns), runtime=runtime, state=None), Shelf(keep_days=30))


def test_the_schema_version_is_5():
    assert INFERENCE_TRACE_SCHEMA_VERSION == 5
    assert {"memory_candidates", "memory_selected", "memory_abstained", "memory_types_queried"} <= set(ADDED[5])


def test_each_build_writes_a_trace_with_blocks_drops_and_the_fields_of_memory(call, fact, by_hand):
    answer = build(call)
    (row,) = by_hand("MATCH (t:Trace {ns: $ns}) RETURN properties(t) AS t")
    trace = row["t"]
    assert trace["id"] == answer["trace"]["id"]
    assert trace["schema_version"] == 5
    blocks = [
        {"name": b["name"], "priority": b["priority"], "tokens": b["tokens"], "sources": b["sources"]}
        for b in answer["blocks"]
    ]
    assert json.loads(trace["blocks_json"]) == blocks
    assert json.loads(trace["dropped_json"]) == []
    assert (trace["memory_selected"], trace["memory_abstained"]) == (1, False)
    assert trace["memory_candidates"] >= 1
    assert trace["memory_types_queried"] == ["self", "personality"]
    build(call)
    assert by_hand("MATCH (t:Trace {ns: $ns}) RETURN count(t) AS n") == [{"n": 2}]


def test_a_trace_is_joined_to_its_task_and_to_the_memories(call, fact, by_hand):
    build(call)
    (row,) = by_hand(
        "MATCH (task:Task)<-[:OF_TASK]-(t:Trace {ns: $ns})-[a:ADMITTED]->(n) "
        "RETURN task.description AS task, n.id AS id, a.block AS block, a.tokens AS tokens, a.relevance AS relevance"
    )
    assert (row["task"], row["id"], row["block"]) == (TASK, fact, "memory")
    assert row["tokens"] > 0
    assert row["relevance"] >= 0.42


def test_the_verb_gives_what_was_written(call, fact):
    answer = build(call)
    kept = call("context.trace", id=answer["trace"]["id"])
    assert {name: kept[name] for name in answer["trace"] if name in kept} == {
        name: value for name, value in answer["trace"].items() if value is not None
    }
    assert [block["sources"] for block in kept["blocks"]] == [block["sources"] for block in answer["blocks"]]
    assert "text" not in kept["blocks"][0]


def test_an_unknown_or_foreign_trace_is_not_found(call):
    foreign = build(call.within(f"{call.ns}.other"))["trace"]["id"]
    for id in (foreign, str(uuid.uuid4())):
        with pytest.raises(NotFound, match="no trace"):
            call("context.trace", id=id)


WRITTEN: dict[str, Any] = {
    "id": "t1", "created_at": "2026-01-01T00:00:00Z", "task_id": "k1", "conversation": "c", "window": 8000, "tokens": 20,
    "over_window": False, "memory_budget": 1000, "memory_tokens": 9, "degraded": [], "took_ms": 4.5,
    "memory_candidates": 3, "memory_selected": 1, "memory_abstained": False, "memory_reason": "x",
    "memory_types_queried": ["self"], "blocks_json": '[{"name": "user"}]', "dropped_json": '[{"name": "memory"}]',
    "created_ts": 5, "ns": "n",
}  # fmt: skip


def written(version: int) -> dict[str, Any]:
    """A stored trace as a writer of `version` left it; one after ours brings a field that nobody here knows."""
    names = {name for added in range(1, min(version, 5) + 1) for name in ADDED[added]}
    stored = {name: value for name, value in WRITTEN.items() if name.removesuffix("_json") in names}
    return stored | {"schema_version": version} | ({"mood": "calm"} if version > 5 else {})


@pytest.mark.parametrize("reader", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("writer", [1, 2, 3, 4, 5, 6])
def test_a_reader_of_any_version_reads_every_version_and_ignores_what_it_does_not_know(reader, writer):
    found = read(written(writer), reader)
    expected = {name for version in range(1, min(reader, writer) + 1) for name in ADDED[version]}
    assert found.keys() == expected
    assert found["schema_version"] == writer
    assert found["blocks"] == [{"name": "user"}]


def test_a_trace_from_before_versions_counts_as_the_first():
    assert read({"id": "t0", "blocks_json": "[]"}) == {"schema_version": 1, "id": "t0", "blocks": []}


@pytest.mark.parametrize("version", [1, 2, 3, 4, 6])
def test_the_verb_reads_what_other_versions_wrote(call, by_hand, version):
    stored = written(version) | {"id": f"old{version}"}
    by_hand("CREATE (t:Trace) SET t = $stored, t.ns = $ns", stored=stored)
    kept = call("context.trace", id=f"old{version}")
    assert (kept["id"], kept["schema_version"], kept["blocks"][0]["name"]) == (f"old{version}", version, "user")
    assert "mood" not in kept


def test_traces_past_their_retention_go_from_time_to_time(call, fact, by_hand, log):
    build(call)
    past = timestamp(dt.datetime.now(dt.UTC) - dt.timedelta(days=31))
    by_hand("MATCH (t:Trace {ns: $ns}) SET t.created_ts = $past, t.id = 'past'", past=past)
    answer = build(call)
    assert by_hand("MATCH (t:Trace {ns: $ns}) RETURN count(t) AS n") == [{"n": 2}], "looked through once an hour"
    log._expire()
    assert by_hand("MATCH (t:Trace {ns: $ns}) RETURN t.id AS id") == [{"id": answer["trace"]["id"]}]
    assert call("kg.get", id=fact)["state"] == "current"


def test_traces_change_nothing_that_recall_ranks_by(call, fact):
    before = call("memory.recall", query=TASK)["results"]
    for _ in range(3):
        build(call)
    after = call("memory.recall", query=TASK)["results"]
    kept = ("id", "relevance", "salience", "sources", "path")
    assert [[hit[name] for name in kept] for hit in after] == [[hit[name] for name in kept] for hit in before]
    assert call("kg.traverse", id=fact, max_hops=3)["edges"] == []


def test_a_trace_that_was_stored_by_a_lost_attempt_is_not_stored_twice(call, fact, by_hand, log):
    trace = Trace(id="once", task_id="k", conversation="c", window=8000, memory_budget=1000)
    assert log.write(trace)
    assert log.write(dataclasses.replace(trace, window=1))
    assert by_hand("MATCH (t:Trace {ns: $ns}) RETURN t.window AS window") == [{"window": 8000}]
