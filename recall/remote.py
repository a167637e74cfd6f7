"""Embedding models behind an endpoint that speaks OpenAI's `/embeddings`, called `openai:MODEL`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import numpy as np
import requests

from graph.errors import EmbeddingError
from graph.settings import Settings
from recall.embed import OPENAI_PREFIX, Vectors, safe, unit
from recall.tokens import count, cut

TIMEOUT_S: Final = 30.0
TRIES: Final = 3  # of a request that the endpoint was too busy for, or that found no connection
_BATCH: Final = 64


class OpenAI:
    """A model of an endpoint. Its dimensions are asked once, when they are first needed. Thread-safe.

    Texts are cut to 512 tokens, though such models read more: a vector of a longer text says less about each part of it.
    """

    max_tokens = 512

    def __init__(self, name: str, settings: Settings):
        self.name = name
        self._model, self._url = name.removeprefix(OPENAI_PREFIX), f"{settings.openai_url}/embeddings"
        self._headers = {"Authorization": f"Bearer {settings.openai_key}"} if settings.openai_key else {}

    @cached_property
    def dimensions(self) -> int:
        return int(self._asked(["dimensions"]).shape[1])

    def documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        cuts = [cut(safe(text), self.max_tokens) or " " for text in texts]
        return np.concatenate([self._asked(cuts[start : start + _BATCH]) for start in range(0, len(cuts), _BATCH)])

    queries = documents

    def count_tokens(self, text: str) -> int:
        return count(text)

    def _asked(self, texts: Sequence[str]) -> Vectors:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        try:
            rows = sorted(self._answer(body)["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (ValueError, KeyError, TypeError) as fault:
            raise EmbeddingError(f"{self._url} answered with something else than embeddings: {fault!r}") from fault
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise EmbeddingError(f"{self._url} gave vectors of shape {vectors.shape} for {len(texts)} texts")
        return unit(vectors)

    def _answer(self, body: dict[str, Any]) -> Any:
        said = ""
        for last in range(TRIES):
            try:
                answer = requests.post(self._url, json=body, headers=self._headers, timeout=TIMEOUT_S)
            except requests.RequestException as fault:
                said = type(fault).__name__
            else:
                if answer.ok:
                    return answer.json()
                said = f"status {answer.status_code}, {answer.text[:200]!r}"
                if answer.status_code != 429 and answer.status_code < 500:
                    break
            if last < TRIES - 1:
                time.sleep(0.5 * 2**last)
        raise EmbeddingError(f"{self.name}: {self._url} did not answer: {said}; see PALIMPSEST_OPENAI_URL and _KEY")
