"""The compatibility profile: the reference memory server's tools, as its package of 2026.8.31 has them."""

from __future__ import annotations

import json

import pytest
from mcp_clients import connected, text

from recall import foreign
from web.mcp import reference as profile
from web.mcp.server import Tools, server
from web.mcp.tool import Caller

NAMES = [
    *("create_entities", "create_relations", "add_observations"),
    *("delete_entities", "delete_observations", "delete_relations"),
    *("read_graph", "search_nodes", "open_nodes"),
]
JOHN = {"name": "John_Smith", "entityType": "person", "observations": ["Speaks fluent Spanish", "Born in 1980"]}
WORKS = {"from": "John_Smith", "to": "Anthem Works", "relationType": "works_at"}
ANTHEM = {"name": "Anthem Works", "entityType": "organization", "observations": []}


@pytest.fixture
def session(service, ns):
    made = Tools("reference", lambda _, actor: Caller(service=service, ns=ns, actor=actor))
    with connected(server(made, "reference")) as found:
        yield found


@pytest.fixture
def filled(session):
    session.told("create_entities", entities=[JOHN, ANTHEM])
    session.told("create_relations", relations=[WORKS])
    return session


def shape(schema):
    """A JSON schema without limits and words."""
    kept = {"type": schema["type"]}
    if "properties" in schema:
        kept["properties"] = {name: shape(inner) for name, inner in schema["properties"].items()}
        kept["required"] = sorted(schema.get("required", []))
    if "items" in schema:
        kept["items"] = shape(schema["items"])
    return kept


def test_names_shapes_and_hints_are_those_of_the_reference(session):
    listed = session.tools()
    assert list(listed) == NAMES
    string = {"type": "string"}
    texts = {"type": "array", "items": string}
    entity = {
        "type": "object",
        "properties": {"name": string, "entityType": string, "observations": texts},
        "required": ["entityType", "name", "observations"],
    }
    relation = {
        "type": "object",
        "properties": {"from": string, "to": string, "relationType": string},
        "required": ["from", "relationType", "to"],
    }
    many = {
        "create_entities": ("entities", entity),
        "create_relations": ("relations", relation),
        "delete_relations": ("relations", relation),
    }
    for name, (field, one) in many.items():
        takes = {"type": "object", "properties": {field: {"type": "array", "items": one}}, "required": [field]}
        assert shape(listed[name].input_schema) == takes
    graph = {
        "type": "object",
        "properties": {"entities": {"type": "array", "items": entity}, "relations": {"type": "array", "items": relation}},
        "required": ["entities", "relations"],
    }
    assert all(shape(listed[name].output_schema) == graph for name in ("read_graph", "search_nodes", "open_nodes"))
    assert listed["read_graph"].input_schema["properties"] == {}
    assert [name for name in NAMES if listed[name].annotations.read_only_hint] == NAMES[6:]
    assert [name for name in NAMES if listed[name].annotations.destructive_hint] == NAMES[3:6]


def test_what_goes_in_comes_back_as_it_was(filled):
    result = filled.call("read_graph")
    assert result.structured_content == {"entities": [JOHN, ANTHEM], "relations": [WORKS]}
    assert json.loads(text(result)) == result.structured_content


def test_what_is_there_already_is_not_new(filled):
    assert filled.told("create_entities", entities=[JOHN])["entities"] == []
    assert filled.told("create_relations", relations=[WORKS])["relations"] == []
    added = filled.told(
        "add_observations", observations=[{"entityName": "John_Smith", "contents": ["Born in 1980", "Plays the cello"]}]
    )
    assert added["results"] == [{"entityName": "John_Smith", "addedObservations": ["Plays the cello"]}]


def test_an_observation_of_nobody_is_refused_and_nothing_is_kept(filled):
    told = [{"entityName": "John_Smith", "contents": ["Sings"]}, {"entityName": "Nobody", "contents": ["x"]}]
    result = filled.call("add_observations", observations=told)
    assert result.is_error
    assert "observations.1.entityName" in text(result)
    assert "no entity named 'Nobody'" in text(result)
    assert filled.told("read_graph")["entities"][0] == JOHN


@pytest.mark.parametrize("query", ["spanish", "John", "speak Spanish", "which languages does John Smith speak, Spanish"])
def test_a_search_finds_by_name_and_observation(filled, query):
    found = filled.told("search_nodes", query=query)
    assert [entity["name"] for entity in found["entities"]] == ["John_Smith"]
    assert found["relations"] == [WORKS]


def test_a_search_finds_by_type_and_nothing_for_what_is_not_there(filled):
    assert [one["name"] for one in filled.told("search_nodes", query="organization")["entities"]] == ["Anthem Works"]
    assert filled.told("search_nodes", query="volcano") == {"entities": [], "relations": []}
    assert len(filled.told("search_nodes", query="")["entities"]) == 2


def test_opened_nodes_come_with_their_relations(filled):
    found = filled.told("open_nodes", names=["Anthem Works", "Nobody"])
    assert found == {"entities": [ANTHEM], "relations": [WORKS]}


def test_deletions_take_what_they_name_and_unknown_names_are_no_error(filled):
    filled.told("delete_observations", deletions=[{"entityName": "John_Smith", "observations": ["Born in 1980", "nothing"]}])
    assert filled.told("open_nodes", names=["John_Smith"])["entities"][0]["observations"] == ["Speaks fluent Spanish"]
    filled.told("delete_relations", relations=[WORKS, WORKS | {"to": "Nobody"}])
    assert filled.told("read_graph")["relations"] == []
    filled.told("create_relations", relations=[WORKS])
    assert filled.told("delete_entities", entityNames=["John_Smith", "Nobody"])["success"]
    assert filled.told("read_graph") == {"entities": [ANTHEM], "relations": []}


def test_a_relation_of_ours_is_an_edge_too(filled, call):
    between = {"from": "John_Smith", "to": "Anthem Works", "relationType": "part_of"}
    filled.told("create_relations", relations=[between])
    (john,) = [one for one in call("kg.list", kind="person")["results"] if one["content"] == "John Smith"]
    (edge,) = call("kg.neighbors", id=john["id"], relations=["part_of"])["results"]
    assert edge["content"] == "Anthem Works"
    filled.told("delete_relations", relations=[between])
    assert call("kg.neighbors", id=john["id"], relations=["part_of"])["results"] == []


def test_a_name_that_the_linker_knows_already_becomes_an_entity(session, call):
    call.note("Grace Hopper wrote the first compiler.")
    new = {"name": "Grace Hopper", "entityType": "person", "observations": ["Was an admiral"]}
    assert session.told("create_entities", entities=[new])["entities"] == [new]
    assert session.told("open_nodes", names=["Grace Hopper"])["entities"] == [new]


def test_names_that_differ_in_spelling_only_are_told_apart(session):
    other = {"name": "John Smith", "entityType": "alias", "observations": ["Is another one"]}
    session.told("create_entities", entities=[JOHN])
    session.told("create_entities", entities=[other])
    assert session.told("read_graph")["entities"] == [JOHN, other]
    session.told("delete_entities", entityNames=["John Smith"])
    assert session.told("read_graph")["entities"] == [JOHN]


def test_a_file_of_the_reference_server_is_seen_by_the_tools(session, service, ns, tmp_path):
    file = tmp_path / "memory.jsonl"
    lines = [{"type": "entity", **JOHN}, {"type": "entity", **ANTHEM}, {"type": "relation", **WORKS}]
    file.write_text("\n".join(map(json.dumps, lines)))
    foreign.run(service.dispatcher, file, "mcp-memory", ns, lambda _done, _all: None)
    assert session.told("read_graph") == {"entities": [JOHN, ANTHEM], "relations": [WORKS]}


def test_other_doors_recall_what_was_observed(filled, call):
    hit = call("memory.recall", query="does John Smith speak Spanish")["results"][0]
    assert hit["content"] == "John Smith: Speaks fluent Spanish"


def test_what_was_superseded_is_observed_no_more(filled, call):
    hit = call("memory.recall", query="does John Smith speak Spanish")["results"][0]
    call.note("John Smith forgot his Spanish.", supersedes=[hit["id"]])
    assert filled.told("open_nodes", names=["John_Smith"])["entities"][0]["observations"] == ["Born in 1980"]


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("create_entities", {}, "entities"),
        ("create_entities", {"entities": [{"name": "x", "entityType": "y"}]}, "entities.0.observations"),
        ("create_entities", {"entities": [JOHN | {"name": ""}]}, "entities.0.name"),
        ("create_relations", {"relations": [WORKS | {"weight": 1}]}, "relations.0.weight"),
        ("read_graph", {"limit": 3}, "limit"),
    ],
)
def test_an_error_names_the_field(session, tool, arguments, field):
    result = session.call(tool, **arguments)
    assert result.is_error
    assert f"- {field}: " in text(result)


def test_a_graph_that_is_too_large_says_what_is_left_out(session, monkeypatch):
    session.told(
        "create_entities",
        entities=[{"name": f"Ship {n}", "entityType": "ship", "observations": [f"Has {n} masts"]} for n in range(20)],
    )
    monkeypatch.setattr(profile, "MOST", 400)
    result = session.call("read_graph")
    assert 0 < len(result.structured_content["entities"]) < 20
    assert "search_nodes and open_nodes show single ones" in result.content[1].text
