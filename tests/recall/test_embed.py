"""Embedders: shapes, routing, the cache of queries, and clear errors."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from graph.errors import EmbeddingError
from graph.settings import Settings
from recall.embed import E5_NAME, HASHING_NAME, Embedder, Hashing, QueryCache, Vectors, checked, embedder, known, route
from recall.tokens import count, cut


@pytest.fixture(scope="module")
def e5() -> Embedder:
    """The real model, from the cache that the service uses."""
    return embedder(E5_NAME, Settings.from_environment())


class Counting(Hashing):
    calls = 0

    def queries(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        return self.documents(texts)


def test_an_unknown_model_is_named_with_those_that_are_known(tmp_path: Path) -> None:
    assert {E5_NAME, HASHING_NAME} <= set(known())
    with pytest.raises(EmbeddingError, match=r"'nope'.*e5-small-v2"):
        embedder("nope", Settings(cache=tmp_path))


def test_other_dimensions_than_said_are_an_error() -> None:
    with pytest.raises(EmbeddingError, match="384"):
        checked(Hashing(), np.zeros((2, 5), np.float32))
    with pytest.raises(EmbeddingError, match="finite"):
        checked(Hashing(), np.full((1, 384), np.nan, np.float32))


def test_hashed_vectors_are_the_same_each_time_and_of_unit_length() -> None:
    first, again = Hashing().documents(["tide gauge", "", "钢琴"]), Hashing().documents(["tide gauge", "", "钢琴"])
    assert first.dtype == np.float32
    assert first.shape == (3, 384)
    assert np.array_equal(first, again)
    assert np.allclose(np.linalg.norm(first, axis=1), 1)
    assert Hashing().documents([]).shape == (0, 384)


def test_shared_words_bring_hashed_vectors_closer() -> None:
    query, near, far = Hashing().documents(["tide gauge logger", "the tide gauge", "walnut allergy"])
    assert query @ near > query @ far + 0.2


def test_a_query_is_embedded_once() -> None:
    model, cache = Counting(), QueryCache(size=2)
    assert np.array_equal(cache.vector(model, "a b"), cache.vector(model, "a b"))
    assert model.calls == 1
    for text in ("c", "d", "a b"):
        cache.vector(model, text)
    assert model.calls == 4


def test_a_cjk_query_goes_to_a_multilingual_model_where_there_is_one() -> None:
    models = ["e5-small-v2", "multilingual-e5", "other"]
    assert route("钢琴室在哪里", models) == "multilingual-e5"
    assert route("what does 钢琴室 mean", models) == "multilingual-e5"
    assert route("где стоит рояль", models) == "multilingual-e5"
    assert route("钢琴室在哪里", models, multilingual="other") == "other"
    assert route("where is the piano room", models) == "e5-small-v2"
    assert route("Müllers Café", models) == "e5-small-v2", "a name with an accent is no other script"
    assert route("钢琴室", ["e5-small-v2"]) == "e5-small-v2"


def test_e5_gives_unit_vectors_that_tell_matters_apart(e5: Embedder) -> None:
    documents = e5.documents(["The spare anchor is stowed under the port bench.", "Basil seedlings move outdoors in May."])
    query = e5.queries(["where do we keep the anchor"])[0]
    assert documents.shape == (2, e5.dimensions)
    assert np.allclose(np.linalg.norm(documents, axis=1), 1, atol=1e-5)
    assert query @ documents[0] > query @ documents[1] + 0.05


def test_e5_takes_any_text_from_several_threads(e5: Embedder) -> None:
    texts = ["", "half \ud83d pair", "q" * 100_000, "word " * 3000, "琴", "\x00"]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: e5.documents(texts), range(4)))
    assert all(np.isfinite(vectors).all() and np.allclose(vectors, found[0], atol=1e-4) for vectors in found)


def test_e5_counts_tokens_up_to_its_limit(e5: Embedder) -> None:
    assert e5.count_tokens("tide gauge") < 10
    assert e5.count_tokens("word " * 3000) > e5.max_tokens


def test_model_tokens_are_counted_and_cut() -> None:
    assert count("") == 0
    assert count("hello world") == 2
    assert cut("hello world again", 2) == "hello world"
    assert cut("short", 100) == "short"
    assert cut("anything", 0) == ""


ODD = ["half \ud83d pair", "👩‍🚒" * 300, "漢" * 3000, "<|endoftext|>" * 50, " " * 5000, "q" * 300_000]


@pytest.mark.parametrize("text", ODD, ids=["surrogate", "emoji", "han", "special", "spaces", "letter"])
def test_a_cut_fits_its_budget_and_ends_in_a_whole_character(text: str) -> None:
    for budget in (1, 7, 100):
        head = cut(text, budget)
        assert count(head) <= budget
        assert text.replace("\ud83d", "?").startswith(head.replace("\ud83d", "?"))
