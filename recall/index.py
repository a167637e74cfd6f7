"""What the indexes hold of a text: its words, its vector, and passages where it is longer than the model reads."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.records import new_id
from graph.store import vector
from graph.tracing import span
from recall.embed import Embedder
from recall.models import Model, Models
from recall.text import fold, lucene, name_key, passages, query_terms, terms, unspaced

ENTITY_NAME_CHARACTERS = 400
AT_ONCE = 2048  # characters that the multilingual model reads before a write is answered: about a second


class Indexer:
    """Indexes texts, with the vectors of each model that reads them. Safe for several threads."""

    def __init__(self, models: Models):
        self.models = models

    @property
    def embedder(self) -> Embedder:
        return self.models.primary.embedder

    def index(self, contents: Sequence[str], extra: Sequence[str] = ()) -> list[dict[str, Any]]:
        """For each text `properties`, `vectors` (none where passages hold them), `passages` with the same two, and `unread`.

        All texts and passages are embedded in one go, which a model does fastest. The multilingual model takes its time: it
        reads the first of a call at once; what it has not read is `unread`, and is found by its words meanwhile.
        """
        room = self.embedder.max_tokens - 8
        pieces = [passages(content, self.embedder.count_tokens, room) or [content] for content in contents]
        held = iter(self._held([piece for several in pieces for piece in several]))
        beside = list(extra) or [""] * len(contents)
        return [
            self._note(several, [next(held) for _ in several], f" {words}" if words else "")
            for several, words in zip(pieces, beside, strict=True)
        ]

    def _held(self, texts: Sequence[str]) -> list[dict[str, Any]]:
        """`properties` and `vectors` of each text, by the models that read it."""
        held: list[dict[str, Any]] = [{"properties": {}, "vectors": [], "unread": False} for _ in texts]
        for model in self.models.all:
            rows = self._at_once(model, texts, held)
            with span("embed documents", {"palimpsest.model": model.embedder.name, "palimpsest.texts": len(rows)}):
                vectors = model.documents([texts[row] for row in rows])
            for row, found in zip(rows, vectors, strict=True):
                held[row]["properties"] |= model.slot.held(model.embedder.name, packed(found))
                held[row]["vectors"].append({"name": model.slot.embedding, "value": vector(found)})
        return held

    def _at_once(self, model: Model, texts: Sequence[str], held: Sequence[dict[str, Any]]) -> list[int]:
        """The rows of the texts that `model` reads now; the others that are its to read become `unread`."""
        rows = [row for row, text in enumerate(texts) if self.models.reads(model, text)]
        if model is not self.models.multilingual:
            return rows
        lengths = list(itertools.accumulate(len(texts[row]) for row in rows))
        now = max(1, bisect.bisect_right(lengths, AT_ONCE))
        for row in rows[now:]:
            held[row]["unread"] = True
        return rows[:now]

    def _note(self, pieces: Sequence[str], held: Sequence[dict[str, Any]], beside: str) -> dict[str, Any]:
        for piece, one in zip(pieces, held, strict=True):
            one["properties"]["terms"] = " ".join(terms(piece + beside))
        if len(pieces) == 1:
            return {**held[0], "passages": []}
        for position, (piece, one) in enumerate(zip(pieces, held, strict=True)):
            one["properties"] |= {"content": piece, "position": position, "id": new_id()}
        return {"properties": {}, "vectors": [], "passages": list(held), "unread": any(one["unread"] for one in held)}

    def entity(self, name: str) -> dict[str, str]:
        """`name_key` and `terms` of an entity's name."""
        key = name_key(name) or name.strip().casefold()[:ENTITY_NAME_CHARACTERS]
        return {"name_key": key, "terms": " ".join(terms(name[:ENTITY_NAME_CHARACTERS]))}

    def search(self, ns: str, query: str, kinds: Sequence[str] = ()) -> str | None:
        """Lucene for the words of `query` inside a namespace."""
        words = lucene(query_terms(query))
        of_kinds = f"{any_of('kind', kinds)} " if kinds else ""
        return f'+ns:"{ns}"^0 {of_kinds}+terms:({words})' if words else None


def any_of(field: str, values: Sequence[str]) -> str:
    """The clause in Lucene that a field holds one of `values`, whatever is in them; it does not count for the score."""
    quoted = " ".join('"' + re.sub(r'(["\\])', r"\\\1", value) + '"' for value in values)
    return f"+{field}:({quoted})^0"


def phrase(ns: str, name: str) -> str:
    """Lucene for the texts of a namespace that hold a name as it is written, by its index terms in a row.

    A run without spaces is looked for by its characters: the bigrams of a longer run lie behind all of those.
    """
    bare = name.strip()
    words = list(fold(bare)) if unspaced(bare) else terms(bare)
    quoted = re.sub(r'(["\\])', r"\\\1", " ".join(words))
    return f'+ns:"{ns}"^0 +terms:"{quoted}"'


def packed(found: NDArray[np.float32]) -> bytes:
    """A vector as one signed byte a dimension, for the work after the search (near duplicates, neighbours).

    384 bytes travel fifty times faster than 384 floats in a list; the angle is off by less than 0.3 degrees.
    """
    peak = float(np.abs(found).max()) or 1.0
    return bytes(np.rint(found * (127.0 / peak)).astype(np.int8).tobytes())


def unpacked(vectors: Sequence[bytes], dimensions: int) -> NDArray[np.float32]:
    """(n, dimensions) unit vectors from `packed` bytes; a row of zeros where there is none."""
    empty = bytes(dimensions)
    joined = b"".join(v if isinstance(v, bytes) and len(v) == dimensions else empty for v in vectors)
    rows = np.frombuffer(joined, dtype=np.int8).reshape(len(vectors), dimensions).astype(np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    norms[norms == 0] = 1.0
    return np.asarray(rows / norms, dtype=np.float32)
