"""Evidence: what speaks for a candidate, from hand-made pools."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from recall.background import Background
from recall.evidence import NAMES, Candidates, Evidence, gathered
from recall.links import linked
from recall.text import query_terms, terms


def candidates(
    texts: Sequence[str], follows: Sequence[Sequence[str]] = (), vectors: NDArray[np.float32] | None = None
) -> Candidates:
    """A pool of notes whose ids are their rows."""
    return Candidates(
        note_ids=[str(row) for row in range(len(texts))],
        terms=[" ".join(terms(text)) for text in texts],
        vectors=np.zeros((len(texts), 384), np.float32) if vectors is None else vectors,
        follows=follows or [()] * len(texts),
        contents=list(texts),
    )


def asked(query: str, texts: Sequence[str], follows: Sequence[Sequence[str]] = ()) -> Evidence:
    return gathered(candidates(texts, follows), query_terms(query), None, Background.shipped())


def test_an_empty_pool_has_no_evidence() -> None:
    assert asked("anchor", []).values.shape == (0, len(NAMES))


def test_coverage_is_the_share_of_the_query_that_a_note_has() -> None:
    found = asked("spare anchor stowed", ["The spare anchor is stowed aft.", "A spare key.", "Nothing here."]).column(
        "coverage"
    )
    assert found[0] == pytest.approx(1, abs=0.01)
    assert 0 < found[1] < 0.5
    assert found[2] == 0


def test_a_rare_word_covers_more_than_a_common_one() -> None:
    texts = ["the zeppelin", "the time", *["another time"] * 20]
    found = asked("zeppelin time", texts).column("coverage")
    assert found[0] > found[1] + 0.3


def test_a_word_that_no_note_has_counts_as_the_rarest() -> None:
    known = asked("anchor chain", ["anchor chain", "chain"]).column("coverage")
    unknown = asked("anchor xqzv", ["anchor chain", "chain"]).column("coverage")
    assert known[0] > 0.99
    assert unknown[0] < 0.6


def test_words_side_by_side_are_told_from_the_same_words_apart() -> None:
    query = "where is Toad Hall"
    together = asked(query, ["Toad Hall lies by the river.", "A hall."]).column("side_by_side")
    across = asked(query, ["A toad sat on the wide stone stairs before the hall.", "A toad", "Hall of fame"]).column(
        "side_by_side"
    )
    inflected = asked("act of war", ["Acts of war."]).column("side_by_side")
    assert together.tolist() == pytest.approx([1, 1])
    assert across.tolist() == [0, 0, 0]
    assert inflected[0] == pytest.approx(1)


def test_a_word_alone_is_beside_no_other() -> None:
    assert asked("anchor", ["anchor", "anchor anchor"]).column("side_by_side").tolist() == [0, 0]


def test_what_no_candidate_has_is_unknown_in_nats() -> None:
    none = asked("anchor chain", ["an anchor", "a chain"]).column("unknown")
    some = asked("anchor xqzv", ["an anchor", "a chain"]).column("unknown")
    more = asked("anchor xqzv qwzj", ["an anchor", "a chain"]).column("unknown")
    assert none.tolist() == [0, 0]
    assert 0 < some[0] < more[0]
    assert np.expm1(more[0]) == pytest.approx(2 * np.expm1(some[0]))


def test_the_best_by_both_is_one_candidate() -> None:
    """Two candidates, one near in meaning and one with the words, are less than one that is both."""
    vectors = np.eye(3, 384, dtype=np.float32)

    def best(texts: Sequence[str]) -> float:
        pool = candidates(texts, vectors=vectors[: len(texts)])
        return float(gathered(pool, query_terms("anchor chain"), vectors[0], Background.shipped()).column("best_both")[0])

    assert best(["anchor chain", "a wall"]) > best(["a wall", "anchor chain"]) + 0.5


def test_parts_and_stems_count_almost_as_the_word() -> None:
    found = asked("ADR-0172", ["Rule ADR-0172.", "Rule ADR 0172.", "Rule ADR-0173."]).column("coverage")
    assert found[0] == pytest.approx(1)
    assert found[0] > found[1] > 0.8
    assert found[1] > found[2] + 0.2


def test_a_run_of_han_is_covered_by_its_characters() -> None:
    found = asked("钢琴室预约", ["图书馆二楼的钢琴室可以免费预约练习。", "会议室在三楼。"]).column("coverage")
    assert found[0] == pytest.approx(1)
    assert found[1] < 0.5


def test_small_talk_has_no_matter() -> None:
    for query in ("what time is it", "hello", "thanks a lot", "2+2", "please continue", "how are you?", "the of and"):
        assert asked(query, ["hello, what time is it"]).column("matter").max() == 0
    assert asked("tide clock time", ["hello"]).column("matter")[0] > 0.8


def test_the_turn_before_lends_its_words() -> None:
    texts = ["What breed is the new dog?", "A beagle mix.", "It rains."]
    found = asked("dog breed", texts, follows=[["1"], ["0", "2"], ["1"]]).column("beside_coverage")
    assert found[1] > 0.3
    assert found[2] == 0


def test_a_neighbour_outside_the_pool_is_no_fault() -> None:
    assert asked("dog", ["A dog."], follows=[["77"]]).column("beside_coverage")[0] == 0


def test_a_row_without_a_vector_is_told_apart() -> None:
    vectors = np.zeros((2, 384), np.float32)
    vectors[0, 0] = 1
    found = gathered(candidates(["a", "b"], vectors=vectors), query_terms("a"), vectors[0], Background.shipped())
    assert found.has_meaning.tolist() == [True, False]
    assert np.isfinite(found.values).all()
    assert found.column("meaning")[0] > found.column("meaning")[1]


def test_copies_have_the_same_evidence() -> None:
    found = asked("tide clock", ["The tide clock runs slow."] * 5).values
    assert np.ptp(found, axis=0).max() == 0


def test_a_name_that_a_good_row_brings_up_leads_to_the_row_about_it() -> None:
    texts = [
        "Hello Love. Hello Love is a single by Hank Snow.",
        "Hank Snow. Hank Snow died in Madison, Tennessee.",
        "Publix. Publix is a chain of shops.",
    ]
    pool, query = candidates(texts), query_terms("who performed Hello Love and where did the performer live")
    found = gathered(pool, query, None, Background.shipped())
    reach = linked(pool, found.values, np.array([3.0, -3.0, -3.0]), query, Background.shipped())
    assert reach[1] > 0.2
    assert reach[1] > 4 * reach[0]
    assert reach[2] == 0
    assert linked(pool, found.values, np.zeros(3), None, Background.shipped()).max() == 0


def test_a_background_knows_how_common_its_words_are() -> None:
    texts = ["tide gauge", "tide table", "walnut"]
    measured = Background.measure([" ".join(terms(text)) for text in texts], np.zeros((3, 384), np.float32))
    assert measured.share("tide") == pytest.approx(2 / 3)
    assert measured.share("zeppelin") == 0
    assert Background.shipped().share("tide") == 0


def test_a_background_comes_back_from_its_bytes() -> None:
    vectors = np.random.default_rng(7).normal(size=(80, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    measured = Background.measure([f"word{row} tide" for row in range(80)], vectors)
    again = Background.from_bytes(measured.to_bytes())
    assert again.notes == 80
    assert again.spread == measured.spread
    assert np.array_equal(again.counts, measured.counts)
    assert again.centre is not None
    assert measured.centre is not None
    assert np.array_equal(again.centre, measured.centre)
    with pytest.raises(ValueError, match=r"pickled|magic"):
        Background.from_bytes(b"nothing of the kind")


def test_few_notes_lean_on_the_shipped_centre() -> None:
    vector = np.zeros((1, 384), np.float32)
    vector[0, 0] = 1
    few, shipped = Background.measure(["tide"], vector), Background.shipped()
    assert few.centre is not None
    assert shipped.centre is not None
    assert few.centre @ shipped.centre > 0.9 * float(shipped.centre @ shipped.centre)
    assert few.spread == shipped.spread
    assert Background.shipped("unheard-of").centre is None
