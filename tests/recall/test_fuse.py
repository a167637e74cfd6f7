"""Fusion: one value a row from the legs' scores, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import pool

from recall.config import FUSIONS, RecallConfig
from recall.fuse import STRATEGIES, fuse

CONFIG = RecallConfig()
COSINE, BM25 = [0.9, 0.5, 0.7, None], [0.0, 8.0, 2.0, 4.0]


def fused(fusion: str, cosine=COSINE, bm25=BM25, config=CONFIG) -> list[float]:
    return fuse(pool(cosine, bm25), fusion, config).fused.tolist()


def test_every_strategy_that_a_request_may_name_is_there():
    assert set(STRATEGIES) == set(FUSIONS)


def test_vector_only_spreads_the_cosines_and_forgets_the_words():
    assert fused("vector_only") == pytest.approx([1.0, 0.0, 0.5, 0.0])


def test_keyword_only_spreads_the_words_and_forgets_the_cosines():
    assert fused("keyword_only") == pytest.approx([0.0, 1.0, 0.25, 0.5])


def test_weighted_is_seven_parts_meaning_and_three_parts_words():
    assert fused("weighted") == pytest.approx([0.7, 0.3, 0.7 * 0.5 + 0.3 * 0.25, 0.3 * 0.5])


def test_the_weights_of_the_legs_are_normalised():
    config = RecallConfig(vector_weight=2.0, text_weight=6.0)
    assert fused("weighted", config=config) == pytest.approx([0.25, 0.75, 0.25 * 0.5 + 0.75 * 0.25, 0.75 * 0.5])


def test_union_is_the_better_of_the_two():
    assert fused("union") == pytest.approx([1.0, 1.0, 0.5, 0.5])


def test_rrf_adds_reciprocal_ranks_and_is_one_for_the_first_of_both_legs():
    best = 2 / 61
    expected = [1 / 61, 1 / 63 + 1 / 61, 1 / 62 + 1 / 63, 1 / 62]
    assert fused("rrf") == pytest.approx([value / best for value in expected])
    assert fused("rrf", [0.9, 0.1], [5.0, 1.0])[0] == pytest.approx(1.0)


def test_rrf_takes_its_constant_from_the_configuration():
    assert fused("rrf", [0.9, 0.1], [0.0, 0.0], RecallConfig(rrf_k=1)) == pytest.approx([0.5, (1 / 3) / 1.0])


def test_a_single_candidate_and_equal_ones_count_fully():
    assert fused("weighted", [0.8], [3.0]) == [1.0]
    assert fused("keyword_only", [0.1, 0.2], [2.0, 2.0]) == [1.0, 1.0]


def test_nothing_fuses_to_nothing():
    assert [fuse(pool(), name, CONFIG).fused.shape for name in FUSIONS] == [(0,)] * len(FUSIONS)


SCORES = st.lists(
    st.tuples(st.none() | st.floats(-1, 1), st.floats(0, 1000)),
    min_size=1,
    max_size=20,
)


@given(SCORES, st.sampled_from(FUSIONS))
def test_every_strategy_gives_values_from_0_to_1(scores, fusion):
    cosine, bm25 = zip(*scores, strict=True)
    values = fuse(pool(cosine, bm25), fusion, CONFIG).fused
    assert np.isfinite(values).all()
    assert values.min() >= 0
    assert values.max() <= 1 + 1e-12


@given(SCORES)
def test_a_better_cosine_never_ranks_below_a_worse_one_of_the_same_words(scores):
    cosine = [pair[0] for pair in scores]
    values = fuse(pool(cosine, [0.0] * len(cosine)), "weighted", CONFIG).fused
    known = [(c, v) for c, v in zip(cosine, values, strict=True) if c is not None]
    ordered = sorted(known)
    assert [value for _, value in ordered] == sorted(value for _, value in known)
