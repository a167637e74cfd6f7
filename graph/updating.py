"""Changes to one stored node: its fields, what the indexes hold of it, and the entities that it mentions."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph import mentions
from graph.errors import KeyInUse, NotAllowed, NotFound, StoreConflict
from graph.kg_schemas import Update
from graph.layers import stale
from graph.ontology import UNTYPED
from graph.packs import Call
from graph.records import Reading, content_hash, dumped, expiry, tag_key, title
from graph.slots import BESIDE
from graph.store import SpaceTransaction
from graph.writing import Writer


@dataclass(kw_only=True)
class _Change:
    """What becomes of one node. fresh: what the indexer makes of it, where that changes."""

    node: Mapping[str, Any]
    changes: dict[str, Any]
    fresh: Mapping[str, Any] | None = None
    retold: bool = False  # its content changes, and with it what it mentions
    reading: Reading | None = None
    renamed: str | None = None  # an entity's new name, as full text


def change(call: Call, request: Update, writer: Writer) -> None:
    """Changes the node that a request names. Raises NotFound, NotAllowed, KeyInUse."""
    row = call.space.one("note.get", id=request.id)
    if row is None:
        raise NotFound(f"no node {request.id!r} here", "id")
    if "Neuron" not in row["labels"] and request.changes.keys() & {"triggers", "importance"}:
        raise NotAllowed("only a neuron has triggers and importance", "triggers")
    planned = _Change(node=row["node"], changes=_changes(request.changes))
    if "Entity" in row["labels"]:
        _rename(call, request, planned)
    else:
        _retell(call, request, planned)
    try:
        call.space.write(lambda tx: _store(tx, planned, writer.names))
    except StoreConflict as error:
        raise _held(call, planned.node, planned.changes) or error from error
    if planned.fresh and planned.fresh.get("unread"):
        call.runtime.unread(call.space.ns, [request.id])


def _rename(call: Call, request: Update, planned: _Change) -> None:
    if content := request.changes.get("content"):
        planned.changes |= call.indexer.entity(content)
        planned.renamed = call.runtime.linker.query(call.space.ns, content) if call.runtime.linker else None


def _retell(call: Call, request: Update, planned: _Change) -> None:
    if request.changes.keys() & {"content", "memory_type", "tags", "expires_at", "triggers"}:
        node: dict[str, Any] = {**planned.node, **request.changes}
        planned.fresh = call.indexer.index([node["content"]], [" ".join(node.get("triggers") or ())])[0]
        planned.changes |= dict.fromkeys(("terms", *BESIDE)) | dict(planned.fresh["properties"])
    if "content" in request.changes:
        planned.retold = True
        planned.reading = call.runtime.linker.read(request.changes["content"]) if call.runtime.linker else None


def _store(tx: SpaceTransaction, planned: _Change, known: mentions.KnownNames) -> None:
    id, changes = planned.node["id"], planned.changes
    names = mentions.Names(0)
    if planned.retold or "name_key" in changes:
        names, _ = known.enter(tx, 0, reads=planned.reading is not None)
    if "name_key" in changes:
        changes["named"] = names.turn
    tx.rows("note.update", id=id, changes=changes)
    if planned.fresh is not None:
        filters = _filters(dict(planned.node) | changes)
        passages = [
            {"properties": filters | dict(passage["properties"]), "vectors": passage["vectors"]}
            for passage in planned.fresh["passages"]
        ]
        tx.rows("note.reindex", id=id, vectors=planned.fresh["vectors"], passages=passages)
    if planned.retold:
        mentions.draw_anew(tx, id, planned.reading, names)
        stale(tx, [id])
    if planned.renamed:
        mentions.look_back(tx, [{"id": id, "query": planned.renamed}])


def _held(call: Call, node: Mapping[str, Any], changes: Mapping[str, Any]) -> KeyInUse | None:
    """Who has the key, or the name, that an update wanted to give to `node`."""
    kind = node["kind"]
    if key := changes.get("key"):
        for row in call.space.rows("note.held_keys", keys=[{"kind": kind, "key": key}]):
            if row["id"] != node["id"]:
                return KeyInUse(f"key: {key!r} is held by {row['id']}", row["id"])
    if name := changes.get("name_key"):
        holder = call.space.value("note.named", name_key=name, kind=kind)
        if holder and holder != node["id"]:
            return KeyInUse(f"content: a {kind} of that name is {holder}", holder)
    return None


def _changes(given: Mapping[str, Any]) -> dict[str, Any]:
    """Stored properties for the fields given to kg.update."""
    changes: dict[str, Any] = {name: value for name, value in given.items() if name != "properties"}
    changes["updated_at"] = dt.datetime.now(dt.UTC)
    if "content" in given:
        changes |= {"content_hash": content_hash(given["content"]), "title": title(given["content"])}
    if "properties" in given:
        changes["properties_json"] = dumped(given["properties"])
    if "memory_type" in given:
        changes["type_key"] = given["memory_type"] or UNTYPED
    if "tags" in given:
        changes["tag_key"] = tag_key(given["tags"])
    if "expires_at" in given:
        changes |= expiry(given["expires_at"])
    return changes


def _filters(node: Mapping[str, Any]) -> dict[str, Any]:
    names = ("kind", "type_key", "tag_key", "created_ts", "created_key", "expires_ts", "expires_key")
    return {name: node[name] for name in names}
