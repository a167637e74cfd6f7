"""What an ordinary note of a namespace looks like, so that a candidate can be told from it.

Cosines crowd and words differ in worth from store to store. A `Background` holds what is needed to see through both: how
often each word occurs, where the vectors' centre lies, and how far cosines scatter about it. A namespace with few notes
leans on the one that ships.
"""

from __future__ import annotations

import base64
import io
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SLOTS = 1 << 16
PSEUDO_NOTES = 200  # how many notes the shipped word shares count for, beside a namespace's own
OWN_CENTRE_FROM = 64  # notes from which the centre of the vectors is a namespace's own alone
CENTRING = 0.5  # share of the centre that is taken off before cosines are compared
FILE = Path(__file__).with_name("background.json")


@dataclass(frozen=True, kw_only=True)
class Background:
    """Word counts and the shape of the vectors of a namespace.

    model: name of the embedding model.  notes: how many were measured.  counts: notes that have a word, in slots by hash.
    length: mean number of terms.  centre: mean vector.  drift: mean of the unit vectors once `CENTRING` of the centre is
    off.  spread: standard deviation of centred cosines between texts that have nothing to do with each other.  far: mean
    and standard deviation of the best cosine that a store has for a question it can't answer; it belongs to the model, not
    to the store.  shares: the shipped word shares, in [0, 1].
    """

    model: str = "e5-small-v2"
    notes: int = 0
    counts: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(SLOTS, np.uint32), repr=False)
    length: float = 0.0
    centre: NDArray[np.float32] | None = field(default=None, repr=False)
    drift: NDArray[np.float32] | None = field(default=None, repr=False)
    spread: float = 0.0
    far: tuple[float, float] | None = None
    shares: Mapping[str, float] = field(default_factory=dict, repr=False)

    @classmethod
    def shipped(cls, model: str = "e5-small-v2") -> Background:
        """The background of general text, for a namespace that has none of its own. An unknown model has no centre."""
        return _shipped(model)

    @classmethod
    def measure(cls, terms: Iterable[str], vectors: NDArray[np.float32], model: str = "e5-small-v2") -> Background:
        """Measured from notes: their `terms` (as stored, joined by spaces) and their unit vectors, (n, d).

        A sample of some thousand notes does as well as all. The fewer there are, the more the shipped centre counts.
        """
        base = _shipped(model)
        counts, total, notes = np.zeros(SLOTS, np.uint32), 0, 0
        for text in terms:
            words = text.split()
            total, notes = total + len(words), notes + 1
            slots = [_slot(word) for word in set(words)]
            counts[np.unique(slots).astype(np.int64)] += 1
        known = vectors[np.any(vectors, axis=1)]
        own = min(1.0, len(known) / OWN_CENTRE_FROM)
        if not len(known) or (own < 1 and (base.centre is None or len(base.centre) != known.shape[1])):
            return replace(base, notes=notes, counts=counts, length=total / max(notes, 1))
        centre = known.mean(axis=0)
        if own < 1 and base.centre is not None:
            centre = own * centre + (1 - own) * base.centre
        units = centred(known, centre)
        drift = units.mean(axis=0)
        if own < 1 and base.drift is not None:
            drift = own * drift + (1 - own) * base.drift
        scatter = spread(units) if own == 1 else base.spread
        return cls(
            model=model, notes=notes, counts=counts, length=total / max(notes, 1), centre=centre.astype(np.float32),
            drift=drift.astype(np.float32), spread=scatter, far=base.far, shares=base.shares,
        )  # fmt: skip

    def share(self, term: str) -> float:
        """Share of the measured notes that have `term`, in [0, 1]; 0 without measured notes."""
        return min(int(self.counts[_slot(term)]) / self.notes, 1.0) if self.notes else 0.0

    def to_bytes(self) -> bytes:
        """For a node's property; `shares` ship and are left out."""
        numbers = np.array([self.notes, self.length, self.spread])
        centre, drift = _or_empty(self.centre), _or_empty(self.drift)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, numbers=numbers, counts=self.counts, centre=centre, drift=drift)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, stored: bytes, model: str = "e5-small-v2") -> Background:
        """What `to_bytes` wrote. Raises ValueError for anything else."""
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            notes, length, spread = arrays["numbers"].tolist()
            counts, centre, drift = arrays["counts"], arrays["centre"], arrays["drift"]
        base = _shipped(model)
        return cls(
            model=model, notes=int(notes), counts=counts, length=length, centre=centre if len(centre) else None,
            drift=drift if len(drift) else None, spread=spread, far=base.far, shares=base.shares,
        )  # fmt: skip


def centred(vectors: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.float32]:
    """Unit vectors once `CENTRING` of the centre is taken off; rows of zeros stay near zero in every product."""
    moved = vectors - np.float32(CENTRING) * centre
    return np.asarray(moved / np.maximum(np.linalg.norm(moved, axis=-1, keepdims=True), 1e-6), dtype=np.float32)


def spread(units: NDArray[np.float32]) -> float:
    """Scatter of the cosines between notes far apart in the list; neighbours may belong together."""
    sample = units[np.linspace(0, len(units) - 1, min(len(units), 256)).astype(int)]
    products = sample @ sample.T
    return float(max(np.std(products[np.triu_indices(len(sample), 1)]), 0.02))


def _slot(term: str) -> int:
    return zlib.crc32(term.encode("utf-8", "replace")) & (SLOTS - 1)


def _or_empty(array: NDArray[np.float32] | None) -> NDArray[np.float32]:
    return np.zeros(0, np.float32) if array is None else array


@cache
def _shipped(model: str) -> Background:
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    shape = stored["models"].get(model)
    if shape is None:
        return Background(model=model, length=stored["length"], shares=stored["shares"])
    centre, drift = (np.frombuffer(base64.b64decode(shape[name]), "<f2").astype(np.float32) for name in ("centre", "drift"))
    return Background(
        model=model, length=stored["length"], centre=centre, drift=drift, spread=shape["spread"], far=tuple(shape["far"]),
        shares=stored["shares"],
    )  # fmt: skip
