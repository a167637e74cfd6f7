"""Loads the sample graph through the public verbs, once.

Every note has a key and an edge is unique, so a load that was cut off is simply run again: what is there stays as it is. A
marker, which is stored last, says that nothing is missing; it carries the fingerprint of the tables, so that newer tables
are loaded over older ones.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from graph.errors import KeyInUse
from graph.packs import Dispatcher
from seeds.facts import FOLDER, PEPS, RFCS, Document, read

NAMESPACE = "sample"
MARKER_KIND = "observation"
BATCH = 500
EDITION = 1  # raise it when `seeds.facts` composes other sentences or edges from the same tables
T = TypeVar("T")
Report = Callable[[int, int], None]


class Served(Protocol):
    """What the loader needs of `recall.service.Service`."""

    @property
    def dispatcher(self) -> Dispatcher: ...


@dataclass(frozen=True, kw_only=True)
class SampleSummary:
    """How many notes and edges the sample has, whether they were there before, and the seconds that it took."""

    notes: int
    edges: int
    already_loaded: bool
    took_s: float


def load_sample(
    service: Served, report: Report | None = None, *, tables: Path = FOLDER, ns: str = NAMESPACE
) -> SampleSummary:
    """Stores the documents of `tables` and their relations in `ns`, unless they are there.

    report: called with (done, total) after each batch.  tables: a folder with `rfcs.tsv` and `peps.tsv`.
    """
    started = time.perf_counter()
    marker = f"sample-loaded-{fingerprint(tables)}"
    call = _Caller(service.dispatcher, ns)
    found = _find(call, marker)
    counts = found or _load(call, tables, marker, report or (lambda done, total: None))
    return SampleSummary(
        notes=counts["notes"],
        edges=counts["edges"],
        already_loaded=found is not None,
        took_s=time.perf_counter() - started,
    )


def fingerprint(tables: Path = FOLDER) -> str:
    """16 hexadecimal digits that differ when the tables or the way they are told differ."""
    found = hashlib.sha256(f"edition {EDITION}".encode())
    for name in (RFCS, PEPS):
        found.update((tables / name).read_bytes())
    return found.hexdigest()[:16]


class _Caller:
    """Calls verbs in one namespace."""

    def __init__(self, dispatcher: Dispatcher, ns: str):
        self._dispatcher, self._ns = dispatcher, ns

    def __call__(self, verb: str, **body: Any) -> Mapping[str, Any]:
        return self._dispatcher.call(verb, body, ns=self._ns).body


def _find(call: _Caller, marker: str) -> Mapping[str, Any] | None:
    """The counts that the marker holds; None while there is none. One call, but for those who keep many such notes."""
    page: Mapping[str, Any] = {}
    while not page or page.get("next_cursor"):
        cursor = {"cursor": page["next_cursor"]} if page else {}
        page = call("kg.list", kind=MARKER_KIND, limit=100, **cursor)
        for node in page["results"]:
            if node.get("key") == marker:
                return dict(node["properties"])
    return None


def _load(call: _Caller, tables: Path, marker: str, report: Report) -> Mapping[str, Any]:
    sample = read(tables)
    counts = {"notes": len(sample.documents), "edges": len(sample.edges)}
    total = sum(counts.values())
    ids: dict[str, str] = {}
    for documents in _batches(sample.documents):
        results = _create(call, [_item(document) for document in documents])
        ids |= {document.key: result["id"] for document, result in zip(documents, results, strict=True)}
        report(len(ids), total)
    drawn = 0
    for edges in _batches(sample.edges):
        links = [{"source": ids[edge.source], "target": ids[edge.target], "relation": edge.relation} for edge in edges]
        call("kg.link", items=links)
        drawn += len(edges)
        report(len(ids) + drawn, total)
    told = f"The sample graph is loaded: {counts['notes']:,} RFCs and PEPs, {counts['edges']:,} relations."
    _create(call, [{"kind": MARKER_KIND, "content": told, "key": marker, "properties": counts}])
    return counts


def _create(call: _Caller, items: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Stores a batch; a note that an older edition of the tables told differently is told anew, under its id."""
    for _ in items:
        try:
            return _results(call, items)
        except KeyInUse as held:
            key = call("kg.get", id=held.existing_id)["key"]
            item = next(item for item in items if item["key"] == key)
            news = {name: item[name] for name in ("content", "tags", "properties") if name in item}
            call("kg.update", id=held.existing_id, **news)
    return _results(call, items)


def _results(call: _Caller, items: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    results: Sequence[Mapping[str, Any]] = call("kg.create", items=items)["results"]
    return results


def _item(document: Document) -> dict[str, Any]:
    created = document.created_at
    return {
        "kind": "document",
        "content": document.sentence,
        "memory_type": "semantic",
        "key": document.key,
        "source": f"{document.series} index",
        "tags": document.tags,
        "properties": document.properties,
    } | ({"created_at": created.isoformat().replace("+00:00", "Z")} if created else {})


def _batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(things), BATCH):
        yield things[start : start + BATCH]
