"""Which notes of a namespace are close: by meaning, by the words they share, and by being recalled together.

Meaning alone brings small talk together, words alone bring together what is about the same names; an edge needs both, or
recalls that served two notes together again and again. All of it is the same for the same notes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from recall.background import Background, centred
from recall.digest import telling

NEAREST = 12  # notes by meaning that are looked at, of each note
BLOCK = 512  # rows multiplied at once
RARITY = 3.0  # nats from which a word tells what a note is about: one note in twenty has it, or fewer
GENERAL = 400  # how many notes the shipped word shares count for, beside the namespace's own
FAR, NEAR = 1.0, 4.0  # standard deviations above two unrelated notes: where meaning begins to count, and counts in full
CLOSE = 0.5  # half meaning, half words: from here on two notes belong together
TOGETHER = 3  # recalls that served both, from which two notes belong together
DUPLICATE_WORDS, DUPLICATE_COSINE = 0.75, 0.85
MOST_SERVED = 20  # notes of one recall whose pairs are counted


@dataclass(frozen=True, kw_only=True)
class Note:
    """A note as a consolidation reads it. vector: (d,) unit, or zeros.  serves: recalls that served it, the newest as 0."""

    id: str
    content: str
    hash: str
    vector: NDArray[np.float32] = field(repr=False)
    salience: float = 0.5
    created_ts: int = 0
    expires_ts: int = 0
    memory_type: str | None = None
    tags: Sequence[str] = ()
    source: str | None = None
    serves: Sequence[int] = ()


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two notes by their places in the list, first < second. cosine: of their vectors.  words: shared weight, in [0, 1]."""

    first: int
    second: int
    strength: float
    cosine: float
    words: float


class Words:
    """How much each word of the notes tells, in nats; what everybody says tells nothing."""

    def __init__(self, notes: Sequence[Note], background: Background):
        self.sets = [telling(note.content) for note in notes]
        counts = Counter(word for words in self.sets for word in words)
        whole = len(notes) + GENERAL
        self._weights = {
            word: -math.log(max((n + GENERAL * background.shares.get(word, 0.0)) / whole, 1 / whole))
            for word, n in counts.items()
        }

    def weight(self, word: str) -> float:
        return self._weights.get(word, 0.0)

    def total(self, words: frozenset[str]) -> float:
        return sum(self._weights[word] for word in sorted(words))

    def shared(self, first: int, second: int) -> tuple[float, float]:
        """Weight of the shared words, beside that of the lesser note's, and beside that of both together."""
        one, other = self.sets[first], self.sets[second]
        common = one & other
        if not any(self._weights[word] >= RARITY and any(map(str.isalpha, word)) for word in common):
            return 0.0, self._of(common, one | other)
        return max(self._of(common, one), self._of(common, other)), self._of(common, one | other)

    def _of(self, common: frozenset[str], words: frozenset[str]) -> float:
        return self.total(common) / max(self.total(words), 1e-9)


def close_pairs(notes: Sequence[Note], words: Words, background: Background) -> tuple[list[Pair], list[Pair]]:
    """The pairs that belong together, and those that say nearly the same; both in the order of the notes.

    words: of the same notes.  background: that of their model.
    """
    served = together(notes)
    near = dict(_nearest(notes, background))
    close, same = [], []
    for first, second in sorted({*near, *served}):
        cosine, meaning = near.get((first, second), (0.0, 0.0))
        contained, alike = words.shared(first, second)
        strength = (meaning + contained) / 2 if contained else meaning / 4
        strength = max(strength, min(served.get((first, second), 0) / (2 * TOGETHER), 1.0))
        pair = Pair(first=first, second=second, strength=strength, cosine=cosine, words=alike)
        if strength >= CLOSE:
            close.append(pair)
        if alike >= DUPLICATE_WORDS and cosine >= DUPLICATE_COSINE:
            same.append(pair)
    return close, same


def together(notes: Sequence[Note]) -> Mapping[tuple[int, int], int]:
    """How many recalls served both of two notes, where that is more than once."""
    by_serve: dict[int, list[int]] = {}
    for place, note in enumerate(notes):
        for serve in note.serves:
            by_serve.setdefault(serve, []).append(place)
    counts = Counter(pair for served in by_serve.values() for pair in combinations(served[:MOST_SERVED], 2))
    return {pair: n for pair, n in counts.items() if n > 1}


def _nearest(notes: Sequence[Note], background: Background) -> Iterator[tuple[tuple[int, int], tuple[float, float]]]:
    """Pairs among each other's nearest notes: cosine, and how far that is above two unrelated notes, in [0, 1]."""
    vectors = np.stack([note.vector for note in notes]) if notes else np.zeros((0, 1), np.float32)
    known = np.any(vectors, axis=1)
    own = Background.measure((), vectors[known], background.model) if known.any() else background
    units, usual, scatter = vectors, None, own.spread
    if own.centre is not None and own.drift is not None and len(own.centre) == vectors.shape[1]:
        units, usual = centred(vectors, own.centre), float(own.drift @ own.drift)
        units[~known] = 0
    else:
        usual, scatter = _usual(vectors[known])
    found: dict[int, dict[int, float]] = {}
    for start in range(0, len(notes), BLOCK):
        products = units[start : start + BLOCK] @ units.T
        products[np.arange(len(products)), np.arange(start, start + len(products))] = -2
        width = min(NEAREST, len(notes) - 1)
        best = np.argpartition(-products, width - 1, axis=1)[:, :width] if width > 0 else np.zeros((len(products), 0), int)
        for row, columns in enumerate(best):
            found[start + row] = {int(c): float(products[row, c]) for c in columns.tolist()}
    for first, near in found.items():
        for second, product in near.items():
            if first < second and first in found[second]:
                above = (product - usual) / max(scatter, 1e-6)
                cosine = float(vectors[first] @ vectors[second])
                yield (first, second), (cosine, min(max((above - FAR) / (NEAR - FAR), 0.0), 1.0))


def _usual(vectors: NDArray[np.float32]) -> tuple[float, float]:
    """Median and scatter of cosines where nobody knows the model's centre."""
    sample = vectors[np.linspace(0, len(vectors) - 1, min(len(vectors), 256)).astype(int)] if len(vectors) else vectors
    products = (sample @ sample.T)[np.triu_indices(len(sample), 1)]
    return (float(np.median(products)), max(float(np.std(products)), 0.08)) if len(products) else (0.0, 0.08)
