"""From a request's nodes to stored ones: labels, what is there already, index properties, drafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.errors import NotAllowed
from graph.kg_schemas import Create, Node
from graph.ontology import ENTITY_KINDS
from graph.packs import Answer, Call, Indexer, Runtime
from graph.records import Draft, content_hash
from graph.writing import Stored, Writer


def keep(call: Call, request: Create, labels: Sequence[str], writer: Writer) -> Answer:
    """Stores nodes, all or none. One whose key and content are there already costs no embedding."""
    places = [f"items.{n}." if request.many else "" for n in range(len(request.nodes))]
    known = _unchanged(call, request.nodes, labels)
    new = [n for n in range(len(request.nodes)) if n not in known]
    drafts = drafted(call, [request.nodes[n] for n in new], [labels[n] for n in new])
    drafts = [replace(draft, place=places[n]) for n, draft in zip(new, drafts, strict=True)]
    written = iter(writer.store(call.space.ns, drafts) if drafts else ())
    if unread := [draft.id for draft in drafts if draft.indexed.get("unread")]:
        call.runtime.unread(call.space.ns, unread)
    return stored_answer([known.get(n) or next(written) for n in range(len(request.nodes))], request.many)


def _unchanged(call: Call, nodes: Sequence[Node], labels: Sequence[str]) -> dict[int, Stored]:
    """By position, the nodes that are stored as they stand. One that refers to others is left to the writer's checks."""
    asked = {
        n: (_kind(node, label), node.key)
        for n, (node, label) in enumerate(zip(nodes, labels, strict=True))
        if node.key is not None and not (node.supersedes or node.source_id or node.follows)
    }
    if not asked:
        return {}
    rows = call.space.rows("note.held_keys", keys=[{"kind": kind, "key": key} for kind, key in set(asked.values())])
    held = {(row["kind"], row["key"]): row for row in rows}
    return {
        n: Stored(held[which]["id"], unchanged=True)
        for n, which in asked.items()
        if which in held and held[which]["content_hash"] == content_hash(nodes[n].content)
    }


def _kind(node: Node, label: str) -> str:
    return node.kind or {"Note": "memory", "Entity": "concept"}.get(label, label.lower())


def stored_answer(stored: Sequence[Stored], many: bool) -> Answer:
    """The answer to a write: one node's id, or `results` in the order of the items."""
    results = [{"id": one.id, "unchanged": one.unchanged} for one in stored]
    created = any(not one.unchanged for one in stored)
    return Answer({"results": results} if many else results[0], created=created)


def node_label(runtime: Runtime, node: Node, place: str) -> str:
    """The label of a new node, from its kind or given. Raises NotAllowed."""
    kinds = runtime.kinds
    if node.kind is None and node.label is None:
        raise NotAllowed("say kind or label", f"{place}kind", sorted(kinds))
    label = node.label or kinds.get(node.kind or "")
    if label is None:
        raise NotAllowed(f"no kind {node.kind!r}", f"{place}kind", sorted(kinds))
    fitting = kinds_of(runtime, label)
    if node.kind is not None and node.kind not in fitting:
        raise NotAllowed(f"a {label} can't be of kind {node.kind!r}", f"{place}kind", sorted(fitting))
    if label != "Neuron" and (node.triggers or node.importance is not None):
        raise NotAllowed("only a neuron has triggers and importance", f"{place}triggers")
    return label


def kinds_of(runtime: Runtime, label: str) -> list[str]:
    """Kinds that a node of this label may have, the usual one first."""
    if label == "Entity":
        return list(ENTITY_KINDS)
    if label == "Note":
        return [kind for kind, owner in runtime.kinds.items() if owner == "Note"]
    return [label.lower()]


def drafted(call: Call, nodes: Sequence[Node], labels: Sequence[str], **own: Any) -> list[Draft]:
    """Drafts with their index properties, all texts embedded in one go, and with what the linker makes of them.

    own: fields of `Draft` that no request has, the same for all.
    """
    indexer, linker, ns = call.indexer, call.runtime.linker, call.space.ns
    recallable = [node for node, label in zip(nodes, labels, strict=True) if label != "Entity"]
    indexed = iter(indexer.index([node.content for node in recallable], [" ".join(node.triggers) for node in recallable]))
    drafts = [
        _entity(indexer, node) if label == "Entity" else _recallable(indexer, node, label, next(indexed))
        for node, label in zip(nodes, labels, strict=True)
    ]
    drafts = [replace(draft, **own) for draft in drafts] if own else drafts
    if linker is None:
        return drafts
    return [
        replace(draft, mentioned=linker.query(ns, draft.content))
        if draft.label == "Entity"
        else replace(draft, reading=linker.read(draft.content))
        for draft in drafts
    ]


def _entity(indexer: Indexer, node: Node) -> Draft:
    properties = indexer.entity(node.content)
    return Draft(
        label="Entity",
        indexed={"properties": properties, "vectors": [], "passages": []},
        **{"kind": _kind(node, "Entity")} | _common(indexer, node),
    )


def _recallable(indexer: Indexer, node: Node, label: str, indexed: Mapping[str, Any]) -> Draft:
    neuron = {"triggers": list(node.triggers), "importance": 0.5 if node.importance is None else node.importance}
    return Draft(
        label=label,
        indexed=indexed,
        memory_type=node.memory_type or ("associative" if label == "Neuron" else None),
        salience=node.salience,
        decay_factor=node.decay_factor,
        own=neuron if label == "Neuron" else {},
        **{"kind": _kind(node, label)} | _common(indexer, node),
    )


def _common(indexer: Indexer, node: Node) -> dict[str, Any]:
    """What drafts of every label have in common."""
    return {
        "content": node.content,
        "created_at": node.created_at,
        "expires_at": node.expires_at,
        "tags": node.tags,
        "source": node.source,
        "key": node.key,
        "properties": node.properties,
        "supersedes": node.supersedes,
        "source_id": node.source_id,
        "follows": node.follows,
        "entities": [indexer.entity(name) | {"name": name} for name in node.entities],
    }
