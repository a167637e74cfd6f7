"""Forgetting: what went is in no layer, no index, no trace, no serve and no export any more; the rest is as it was."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from recall import forgetting
from recall.exporting import export
from recall.forgetting import forget_namespace, forget_source
from tests.conftest import Caller
from web.cli import main

SECRET = "Xylograph keeps the ledger of the lighthouse fund under lock."
OTHERS = (
    "The ferry kiosk sells tokens at window three.",
    "Quarterly invoices for the bakery are sent on the second Tuesday.",
    "The choir rehearses Verdi in the old town hall on Thursdays.",
)


@pytest.fixture
def kept(call: Caller) -> Caller:
    """Another namespace that must not change."""
    other = call.within(f"kept-{uuid.uuid4().hex[:12]}")
    other.note("Xylograph of the other tenant.", source="crm")
    return other


@pytest.fixture
def graph(call: Caller, by_hand: Any) -> Caller:
    """Notes of a source in every layer, with what refers to them."""
    for text in OTHERS:
        call.note(text, source="wiki")
    first = call.note("Xylograph keeps the ledger in a drawer.", source="crm")
    second = call.note(SECRET, source="crm", supersedes=[first], entities=["Xylograph Fund"])
    call("kg.delete", id=call.note("Xylograph was deleted before.", source="crm"))
    trio = [f"Xylograph ledger of the lighthouse fund, sheet {n} of the ledger." for n in range(3)]
    call("memory.remember", items=[{"content": text, "source": "crm"} for text in trio])
    assert call("memory.consolidate")["created"] >= 1
    by_hand(
        "MATCH (n:Note {ns: $ns, id: $id}) "
        "CREATE (s:Serve {ns: $ns, id: randomUUID(), served: [$id, 'x'], query: 'q'})-[:SERVED]->(n) "
        "CREATE (:Serve {ns: $ns, id: randomUUID(), query: 'another'}) "
        "CREATE (:Trace {ns: $ns, id: randomUUID(), blocks_json: $blocks}) "
        "CREATE (:Trace {ns: $ns, id: randomUUID(), text: $quote}) "
        "CREATE (:Trace {ns: $ns, id: randomUUID(), text: 'other'})",
        id=second,
        blocks=json.dumps([{"name": "memory", "sources": [second]}]),
        quote=f"memory: {SECRET} end",
    )
    return call


@pytest.fixture
def told(by_hand: Any) -> Any:
    """Every node of a namespace any property of which has a word."""

    def found(word: str, ns: str) -> list[Any]:
        rows = by_hand("MATCH (n) WHERE n.ns = $of RETURN labels(n) AS labels, properties(n) AS properties", of=ns)
        return [row["labels"] for row in rows if word in str(row["properties"]).casefold()]

    return found


@pytest.fixture(autouse=True)
def _nothing_is_left(by_hand: Any, ns: str) -> Iterator[None]:
    yield
    by_hand("MATCH (n:Serve|Trace) WHERE n.ns = $ns DETACH DELETE n")


def test_everything_of_a_namespace_goes(graph, kept, store, by_hand, told):
    done = forget_namespace(store, graph.ns)
    assert by_hand("MATCH (n) WHERE n.ns = $ns OR n.name = $ns RETURN count(n) AS n")[0]["n"] == 0
    assert done.labels["Recallable"] >= 8
    assert (done.labels["Serve"], done.labels["Trace"], done.labels["Namespace"]) == (2, 3, 1)
    for index in ("current_text", "superseded_text"):
        query = f"CALL db.index.fulltext.queryNodes('{index}', $q) YIELD node RETURN count(node) AS n"
        assert by_hand(query, q=f'+ns:"{graph.ns}"')[0]["n"] == 0
    assert graph.found("xylograph ledger", fusion="vector_only", include_superseded=True) == []
    assert told("xylograph", kept.ns), "another tenant's stay"
    assert kept.found("xylograph of the other tenant")


def test_a_namespace_that_was_forgotten_begins_anew(graph, store, by_hand):
    forget_namespace(store, graph.ns)
    graph("kg.create", kind="person", content="Zenobia Quill")
    id = graph.note("I met zenobia quill at the mill.")
    mentioned = graph("kg.neighbors", id=id, relations=["mentions"])["results"]
    assert [node["content"] for node in mentioned] == ["Zenobia Quill"], "its turns go on, so its names are heard of"
    assert graph.found("zenobia at the mill") == [id]


def test_everything_of_a_source_goes_and_the_rest_stays(graph, kept, store, service, by_hand, told):
    before = {node["id"]: node for node in graph("kg.list", label="Note", limit=100)["results"] if node["source"] == "wiki"}
    done = forget_source(store, service.models, graph.ns, "crm")
    assert told("xylograph", graph.ns) == [], "not in notes of any layer, nor entities, serves, traces, or what was drawn"
    assert done.labels["Trace"] == 2
    assert done.labels["Serve"] == 1
    after = {node["id"]: node for node in graph("kg.list", label="Note", limit=100)["results"]}
    assert after == before
    assert by_hand("MATCH (n:Trace {ns: $ns}) RETURN count(n) AS n")[0]["n"] == 1
    for fusion in ("keyword_only", "vector_only", "union"):
        for more in ({}, {"include_superseded": True}, {"as_of": "2100-01-01T00:00:00Z"}):
            hits = graph("memory.recall", query=SECRET, min_score=0, fusion=fusion, **more)["results"]
            assert all("ylograph" not in hit["content"] for hit in hits)
    assert told("xylograph", kept.ns)
    assert [problem for problem in service.doctor()["problems"] if graph.ns in str(problem)] == []


def test_what_was_forgotten_is_in_no_export(graph, store, service, tmp_path: Path):
    file = tmp_path / "graph.jsonl"
    export(store, file, namespaces=[graph.ns])
    assert "ylograph" in file.read_text("utf-8")
    forget_source(store, service.models, graph.ns, "crm")
    export(store, file, namespaces=[graph.ns])
    assert "ylograph" not in file.read_text("utf-8").casefold()


def test_what_a_forgotten_note_had_superseded_is_current_again(call, store, service):
    old = call.note("The gate code is 1234.", source="wiki")
    call.note("The gate code is 5678.", source="crm", supersedes=[old])
    done = forget_source(store, service.models, call.ns, "crm")
    assert done.restored == [old]
    assert call.found("gate code") == [old]


def test_an_entity_that_others_mention_stays(call, store, service):
    call.note("Rowan Berg keeps bees.", source="crm")
    id = call.note("Rowan Berg keeps goats.", source="wiki")
    forget_source(store, service.models, call.ns, "crm")
    assert [node["content"] for node in call("kg.neighbors", id=id, relations=["mentions"])["results"]] == ["Rowan Berg"]


def test_the_background_no_longer_counts_the_words(call, store, service, by_hand):
    items = [{"content": f"Xylograph sheet {n}", "source": "crm"} for n in range(70)]
    call("memory.remember", items=[*items, *({"content": f"Brass fitting {n}", "source": "wiki"} for n in range(70))])
    memory = service.dispatcher.runtime.states["memory"]
    memory.backgrounds.measure(call.ns, 140)
    space = "MATCH (s:Namespace {name: $ns}) RETURN s.background AS background, s.background_version AS version"
    before = by_hand(space)[0]
    forget_source(store, service.models, call.ns, "crm")
    after = by_hand(space)[0]
    assert after["version"] > before["version"]
    assert after["background"] != before["background"]


def test_forgetting_that_was_ended_is_completed_by_the_next_run(graph, store, service, told, monkeypatch):
    monkeypatch.setattr(forgetting, "TOGETHER", 2)
    forget_notes, batches = forgetting._forget_notes, []

    def ends(tx: Any, ids: Any) -> Any:
        batches.append(ids)
        if len(batches) == 2:
            raise KeyboardInterrupt
        return forget_notes(tx, ids)

    monkeypatch.setattr(forgetting, "_forget_notes", ends)
    with pytest.raises(KeyboardInterrupt):
        forget_source(store, service.models, graph.ns, "crm")
    monkeypatch.setattr(forgetting, "_forget_notes", forget_notes)
    assert told("xylograph", graph.ns)
    forget_source(store, service.models, graph.ns, "crm")
    assert told("xylograph", graph.ns) == []


def test_a_dry_run_counts_and_changes_nothing(graph, store, service, told):
    before = told("xylograph", graph.ns)
    planned = forget_source(store, service.models, graph.ns, "crm", dry_run=True)
    assert planned.labels == {"Recallable": 8, "Serve": 1, "Trace": 2}
    assert forget_namespace(store, graph.ns, dry_run=True).labels["Trace"] == 3
    assert told("xylograph", graph.ns) == before


def test_the_command_asks_first(graph, service, monkeypatch, told):
    for name, value in (("EMBEDDER", "hashing"), ("MULTILINGUAL", "off"), ("HOME", str(service.settings.home))):
        monkeypatch.setenv(f"PALIMPSEST_{name}", value)
    words = ["forget", "-n", graph.ns, "--source", "crm"]
    refused = CliRunner().invoke(main, words, input="n\n")
    assert refused.exit_code == 1
    assert "from 'crm' for good?" in refused.stderr
    assert told("xylograph", graph.ns)
    done = CliRunner().invoke(main, [*words, "--yes", "--json"])
    assert json.loads(done.stdout)["labels"]["Trace"] == 2
    assert told("xylograph", graph.ns) == []
    assert CliRunner().invoke(main, ["forget", "--yes"]).exit_code == 2, "the namespace has to be named"
