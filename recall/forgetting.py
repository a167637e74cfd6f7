"""Forgetting for good: everything of a namespace, or everything that came into one from a source.

Nothing is left in the graph and its indexes: not in layers beneath, not in what was drawn from it, not in serves and traces
that tell of it. What refers to notes goes before them, so that a run which was ended finds again what it has to do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import regex  # type: ignore[import-untyped]

from graph.layers import soft_delete
from graph.ontology import RECALLABLE
from graph.store import Space, SpaceTransaction, Store
from recall.backgrounds import FIRST_AT, measure
from recall.exporting import labels_of
from recall.jsonl import LAYERS
from recall.models import Models

TOGETHER = 200  # nodes that go in one transaction
PAGE = 2_000  # nodes that are looked at in one read
TOLD, BEGINNING = 20, 60  # characters of a content by which it is known in another text: at least, and at most
_ID = regex.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Report = Callable[[int, int | None], None]


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """What went. labels: nodes by label.  restored: notes that are current again, since what superseded them went."""

    namespace: str
    source: str | None
    nodes: int
    passages: int
    edges: int
    labels: dict[str, int] = field(default_factory=dict)
    restored: Sequence[str] = ()


def forget_namespace(
    store: Store, ns: str, *, dry_run: bool = False, report: Report = lambda _done, _all: None
) -> Forgotten:
    """Removes every node that belongs to a namespace, of whatever label, and the namespace's own node last."""
    space = store.within(ns)
    counts: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    for label in _labels(store):
        if dry_run:
            labels[label] = space.value("lifecycle.counted", label=label)
            continue
        statement = "lifecycle.forget_nodes" if label in ("Recallable", "Entity") else "lifecycle.forget_others"
        while True:
            row = space.write(lambda tx, s=statement, one=label: tx.rows(s, label=one, limit=TOGETHER)[0])  # type: ignore[misc]
            counts += Counter({name: row.get(name, 0) for name in ("passages", "edges")})
            labels[label] += row["nodes"]
            report(sum(labels.values()), None)
            if row["nodes"] < TOGETHER:
                break
    if not dry_run:
        labels["Namespace"] = space.write(lambda tx: tx.value("lifecycle.forget_space") or 0)
    return _forgotten(ns, None, labels, counts)


def forget_source(
    store: Store,
    models: Models,
    ns: str,
    source: str,
    *,
    dry_run: bool = False,
    report: Report = lambda _done, _all: None,
) -> Forgotten:
    """Removes what came from a source, what was drawn from it, and what tells of it; measures the namespace anew."""
    space = store.within(ns)
    ids, contents = _of_source(space, "Recallable", source)
    entities, _ = _of_source(space, "Entity", source)
    counts, labels, restored = Counter[str](), Counter[str](), list[str]()
    for label, told in _telling(store, space, set(ids), contents):
        for start in range(0, len(told), TOGETHER):
            some = told[start : start + TOGETHER]
            labels[label] += len(some)
            if not dry_run:
                asked: dict[str, Any] = {"label": label, "ids": some}
                space.write(lambda tx, asked=asked: tx.rows("lifecycle.remove_others", **asked))  # type: ignore[misc]
    if dry_run:
        labels += Counter(Recallable=len(ids), Entity=len(entities))
        return _forgotten(ns, source, labels, counts)
    for start in range(0, len(ids), TOGETHER):
        some = ids[start : start + TOGETHER]
        found = space.write(lambda tx, some=some: _forget_notes(tx, some))  # type: ignore[misc]
        restored += found.pop("restored")
        labels += Counter(Recallable=found["nodes"], Entity=found["entities"])
        counts += Counter(passages=found["passages"], edges=found["edges"])
        report(start + len(some), len(ids))
    for start in range(0, len(entities), TOGETHER):
        some = entities[start : start + TOGETHER]
        labels["Entity"] += space.write(lambda tx, some=some: _forget_notes(tx, some))["nodes"]  # type: ignore[misc]
    _measure_anew(space, models)
    return _forgotten(ns, source, labels, counts, sorted(set(restored) - set(ids)))


def _forget_notes(tx: SpaceTransaction, ids: Sequence[str]) -> dict[str, Any]:
    """Removes nodes with what was drawn from them and the entities that only they mention."""
    rows = tx.rows("lifecycle.forget_with", ids=ids)
    derived = sorted({id for row in rows for id in row["derived"]})
    entities = sorted({id for row in rows for id in row["entities"]})
    every = sorted({*ids, *derived})
    gone = soft_delete(tx, every)
    row = tx.rows("lifecycle.remove", ids=every)[0]
    orphans = tx.value("lifecycle.remove_orphans", ids=entities) if entities else 0
    return dict(row) | {"restored": list(gone.restored), "entities": orphans or 0}


def _labels(store: Store) -> list[str]:
    """Every label that nodes of a namespace may have; passages and keys too, which no export has."""
    found = {row["label"] for row in store.rows("schema.labels")}
    private = {"Migration", "Model", "Namespace", "Entity", *LAYERS, *RECALLABLE}
    return ["Recallable", "Entity", *sorted(found - private)]


def _of_source(space: Space, label: str, source: str) -> tuple[list[str], list[str]]:
    """Ids of nodes of a source, and the beginnings of their contents."""
    ids: list[str] = []
    contents: list[str] = []
    after: str | None = ""
    while after is not None:
        row = space.rows("lifecycle.of_source", label=label, source=source, after=after, limit=PAGE)[0]
        ids += row["ids"]
        contents += row["contents"]
        after = row["last"]
    return ids, contents


def _telling(store: Store, space: Space, ids: set[str], contents: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """By label, the ids of nodes that name one of the notes, or quote one: serves, traces, what packs keep."""
    begun = {content.strip().split("\n")[0][:BEGINNING] for content in contents}
    begun = {form for text in begun if len(text) >= TOLD for form in (text, json.dumps(text)[1:-1])}
    quoted = regex.compile(r"\L<contents>", contents=sorted(begun)) if begun else None
    for label in labels_of(store)[2:]:
        told: list[str] = []
        after = ""
        while rows := space.rows("lifecycle.export_others", label=label, after=after, limit=PAGE):
            after = rows[-1]["id"]
            told += [row["id"] for row in rows if _tells(row["properties"], ids, quoted)]
        yield label, told


def _tells(properties: Any, ids: set[str], quoted: Any) -> bool:
    for value in properties.values():
        text = value if isinstance(value, str) else str(value) if isinstance(value, list) else ""
        if text and (not ids.isdisjoint(_ID.findall(text)) or (quoted and quoted.search(text))):
            return True
    return False


def _measure_anew(space: Space, models: Models) -> None:
    written = space.write(lambda tx: tx.value("lifecycle.forget_background") or 0)
    if written >= FIRST_AT:
        for model in models.all:
            measure(space, written, model)


def _forgotten(
    ns: str, source: str | None, labels: Counter[str], counts: Counter[str], restored: Sequence[str] = ()
) -> Forgotten:
    return Forgotten(
        namespace=ns,
        source=source,
        nodes=labels.total(),
        passages=counts["passages"],
        edges=counts["edges"],
        labels={label: n for label, n in labels.items() if n},
        restored=restored,
    )
