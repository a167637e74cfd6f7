"""Export and import: everything comes back as it was, a run that was ended is taken up, damage is refused."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.errors import NotFound, ValidationFailed
from graph.records import new_id
from recall import exporting
from recall.exporting import export
from recall.importing import Importer
from recall.index import Indexer
from recall.jsonl import DERIVED
from recall.service import Service
from tests.conftest import Caller

# What a node has beside what moves: given anew, or counted.
NODES = (
    "MATCH (n) WHERE n.ns = $ns AND NOT n:Passage "
    "RETURN n.id AS id, labels(n) AS labels, n{.*, ns: null, embedding: null} AS properties, n.embedding AS embedding, "
    "COLLECT { MATCH (n)-[:HAS_PASSAGE]->(p) RETURN p{.*, ns: null, embedding: null} ORDER BY p.position } AS passages "
    "ORDER BY id"
)
EDGES = (
    "MATCH (a)-[r]->(b) WHERE a.ns = $ns AND NOT b:Passage "
    "RETURN a.id AS source, type(r) AS type, b.id AS target, r{.*, ns: null} AS properties ORDER BY source, type, target"
)


@pytest.fixture
def graph(call: Caller, by_hand: Any, service: Service, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """A namespace with something of everything."""
    first = call.note(
        "The ferry leaves from pier one.", created_at="2026-01-01T08:00:00.123456Z", tags=["a", "b"], key="ferry"
    )
    second = call.note("It leaves from pier two.", supersedes=[first], key="ferry", salience=0.7)
    monkeypatch.setattr(service.models.primary.embedder, "max_tokens", 64)
    long = call.note(" ".join(f"Sluice {n} is opened by the keeper of lock {n}." for n in range(60)), follows=second)
    properties = {"float": 2.0, "null": None, "deep": {"list": [1, "two", 3.5]}, "big": 2**70}
    call.note("Marta Olsen keeps the tide tables.", source="log", entities=["Tide Office"], properties=properties)
    call.note("Die Fähre um zwölf, 渡船 at noon.", expires_at=(dt.datetime.now(dt.UTC) + dt.timedelta(days=9)).isoformat())
    neuron = call("kg.create", kind="neuron", content="Ask for the tide.", triggers=["tide", "ebb"], importance=0.9)["id"]
    person = call("kg.create", kind="person", content="Rowan Berg", properties={"age": 41})["id"]
    call("kg.link", source=neuron, target=long, relation="associates", weight=0.25, properties={"why": "seen"})
    call("kg.link", source=second, target=person, relation="mentions")
    gone = call.note("This one is deleted.", supersedes=[long])
    call("kg.delete", id=gone)
    by_hand(
        "MATCH (n:Note {ns: $ns, id: $id}) CREATE (s:Serve {ns: $ns, id: 'serve-' + $ns, at: datetime(), bytes: $bytes}) "
        "CREATE (s)-[:SERVED {rank: 1}]->(n) CREATE (s)-[:ANSWERED]->(:Trace {ns: $ns, id: 'trace-' + $ns, notes: [1, 2]})",
        id=second,
        bytes=b"\x00\xff",
    )
    return call


@pytest.fixture
def contents(by_hand: Any) -> Callable[[str], tuple[Any, Any]]:
    """All nodes and edges of a namespace, but for what is given anew."""

    def found(ns: str) -> tuple[Any, Any]:
        nodes = by_hand(NODES, ns=ns)
        for node in nodes:
            node["labels"] = sorted(node["labels"])
            for name in ("named",):
                node["properties"].pop(name, None)
        return nodes, by_hand(EDGES, ns=ns)

    return found


def importer(service: Service) -> Importer:
    return Importer(service.store, service.models, Indexer(service.models))


@pytest.fixture
def elsewhere() -> str:
    return f"test-{uuid.uuid4().hex[:12]}"


def exported(service: Service, ns: str, folder: Path, **more: Any) -> Path:
    file = folder / "graph.jsonl"
    export(service.store, file, namespaces=[ns], **more)
    return file


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_everything_comes_back_as_it_was(graph, service, tmp_path, contents, elsewhere):
    file = exported(service, graph.ns, tmp_path)
    done = importer(service).run(file, into=elsewhere)
    before, after = contents(graph.ns), contents(elsewhere)
    kept = [node for node in before[0] if "Deleted" not in node["labels"]]
    assert after[0] == kept
    alive = {node["id"] for node in kept}
    assert after[1] == [edge for edge in before[1] if {edge["source"], edge["target"]} <= alive]
    assert (done.nodes, done.edges, done.present, done.edges_left_out) == (len(kept), len(after[1]), 0, 0)
    assert [problem for problem in service.doctor()["problems"] if elsewhere in str(problem)] == []


def test_recall_finds_the_same_as_before(graph, service, tmp_path, elsewhere):
    importer(service).run(exported(service, graph.ns, tmp_path), into=elsewhere)
    other = graph.within(elsewhere)
    for query in ("which pier does the ferry leave from", "sluice 37 keeper", "Marta Olsen", "渡船", "tide"):
        for more in ({}, {"include_superseded": True}, {"as_of": "2026-01-02T00:00:00Z"}, {"fusion": "vector_only"}):
            found = [judged(run("memory.recall", query=query, min_score=0, **more)) for run in (graph, other)]
            assert found[0] == found[1]
    history = [run("kg.history", id=found[0][0][0]) for run in (graph, other)]
    assert history[0] == history[1]


def judged(answer: Any) -> list[Any]:
    """What an answer says, but for what the time of asking makes of it."""
    names = ("id", "content", "relevance", "path", "sources", "salience", "tags", "key", "passage", "superseded_at")
    return [[hit.get(name) for name in names] for hit in answer["results"]]


def test_importing_again_changes_nothing(graph, service, tmp_path, contents, elsewhere):
    file = exported(service, graph.ns, tmp_path)
    first = importer(service).run(file, into=elsewhere)
    before = contents(elsewhere)
    again = importer(service).run(file, into=elsewhere)
    assert contents(elsewhere) == before
    assert (again.nodes, again.edges, again.present, again.other_content) == (0, 0, first.nodes, 0)
    assert importer(service).run(file).nodes == 0, "nor where it came from"


def test_without_vectors_they_are_computed_anew_and_are_the_same(graph, service, tmp_path, contents, elsewhere):
    file = exported(service, graph.ns, tmp_path, vectors=False)
    assert "vectors" not in file.read_text("utf-8").split("\n", 1)[1]
    importer(service).run(file, into=elsewhere)
    before, after = contents(graph.ns)[0], contents(elsewhere)[0]
    alive = [node for node in before if "Deleted" not in node["labels"]]
    for node in (*alive, *after):
        for passage in node["passages"]:
            passage.pop("id")
    assert after == alive


def test_vectors_of_another_model_are_computed_anew(graph, service, tmp_path, elsewhere):
    file = exported(service, graph.ns, tmp_path)
    text = file.read_text("utf-8").replace('"vectors":{"hashing"', '"vectors":{"another"')
    importer(service).run(rewritten(file, text), into=elsewhere)
    assert graph.within(elsewhere).found("which pier does the ferry leave from", fusion="vector_only")


def rewritten(file: Path, text: str) -> Path:
    """A file with other records, its last line made to fit."""
    import hashlib

    *body, _ = text.splitlines(keepends=True)
    kinds = [json.loads(line)["type"] for line in body]
    counts = {"nodes": kinds.count("node"), "edges": kinds.count("edge")}
    end = {"type": "end", **counts, "sha256": hashlib.sha256("".join(body).encode()).hexdigest()}
    file.write_text("".join(body) + json.dumps(end, separators=(",", ":")) + "\n", "utf-8")
    return file


def test_what_follows_from_the_rest_is_not_written(graph, service, tmp_path):
    for record in lines(exported(service, graph.ns, tmp_path)):
        if record.get("label") in ("Note", "Entity"):
            assert not DERIVED & record.get("properties", {}).keys()


def test_an_export_has_no_deleted_node_and_no_key(graph, service, tmp_path, by_hand):
    by_hand("CREATE (:ApiKey {ns: $ns, id: 'k', hash: 'secret-hash'})")
    try:
        file = exported(service, graph.ns, tmp_path)
    finally:
        by_hand("MATCH (k:ApiKey {ns: $ns}) DELETE k")
    text = file.read_text("utf-8")
    assert "This one is deleted" not in text
    assert "secret-hash" not in text
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_unknown_namespace_is_refused_by_name(service, tmp_path):
    with pytest.raises(NotFound, match="no namespace 'nowhere' here"):
        exported(service, "nowhere", tmp_path)


def test_an_export_that_was_ended_goes_on_where_it_was(graph, service, tmp_path, monkeypatch):
    whole = exported(service, graph.ns, tmp_path).read_text("utf-8")
    monkeypatch.setattr(exporting, "PAGE", 3)
    file = tmp_path / "again.jsonl"
    part = tmp_path / "again.jsonl.part"
    for size in range(200, len(whole) - 300, max(len(whole) // 9, 1)):
        part.write_bytes(whole.encode()[:size])
        done = export(service.store, file, namespaces=[graph.ns])
        assert body(file.read_text("utf-8")) == body(whole)
        assert done.resumed < done.nodes + done.edges
        assert importer(service).run(file).present == done.nodes, "its checksum fits"
    assert done.resumed > 0
    assert not part.exists()


def body(text: str) -> list[str]:
    """The records between the header, which has a time, and the checksum."""
    return text.splitlines()[1:-1]


def test_a_part_of_another_export_is_not_taken_up(graph, service, tmp_path):
    file = exported(service, graph.ns, tmp_path)
    other = tmp_path / "other.jsonl"
    (tmp_path / "other.jsonl.part").write_bytes(file.read_bytes()[:3000])
    assert export(service.store, other, namespaces=[graph.ns], vectors=False).resumed == 0


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda text: text[: len(text) // 2], "not a whole export"),
        (lambda text: text.replace("pier two", "pier six"), "its checksum does not fit"),
        (lambda text: "\n".join(text.splitlines()[:-2]) + "\n", "not a whole export"),
        (lambda text: text.replace('"version":1', '"version":99', 1), "is of version 99"),
        (lambda text: "not json\n" + text, "a line is no JSON"),
        (lambda _text: "", "not a whole export"),
    ],
)
def test_a_damaged_file_is_refused_before_anything_is_stored(graph, service, tmp_path, elsewhere, contents, damage, told):
    file = exported(service, graph.ns, tmp_path)
    file.write_text(damage(file.read_text("utf-8")), "utf-8")
    with pytest.raises(ValidationFailed, match=told):
        importer(service).run(file, into=elsewhere)
    assert contents(elsewhere) == ([], [])


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ('"label":"Note"', '"label":"ApiKey"', "can't be 'ApiKey'"),
        ('"relation":"FOLLOWS"', '"relation":"A`B"', "can't be 'A`B'"),
        ('"salience":0.7', '"salience":"high"', "salience: must be a number"),
        ('"content":"It leaves', '"contents":"It leaves', "content: must be a text"),
        ('"created_at":"2026-01-01T08:00:00.123456Z"', '"created_at":"soon"', "created_at: must be a time"),
        ('"tags":["a","b"]', '"tags":"a"', "tags: must be a list of texts"),
    ],
)
def test_a_record_that_is_none_is_refused(graph, service, tmp_path, elsewhere, was, becomes, told):
    file = exported(service, graph.ns, tmp_path)
    text = file.read_text("utf-8")
    assert was in text
    with pytest.raises(ValidationFailed, match=told):
        importer(service).run(rewritten(file, text.replace(was, becomes, 1)), into=elsewhere)


def test_a_key_that_another_note_has_here_stays_with_it(graph, service, tmp_path, elsewhere):
    other = graph.within(elsewhere)
    mine = other.note("Another note under that key.", key="ferry")
    done = importer(service).run(exported(service, graph.ns, tmp_path), into=elsewhere)
    assert done.keys_taken == 1
    assert other("kg.get", id=mine)["key"] == "ferry"


def test_the_same_note_by_its_key_is_not_doubled_and_edges_find_it(graph, service, tmp_path, elsewhere, by_hand):
    other = graph.within(elsewhere)
    mine = other.note("It leaves from pier two.", key="ferry")
    done = importer(service).run(exported(service, graph.ns, tmp_path), into=elsewhere)
    assert (done.keys_taken, done.present) == (0, 1)
    assert len(other("kg.history", id=mine)["results"]) == 2
    assert other("kg.neighbors", id=mine, relations=["mentions"])["results"]


def test_entities_are_one_by_their_name(graph, service, tmp_path, elsewhere, by_hand):
    other = graph.within(elsewhere)
    mine = other("kg.create", kind="person", content="rowan berg")["id"]
    importer(service).run(exported(service, graph.ns, tmp_path), into=elsewhere)
    found = by_hand("MATCH (e:Entity {ns: $to, name_key: 'rowan berg'}) RETURN e.id AS id", to=elsewhere)
    assert [row["id"] for row in found] == [mine]
    assert len(other("kg.neighbors", id=mine, direction="in")["results"]) == 1


def test_notes_written_after_an_import_know_its_names(graph, service, tmp_path, elsewhere):
    importer(service).run(exported(service, graph.ns, tmp_path), into=elsewhere)
    other = graph.within(elsewhere)
    id = other.note("I met rowan berg at the mill.")
    names = [node["content"] for node in other("kg.neighbors", id=id, relations=["mentions"])["results"]]
    assert "Rowan Berg" in names


def test_an_imported_edge_takes_a_note_that_was_here_out_of_recall(call, service, tmp_path):
    old = call.note("The gate code is 1234.")
    record = {
        "type": "node",
        "ns": call.ns,
        "label": "Note",
        "id": new_id(),
        "properties": {"content": "The gate code is 5678."},
    }
    edge = {"type": "edge", "ns": call.ns, "source": record["id"], "relation": "SUPERSEDES", "target": old}
    left = edge | {"source": "nobody"}
    header = {"type": "header", "format": "palimpsest", "version": 1, "namespaces": [call.ns]}
    text = "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in (header, record, edge, left, {}))
    done = importer(service).run(rewritten(tmp_path / "made.jsonl", text))
    assert (done.nodes, done.edges, done.edges_left_out) == (1, 1, 1)
    assert call.found("gate code") == [record["id"]]


def test_a_file_of_several_namespaces_goes_where_it_came_from(graph, service, tmp_path, by_hand):
    other = graph.within(f"{graph.ns}-b")
    other.note("Another tenant's note.")
    file = tmp_path / "two.jsonl"
    export(service.store, file, namespaces=[graph.ns, other.ns])
    with pytest.raises(ValidationFailed, match="takes a file of one namespace"):
        importer(service).run(file, into="x")
    by_hand("MATCH (n) WHERE n.ns = $other DETACH DELETE n", other=other.ns)
    assert importer(service).run(file).nodes == 1
    assert other.found("another tenant's note")


def test_what_a_key_of_its_label_keeps_from_being_doubled_counts_as_there(call, service, tmp_path, elsewhere, by_hand):
    by_hand("CREATE CONSTRAINT trace_once IF NOT EXISTS FOR (n:Trace) REQUIRE (n.ns, n.once) IS UNIQUE")
    try:
        by_hand("UNWIND range(1, 3) AS k CREATE (:Trace {ns: $ns, once: k})")
        call.note("A note.")
        file = exported(service, call.ns, tmp_path)
        by_hand("CREATE (:Trace {ns: $to, once: 2})", to=elsewhere)
        done = importer(service).run(file, into=elsewhere)
        assert (done.nodes, done.present) == (3, 1)
        assert importer(service).run(file, into=elsewhere).nodes == 0
    finally:
        by_hand("DROP CONSTRAINT trace_once")


def test_the_background_of_a_namespace_moves_with_it(call, service, tmp_path, elsewhere, by_hand):
    call("memory.remember", items=[{"content": f"Crate {n} holds brass fittings of the {n % 7} kind"} for n in range(80)])
    until = dt.datetime.now() + dt.timedelta(seconds=30)
    space = "MATCH (s:Namespace {name: $name}) RETURN s.background AS background, s.written AS written"
    while not by_hand(space, name=call.ns)[0]["background"] and dt.datetime.now() < until:
        pass
    importer(service).run(exported(service, call.ns, tmp_path), into=elsewhere)
    (mine,), (theirs,) = by_hand(space, name=call.ns), by_hand(space, name=elsewhere)
    assert mine["background"]
    assert theirs["background"] == mine["background"]
    assert theirs["written"] == 80


@pytest.fixture(autouse=True)
def _nothing_is_left(by_hand: Any, ns: str, elsewhere: str) -> Iterator[None]:
    """Nodes of labels that no statement of the product makes."""
    yield
    by_hand("MATCH (n:Serve|Trace) WHERE n.ns IN [$ns, $elsewhere] DETACH DELETE n", elsewhere=elsewhere)
