"""The compatibility profile: names and shapes of the reference memory server's nine tools, over the same graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from marshmallow import Schema, fields

from graph.fields import Request, Several, Text
from graph.kg_schemas import BATCH, CONTENT_BYTES, NAME_BYTES
from graph.packs import validated
from recall import reference
from recall.reference import Graph, relation_body
from recall.tokens import count
from web.mcp.bounded import MOST
from web.mcp.tool import Caller, Role, Told, Tool, known
from web.schemas import json_schema


def _name(about: str) -> Text:
    return Text(most=NAME_BYTES, least=1, required=True, metadata={"description": about})


def _texts(about: str, *, most: int = CONTENT_BYTES - NAME_BYTES) -> Several:
    return Several(Text(most=most, least=1), most=BATCH, required=True, metadata={"description": about})


def _each(schema: type[Schema], about: str = "") -> Several:
    return Several(fields.Nested(schema), most=BATCH, required=True, metadata={"description": about} if about else {})


class Entity(Request):
    name = _name("The name of the entity")
    entityType = _name("The type of the entity")  # noqa: N815
    observations = _texts("An array of observation contents associated with the entity")


class Entities(Request):
    entities = _each(Entity)


_RELATION: dict[str, fields.Field[Any]] = {
    "from": _name("The name of the entity where the relation starts"),
    "to": _name("The name of the entity where the relation ends"),
    "relationType": _name("The type of the relation"),
}
Relation = Request.from_dict(_RELATION, name="Relation")


class Relations(Request):
    relations = _each(Relation)


class Observed(Request):
    entityName = _name("The name of the entity to add the observations to")  # noqa: N815
    contents = _texts("An array of observation contents to add")


class Observations(Request):
    observations = _each(Observed)


class Names(Request):
    entityNames = _texts("An array of entity names to delete", most=NAME_BYTES)  # noqa: N815


class Unobserved(Request):
    entityName = _name("The name of the entity containing the observations")  # noqa: N815
    observations = _texts("An array of observations to delete")


class Deletions(Request):
    deletions = _each(Unobserved)


class Query(Request):
    query = Text(
        most=65_536,
        required=True,
        metadata={"description": "The search query to match against entity names, types, and observation content"},
    )


class Opened(Request):
    names = _texts("An array of entity names to retrieve", most=NAME_BYTES)


def _create_entities(caller: Caller, body: dict[str, Any]) -> Told:
    new = reference.create_entities(caller.within("kg"), body["entities"])
    return Told(_json(new), {"entities": new})


def _create_relations(caller: Caller, body: dict[str, Any]) -> Told:
    new = [relation_body(one) for one in reference.create_relations(caller.within("kg"), _relations(body))]
    return Told(_json(new), {"relations": new})


def _add_observations(caller: Caller, body: dict[str, Any]) -> Told:
    told = [(one["entityName"], one["contents"]) for one in body["observations"]]
    new = reference.add_observations(caller.within("kg"), told)
    return Told(_json(new), {"results": new})


def _delete_entities(caller: Caller, body: dict[str, Any]) -> Told:
    reference.delete_entities(caller.within("kg"), body["entityNames"])
    return _deleted("Entities")


def _delete_observations(caller: Caller, body: dict[str, Any]) -> Told:
    told = [(one["entityName"], one["observations"]) for one in body["deletions"]]
    reference.delete_observations(caller.within("kg"), told)
    return _deleted("Observations")


def _delete_relations(caller: Caller, body: dict[str, Any]) -> Told:
    reference.delete_relations(caller.within("kg"), _relations(body))
    return _deleted("Relations")


def _read_graph(caller: Caller, _: dict[str, Any]) -> Told:
    graph, more = reference.read_graph(caller.within("kg"))
    return _told(graph, more=more)


def _search_nodes(caller: Caller, body: dict[str, Any]) -> Told:
    if not body["query"].strip():
        return _read_graph(caller, {})
    found = caller.ask("memory.recall", {"query": body["query"], "kind": ["observation"]})
    return _told(reference.search_nodes(caller.within("kg"), body["query"], [hit["id"] for hit in found["results"]]))


def _open_nodes(caller: Caller, body: dict[str, Any]) -> Told:
    return _told(reference.open_nodes(caller.within("kg"), body["names"]))


def _relations(body: Mapping[str, Any]) -> list[reference.Relation]:
    return [(one["from"], one["relationType"], one["to"]) for one in body["relations"]]


def _deleted(what: str) -> Told:
    message = f"{what} deleted successfully"
    return Told(message, {"success": True, "message": message})


def _told(graph: Graph, *, more: bool = False) -> Told:
    """A graph as text and JSON; what does not fit into so many tokens is left out, and a text beside it says so."""
    body, left = graph.body(), MOST
    kept: dict[str, list[Any]] = {}
    for name in ("relations", "entities"):
        room = left // 3 if name == "relations" else left
        kept[name] = []
        for one in body[name]:
            cost = count(_json(one)) + 12  # and its indentation in a list
            if cost > room:
                break
            kept[name].append(one)
            room, left = room - cost, left - cost
    missing = [f"{len(body[name]) - len(kept[name])} {name}" for name in body if len(kept[name]) < len(body[name])]
    notes = [f"Left out to stay within {MOST:,} tokens: {' and '.join(missing)}."] if missing else []
    notes += ["There is more than is read at once."] if more else []
    notes = [f"{' '.join(notes)} search_nodes and open_nodes show single ones."] if notes else []
    structured = {"entities": kept["entities"], "relations": kept["relations"]}
    return Told(_json(structured), structured, tuple(notes))


def _json(found: Any) -> str:
    return orjson.dumps(found, option=orjson.OPT_INDENT_2).decode()


_GRAPH = {"entities": _each(Entity), "relations": _each(Relation)}
_DONE = {"success": fields.Boolean(required=True), "message": fields.String(required=True)}
Added = Request.from_dict(
    {"entityName": Text(most=NAME_BYTES, required=True), "addedObservations": _texts("")}, name="Added"
)
_ADDED = {"results": _each(Added)}
Do = Callable[[Caller, dict[str, Any]], Told]


def _tool(
    name: str, about: str, takes: Schema, gives: Mapping[str, Any], run: Do, *, role: Role, destructive: bool = False
) -> Tool:
    def checked(caller: Caller, arguments: Mapping[str, Any]) -> Told:
        return run(caller, validated(takes, known(arguments, list(takes.fields))))

    return Tool(
        name=name,
        title=name.replace("_", " ").title(),
        description=about,
        input={"type": "object", "properties": {}} | json_schema(takes),
        output={**json_schema(Schema.from_dict(dict(gives))()), "additionalProperties": False},
        verb=f"mcp.{name}",
        role=role,
        run=checked,
        destructive=destructive,
        idempotent=destructive,
    )


_GRAPH_OF = "in the knowledge graph"
_PUT = (
    ("create_entities", f"Create multiple new entities {_GRAPH_OF}", Entities(), Entities().fields, _create_entities),
    (
        "create_relations",
        f"Create multiple new relations between entities {_GRAPH_OF}. Relations should be in active voice",
        Relations(),
        Relations().fields,
        _create_relations,
    ),
    (
        "add_observations",
        f"Add new observations to existing entities {_GRAPH_OF}",
        Observations(),
        _ADDED,
        _add_observations,
    ),
)
_DROP = (
    (
        "delete_entities",
        "Delete multiple entities and their associated relations from the knowledge graph",
        Names(),
        _DONE,
        _delete_entities,
    ),
    (
        "delete_observations",
        "Delete specific observations from entities in the knowledge graph",
        Deletions(),
        _DONE,
        _delete_observations,
    ),
    ("delete_relations", "Delete multiple relations from the knowledge graph", Relations(), _DONE, _delete_relations),
)
_READ = (
    ("read_graph", "Read the entire knowledge graph", Request(), _GRAPH, _read_graph),
    ("search_nodes", f"Search for nodes {_GRAPH_OF} based on a query", Query(), _GRAPH, _search_nodes),
    ("open_nodes", f"Open specific nodes {_GRAPH_OF} by their names", Opened(), _GRAPH, _open_nodes),
)


def tools() -> list[Tool]:
    """The nine, in the reference's order and words."""
    return [
        *(_tool(*one, role="write") for one in _PUT),
        *(_tool(*one, role="write", destructive=True) for one in _DROP),
        *(_tool(*one, role="read") for one in _READ),
    ]
