"""Writers that know the type; who has none is eligible everywhere; and the backfill that runs once."""

from __future__ import annotations

import pytest

from graph import schema
from graph.doctor import examine
from graph.ontology import MEMORY_TYPES
from recall.sources import PERSONA_TYPES

TASK = "Find out why the greenhouse fan trips its breaker"
FACT = "The greenhouse fan trips its breaker whenever humidity passes ninety percent."


def type_of(call, id):
    return call("kg.get", id=id).get("memory_type")


def test_a_neuron_is_associative_unless_it_is_said_otherwise(call):
    assert type_of(call, call("kg.create", kind="neuron", content="x", triggers=["a"])["id"]) == "associative"
    told = call("kg.create", kind="neuron", content="x", triggers=["a"], memory_type="procedural")["id"]
    assert type_of(call, told) == "procedural"


def test_evidence_of_growth_is_personality_about_the_persona_and_semantic_else(call, service):
    source = call.note("The user thanked for the short answer.")
    mine = call("context.grow", content="I answer in short sentences.", about_persona=True, source_id=source)["id"]
    other = call("context.grow", content="The ferry sails at nine.")["id"]
    assert (type_of(call, mine), type_of(call, other)) == ("personality", "semantic")
    assert [node["id"] for node in call("kg.neighbors", id=mine, relations=["annotates"])["results"]] == [source]
    assert "context.grow" not in {verb.name for verb in service.dispatcher.verbs()}, "the service's own, in no catalog"


@pytest.mark.parametrize("memory_type", MEMORY_TYPES)
def test_kg_create_takes_each_of_the_six_types(call, memory_type):
    for kind in ("memory", "observation", "abstraction", "knowledge", "neuron"):
        assert type_of(call, call("kg.create", kind=kind, content="x", memory_type=memory_type)["id"]) == memory_type


@pytest.mark.parametrize("types", [[memory_type] for memory_type in MEMORY_TYPES])
def test_what_has_no_type_is_eligible_everywhere(call, types):
    untyped = call("kg.create", kind="memory", content=FACT)["id"]
    assert type_of(call, untyped) is None
    (block,) = call("context.select", task_description=TASK, types=types)["blocks"]
    assert (block["id"], block["memory_type"]) == (untyped, None)
    assert block["sources"] == ["store", "persona"]
    task = call("context.task_start", description=TASK)["id"]
    names = [block["name"] for block in call("context.build", task_id=task)["blocks"]]
    assert names == ["user", "memory"], "of no type, so no part of the persona"
    assert None not in PERSONA_TYPES


@pytest.fixture
def untyped(call, service, monkeypatch):
    """A neuron as it was before types were kept, long enough to have passages."""
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 48)
    text = " ".join(f"Sentence {n} tells of the heron." for n in range(40))
    id = call("kg.create", kind="neuron", content=text, triggers=["heron"])["id"]
    call("kg.update", id=id, memory_type=None)
    return id


def keys(by_hand, id):
    rows = by_hand("MATCH (n {ns: $ns, id: $id})-[:HAS_PASSAGE]->(p) RETURN n.type_key AS own, p.type_key AS passage", id=id)
    return {row["own"] for row in rows} | {row["passage"] for row in rows}


def test_the_backfill_runs_only_in_its_migration(call, untyped, store, by_hand):
    """Not on each start, and not when migrations run again because an index was dropped."""
    schema.migrate(store)
    store.auto("schema.020_neuron_types")
    assert type_of(call, untyped) is None
    record = by_hand(
        "MATCH (m:Migration {name: 'schema.020_neuron_types'}) WITH m, m.version AS version DETACH DELETE m RETURN version"
    )
    assert record
    try:
        explicit = call("kg.create", kind="neuron", content="x", memory_type="procedural")["id"]
        note = call("kg.create", kind="memory", content="x")["id"]
        schema.migrate(store)
        assert type_of(call, untyped) == "associative"
        assert keys(by_hand, untyped) == {"associative"}
        assert type_of(call, explicit) == "procedural"
        assert type_of(call, note) is None
    finally:
        schema.migrate(store)
    assert by_hand("MATCH (m:Migration {name: 'schema.020_neuron_types'}) RETURN count(m) AS n") == [{"n": 1}]


def test_the_doctor_gives_unclassified_neurons_their_type_when_asked_and_touches_no_other(call, untyped, store, by_hand):
    explicit = call("kg.create", kind="neuron", content="x", memory_type="procedural")["id"]
    note = call("kg.create", kind="memory", content="x")["id"]
    assert examine(store)["retyped"] == 0
    assert type_of(call, untyped) is None
    assert examine(store, ensure_memory_type=True)["retyped"] >= 1
    assert type_of(call, untyped) == "associative"
    assert keys(by_hand, untyped) == {"associative"}
    assert type_of(call, explicit) == "procedural"
    assert type_of(call, note) is None
