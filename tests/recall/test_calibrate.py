"""Relevance: what the shipped calibration says of small stores, and that it is sound."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from graph.settings import Settings
from recall.background import Background
from recall.calibrate import AT_FLOOR, FILE, MODES, Calibration, Odds, shipped
from recall.calibrate_measure import auroc
from recall.config import RECALL_MIN_SCORE
from recall.embed import E5_NAME, Embedder, Hashing, embedder
from recall.evidence import NAMES
from recall.hits import Pool, Query
from recall.text import query_terms, terms

STORE = [
    "The greenhouse fan in bay four trips its breaker whenever humidity passes ninety percent.",
    "Marta prefers the window seat on the early train to Leeds.",
    "The telescope mirror was recoated in spring and needs a dust cover.",
    "Pump station seven uses a backup generator with forty litres of diesel.",
    "Rowan's allergy list includes walnuts and shellfish.",
    "Rule ADR-0172 moves the tide-gauge logger to a write-ahead journal.",
    "每周三下午三点，图书馆二楼的钢琴室可以免费预约练习。",
    "화요일마다 식물원 온실에서 난초 분갈이 수업이 열립니다.",
    "Library fastpump v2.14.3-rc1 fixed the leaking socket.",
]
RISES = [
    *("closeness", "meaning", "coverage", "words", "information", "beside_coverage", "linked", "matter"),
    *("best_closeness", "best_coverage", "best_information", "best_both", "side_by_side"),
]
FALLS = ["unknown", "meaning_behind", "coverage_behind", "crowd_coverage", "crowd_meaning", "stop_words", "size"]


@pytest.fixture(scope="module")
def e5() -> Embedder:
    return embedder(E5_NAME, Settings.from_environment())


def relevances(texts: Sequence[str], query: str, model: Embedder, *, words: bool = True, vector: bool = True) -> list[float]:
    """Relevance of each text of a store for a query."""
    n = len(texts)
    pool = Pool(
        hit_ids=[str(row) for row in range(n)],
        note_ids=[str(row) for row in range(n)],
        vias=[""] * n,
        cosine=np.zeros(n),
        bm25=np.zeros(n),
        vectors=model.documents(texts),
        terms=[" ".join(terms(text)) for text in texts],
        legs=[frozenset()] * n,
        paths=[""] * n,
        passages=[""] * n,
        columns={"contents": list(texts)},
        evaluated=n,
    )
    asked = Query(text=query, terms=query_terms(query), embedding=model.queries([query])[0] if vector else None)
    found: list[float] = shipped().relevance(pool, asked, Background.shipped(model.name), words=words).tolist()
    return found


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("greenhouse fan breaker humidity", 0),
        ("which seat does Marta like on the train", 1),
        ("what is Rowan allergic to", 4),
        ("ADR 0172", 5),
        ("tide gauge", 5),
        ("钢琴室预约", 6),
        ("난초분갈이", 7),
        ("v2.14.3-rc1", 8),
    ],
)
def test_a_question_finds_its_note_and_little_else(e5: Embedder, query: str, row: int) -> None:
    found = relevances(STORE, query, e5)
    assert found[row] >= RECALL_MIN_SCORE
    assert found[row] == max(found)
    assert sum(value >= RECALL_MIN_SCORE for value in found) <= 2


NOTHING = ["hello", "thanks!", "what time is it", "2+2", "tell me a joke", "the of and", "lol", "xqzv plorf", "量子力学"]


@pytest.mark.parametrize("query", [*NOTHING, "submarine cable tariffs in Patagonia"])
def test_small_talk_and_strange_questions_bring_nothing(e5: Embedder, query: str) -> None:
    assert max(relevances(STORE, query, e5)) < RECALL_MIN_SCORE
    assert max(relevances(STORE, query, e5, vector=False)) < RECALL_MIN_SCORE
    assert max(relevances(STORE, query, e5, words=False)) < RECALL_MIN_SCORE


@pytest.mark.parametrize("copies", [1, 5, 300])
def test_one_note_or_many_copies_answer_alike(e5: Embedder, copies: int) -> None:
    store = ["The tide clock in the hall runs four minutes slow."] * copies
    found = relevances(store, "tide clock hall slow", e5)
    assert min(found) == max(found) >= RECALL_MIN_SCORE
    assert max(relevances(store, "harvest supper seating", e5)) < RECALL_MIN_SCORE


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("the pump station's backup generator", 3),
        ("telescope mirror dust cover", 2),
        ("Marta's window seat on the train", 1),
    ],
)
def test_words_alone_and_vectors_alone_find_the_note_too(e5: Embedder, query: str, row: int) -> None:
    for options in ({"vector": False}, {"words": False}):
        found = relevances(STORE, query, e5, **options)
        assert found[row] == max(found) >= RECALL_MIN_SCORE


def test_a_model_that_was_not_calibrated_is_judged_by_words() -> None:
    found = relevances(STORE, "greenhouse fan breaker", Hashing())
    assert found == relevances(STORE, "greenhouse fan breaker", Hashing(), vector=False)
    assert found[0] >= RECALL_MIN_SCORE


def test_relevance_lies_between_0_and_1_and_orders_finely(e5: Embedder) -> None:
    found = relevances([f"Weather balloon {row} carries {row} sondes." for row in range(60)], "weather balloon 7", e5)
    assert all(0 < value < 1 for value in found)
    assert found[7] == max(found)
    assert len(set(found)) > 50


@pytest.mark.parametrize("mode", MODES)
def test_relevance_never_falls_when_evidence_rises(mode: str) -> None:
    calibrator = shipped().modes[mode]
    random = np.random.default_rng(3)
    assert {*RISES, *FALLS} == {*NAMES}
    base = np.abs(random.normal(size=(50, len(NAMES))))
    before = calibrator.probability(base)
    for name in RISES + FALLS:
        more = base.copy()
        more[:, NAMES.index(name)] += 0.5
        change = calibrator.probability(more) - before
        assert (change >= 0).all() if name in RISES else (change <= 0).all()


def test_caution_lowers_a_ratio_only_near_the_floor_and_keeps_the_order() -> None:
    ratios = np.linspace(-12, 12, 481)[:, None] * np.eye(1, len(NAMES))
    plain, careful = (Odds(0.0, np.eye(1, len(NAMES))[0], caution) for caution in (0.0, 2.0))
    before, after = plain.log_ratio(ratios), careful.log_ratio(ratios)
    assert (np.diff(after) > 0).all()
    assert ((before - after) <= 2.0).all()
    assert (before[np.abs(before) > 4] == after[np.abs(before) > 4]).all()
    far = (before < AT_FLOOR - 0.3) | (before > AT_FLOOR + 2.6)
    assert (before[far] == after[far]).all()
    crossing = before[np.searchsorted(after, AT_FLOOR)]
    assert crossing - AT_FLOOR == pytest.approx(2.0, abs=0.06)


def test_extreme_evidence_overflows_nothing() -> None:
    for value in (-1e9, 0.0, 1e9):
        found = shipped().modes["hybrid"].probability(np.full((3, len(NAMES)), value))
        assert np.isfinite(found).all()


def test_an_empty_pool_has_no_relevance(e5: Embedder) -> None:
    assert relevances([], "anything", Hashing()) == []


def test_a_calibration_of_another_kind_is_refused(tmp_path: Path) -> None:
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    (tmp_path / "old.json").write_text(json.dumps(stored | {"version": 0}), encoding="utf-8")
    with pytest.raises(ValueError, match="version"):
        Calibration.load(tmp_path / "old.json")
    stored["modes"]["dense"]["match"]["weights"]["charm"] = 1.0
    (tmp_path / "odd.json").write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(ValueError, match="charm"):
        Calibration.load(tmp_path / "odd.json")


def test_what_ships_says_what_it_was_fitted_on_and_how_well_it_is_calibrated() -> None:
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    assert "locomo" not in json.dumps(stored["fitted_on"]).casefold()
    assert (FILE.parent.parent / stored["fitted_on"]["labels"]).exists()
    curve = stored["reliability"]["hybrid"]
    assert sum(bin["weight"] * abs(bin["true"] - bin["mean"]) for bin in curve) < 0.10


def test_auroc_counts_ties_half() -> None:
    assert auroc([1.0, 0.5], [0.5, 0.0]) == pytest.approx(0.875)
