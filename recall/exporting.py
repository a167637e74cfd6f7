"""Export: a graph, or some of its namespaces, as JSON Lines (see `recall.jsonl`), page by page.

Written into FILE.part, which becomes FILE when it is whole. A run that was ended is taken up after the last node that is
whole in the part. Writing may go on meanwhile; what is written during an export may be in it or not.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from graph import models, schema
from graph.errors import NotFound
from graph.ontology import RECALLABLE
from graph.slots import SLOTS
from graph.store import Row, Store
from recall.jsonl import DERIVED, FORMAT, MODEL_NAMES, PRIVATE, VERSION, label_of, line, packed_vector, written

PAGE = 500
Report = Callable[[int], None]
FAST = ("Recallable", "Entity")


@dataclass(frozen=True, kw_only=True)
class Exported:
    """What was written. resumed: how many records were there already."""

    file: str
    namespaces: int
    nodes: int
    edges: int
    size: int
    sha256: str
    resumed: int
    took_s: float


@dataclass(frozen=True, order=True)
class Place:
    """Where a record stands: records of a namespace come in sections, those of a section by id."""

    ns: str
    section: int
    label: int
    id: str


@dataclass
class _Part:
    """The file so far."""

    out: BinaryIO
    digest: Any
    nodes: int = 0
    edges: int = 0
    size: int = 0

    def write(self, record: Mapping[str, Any]) -> None:
        text = line(record)
        self.out.write(text)
        self.count(record["type"], text)

    def count(self, kind: str, text: bytes) -> None:
        self.digest.update(text)
        self.size += len(text)
        self.nodes += kind == "node"
        self.edges += kind == "edge"


def export(
    store: Store, file: Path, *, namespaces: Sequence[str] = (), vectors: bool = True, report: Report = lambda _done: None
) -> Exported:
    """Writes all namespaces, or those named. Raises NotFound for one that is not there."""
    started = time.monotonic()
    names = _names(store, namespaces)
    labels = labels_of(store)
    header = _header(store, names, vectors)
    part = file.with_name(f"{file.name}.part")
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as out:
        found, after = _taken_up(out, header, labels)
        resumed = found.nodes + found.edges
        if not found.size:
            found.write(header | {"created_at": dt.datetime.now(dt.UTC).isoformat()})
        for ns in names:
            for record in _records(store, ns, labels, vectors, after):
                found.write(record)
                if record["type"] != "namespace" and (found.nodes + found.edges) % PAGE == 0:
                    report(found.nodes + found.edges)
        sha256 = found.digest.hexdigest()
        found.write({"type": "end", "nodes": found.nodes, "edges": found.edges, "sha256": sha256})
        out.truncate()
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)
    return Exported(
        file=str(file),
        namespaces=len(names),
        nodes=found.nodes,
        edges=found.edges,
        size=found.size,
        sha256=sha256,
        resumed=resumed,
        took_s=round(time.monotonic() - started, 1),
    )


def labels_of(store: Store) -> list[str]:
    """The labels of nodes that belong to namespaces, the searched ones first; the rest by name."""
    found = {row["label"] for row in store.rows("schema.labels")}
    return [*FAST, *sorted(found - PRIVATE - {*RECALLABLE, "Entity"})]


def _names(store: Store, wanted: Sequence[str]) -> list[str]:
    there = [row["name"] for row in store.rows("schema.namespaces")]
    if missing := sorted(set(wanted) - set(there)):
        raise NotFound(f"no namespace {missing[0]!r} here; there are {', '.join(there[:20]) or 'none'}", "namespace")
    return sorted(set(wanted)) or sorted(there)


def _header(store: Store, names: Sequence[str], vectors: bool) -> dict[str, Any]:
    held = [
        {"slot": model.slot.embedding, "name": model.name, "dimensions": model.dimensions} for model in models.stored(store)
    ]
    return {
        "type": "header",
        "format": FORMAT,
        "version": VERSION,
        "schema": schema.version(store),
        "models": held,
        "vectors": vectors,
        "namespaces": list(names),
    }


def _records(store: Store, ns: str, labels: Sequence[str], vectors: bool, after: Place | None) -> Iterator[dict[str, Any]]:
    """Everything of a namespace behind a place."""
    space = store.within(ns)
    if after is None or Place(ns, 0, 0, "") > after:
        row = space.one("lifecycle.export_space")
        yield {"type": "namespace", "ns": ns, "properties": written(row["properties"] if row else {}, frozenset({"name"}))}
    for section, kind in ((1, "nodes"), (2, "edges")):
        for number, label in enumerate(labels):
            start = ""
            if after is not None and after >= Place(ns, section, number, ""):
                if (after.ns, after.section, after.label) != (ns, section, number):
                    continue
                start = after.id
            statement = _statement(label, kind)
            asked: dict[str, Any] = {"label": label, "limit": PAGE} | (
                {"vectors": vectors} if statement == "lifecycle.export_nodes" else {}
            )
            while rows := space.rows(statement, after=start, **asked):
                start = rows[-1]["id"]
                for row in rows:
                    if label in FAST or label_of(row["labels"]) == label:
                        yield from [_node(ns, row)] if kind == "nodes" else _edges(ns, row)


def _statement(label: str, kind: str) -> str:
    """The statement that reads the nodes or the edges of a label."""
    if kind == "nodes":
        return "lifecycle.export_nodes" if label in FAST else "lifecycle.export_others"
    return "lifecycle.export_edges" if label in FAST else "lifecycle.export_other_edges"


def _node(ns: str, row: Row) -> dict[str, Any]:
    label = label_of(row["labels"])
    record: dict[str, Any] = {"type": "node", "ns": ns, "label": label, "id": row["id"]}
    if "vectors" not in row:
        extra = sorted(set(row["labels"]) - {label})
        return record | ({"labels": extra} if extra else {}) | {"properties": written(row["properties"])}
    if "Superseded" in row["labels"]:
        record["superseded"] = True
    record["properties"] = written(row["properties"], DERIVED)
    record |= _vectors(row["properties"], row["vectors"])
    if row["passages"]:
        record["passages"] = [
            written(passage["properties"], DERIVED) | _vectors(passage["properties"], passage) for passage in row["passages"]
        ]
    return record


def _vectors(properties: Mapping[str, Any], vectors: Mapping[str, Any]) -> dict[str, Any]:
    """Vectors by the name of their model."""
    found = {
        properties[MODEL_NAMES[slot.embedding]]: packed_vector(vectors[slot.embedding])
        for slot in SLOTS
        if vectors.get(slot.embedding) is not None and properties.get(MODEL_NAMES[slot.embedding])
    }
    return {"vectors": found} if found else {}


def _edges(ns: str, row: Row) -> Iterator[dict[str, Any]]:
    for edge in row["edges"]:
        yield {
            "type": "edge",
            "ns": ns,
            "label": label_of(row["labels"]),
            "source": row["id"],
            "relation": edge["type"],
            "target_label": label_of(edge["labels"]),
            "target": edge["target"],
            "properties": written(edge["properties"]),
        }


def _taken_up(out: BinaryIO, header: Mapping[str, Any], labels: Sequence[str]) -> tuple[_Part, Place | None]:
    """The part that an ended run left, cut before the last node, which may not be whole, and the place of the one before."""
    found, places = _Part(out, hashlib.sha256()), list[tuple[Place, int]]()
    first = out.readline()
    if not first.endswith(b"\n") or {k: v for k, v in orjson.loads(first).items() if k != "created_at"} != header:
        out.seek(0)
        return found, None
    for text in iter(out.readline, b""):
        record = orjson.loads(text) if text.endswith(b"\n") else {"type": "end"}
        if record["type"] == "end":
            break
        place = _place(record, labels)
        if not places or places[-1][0] != place:
            places = [*places[-1:], (place, out.tell() - len(text))]
    if len(places) < 2:
        out.seek(0)
        return found, None
    end = places[-1][1]
    out.seek(0)
    while out.tell() < end:
        text = out.readline()
        found.count(orjson.loads(text)["type"], text)
    return found, places[-2][0]


def _place(record: Mapping[str, Any], labels: Sequence[str]) -> Place:
    if record["type"] == "namespace":
        return Place(record["ns"], 0, 0, "")
    label = "Recallable" if record["label"] in RECALLABLE else record["label"]
    number = labels.index(label) if label in labels else len(labels)
    section, id = (1, record["id"]) if record["type"] == "node" else (2, record["source"])
    return Place(record["ns"], section, number, id)
