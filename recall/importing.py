"""Import of an export (see `recall.jsonl`): nodes and edges by their ids, so that what is there already stays as it is.

The file is checked as a whole before anything is stored. Batches are transactions; a run that was ended is simply run again.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from graph.errors import StoreConflict, ValidationFailed
from graph.layers import relabel
from graph.mentions import NOTHING
from graph.ontology import RECALLABLE
from graph.packs import checked_namespace
from graph.records import content_hash
from graph.store import Space, SpaceTransaction, Store
from recall.backgrounds import FIRST_AT, GROWTH, measure
from recall.import_items import Record, checked, entity_items, note_items, other_items
from recall.index import Indexer
from recall.jsonl import FORMAT, VERSION, read
from recall.models import Models

BATCH = 500  # nodes of a transaction
EDGES = 4_000  # edges of one
WORKERS = 2
WAITING = 6  # batches that may wait for a worker
Report = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What came of a file. present: nodes that were there.  other_content: those of them that say something else here.

    keys_taken: notes whose key another note has here; they came without it.  edges_left_out: one end is not here.
    """

    nodes: int
    edges: int
    present: int
    other_content: int
    keys_taken: int
    edges_left_out: int
    namespaces: int
    took_s: float


class Importer:
    """Stores the records of a file, several batches at once."""

    def __init__(self, store: Store, models: Models, indexer: Indexer):
        self._store, self._models, self._indexer = store, models, indexer
        self._aliases: dict[str, dict[str, str]] = {}  # by namespace: ids of the file that are another node's here

    def run(self, file: Path, *, into: str | None = None, report: Report = lambda _done, _all: None) -> Imported:
        """Stores everything in `file`. into: another namespace, for a file of one. Raises ValidationFailed, StoreError."""
        started, (header, total) = time.monotonic(), check(file)
        names = [checked_namespace(ns) for ns in header["namespaces"]]
        if into is not None and len(names) > 1:
            raise ValidationFailed.of("into", f"takes a file of one namespace; this one has {len(names)}")
        where = {ns: checked_namespace(into) if into else ns for ns in names}
        totals: Counter[str] = Counter()
        with ThreadPoolExecutor(WORKERS, thread_name_prefix="import") as pool:
            running: set[Future[Counter[str]]] = set()
            for first, batch in batches(records(file)):
                if first or len(running) >= WAITING:
                    running = _await(running, totals, all_of_them=first)
                    report(totals["seen"], total)
                running.add(pool.submit(self._store_batch, where, batch))
            _await(running, totals, all_of_them=True)
        for ns in sorted(set(where.values())):
            self._measure(ns)
        report(totals["seen"], total)
        names_of_counts = ("nodes", "edges", "present", "other_content", "keys_taken", "edges_left_out")
        counts = {name: totals[name] for name in names_of_counts}
        return Imported(**counts, namespaces=len(set(where.values())), took_s=round(time.monotonic() - started, 1))

    def _store_batch(self, where: Mapping[str, str], batch: Sequence[Record]) -> Counter[str]:
        first = batch[0]
        if first["ns"] not in where:
            raise ValidationFailed.of("ns", f"{first['ns']!r} is none of those in the header")
        space = self._store.within(where[first["ns"]])
        kept = [checked(record) for record in batch] if first["type"] != "namespace" else batch
        found = Counter({"seen": len(batch) if first["type"] != "namespace" else 0})
        if first["type"] == "namespace":
            properties = read(first.get("properties", {}))
            background = {name: value for name, value in properties.items() if name.startswith("background")}
            space.write(lambda tx: tx.rows("lifecycle.import_space", properties=background))
        elif first["type"] == "edge":
            found += self._edges(space, kept)
        elif first["label"] in RECALLABLE:
            found += self._notes(space, kept)
        elif first["label"] == "Entity":
            found += self._entities(space, kept)
        else:
            found += _others(space, first["label"], other_items(kept))
        return found

    def _notes(self, space: Space, batch: Sequence[Record]) -> Counter[str]:
        unique = list({record["id"]: record for record in batch}.values())
        there = {row["id"]: row["hash"] for row in space.rows("lifecycle.present", ids=[one["id"] for one in unique])}
        items = note_items([record for record in unique if record["id"] not in there], self._models, self._indexer)
        hashes = {record["id"]: record for record in unique if record["id"] in there}
        other = sum(there[id] != _hash(record) for id, record in hashes.items())
        counts: Counter[str] = Counter()

        def work(tx: SpaceTransaction) -> None:
            counts.clear()
            late = {row["id"] for row in tx.rows("lifecycle.present", ids=[item["id"] for item in items])}
            new = self._with_keys(tx, [item for item in items if item["id"] not in late], counts)
            if new:
                counts["nodes"] += tx.value("lifecycle.import_nodes", items=new)
                tx.rows("note.namespace", count=len(new), seen=NOTHING, most=0)
            counts["present"] += len(unique) - len(new)

        _written(space, work)
        return counts + Counter(other_content=other)

    def _with_keys(self, tx: SpaceTransaction, items: list[dict[str, Any]], counts: Counter[str]) -> list[dict[str, Any]]:
        """Items whose keys are free here. One whose key and content a note here has is that note; else it loses its key."""
        keyed = {(one["properties"]["kind"], one["properties"]["key"]): one for one in items if one["properties"].get("key")}
        asked = [{"kind": kind, "key": key} for kind, key in keyed]
        for row in tx.rows("note.held_keys", keys=asked) if asked else ():
            item = keyed[row["kind"], row["key"]]
            if row["content_hash"] == item["properties"]["content_hash"]:
                self._alias(tx.ns, item["id"], row["id"])
                items = [one for one in items if one is not item]
            else:
                item["properties"]["former_key"] = item["properties"].pop("key")
                counts["keys_taken"] += 1
        return items

    def _alias(self, ns: str, asked: str, id: str) -> None:
        self._aliases.setdefault(ns, {})[asked] = id

    def _entities(self, space: Space, batch: Sequence[Record]) -> Counter[str]:
        unique = {record["id"]: record for record in batch}
        counts: Counter[str] = Counter()

        def work(tx: SpaceTransaction) -> None:
            counts.clear()
            turn = tx.rows("note.namespace", count=0, seen=NOTHING, most=0)[0]["turn"]
            there = {row["id"] for row in tx.rows("lifecycle.present", ids=sorted(unique))}
            items = entity_items([one for id, one in unique.items() if id not in there], self._indexer, turn)
            counts["present"] += len(there)
            for row in tx.rows("lifecycle.import_entities", items=items) if items else ():
                counts["nodes" if row["created"] else "present"] += 1
                if not row["created"]:
                    self._alias(space.ns, row["asked"], row["id"])

        _written(space, work)
        return counts

    def _edges(self, space: Space, batch: Sequence[Record]) -> Counter[str]:
        aliases = self._aliases.get(space.ns, {})
        edges = [
            {
                "type": record["relation"],
                "source": aliases.get(record["source"], record["source"]),
                "target": aliases.get(record["target"], record["target"]),
                "properties": read(record.get("properties", {})),
            }
            for record in batch
        ]
        statement, asked = _edge_statement(batch[0])
        older = sorted({edge["target"] for edge in edges if edge["type"] == "SUPERSEDES"})

        def work(tx: SpaceTransaction) -> Counter[str]:
            row = tx.rows(statement, edges=edges, **asked)[0]
            relabel(tx, [row["id"] for row in tx.rows("lifecycle.mislabelled", ids=older)] if older else [])
            return Counter(edges=row["created"], edges_left_out=len(edges) - row["drawn"])

        counts: Counter[str] = _written(space, work)
        return counts

    def _measure(self, ns: str) -> None:
        """The background of a namespace that brought none along, or has grown by what came."""
        space = self._store.within(ns)
        row = space.write(lambda tx: tx.rows("note.namespace", count=0, seen=NOTHING, most=0)[0])
        if row["written"] >= FIRST_AT and row["written"] >= GROWTH * row["measured"]:
            for model in self._models.all:
                measure(space, row["written"], model)


def check(file: Path) -> tuple[Mapping[str, Any], int]:
    """The header of a whole and undamaged export, and how many records it has. Raises ValidationFailed."""
    digest, counts, header, last = hashlib.sha256(), Counter[bytes](), None, b""
    with file.open("rb") as lines:
        for text in lines:
            if header is None:
                header = _header(text)
            if last:
                digest.update(last)
                counts[last[:14]] += 1
            last = text
    end = _decoded(last) if last.startswith(b'{"type":"end"') else {}
    if header is None or end.get("sha256") != digest.hexdigest():
        raise ValidationFailed.of("file", f"{file} is not a whole export, or was changed: its checksum does not fit")
    found = counts[b'{"type":"node"'], counts[b'{"type":"edge"']
    if found != (end.get("nodes"), end.get("edges")):
        raise ValidationFailed.of("file", f"{file} has {found} nodes and edges, its last line says otherwise")
    return header, sum(found)


def _header(text: bytes) -> Mapping[str, Any]:
    header = _decoded(text)
    if header.get("format") != FORMAT or not isinstance(header.get("namespaces"), list):
        raise ValidationFailed.of("file", "is no export of Palimpsest: its first line is no header")
    if header.get("version") != VERSION:
        raise ValidationFailed.of("file", f"is of version {header.get('version')}, this program reads {VERSION}")
    return header


def _decoded(text: bytes) -> Mapping[str, Any]:
    try:
        found = orjson.loads(text)
    except ValueError as fault:
        raise ValidationFailed.of("file", f"a line is no JSON: {fault}") from None
    if not isinstance(found, dict):
        raise ValidationFailed.of("file", "a line is no JSON object")
    return found


def records(file: Path) -> Iterator[Record]:
    """All but the header and the end."""
    with file.open("rb") as lines:
        for text in lines:
            record = _decoded(text)
            if record.get("type") in ("namespace", "node", "edge"):
                yield record


def batches(found: Iterator[Record]) -> Iterator[tuple[bool, list[Record]]]:
    """Records of one kind together, and whether all before must be stored first: it is so for edges."""
    batch: list[Record] = []
    kind: tuple[Any, ...] = ()
    first = True
    for record in found:
        own = _kind(record)
        if batch and (own != kind or len(batch) >= (EDGES if record["type"] == "edge" else BATCH)):
            yield first, batch
            batch, first = [], own != kind or own[0] == "edge"
        kind = own
        batch.append(record)
    if batch:
        yield first, batch


def _kind(record: Record) -> tuple[Any, ...]:
    label = record.get("label")
    if record["type"] == "edge":
        return ("edge", record.get("ns"), *_ends(record))
    return (record["type"], record.get("ns"), "Recallable" if label in RECALLABLE else label)


def _ends(record: Record) -> tuple[str, ...]:
    """The labels of an edge's ends, where these are not among those that have an index."""
    ends = (str(record.get("label", "Note")), str(record.get("target_label", "Note")))
    return () if all(label in (*RECALLABLE, "Entity") for label in ends) else ends


def _edge_statement(record: Record) -> tuple[str, dict[str, Any]]:
    ends = _ends(record)
    if not ends:
        return "lifecycle.import_edges", {}
    return "lifecycle.import_other_edges", {"source_label": ends[0], "target_label": ends[1]}


def _hash(record: Record) -> str:
    return content_hash(str(record.get("properties", {}).get("content", "")))


def _others(space: Space, label: str, items: Sequence[dict[str, Any]]) -> Counter[str]:
    """Stores nodes of another label. One that is there under another id, by a key of its label, is there."""
    asked: dict[str, Any] = {"label": label, "items": items}
    try:
        created = space.write(lambda tx: tx.value("lifecycle.import_others", **asked) or 0)
    except StoreConflict:
        if len(items) > 1:
            return sum((_others(space, label, [item]) for item in items), Counter[str]())
        created = 0
    return Counter(nodes=created, present=len(items) - created)


def _written(space: Space, work: Callable[[SpaceTransaction], Any]) -> Any:
    """`work` in a transaction; once more where another write stood in its way."""
    try:
        return space.write(work)
    except StoreConflict:
        return space.write(work)


def _await(running: set[Future[Counter[str]]], totals: Counter[str], *, all_of_them: bool) -> set[Future[Counter[str]]]:
    """Adds up what is done, and returns what is not: nothing, or as soon as one more is done."""
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            totals.update(future.result())
        if not all_of_them:
            break
    return running
