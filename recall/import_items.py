"""From the records of an export to what the import statements store: derived fields, words, vectors of the models in use."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.errors import ValidationFailed
from graph.ontology import MEMORY_TYPES, RECALLABLE, UNTYPED
from graph.records import (
    NEVER_KEY,
    NEVER_TS,
    content_hash,
    expiry,
    new_id,
    tag_key,
    time_key,
    timestamp,
    title,
)
from graph.store import vector
from recall.index import Indexer, packed
from recall.jsonl import NAME, PRIVATE, read, vector_of
from recall.models import Model, Models
from recall.text import terms

Record = Mapping[str, Any]


def checked(record: Record) -> Record:
    """A node or an edge with the fields that every one has. Raises ValidationFailed."""
    wanted = ("ns", "label", "id") if record.get("type") == "node" else ("ns", "source", "relation", "target")
    for name in wanted:
        if not isinstance(record.get(name), str) or not record[name]:
            raise ValidationFailed.of(name, "must be a text")
    for name in ("label", "target_label", "relation"):
        found = record.get(name, "Note")
        if not isinstance(found, str) or not NAME.fullmatch(found) or found in PRIVATE or found == "HAS_PASSAGE":
            raise ValidationFailed.of(name, f"can't be {str(found)[:64]!r}")
    if not isinstance(record.get("properties", {}), dict):
        raise ValidationFailed.of("properties", "must be an object")
    return record


def note_items(records: Sequence[Record], models: Models, indexer: Indexer) -> list[dict[str, Any]]:
    """Items of `lifecycle.import_nodes`; vectors that the file does not have are computed, all in one go."""
    items = [_note(record) for record in records]
    wanted: dict[Model, list[tuple[dict[str, Any], str]]] = {model: [] for model in models.all}
    anew = [n for n, record in enumerate(records) if not _has(record, models.primary.embedder.name)]
    _index(items, records, anew, indexer)
    for n, (item, record) in enumerate(zip(items, records, strict=True)):
        if n in set(anew):
            continue
        pieces = [(item, record), *zip(item["passages"], record.get("passages", ()), strict=True)]
        for held, given in pieces if len(pieces) == 1 else pieces[1:]:
            text = held["properties"]["content"]
            _read(held, given, text, models, wanted)
    for model, lacking in wanted.items():
        found = model.documents([text for _, text in lacking])
        for (held, _), one in zip(lacking, found, strict=True):
            _hold(held, model, one)
    return items


def _note(record: Record) -> dict[str, Any]:
    label = record["label"]
    if label not in RECALLABLE:
        raise ValidationFailed.of("label", f"must be one of {', '.join(RECALLABLE)}")
    given = read(record.get("properties", {}))
    content, kind = given.get("content"), given.get("kind") or ("memory" if label == "Note" else label.lower())
    if not isinstance(content, str) or not content.strip() or not isinstance(kind, str):
        raise ValidationFailed.of("content", "must be a text, as kind must")
    _fitting(given)
    now = dt.datetime.now(dt.UTC)
    created, expires = _time(given, "created_at") or now, _time(given, "expires_at")
    since = _time(given, "superseded_at") if record.get("superseded") else None
    created_ts, superseded_ts = timestamp(created), timestamp(since) if since else NEVER_TS
    filters = {
        "kind": kind,
        "type_key": given.get("memory_type") or UNTYPED,
        "tag_key": tag_key(given.get("tags") or ()),
        "created_ts": created_ts,
        "created_key": time_key(created_ts),
        "superseded_ts": superseded_ts,
        "superseded_key": time_key(superseded_ts) if since else NEVER_KEY,
    } | expiry(expires)
    own = {"id": record["id"], "title": title(content), "content_hash": content_hash(content), "created_at": created}
    defaults = {"recorded_at": now, "updated_at": now, "salience": 0.5, "decay_factor": 0.005, "tags": []}
    words = " ".join(given.get("triggers") or ())
    return {
        "id": record["id"],
        "label": label,
        "layer": "Superseded" if record.get("superseded") else "Current",
        "properties": defaults | given | own | filters,
        "vectors": [],
        "words": f" {words}" if words else "",
        "passages": [_passage(passage, filters) for passage in record.get("passages", ())],
    }


def _fitting(given: Mapping[str, Any]) -> None:
    """Raises ValidationFailed for a field of a type that recall could not read."""
    for name, high in (("salience", 1.0), ("importance", 1.0), ("decay_factor", math.inf)):
        found = given.get(name, 0.0)
        if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= high:
            raise ValidationFailed.of(name, "must be a number of at least 0" + (" and at most 1" if high == 1 else ""))
    for name in ("tags", "triggers"):
        found = given.get(name, [])
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise ValidationFailed.of(name, "must be a list of texts")
    if given.get("memory_type") is not None and given["memory_type"] not in MEMORY_TYPES:
        raise ValidationFailed.of("memory_type", f"must be one of {', '.join(MEMORY_TYPES)}")
    for name in ("key", "source"):
        if not isinstance(given.get(name, ""), str):
            raise ValidationFailed.of(name, "must be a text")


def _passage(passage: Record, filters: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(passage.get("content"), str):
        raise ValidationFailed.of("passages.content", "must be a text")
    own = {"content": passage["content"], "position": passage.get("position", 0), "id": passage.get("id") or new_id()}
    return {"properties": dict(filters) | own, "vectors": []}


def _time(given: Mapping[str, Any], name: str) -> dt.datetime | None:
    found = given.get(name)
    if found is not None and not isinstance(found, dt.datetime):
        raise ValidationFailed.of(name, "must be a time in ISO 8601 with a zone")
    return found


def _has(record: Record, model: str) -> bool:
    """Whether a record brings the vectors of a model: its own, or those of all its passages."""
    passages = record.get("passages", ())
    return all(model in one.get("vectors", {}) for one in passages or [record])


def _index(items: Sequence[dict[str, Any]], records: Sequence[Record], anew: Sequence[int], indexer: Indexer) -> None:
    """Words, vectors and passages of items that come without vectors, as if they were written now."""
    contents = [items[n]["properties"]["content"] for n in anew]
    found = indexer.index(contents, [items[n]["words"].strip() for n in anew]) if anew else []
    for n, indexed in zip(anew, found, strict=True):
        item = items[n]
        names = ("type_key", "tag_key", "created_ts", "created_key", "superseded_ts", "superseded_key", "kind")
        filters = {name: item["properties"][name] for name in (*names, "expires_ts", "expires_key")}
        item["properties"] |= indexed["properties"]
        item["vectors"] = indexed["vectors"]
        item["passages"] = [
            {"properties": filters | passage["properties"], "vectors": passage["vectors"]} for passage in indexed["passages"]
        ]


def _read(held: dict[str, Any], given: Record, text: str, models: Models, wanted: Mapping[Model, Any]) -> None:
    """The words of a text, and its vectors as far as they are given."""
    held["properties"]["terms"] = " ".join(terms(text + held.get("words", "")))
    vectors = given.get("vectors", {})
    for model in models.all:
        name = model.embedder.name
        if name in vectors:
            _hold(held, model, _vector(vectors[name], model))
        elif models.reads(model, text):
            wanted[model].append((held, text))


def _vector(given: Any, model: Model) -> NDArray[np.float32]:
    try:
        found = vector_of(given)
    except (ValueError, TypeError, AttributeError) as fault:
        raise ValidationFailed.of("vectors", str(fault)) from None
    if len(found) != model.embedder.dimensions:
        raise ValidationFailed.of("vectors", f"has {len(found)} numbers, {model.embedder.name} {model.embedder.dimensions}")
    return found


def _hold(held: dict[str, Any], model: Model, found: NDArray[np.float32]) -> None:
    held["properties"] |= model.slot.held(model.embedder.name, packed(found))
    held["vectors"].append({"name": model.slot.embedding, "value": vector(found)})


def entity_items(records: Sequence[Record], indexer: Indexer, turn: int) -> list[dict[str, Any]]:
    """Items of `lifecycle.import_entities`. turn: of the transaction that names them."""
    items = []
    for record in records:
        given = read(record.get("properties", {}))
        content, kind, now = given.get("content"), given.get("kind"), dt.datetime.now(dt.UTC)
        if not isinstance(content, str) or not content.strip() or not isinstance(kind, str):
            raise ValidationFailed.of("content", "must be a text, as kind must")
        created = _time(given, "created_at") or now
        own = {"id": record["id"], "title": title(content), "content_hash": content_hash(content), "created_at": created}
        named = turn if given.get("named") is not None else None
        defaults = {"recorded_at": now, "updated_at": now, "tags": []}
        items.append(defaults | given | own | {"created_ts": timestamp(created), "named": named} | indexer.entity(content))
    return items


def other_items(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Items of `lifecycle.import_others`."""
    items = []
    for record in records:
        extra = record.get("labels", [])
        if not isinstance(extra, list) or any(
            not isinstance(x, str) or not NAME.fullmatch(x) or x in PRIVATE for x in extra
        ):
            raise ValidationFailed.of("labels", "must be names of labels")
        items.append({"id": record["id"], "labels": extra, "properties": read(record.get("properties", {}))})
    return items
