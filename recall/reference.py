"""The graph of the reference MCP memory server, kept as ours: entities, observations and relations by their names.

An entity is an entity, each observation a note that names it; a relation is a note, and an edge where it is one of ours.
What they were called there stays with them as properties, so that they come back as they went in. Each note has a key made
of what it says, so the same again is the same note.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from graph.drafting import keep
from graph.errors import NotAllowed, NotFound, ValidationFailed
from graph.kg import get, link_nodes, list_nodes, neighbors, search, unlink, update
from graph.kg_schemas import BATCH, CONTENT_BYTES, ById, Create, Edge, Links, List, Neighbors, Node, Search, Update, defaults
from graph.layers import soft_delete
from graph.ontology import ENTITY_KINDS, RELATIONS
from graph.packs import Call
from recall.text import query_terms, terms

PROGRAM = "mcp-memory"
ENTITY, OBSERVATION, RELATION = "mcp_entity", "mcp_observation", "mcp_relation"  # properties that tell what a node was there
KINDS = dict.fromkeys(ENTITY_KINDS, "") | {
    "organization": "org", "organisation": "org", "company": "org", "team": "org", "user": "person", "human": "person",
    "file": "document", "book": "document", "tool": "service", "system": "service", "repository": "project",
}  # fmt: skip
PAGE = 1_000
MOST_READ, MOST_FOUND = 5_000, 100  # nodes that the whole graph is read from, and that a search looks at
Item = tuple[str, Node]  # a label and what is stored under it
Relation = tuple[str, str, str]  # from, relation, to


@dataclass(kw_only=True)
class Graph:
    """Entities with what was observed of them, and relations, in the order of storing."""

    entities: dict[str, dict[str, Any]] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)

    def body(self) -> dict[str, Any]:
        """As the reference server gives it."""
        return {"entities": list(self.entities.values()), "relations": [relation_body(one) for one in self.relations]}

    def only(self, names: Iterable[str]) -> Graph:
        """The entities of these names, and the relations that one of them has a part in."""
        kept = set(names)
        return Graph(
            entities={name: one for name, one in self.entities.items() if name in kept},
            relations=[one for one in self.relations if one[0] in kept or one[2] in kept],
        )


def relation_body(relation: Relation) -> dict[str, str]:
    return {"from": relation[0], "to": relation[2], "relationType": relation[1]}


def entity_item(name: str, kind: str) -> Item:
    """An entity of the reference server."""
    label, node = named_item(name, kind)
    return label, replace(node, properties={ENTITY: {name: kind}})


def observation_item(name: str, text: str) -> Item:
    """What was observed of an entity."""
    told = {"entityName": name, "content": text}
    return fact_item(_said(name, text), PROGRAM, f"{name}\n{text}", entities=[spoken(name)], properties={OBSERVATION: told})


def relation_item(source: str, relation: str, target: str) -> Item:
    """A relation as a note; `linked` draws the edge."""
    return fact_item(
        f"{spoken(source)} {spoken(relation).lower()} {spoken(target)}.",
        PROGRAM,
        f"{source}\n{relation}\n{target}",
        entities=[spoken(source), spoken(target)],
        properties={RELATION: relation_body((source, relation, target))},
    )


def fact_item(content: str, program: str, identity: str, **more: Any) -> Item:
    """A note with the key that its origin gives it. Raises ValidationFailed."""
    if not content.strip() or len(content.encode()) > CONTENT_BYTES or "\0" in content:
        raise ValidationFailed.of("file", f"a fact must be a text of at most {CONTENT_BYTES:,} bytes: {content[:80]!r}")
    salience, decay = defaults("semantic")
    given = {"kind": "observation", "memory_type": "semantic", "source": program, "key": _key(program, identity)}
    return "Note", Node(content=content, salience=salience, decay_factor=decay, **given | more)


def named_item(name: str, kind: str) -> Item:
    """An entity of the kind that fits best what another program calls it."""
    wanted = kind.strip().lower()
    known = (KINDS.get(wanted) or wanted) if wanted in KINDS else "concept"
    return "Entity", Node(content=spoken(name), kind=known, salience=0.5, decay_factor=0.0)


def spoken(name: str) -> str:
    """A name or a relation as people write it: these programs often join words by `_`."""
    return " ".join(name.replace("_", " ").split())


def linked(call: Call, source: str, relation: str, target: str) -> int:
    """Draws the edge of a relation between two entities, if it is one of ours and may join them."""
    edge = _edge(call, source, relation, target)
    if edge is None:
        return 0
    try:
        return int(link_nodes(call, Links(edges=[edge], many=False)).created)
    except NotAllowed:
        return 0


def create_entities(call: Call, entities: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Keeps entities with their observations; one whose name is there already stays as it is. Returns the new ones."""
    new: dict[str, dict[str, Any]] = {}
    items: list[Item] = []
    for one in entities:
        name, kind = one["name"], one["entityType"]
        node = _entity(call, name)
        marks = _marks(node or {})
        if name in marks or name in new:
            continue
        new[name] = {"name": name, "entityType": kind, "observations": list(dict.fromkeys(one["observations"]))}
        if node is None:
            items.append(entity_item(name, kind))
        else:  # known by that name to another door, or to the linker
            marked = (node.get("properties") or {}) | {ENTITY: marks | {name: kind}}
            update(call, Update(id=node["id"], changes={"properties": marked}))
        items += [observation_item(name, text) for text in new[name]["observations"]]
    _keep(call, items)
    return list(new.values())


def create_relations(call: Call, relations: Sequence[Relation]) -> list[Relation]:
    """Keeps relations, and draws those that are ours. Returns the new ones."""
    items = {relation: relation_item(*relation) for relation in relations}
    new = _keep(call, list(items.values()))
    for relation in items:
        linked(call, *relation)
    return [relation for relation, is_new in zip(items, new, strict=True) if is_new]


def add_observations(call: Call, observations: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, Any]]:
    """Keeps what was observed of entities that are there. Returns the new by entity. Raises NotFound, all or nothing."""
    for number, (name, _) in enumerate(observations):
        if name not in _marks(_entity(call, name) or {}):
            raise NotFound(f"no entity named {name!r}; create_entities makes one", f"observations.{number}.entityName")
    told = [[(name, text) for text in dict.fromkeys(texts)] for name, texts in observations]
    new = iter(_keep(call, [observation_item(*one) for several in told for one in several]))
    return [
        {"entityName": name, "addedObservations": [text for _, text in several if next(new)]}
        for (name, _), several in zip(observations, told, strict=True)
    ]


def delete_entities(call: Call, names: Sequence[str]) -> None:
    """Deletes entities, what was observed of them, and their relations. Unknown names are no error."""
    gone: list[str] = []
    for name in dict.fromkeys(names):
        node = _entity(call, name)
        marks = _marks(node or {})
        if node is None or name not in marks:
            continue
        gone += [note["id"] for note in _notes(call, node["id"]) if name in _names(note)]
        if len(marks) == 1:
            gone.append(node["id"])
        else:
            kept = {other: kind for other, kind in marks.items() if other != name}
            update(call, Update(id=node["id"], changes={"properties": node["properties"] | {ENTITY: kept}}))
    _delete(call, gone)


def delete_observations(call: Call, deletions: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Deletes single observations. Unknown ones are no error."""
    _delete(call, _held(call, [f"{name}\n{text}" for name, texts in deletions for text in texts]))


def delete_relations(call: Call, relations: Sequence[Relation]) -> None:
    """Deletes relations, and the edges that they are. Unknown ones are no error."""
    _delete(call, _held(call, ["\n".join(relation) for relation in relations]))
    for relation in relations:
        edge = _edge(call, *relation)
        if edge is not None:
            with suppress(NotFound):
                unlink(call, edge)


def read_graph(call: Call, most: int = MOST_READ) -> tuple[Graph, bool]:
    """Everything that came by these tools or from such a file, and whether there is more than `most` nodes."""
    entities, more_entities = _listed(call, List(label="Entity", limit=PAGE), most)
    notes, more_notes = _listed(call, List(kind="observation", limit=PAGE), most)
    return _graph(entities, notes), more_entities or more_notes


def open_nodes(call: Call, names: Iterable[str]) -> Graph:
    """Entities by name, with what was observed of them and their relations. Unknown names are left out."""
    wanted = list(dict.fromkeys(names))
    entities = {node["id"]: node for name in wanted if (node := _entity(call, name)) and name in _marks(node)}
    notes = {note["id"]: note for id in entities for note in _notes(call, id)}
    return _graph(list(entities.values()), sorted(notes.values(), key=lambda note: str(note["id"]))).only(wanted)


def search_nodes(call: Call, query: str, recalled: Iterable[str] = ()) -> Graph:
    """Entities whose name, type or observations hold `query` or all its words. recalled: notes that recall gave."""
    wanted = query.strip().casefold()
    found = [dict(get(call, ById(id=id)).body) for id in recalled]
    names = [name for node in found for name in _observed(node)]
    nodes = search(call, Search(query=query, kinds=[*ENTITY_KINDS, "observation"], limit=MOST_FOUND)).body["results"]
    names += [name for node in nodes if _holds(node["content"], query) for name in _observed(node)]
    if wanted and " " not in wanted:  # types are no words of the index
        kind = (KINDS.get(wanted) or wanted) if wanted in KINDS else "concept"
        typed = list_nodes(call, List(kind=kind, label="Entity", limit=PAGE)).body["results"]
        names += [name for node in typed for name, type in _marks(node).items() if wanted in f"{type}\n{name}".casefold()]
    return open_nodes(call, names)


def _holds(content: str, query: str) -> bool:
    """Whether a text holds all of a query's words, in any form."""
    if query.strip().casefold() in content.casefold():
        return True
    held = set(terms(content))
    return all(word.text in held or word.stem in held for word in query_terms(query).words)


def _graph(entities: Iterable[Mapping[str, Any]], notes: Iterable[Mapping[str, Any]]) -> Graph:
    graph = Graph()
    for node in entities:
        for name, kind in _marks(node).items():
            graph.entities[name] = {"name": name, "entityType": kind, "observations": []}
    for note in notes:
        told = note.get("properties") or {}
        if note.get("state") != "current":
            continue
        if (one := told.get(OBSERVATION)) and one["entityName"] in graph.entities:
            text, said = one["content"], _said(one["entityName"], one["content"])
            graph.entities[one["entityName"]]["observations"].append(text if note["content"] == said else note["content"])
        elif one := told.get(RELATION):
            graph.relations.append((one["from"], one["relationType"], one["to"]))
    return graph


def _said(name: str, text: str) -> str:
    return f"{spoken(name)}: {text}"


def _marks(node: Mapping[str, Any]) -> dict[str, str]:
    """What an entity is called by these tools: names that are spelled differently are one entity here."""
    return dict((node.get("properties") or {}).get(ENTITY) or {})


def _observed(node: Mapping[str, Any]) -> list[str]:
    """Names of the entities that a node is, or an observation of."""
    told = (node.get("properties") or {}).get(OBSERVATION)
    return [*_marks(node), *([told["entityName"]] if told else [])]


def _names(node: Mapping[str, Any]) -> list[str]:
    """Names of the entities that a node is, or tells of."""
    relation = (node.get("properties") or {}).get(RELATION)
    return [*_observed(node), *([relation["from"], relation["to"]] if relation else [])]


def _entity(call: Call, name: str) -> dict[str, Any] | None:
    id = _entity_id(call, name)
    return dict(get(call, ById(id=id)).body) if id else None


def _entity_id(call: Call, name: str) -> str | None:
    key = call.indexer.entity(spoken(name))["name_key"]
    ids = (call.space.value("note.named", name_key=key, kind=kind) for kind in ENTITY_KINDS)
    return next((str(id) for id in ids if id), None)


def _edge(call: Call, source: str, relation: str, target: str) -> Edge | None:
    """The edge that a relation is, if its name is one of ours and both ends are there."""
    known = spoken(relation).lower().replace(" ", "_")
    if known not in RELATIONS or known == "supersedes":
        return None
    ends = [_entity_id(call, name) for name in (source, target)]
    return Edge(source=ends[0], target=ends[1], relation=known) if ends[0] and ends[1] else None


def _notes(call: Call, id: str) -> list[dict[str, Any]]:
    """Notes that name an entity and came by these tools."""
    near = neighbors(call, Neighbors(id=id, relations=["mentions"], direction="in", limit=PAGE)).body["results"]
    return [note for note in near if note.get("source") == PROGRAM]


def _keep(call: Call, items: Sequence[Item]) -> list[bool]:
    """Stores items, and says of each whether it is new."""
    new: list[bool] = []
    for start in range(0, len(items), BATCH):
        part = items[start : start + BATCH]
        request = Create(nodes=[node for _, node in part], many=True)
        stored = keep(call, request, [label for label, _ in part], call.state).body["results"]
        new += [not one["unchanged"] for one in stored]
    return new


def _held(call: Call, identities: Sequence[str]) -> list[str]:
    keys = [{"kind": "observation", "key": _key(PROGRAM, one)} for one in identities]
    return [row["id"] for row in call.space.rows("note.held_keys", keys=keys)] if keys else []


def _key(program: str, identity: str) -> str:
    return f"{program}:{hashlib.sha256(identity.encode()).hexdigest()[:32]}"


def _delete(call: Call, ids: Sequence[str]) -> None:
    if ids:
        call.space.write(lambda tx: soft_delete(tx, list(dict.fromkeys(ids))))


def _listed(call: Call, request: List, most: int) -> tuple[list[dict[str, Any]], bool]:
    """Nodes, page by page, and whether there are more than `most`."""
    found: list[dict[str, Any]] = []
    while len(found) < most:
        page = list_nodes(call, request).body
        found += page["results"]
        if not page["next_cursor"]:
            return found, False
        request = replace(request, cursor=page["next_cursor"])
    return found, True
