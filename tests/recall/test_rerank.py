"""Features for a weighted rerank: what each says, and that the stage is off without weights."""

from __future__ import annotations

import pytest
from samples import hit, pool

from recall.config import ScoringConfig
from recall.rerank import pagerank, rerank


def weighing(*names: str) -> ScoringConfig:
    return ScoringConfig(reranker_weights=dict.fromkeys(names, 1.0))


def hits(*relevance: float):
    return [hit("abcdef"[row], row=row, relevance=value) for row, value in enumerate(relevance)]


def features(hits) -> list[tuple[float, float, float]]:
    return [(one.text_match, one.vector_match, one.graph) for one in hits]


def test_without_weights_the_stage_is_off():
    found = rerank(hits(0.9, 0.1), pool([0.8, 0.4], [2.0, 4.0]), ScoringConfig())
    assert features(found) == [(0, 0, 0)] * 2


def test_features_that_are_parts_of_the_score_need_no_work():
    found = rerank(hits(0.9, 0.1), pool([0.8, 0.4], [2.0, 4.0]), weighing("relevance", "salience", "temporal"))
    assert features(found) == [(0, 0, 0)] * 2


def test_text_match_is_the_share_of_the_best_and_vector_match_the_cosine():
    found = rerank(hits(0.9, 0.1, 0.5), pool([0.8, -0.4, None], [2.0, 4.0, 0.0]), weighing("text_match"))
    assert [one.text_match for one in found] == [0.5, 1.0, 0.0]
    assert [one.vector_match for one in found] == [0.8, 0.0, 0.0]
    assert [one.graph for one in found] == [0.0] * 3


def test_a_pool_without_words_has_no_text_match():
    found = rerank(hits(0.9, 0.1), pool([0.8, 0.4], [0.0, 0.0]), weighing("text_match", "vector_match"))
    assert [one.text_match for one in found] == [0.0, 0.0]


def test_a_hit_is_read_by_its_row_of_the_pool():
    (one,) = rerank([hit("b", row=1)], pool([0.8, 0.4], [2.0, 4.0]), weighing("text_match"))
    assert (one.text_match, one.vector_match) == (1.0, 0.4)


def test_without_edges_the_graph_says_what_relevance_says():
    assert pagerank(hits(0.9, 0.3), pool([0.0] * 2)) == {"a": 0.9, "b": 0.3}


def test_a_neighbour_of_a_relevant_hit_gains_over_a_stranger_as_relevant():
    found = pagerank(hits(0.9, 0.2, 0.2), pool([0.0] * 3, follows=[["b"], ["a"], []]))
    assert max(found.values()) == 1.0
    assert found["b"] > 2 * found["c"] > 0


def test_edges_to_notes_that_are_no_hits_count_for_nothing():
    assert pagerank(hits(0.9, 0.3), pool([0.0] * 2, follows=[["z"], []])) == {"a": 0.9, "b": 0.3}


def test_hits_without_any_relevance_have_no_rank():
    assert pagerank(hits(0.0, 0.0), pool([0.0] * 2, follows=[["b"], ["a"]])) == {"a": 0.0, "b": 0.0}


def test_two_linked_hits_of_equal_relevance_rank_alike():
    found = pagerank(hits(0.5, 0.5), pool([0.0] * 2, follows=[["b"], ["a"]]))
    assert found["a"] == pytest.approx(found["b"]) == pytest.approx(1.0)


def test_the_graph_feature_is_given_only_when_it_is_weighed():
    linked = pool([0.5] * 2, follows=[["b"], ["a"]])
    assert [one.graph for one in rerank(hits(0.9, 0.1), linked, weighing("graph"))] == pytest.approx([1.0, 0.93], abs=0.1)
    assert [one.graph for one in rerank(hits(0.9, 0.1), linked, weighing("vector_match"))] == [0.0, 0.0]
