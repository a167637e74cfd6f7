"""The doctor finds what no verb leaves behind, and mends what needs no choice."""

from __future__ import annotations

from typing import Any

import pytest

from graph.doctor import MOST, examine


@pytest.fixture
def problems(store, ns):
    """Problems of a kind among the nodes of the test's namespace."""

    def found(kind: str, **options: Any) -> int:
        before = examine(store, **options)
        return sum(
            len([e for e in p["examples"] if e.startswith(f"{ns}/")]) for p in before["problems"] if p["kind"] == kind
        )

    return found


@pytest.fixture
def notes(call):
    return [
        call.note(f"The {word} is open", created_at=f"202{n}-01-01T00:00:00Z") for n, word in enumerate(("quay", "pier"))
    ]


DRAW = "MATCH (new {ns: $ns, id: $new}), (old {ns: $ns, id: $old}) CREATE (new)-[:SUPERSEDES]->(old)"


def test_a_sound_graph_has_no_problem(call, problems, store):
    old = call.note("The ferry leaves at nine", entities=["Ferry"])
    call.note("It leaves at ten", supersedes=[old])
    call("kg.delete", id=call.note("gone", supersedes=[old]))
    for kind in ("layer", "crossing_edge", "supersession_cycle", "no_vector", "orphan_passage"):
        assert problems(kind) == 0, kind
    assert set(examine(store)["indexes"].values()) == {"ONLINE"}


def test_an_edge_drawn_by_hand_is_found_and_its_label_mended(call, problems, notes, by_hand, store):
    old, new = notes
    by_hand(DRAW, new=new, old=old)
    assert problems("layer") == 1
    assert call("kg.get", id=old)["state"] == "current", "to look is not to mend"
    report = examine(store, repair=True)
    assert {problem["kind"]: problem["repaired"] for problem in report["problems"]}["layer"] >= 1
    assert problems("layer") == 0
    node = call("kg.get", id=old)
    assert (node["state"], node["superseded_at"]) == ("superseded", "2021-01-01T00:00:00Z")


def test_an_edge_removed_by_hand_is_found_and_its_label_mended(call, problems, notes, by_hand, store):
    old, new = notes
    call("kg.link", source=new, target=old, relation="supersedes")
    by_hand("MATCH ({ns: $ns})-[r:SUPERSEDES]->() DELETE r")
    assert problems("layer") == 1
    examine(store, repair=True)
    assert problems("layer") == 0
    assert call("kg.get", id=old)["state"] == "current"
    assert sorted(call.found("open")) == sorted(notes)


def test_a_passage_that_disagrees_with_its_note_is_found_and_mended(call, problems, by_hand, store, service, monkeypatch):
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 48)
    call.note(" ".join(f"Sentence {n} tells of the heron." for n in range(40)))
    by_hand("MATCH (p:Passage {ns: $ns, position: 1}) SET p:Superseded REMOVE p:Current")
    assert problems("layer") == 1
    examine(store, repair=True)
    assert problems("layer") == 0
    assert by_hand("MATCH (p:Passage:Superseded {ns: $ns}) RETURN p") == []


def test_an_imported_mark_keeps_a_note_superseded_without_an_edge(call, problems, notes, by_hand, store):
    by_hand("MATCH (n {ns: $ns, id: $id}) SET n.superseded_by = 'archive-7'", id=notes[0])
    assert problems("layer") == 1
    examine(store, repair=True)
    assert problems("layer") == 0
    assert call("kg.get", id=notes[0])["state"] == "superseded"
    assert call.found("open") == [notes[1]]


def test_an_edge_between_namespaces_is_found(call, problems, notes, by_hand):
    other = call.within(f"{call.ns}.other").note("theirs")
    by_hand(
        "MATCH (a {ns: $ns, id: $a}), (b {ns: $other, id: $b}) CREATE (a)-[:SUPPORTS]->(b)",
        a=notes[0],
        other=f"{call.ns}.other",
        b=other,
    )
    assert problems("crossing_edge") == 1
    by_hand("MATCH (a {ns: $ns, id: $a})-[r:SUPPORTS]->() DELETE r", a=notes[0])


def test_a_cycle_drawn_by_hand_is_found(problems, notes, by_hand):
    by_hand(DRAW, new=notes[0], old=notes[1])
    assert problems("supersession_cycle") == 0
    by_hand(DRAW, new=notes[1], old=notes[0])
    assert problems("supersession_cycle") == 2
    by_hand("MATCH ({ns: $ns})-[r:SUPERSEDES]->() DELETE r")


def test_a_note_without_a_vector_and_a_passage_without_a_note_are_found(problems, notes, by_hand):
    by_hand("MATCH (n {ns: $ns, id: $id}) REMOVE n.embedding", id=notes[0])
    by_hand("CREATE (:Passage:Current {ns: $ns, id: 'lost'})")
    assert problems("no_vector") == 1
    assert problems("orphan_passage") == 1
    by_hand("MATCH (p:Passage {ns: $ns}) DETACH DELETE p")
    by_hand("MATCH (n {ns: $ns, id: $id}) SET n:Deleted", id=notes[0])


def test_an_index_that_is_gone_is_a_problem(store, driver):
    driver.execute_query("DROP INDEX entity_page")
    try:
        found = [problem for problem in examine(store)["problems"] if problem["kind"] == "index"]
        assert found == [{"kind": "index", "count": 1, "examples": ["entity_page is MISSING"], "repaired": 0}]
    finally:
        store.auto("schema.008_entity_page")


def test_neurons_without_a_type_get_theirs_only_when_asked_and_explicit_types_stay(call, store, by_hand):
    ids = [call("kg.create", label="Neuron", content=word)["id"] for word in ("tea", "rain")]
    typed = call("kg.create", label="Neuron", content="snow", memory_type="procedural")["id"]
    by_hand("MATCH (n:Neuron {ns: $ns}) WHERE n.id IN $ids REMOVE n.memory_type SET n.type_key = 'none'", ids=ids)
    examine(store, repair=True)
    assert "memory_type" not in call("kg.get", id=ids[0])
    assert examine(store, ensure_memory_type=True)["retyped"] >= 2
    assert [call("kg.get", id=id)["memory_type"] for id in (*ids, typed)] == ["associative", "associative", "procedural"]
    assert set(call.found("tea", memory_type="associative")) == set(ids)
    assert examine(store, ensure_memory_type=True)["retyped"] == 0


def test_at_most_a_thousand_of_a_kind_are_told(store, by_hand):
    by_hand("UNWIND range(1, $n) AS n CREATE (:Passage {ns: $ns, id: toString(n)})", n=MOST + 5)
    try:
        (found,) = [problem for problem in examine(store)["problems"] if problem["kind"] == "orphan_passage"]
        assert found["count"] == MOST
        assert len(found["examples"]) == 5
    finally:
        by_hand("MATCH (p:Passage {ns: $ns}) DELETE p")
