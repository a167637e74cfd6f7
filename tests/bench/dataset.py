"""A synthetic store for measuring: notes of words by Zipf's law with clustered vectors, chains, links, many tenants."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph import schema
from graph.records import Draft
from graph.slots import FIRST
from graph.store import Store, vector
from graph.writing import link
from recall.index import packed

DIMENSIONS = 384
WORDS_EACH = 40
VOCABULARY = 20_000
TOPICS = 500


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """`notes` in `tenants` namespaces of equal size, three edges a note, one in twenty superseded. All from `seed`."""

    notes: int = 100_000
    tenants: int = 20
    seed: int = 0

    @property
    def namespaces(self) -> list[str]:
        return [f"tenant-{n}" for n in range(self.tenants)]

    def topics(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        return np.random.default_rng(self.seed).normal(size=(TOPICS, DIMENSIONS))


class Source:
    """Texts and unit vectors, the same for the same seed."""

    def __init__(self, dataset: Dataset, seed: int):
        self._rng = np.random.default_rng(seed)
        self._topics = dataset.topics()
        frequency = 1 / np.arange(1, VOCABULARY + 1)
        self._frequency = frequency / frequency.sum()

    def vectors(self, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        raw = self._topics[self._rng.integers(TOPICS, size=count)] + self._rng.normal(size=(count, DIMENSIONS))
        unit: np.ndarray[Any, np.dtype[np.float32]] = (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)
        return unit

    def texts(self, count: int, words: int = WORDS_EACH) -> list[str]:
        chosen = self._rng.choice(VOCABULARY, size=(count, words), p=self._frequency)
        return [" ".join(f"word{n}" for n in row) for row in chosen]


def fill(store: Store, dataset: Dataset, report: Callable[[str], None] = lambda _: None) -> None:
    """Loads the dataset the fast way: search indexes away, nodes, edges, then the indexes in one go."""
    for name in ("current_text", "superseded_text", *FIRST.indexes):
        store.auto("schema.drop_index", name=name)
    source = Source(dataset, dataset.seed + 1)
    each = dataset.notes // dataset.tenants
    for ns in dataset.namespaces:
        ids = _notes(store, ns, source, each)
        _edges(store, ns, ids, dataset.seed)
        report(f"{ns}: {each} notes")
    for number, name in schema.migrations(store).items():
        if number in (10, 11):
            store.auto(name)
    schema.vector_indexes(store, FIRST, DIMENSIONS)
    schema.await_online(store)


def _notes(store: Store, ns: str, source: Source, count: int) -> list[str]:
    space, now, ids = store.within(ns), dt.datetime.now(dt.UTC), []
    space.write(lambda tx: tx.rows("note.namespace", count=count, seen=0, most=0))
    for start in range(0, count, 500):
        size = min(500, count - start)
        drafts = [
            Draft(
                label="Note",
                kind="memory",
                content=text,
                memory_type="semantic",
                created_at=now - dt.timedelta(minutes=start + n),
                indexed={
                    "properties": {"terms": text, "vector": packed(found)},
                    "vectors": [{"name": FIRST.embedding, "value": vector(found)}],
                    "passages": [],
                },
            )
            for n, (text, found) in enumerate(zip(source.texts(size), source.vectors(size), strict=True))
        ]
        items = [draft.as_item(now) for draft in drafts]
        space.write(lambda tx, items=items: tx.rows("note.create", items=items))  # type: ignore[misc]
        ids += [draft.id for draft in drafts]
    return ids


def _edges(store: Store, ns: str, ids: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    space = store.within(ns)
    pairs = [(ids[n], ids[n - 1], "follows") for n in range(1, len(ids))]
    ends = rng.integers(len(ids), size=(2 * len(ids), 2))
    pairs += [(ids[a], ids[b], "supports") for a, b in ends if a != b]
    older = [(ids[n], ids[n - 7], "supersedes") for n in range(20, len(ids), 20)]
    links = [link(*pair) for pair in pairs + older]
    for start in range(0, len(links), 5_000):
        space.write(lambda tx, some=links[start : start + 5_000]: tx.rows("link.create", links=some))  # type: ignore[misc]
    space.write(lambda tx: tx.rows("note.relabel", ids=[old for _, old, _ in older]))
