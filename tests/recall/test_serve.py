"""The floor, near duplicates, the order, and the token budget, on hits made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import hit, pool

from recall.config import RECALL_MIN_SCORE, RecallConfig
from recall.gate import abstention, gate
from recall.serve import SMALLEST_CUT, diversified, fitted
from recall.tokens import count

CONFIG = RecallConfig(near_duplicate=0.9, near_duplicate_penalty=0.2)
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def ranked(*scores: float):
    hits = [hit(id, row=row) for row, id in enumerate("abcdefgh"[: len(scores)])]
    for one, score in zip(hits, scores, strict=True):
        one.score, one.parts = score, {"relevance": score}
    return hits


def unit(*angles: float) -> np.ndarray:
    return np.array([(np.cos(angle), np.sin(angle)) for angle in angles])


def ids(hits) -> str:
    return "".join(one.id for one in hits)


def worded(*sizes: int):
    """Hits whose contents are of so many tokens."""
    hits = []
    for row, size in enumerate(sizes):
        content = " ".join(WORDS[n % 10] for n in range(size))
        assert count(content) == size
        hits.append(hit("abcdefgh"[row], content=content))
    return hits


# the floor


def test_the_floor_is_the_one_of_the_design():
    assert RECALL_MIN_SCORE == 0.42


def test_relevance_gates_whatever_the_score_is():
    salient, relevant = hit("a", relevance=0.4199), hit("b", relevance=0.42)
    salient.score, relevant.score = 0.99, 0.01
    assert gate([salient, relevant], RECALL_MIN_SCORE) == [relevant]
    assert (salient.stopped, relevant.stopped) == ("floor", None)
    assert gate([salient, relevant], 0.0) == [salient, relevant]


def test_nothing_found_and_nothing_good_enough_are_told_apart():
    assert (abstention(0), abstention(7)) == ("no_candidates", "below_floor")


# order and near duplicates


def test_hits_are_ordered_by_score_and_then_by_id():
    hits = ranked(0.5, 0.9, 0.5, 0.9)
    assert ids(diversified(hits[::-1], pool([0.0] * 4), CONFIG)) == "bdac"


def test_a_near_duplicate_of_a_better_hit_loses_a_share_of_its_score():
    hits = ranked(0.9, 0.8, 0.7)
    ordered = diversified(hits, pool([0.0] * 3, vectors=unit(0.0, 0.0, np.pi / 2)), CONFIG)
    assert ids(ordered) == "acb"
    assert [one.score for one in hits] == pytest.approx([0.9, 0.8 * 0.8, 0.7])
    assert hits[1].parts == pytest.approx({"relevance": 0.8, "near_duplicate": -0.16})


def test_the_penalty_grows_from_the_threshold_to_the_same_text():
    half = np.arccos(0.95)
    hits = ranked(0.9, 0.8)
    diversified(hits, pool([0.0] * 2, vectors=unit(0.0, half)), CONFIG)
    assert hits[1].score == pytest.approx(0.8 * (1 - 0.2 * 0.5), abs=1e-6)
    hits = ranked(0.9, 0.8)
    diversified(hits, pool([0.0] * 2, vectors=unit(0.0, np.arccos(0.9))), CONFIG)
    assert hits[1].score == pytest.approx(0.8, abs=1e-6)


def test_the_better_of_two_alike_keeps_its_score_whatever_the_order_they_come_in():
    vectors = unit(0.0, 0.0)
    for hits in (ranked(0.9, 0.8), ranked(0.8, 0.9)):
        ordered = diversified(hits, pool([0.0] * 2, vectors=vectors), CONFIG)
        assert ordered[0].score == 0.9
        assert ordered[1].score == pytest.approx(0.64)


def test_a_hit_is_compared_by_its_row_of_the_pool():
    hits = [hit("a", row=2), hit("b", row=0)]
    hits[0].score, hits[1].score = 0.9, 0.8
    diversified(hits, pool([0.0] * 3, vectors=unit(0.0, 0.0, np.pi / 2)), CONFIG)
    assert [one.score for one in hits] == [0.9, 0.8]


def test_hits_without_vectors_are_no_duplicates():
    hits = ranked(0.9, 0.8)
    diversified(hits, pool([None, None]), CONFIG)
    assert [one.score for one in hits] == [0.9, 0.8]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 2 * np.pi)), min_size=1, max_size=8))
def test_a_penalty_is_bounded_shown_as_a_part_and_never_gates(drawn):
    hits = ranked(*(score for score, _ in drawn))
    ordered = diversified(hits, pool([0.0] * len(drawn), vectors=unit(*(angle for _, angle in drawn))), CONFIG)
    assert sorted(ids(ordered)) == sorted(ids(hits))
    assert [(-one.score, one.id) for one in ordered] == sorted((-one.score, one.id) for one in ordered)
    for one, (score, _) in zip(hits, drawn, strict=True):
        assert score * 0.8 - 1e-9 <= one.score <= score
        assert sum(one.parts.values()) == pytest.approx(one.score, abs=1e-9)


# the token budget


def test_what_fits_is_served_whole():
    served = fitted(worded(10, 20, 30), 60)
    assert (ids(served.hits), served.truncated) == ("abc", False)


def test_a_hit_that_does_not_fit_is_skipped_and_later_smaller_ones_come():
    hits = worded(10, 50, 15, 30, 5)
    served = fitted(hits, 30)
    assert (ids(served.hits), served.truncated) == ("ace", True)
    assert [one.stopped for one in hits] == [None, "token_budget", None, "token_budget", None]
    assert not any(one.cut for one in hits)


def test_a_first_hit_that_does_not_fit_is_cut_and_marked():
    hits = worded(50, 5)
    whole = hits[0].content
    served = fitted(hits, 20)
    assert (ids(served.hits), served.truncated) == ("a", True)
    assert hits[0].cut
    assert whole.startswith(hits[0].content)
    assert count(hits[0].content) == 20
    assert hits[1].stopped == "token_budget"


def test_a_budget_too_small_for_a_cut_serves_smaller_hits_or_nothing():
    assert ids(fitted(worded(50, 5), SMALLEST_CUT - 1).hits) == "b"
    nothing = fitted(worded(50, 20), SMALLEST_CUT - 1)
    assert (nothing.hits, nothing.truncated) == ([], True)


def test_nothing_to_serve_is_not_truncated():
    assert fitted([], 100).truncated is False


@given(st.lists(st.integers(1, 60), max_size=8), st.integers(1, 120))
def test_the_budget_is_never_exceeded_and_the_order_kept(sizes, budget):
    hits = worded(*sizes)
    served = fitted(hits, budget)
    assert sum(count(one.content) for one in served.hits) <= budget
    assert ids(served.hits) == "".join(id for id in ids(hits) if id in ids(served.hits))
    assert served.truncated == (sum(sizes) > budget)


def test_heirs_of_one_old_note_are_not_alike_for_that():
    vectors = np.repeat(np.eye(1, 4, dtype=np.float32), 2, axis=0)
    hits = [hit("a", row=0, own_row=-1), hit("b", row=1, own_row=-1)]
    for one in hits:
        one.score = 0.5
    assert [one.score for one in diversified(hits, pool(vectors=vectors), RecallConfig())] == [0.5, 0.5]
