"""Labelled corpora read offline, as the pools that recall would see: what calibration is fitted and measured on."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recall.background import Background
from recall.config import RecallConfig, candidate_count, old_candidate_count
from recall.embed import Embedder
from recall.evidence import Candidates, Floats
from recall.text import QueryTerms, query_terms, terms

LIMIT = 20  # results that the simulated recalls ask for
OLD_ROWS = old_candidate_count(LIMIT, RecallConfig().old_candidates)
STRONG = RecallConfig().strong_hits
OWN_BACKGROUND_FROM = 50


@dataclass(frozen=True)
class Asked:
    """A query of a corpus with its pool. notes: which note each row is served as.  relevant: the labelled ones."""

    kind: str
    answerable: bool
    relevant: frozenset[int]
    terms: QueryTerms
    embedding: NDArray[np.float32]
    pool: Candidates
    notes: NDArray[np.intp]


@dataclass
class Corpus:
    """Notes, edges and labelled queries of one namespace (the format of `labels/written.json`)."""

    name: str
    group: str
    texts: list[str]
    vectors: NDArray[np.float32]
    heads: list[list[int]]
    beside: list[list[int]]
    background: Background
    asked: list[Asked] = field(default_factory=list)


def corpora(file: Path, embedder: Embedder) -> Iterator[Corpus]:
    """The corpora of a JSON file, embedded and with their queries asked."""
    for stored in json.loads(file.read_text(encoding="utf-8")):
        yield _asked(_read(stored, file.stem, embedder), stored, embedder)


def _read(stored: Mapping[str, Any], group: str, embedder: Embedder) -> Corpus:
    rows = {note["key"]: row for row, note in enumerate(stored["notes"])}
    texts = [note["content"] for note in stored["notes"]]
    newer: dict[int, list[int]] = defaultdict(list)
    beside: list[list[int]] = [[] for _ in texts]
    for new, old in stored.get("supersedes", ()):
        newer[rows[old]].append(rows[new])
    for new, old in stored.get("follows", ()):
        beside[rows[new]].append(rows[old])
        beside[rows[old]].append(rows[new])
    heads = [sorted(_heads(row, newer)) for row in range(len(texts))]
    vectors = _unit8(embedder.documents(texts))
    live = [row for row in range(len(texts)) if row not in newer]
    background = Background.shipped(embedder.name)
    if len(live) >= OWN_BACKGROUND_FROM:
        background = Background.measure((" ".join(terms(texts[row])) for row in live), vectors[live], embedder.name)
    return Corpus(stored["name"], group, texts, vectors, heads, beside, background)


def _heads(row: int, newer: Mapping[int, list[int]]) -> set[int]:
    waiting, seen, found = [row], set[int](), set[int]()
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            found |= set() if newer.get(at) else {at}
            waiting += newer.get(at, ())
    return found


def _unit8(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors as the store packs them, one byte a number, and back."""
    packed = np.round(vectors * 127 / np.maximum(np.abs(vectors).max(axis=1, keepdims=True), 1e-9))
    return np.asarray(packed / np.maximum(np.linalg.norm(packed, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def _asked(corpus: Corpus, stored: Mapping[str, Any], embedder: Embedder) -> Corpus:
    rows = {note["key"]: row for row, note in enumerate(stored["notes"])}
    held = [terms(text) for text in corpus.texts]
    layers: tuple[list[int], list[int]] = ([], [])
    for row, heads in enumerate(corpus.heads):
        layers[heads != [row]].append(row)
    indexes = [_Postings(held, layer) for layer in layers if layer]
    joined = [" ".join(row) for row in held]
    vectors = embedder.queries([query["q"] for query in stored["queries"]])
    for query, vector in zip(stored["queries"], vectors, strict=True):
        words = query_terms(query["q"])
        pairs = _pool_rows(corpus, indexes, words.terms, vector)
        notes = np.array([note for _, note in pairs], dtype=np.intp)
        pool = Candidates(
            note_ids=[str(note) for _, note in pairs],
            terms=[joined[row] for row, _ in pairs],
            vectors=corpus.vectors[[row for row, _ in pairs]],
            follows=[[str(near) for near in corpus.beside[note]] for _, note in pairs],
            contents=[corpus.texts[row][:1000] for row, _ in pairs],
        )
        relevant = frozenset(rows[key] for key in query["relevant"])
        corpus.asked.append(Asked(query["kind"], query["answerable"], relevant, words, vector, pool, notes))
    return corpus


def _pool_rows(
    corpus: Corpus, indexes: Sequence[_Postings], asked: Sequence[str], vector: NDArray[np.float32]
) -> list[tuple[int, int]]:
    """(row, note it is served as) of what the candidate statement would read."""
    cosines = corpus.vectors @ vector
    found: set[int] = set()
    depth = candidate_count(LIMIT)
    for index, wanted in zip(indexes, (depth, OLD_ROWS), strict=False):
        near = index.rows[np.argsort(-cosines[index.rows], kind="stable")]
        score = index.bm25(asked, len(corpus.texts))
        worded = np.argsort(-score, kind="stable")[: np.count_nonzero(score)]
        found |= set(near[:wanted].tolist()) | set(worded[:wanted].tolist())
        if wanted == depth:
            for strong in [*near[:STRONG].tolist(), *worded[:STRONG].tolist()]:
                found |= set(corpus.beside[strong])
    return [(row, note) for row in sorted(found) for note in corpus.heads[row]]


class _Postings:
    """BM25 as Lucene counts it (k1 1.2, b 0.75), over one layer of a corpus."""

    def __init__(self, held: Sequence[Sequence[str]], rows: Sequence[int]):
        self.rows = np.array(rows, dtype=np.intp)
        mean = sum(len(held[row]) for row in rows) / len(rows)
        self._lists: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for row in rows:
            slow = 1.2 * (0.25 + 0.75 * len(held[row]) / mean)
            for term, count in Counter(held[row]).items():
                self._lists[term].append((row, count / (count + slow)))

    def bm25(self, asked: Sequence[str], size: int) -> Floats:
        """Scores of all rows of the corpus, (size,); 0 where none of the terms is."""
        scores = np.zeros(size)
        for term in asked:
            found = self._lists.get(term, ())
            idf = np.log(1 + (len(self.rows) - len(found) + 0.5) / (len(found) + 0.5))
            for row, share in found:
                scores[row] += idf * share
        return scores
