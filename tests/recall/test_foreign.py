"""Memories of other programs: what their public forms hold as facts, and the same again stores nothing twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graph.errors import ValidationFailed
from recall import foreign

MCP = (
    {
        "type": "entity",
        "name": "John_Smith",
        "entityType": "person",
        "observations": ["Speaks fluent Spanish", "Born in 1980"],
    },
    {"type": "entity", "name": "Anthem Works", "entityType": "organization", "observations": []},
    {"type": "entity", "name": "tide tables", "entityType": "chart", "observations": ["Printed every autumn"]},
    {"type": "relation", "from": "John_Smith", "to": "Anthem Works", "relationType": "works_at"},
    {"type": "relation", "from": "John_Smith", "to": "Anthem Works", "relationType": "part_of"},
)
MEM0 = {
    "results": [
        {
            "id": "m-1",
            "memory": "Dev works at TechCorp as a senior engineer",
            "hash": "x",
            "metadata": {"type": "professional"},
            "categories": ["work"],
            "user_id": "dev",
            "created_at": "2025-03-01T10:00:00.123456-07:00",
            "updated_at": None,
        },
        {"id": "m-2", "memory": "Arjun prefers morning meetings", "user_id": "arjun", "created_at": "2025-04-01T10:00:00"},
    ],
    "relations": [{"source": "dev", "relationship": "works_at", "target": "techcorp"}],
}
GRAPHITI = {
    "nodes": [
        {"uuid": "n1", "name": "Kamala Harris", "labels": ["Entity", "Person"], "summary": "A summary"},
        {"uuid": "n2", "name": "California", "labels": ["Entity"]},
    ],
    "edges": [
        {
            "uuid": "e1",
            "name": "HOLDS_POSITION",
            "fact": "Kamala Harris was the attorney general of California",
            "source_node_uuid": "n1",
            "target_node_uuid": "n2",
            "created_at": "2024-08-01T00:00:00Z",
            "valid_at": "2011-01-03T00:00:00Z",
            "invalid_at": "2017-01-03T00:00:00Z",
            "fact_embedding": [0.1, 0.2],
        },
        {
            "uuid": "e2",
            "fact": "California borders Oregon",
            "source_node_uuid": "n2",
            "target_node_uuid": "nx",
            "valid_at": None,
        },
    ],
}


@pytest.fixture
def take(service: Any, call: Any, tmp_path: Path) -> Any:
    """Imports what is given into the test's namespace."""

    def run(given: Any, form: str = "auto") -> Any:
        file = tmp_path / "memory.json"
        many = isinstance(given, tuple)
        file.write_text("\n".join(map(json.dumps, given)) if many else json.dumps(given, indent=1), "utf-8")
        known = foreign.detect(file) if form == "auto" else form
        return foreign.run(service.dispatcher, file, known, call.ns, lambda done, total: None)

    return run


def notes(call: Any) -> dict[str, dict[str, Any]]:
    return {node["content"]: node for node in call("kg.list", label="Note", limit=100)["results"]}


def test_mcp_memory_gives_entities_observations_and_relations(take, call):
    done = take(MCP)
    assert done.nodes == 8
    assert set(notes(call)) == {
        "John Smith: Speaks fluent Spanish",
        "John Smith: Born in 1980",
        "tide tables: Printed every autumn",
        "John Smith works at Anthem Works.",
        "John Smith part of Anthem Works.",
    }
    entities = {node["content"]: node for node in call("kg.list", label="Entity", limit=100)["results"]}
    kinds = {name: entities[name]["kind"] for name in ("John Smith", "Anthem Works", "tide tables")}
    assert kinds == {"John Smith": "person", "Anthem Works": "org", "tide tables": "concept"}
    person = entities["John Smith"]["id"]
    edges = call("kg.neighbors", id=person, relations=["part_of"], direction="out")["results"]
    assert [edge["content"] for edge in edges] == ["Anthem Works"], "a relation of ours becomes an edge too"
    assert done.edges == 1
    mentions = call("kg.neighbors", id=person, relations=["mentions"], direction="in")["results"]
    assert len(mentions) == 4
    assert call.found("what languages does John Smith speak")


def test_what_read_graph_answers_is_the_same(take, call):
    take({"entities": [dict(one) for one in MCP[:3]], "relations": [dict(one) for one in MCP[3:]]})
    assert len(notes(call)) == 5


def test_mem0_gives_memories_with_their_times_and_tags(take, call):
    assert take(MEM0).nodes >= 3
    found = notes(call)
    first = found["Dev works at TechCorp as a senior engineer"]
    assert (first["created_at"], first["tags"], first["source"]) == ("2025-03-01T17:00:00.123456Z", ["work"], "mem0")
    assert first["properties"] == {"metadata": {"type": "professional"}, "user_id": "dev"}
    assert found["Arjun prefers morning meetings"]["created_at"] == "2025-04-01T10:00:00Z", "no zone is UTC"
    assert "dev works at techcorp." in found


def test_a_list_of_mem0_memories_and_json_lines_are_read_too(take, call):
    take(MEM0["results"])
    assert len(notes(call)) == 2
    assert take(tuple(MEM0["results"])).present == 2


def test_graphiti_gives_facts_that_expire_when_they_became_invalid(take, call):
    take(GRAPHITI)
    fact = notes(call)["Kamala Harris was the attorney general of California"]
    assert (fact["created_at"], fact["expires_at"]) == ("2011-01-03T00:00:00Z", "2017-01-03T00:00:00Z")
    query = {"query": "who was the attorney general of California", "min_score": 0}
    assert fact["id"] not in call.found(**query)
    assert fact["id"] in call.found(**query, as_of="2015-01-01T00:00:00Z")
    names = {
        node["content"]: node["kind"] for node in call("kg.neighbors", id=fact["id"], relations=["mentions"])["results"]
    }
    assert names == {"Kamala Harris": "person", "California": "concept"}
    assert "A summary" not in notes(call), "facts only"


def test_edges_of_graphiti_alone_are_read_too(take, call):
    take(GRAPHITI["edges"])
    assert len(notes(call)) == 2


@pytest.mark.parametrize("given", [MCP, MEM0, GRAPHITI], ids=["mcp-memory", "mem0", "graphiti"])
def test_the_same_again_stores_nothing_twice(take, call, given):
    take(given)
    before = notes(call)
    done = take(given)
    assert (done.nodes, done.edges) == (0, 0)
    assert notes(call) == before


def test_a_memory_that_has_changed_supersedes_what_it_was(take, call):
    take(MEM0)
    changed = json.loads(json.dumps(MEM0))
    changed["results"][1]["memory"] = "Arjun prefers evening meetings"
    done = take(changed)
    assert done.nodes == 1
    found = notes(call)
    assert found["Arjun prefers morning meetings"]["state"] == "superseded"
    assert found["Arjun prefers evening meetings"]["state"] == "current"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"what": "ever"}, "of none of the known forms"),
        ({"results": [{"memory": ""}]}, "memory: must be a text"),
        ({"results": [{"memory": "x", "created_at": "soon"}]}, "'soon' is no time"),
        (({"type": "entity", "entityType": "person"},), "name: must be a text"),
        ({"edges": [{"uuid": "e"}]}, "fact: must be a text"),
    ],
)
def test_what_is_none_of_them_is_refused(take, call, given, told):
    with pytest.raises(ValidationFailed, match=told):
        take(given)
    assert notes(call) == {}
