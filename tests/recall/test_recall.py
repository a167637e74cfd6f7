"""memory.recall from request to answer, on the real server."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph import schema
from graph.errors import StoreTimeout, ValidationFailed
from recall.candidates import parameters
from recall.config import DECAY_MODELS, FEATURES, FUSIONS
from recall.hits import RecallRequest
from recall.pipeline import embed
from recall.tokens import count

BACKUP = "The backup job of the orders database runs every night at two and writes to the cold bucket in Oslo"
ASKED = "when does the backup job of the orders database run"


def faults(error: pytest.ExceptionInfo) -> set[str]:
    return {fault["field"] for fault in error.value.details["errors"]}


@pytest.fixture
def stocked(call):
    """A namespace with a dozen notes of one matter."""
    words = ["tulip", "rose", "lily", "iris", "aster", "daisy", "peony", "violet", "orchid", "poppy", "lilac", "clover"]
    items = [
        {
            "content": f"In the garden the {word} {'and the gate ' * n}are watered on day {n}",
            "salience": n / 12,
            "created_at": f"202{n % 6}-03-01T00:00:00Z",
        }
        for n, word in enumerate(words)
    ]
    call("memory.remember", items=items)
    return call


# answers that differ


def test_a_question_that_a_note_answers_is_answered(call):
    id = call.note(BACKUP)
    call.note("Ada waters the garden on Sundays")
    answer = call("memory.recall", query=ASKED)
    assert [hit["id"] for hit in answer["results"]] == [id]
    assert (answer["abstained"], answer["reason"], answer["degraded"], answer["truncated"]) == (False, None, [], False)
    assert answer["results"][0]["relevance"] >= 0.42


@pytest.mark.parametrize("query", ["what time is it", "hello", "thanks!", "2+2", "photosynthesis in algae", "the of and"])
def test_what_the_store_can_not_answer_is_abstained_from(stocked, query):
    stocked.note(BACKUP, salience=1.0)
    answer = stocked("memory.recall", query=query)
    assert (answer["results"], answer["abstained"], answer["reason"]) == ([], True, "below_floor")
    assert answer["candidates_evaluated"] >= 13
    assert answer["selected_count"] == 0
    assert answer["irrelevant_rate"] == 1.0
    assert 0 <= answer["best_score"] < 0.42


def test_an_empty_namespace_has_no_candidates(call):
    answer = call("memory.recall", query="anything at all", min_score=0)
    assert (answer["results"], answer["abstained"], answer["reason"]) == ([], True, "no_candidates")
    assert answer["candidates_evaluated"] == 0
    assert "irrelevant_rate" not in answer
    assert "best_score" not in answer


@pytest.mark.parametrize("query", ["", " ", "!!!", "•••", "zzzzzz", "\u200b", "？？"])
def test_a_query_without_meaning_abstains_and_reads_nothing(call, service, query, monkeypatch):
    call.note(BACKUP)

    def unread(*_: Any, **__: Any) -> None:
        raise AssertionError("nothing is to be read")

    monkeypatch.setattr(service.store, "rows", unread)
    monkeypatch.setattr(type(service.dispatcher.runtime.indexer.embedder), "queries", unread)
    answer = call("memory.recall", query=query)
    assert (answer["results"], answer["abstained"], answer["reason"]) == ([], True, "meaningless_query")
    assert answer["candidates_evaluated"] == 0


def test_a_budget_that_nothing_fits_is_no_abstention(stocked):
    answer = stocked("memory.recall", query="garden watered", min_score=0, token_budget=1)
    assert (answer["results"], answer["abstained"], answer["reason"], answer["truncated"]) == (
        [],
        False,
        "token_budget",
        True,
    )
    assert answer["candidates_evaluated"] == 12


def test_the_floor_can_be_raised_and_turned_off(stocked):
    assert stocked("memory.recall", query="garden", min_score=1)["reason"] == "below_floor"
    assert len(stocked("memory.recall", query="garden", min_score=0, limit=50)["results"]) == 12
    for floor in (0.1, 0.42, 0.9):
        answer = stocked("memory.recall", query="in the garden the peony", min_score=floor, limit=50)
        assert all(hit["relevance"] >= floor for hit in answer["results"])


# the answer's parts


def test_hits_are_ordered_by_score_and_then_by_id(stocked):
    for _n in range(3):
        stocked("kg.create", kind="memory", content="In the garden", created_at="2020-01-01T00:00:00Z")
    for config in ({}, {"relevance_weight": 0, "salience_weight": 1}, {"temporal_weight": 5}):
        hits = stocked("memory.recall", query="garden watered day", min_score=0, limit=50, config=config)["results"]
        keys = [(-hit["score"], hit["id"]) for hit in hits]
        assert keys == sorted(keys)
        assert len(keys) == 15


def test_a_limit_cuts_after_the_order(stocked):
    whole = stocked.found("garden watered day", limit=50)
    assert stocked.found("garden watered day", limit=3) == whole[:3]


WEIGHT = st.floats(0, 1e6)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    config=st.fixed_dictionaries(
        {},
        optional={
            "relevance_weight": st.floats(0.01, 1e6),
            "salience_weight": WEIGHT,
            "temporal_weight": WEIGHT,
            "temporal_half_life_days": st.floats(1e-6, 1e6),
            "decay_model": st.sampled_from(DECAY_MODELS),
            "reranker_weights": st.dictionaries(st.sampled_from(FEATURES), WEIGHT).filter(
                lambda w: not w or sum(w.values()) > 0
            ),
        },
    ),
    fusion=st.sampled_from(FUSIONS),
)
def test_what_explain_shows_sums_to_the_score(stocked, config, fusion):
    answer = stocked("memory.recall", query="garden watered peony", min_score=0, explain=True, config=config, fusion=fusion)
    assert answer["results"]
    for hit in answer["results"]:
        assert sum(hit["breakdown"]["parts"].values()) == pytest.approx(hit["score"], abs=1e-9)
        assert 0 <= hit["score"] <= 1
        assert all(np.isfinite(list(hit["breakdown"]["evidence"].values())))


def test_explain_shows_what_was_not_served_and_what_stopped_it(stocked):
    answer = stocked("memory.recall", query="photosynthesis", explain=True)
    assert {row["stopped"] for row in answer["near_floor"]} == {"floor"}
    assert len(answer["near_floor"]) == 12
    answer = stocked("memory.recall", query="garden", min_score=0, limit=2, explain=True)
    assert {row["stopped"] for row in answer["near_floor"]} == {"limit"}
    assert len(answer["near_floor"]) == 10
    assert "near_floor" not in stocked("memory.recall", query="garden")
    assert "breakdown" not in stocked("memory.recall", query="garden", min_score=0)["results"][0]


def test_an_answer_says_what_was_counted_and_how_long_each_stage_took(stocked):
    answer = stocked("memory.recall", query="garden", min_score=0, limit=3, memory_type=["episodic", "self"])
    assert (answer["candidates_evaluated"], answer["selected_count"]) == (12, 3)
    assert answer["irrelevant_rate"] == 9 / 12
    assert answer["types_queried"] == ["episodic", "self"]
    assert stocked("memory.recall", query="garden")["types_queried"] == []
    assert set(answer["took_ms"]) == {"embed", "candidates", "fuse", "score", "serve"}
    assert all(took >= 0 for took in answer["took_ms"].values())


def test_a_hit_carries_the_fields_of_its_note(call):
    id = call.note(BACKUP, tags=["ops"], key="backup", source="wiki", salience=0.7, created_at="2025-01-01T00:00:00Z")
    (hit,) = call("memory.recall", query=ASKED, min_score=0)["results"]
    shown = {
        name: hit[name]
        for name in ["id", "kind", "content", "salience", "memory_type", "created_at", "tags", "key", "source"]
    }
    assert shown == {
        "id": id,
        "kind": "memory",
        "content": BACKUP,
        "salience": 0.7,
        "memory_type": "episodic",
        "created_at": "2025-01-01T00:00:00Z",
        "tags": ["ops"],
        "key": "backup",
        "source": "wiki",
    }
    assert 0 < hit["effective_salience"] < 0.7
    assert 0 < hit["temporal"] < 1


def test_salience_alone_brings_nothing_in(call):
    call.note(BACKUP, salience=1.0, decay_factor=0)
    answer = call(
        "memory.recall", query="who painted the chapel ceiling", config={"salience_weight": 1e6, "relevance_weight": 0}
    )
    assert (answer["results"], answer["reason"]) == ([], "below_floor")


def test_weights_of_the_request_reorder(call):
    old = call.note("The ferry leaves at nine on the day", salience=1.0, created_at="2015-01-01T00:00:00Z", decay_factor=0)
    new = call.note("The ferry leaves at nine on the way", salience=0.0)
    query = "The ferry leaves at nine"
    assert call.found(query, config={"salience_weight": 100}) == [old, new]
    assert call.found(query, config={"temporal_weight": 100}) == [new, old]


def test_a_reranker_replaces_the_score_and_the_rest_stays(stocked):
    hits = stocked(
        "memory.recall",
        query="peony garden",
        min_score=0,
        explain=True,
        config={"reranker_weights": {"text_match": 2, "salience": 1}},
    )["results"]
    assert all(set(hit["breakdown"]["parts"]) <= {"text_match", "salience", "near_duplicate"} for hit in hits)
    assert "peony" in hits[0]["content"]


@pytest.mark.parametrize("feature", FEATURES)
def test_each_feature_can_rerank_alone(stocked, feature):
    hits = stocked("memory.recall", query="garden peony", min_score=0, config={"reranker_weights": {feature: 1}})["results"]
    assert len(hits) == 10
    assert len({hit["score"] for hit in hits}) > 1 or feature == "temporal"


def test_linked_notes_gain_by_the_graph_feature(call):
    asked = call.note("The key of the boathouse hangs by the door")
    linked = call.note("Ask Ben about it when he is home", follows=asked)
    stranger = call.note("Ask Ada about her aunt on Monday")
    hits = call("memory.recall", query="key of the boathouse", min_score=0, config={"reranker_weights": {"graph": 1}})[
        "results"
    ]
    order = [hit["id"] for hit in hits]
    assert order.index(linked) < order.index(stranger)
    assert order[0] == asked


@pytest.mark.parametrize("fusion", FUSIONS)
def test_every_fusion_answers(stocked, fusion):
    answer = stocked("memory.recall", query="peony garden", min_score=0, fusion=fusion)
    assert len(answer["results"]) == 10
    assert answer["degraded"] == []
    legs = set().union(*(hit["sources"] for hit in answer["results"]))
    assert legs <= {"vector_only": {"vector"}, "keyword_only": {"text"}}.get(fusion, {"vector", "text"})


# contents and the budget


def test_what_does_not_fit_the_budget_is_skipped_and_smaller_hits_come(call):
    call.note("The heron " + "waits by the old mill pond " * 60)
    small = [call.note(f"The heron sat on post {n}") for n in range(3)]
    query = "The heron sat on post"
    answer = call("memory.recall", query=query, min_score=0, token_budget=60, explain=True)
    assert {hit["id"] for hit in answer["results"]} == set(small)
    assert answer["truncated"] is True
    assert sum(count(hit["content"]) for hit in answer["results"]) <= 60
    assert [row["stopped"] for row in answer["near_floor"]] == ["token_budget"]


def test_a_first_hit_past_the_budget_is_cut_and_marked(call):
    whole = "The heron " + "waits by the old mill pond " * 60
    call.note(whole)
    answer = call("memory.recall", query="heron mill pond", min_score=0, token_budget=50)
    (hit,) = answer["results"]
    assert (hit["cut"], answer["truncated"]) == (True, True)
    assert whole.startswith(hit["content"])
    assert 40 <= count(hit["content"]) <= 50


def test_a_long_note_comes_whole_unless_its_passage_is_enough(call, service, monkeypatch):
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 64)
    whole = " ".join(f"On day {n} the {'heron' if n == 50 else 'crane'} stands by the pond." for n in range(100))
    call.note(whole)
    (hit,) = call("memory.recall", query="heron", min_score=0)["results"]
    assert hit["content"] == whole
    assert "cut" not in hit
    (hit,) = call("memory.recall", query="heron", min_score=0, full_content=False)["results"]
    assert hit["content"] == hit["passage"] != whole
    assert "heron" in hit["content"]
    assert hit["cut"] is True


# requests that are refused


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"query": None}, "query"),
        ({"query": "x" * 65_537}, "query"),
        ({"query": "\ud800"}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 201}, "limit"),
        ({"limit": 5.0}, "limit"),
        ({"min_score": 1.1}, "min_score"),
        ({"min_score": float("nan")}, "min_score"),
        ({"memory_type": "vague"}, "memory_type"),
        ({"memory_type": ["self", "vague"]}, "memory_type.1"),
        ({"kind": ""}, "kind"),
        ({"tags": "ops"}, "tags"),
        ({"fusion": "best"}, "fusion"),
        ({"as_of": "2026-01-01T00:00:00"}, "as_of"),
        ({"include_superseded": "yes"}, "include_superseded"),
        ({"token_budget": 0}, "token_budget"),
        ({"token_budget": 16_001}, "token_budget"),
        ({"deadline_s": 0}, "deadline_s"),
        ({"colour": "red"}, "colour"),
        ({"config": []}, "config"),
        ({"config": {"relevance_weight": -1}}, "config.relevance_weight"),
        ({"config": {"relevance_weight": float("inf")}}, "config.relevance_weight"),
        ({"config": {"relevance_weight": 0, "salience_weight": 0, "temporal_weight": 0}}, "config.relevance_weight"),
        ({"config": {"temporal_half_life_days": 0}}, "config.temporal_half_life_days"),
        ({"config": {"decay_model": "linear"}}, "config.decay_model"),
        ({"config": {"vector_weight": 0.5}}, "config.vector_weight"),
        ({"config": {"reranker_weights": {"beauty": 1}}}, "config.reranker_weights"),
        ({"config": {"reranker_weights": {"graph": -1}}}, "config.reranker_weights"),
        ({"config": {"reranker_weights": {"graph": "1"}}}, "config.reranker_weights"),
        ({"config": {"reranker_weights": {"graph": 0}}}, "config.reranker_weights"),
        ({"config": {"reranker_weights": [1]}}, "config.reranker_weights"),
        ({"config": {"scoring": {"relevance_weight": 1}}}, "config.scoring"),
    ],
)
def test_a_bad_setting_is_refused_by_its_field_before_anything_is_read(call, service, fields, field, monkeypatch):
    def unread(*_: Any, **__: Any) -> None:
        raise AssertionError("nothing is to be read")

    monkeypatch.setattr(service.store, "rows", unread)
    monkeypatch.setattr(type(service.dispatcher.runtime.indexer.embedder), "queries", unread)
    with pytest.raises(ValidationFailed) as error:
        call("memory.recall", **{"query": "x"} | fields)
    assert field in faults(error)


def test_all_faults_are_reported_at_once(call):
    with pytest.raises(ValidationFailed) as error:
        call("memory.recall", query=7, limit=0, config={"decay_model": "x", "more": 1}, colour="red")
    assert faults(error) == {"query", "limit", "config.decay_model", "config.more", "colour"}


# trouble


def test_recall_changes_nothing_that_it_ranks_by(stocked, by_hand):
    nodes = (
        "MATCH (n {ns: $ns}) WHERE NOT n:Namespace AND NOT n:Serve "
        "RETURN n{.*, embedding: null} AS node, labels(n) AS labels ORDER BY n.id"
    )
    before = by_hand(nodes)
    first = stocked("memory.recall", query="garden peony", min_score=0)
    again = stocked("memory.recall", query="garden peony", min_score=0)
    assert by_hand(nodes) == before
    assert [hit["id"] for hit in first["results"]] == [hit["id"] for hit in again["results"]]
    assert [hit["relevance"] for hit in first["results"]] == [hit["relevance"] for hit in again["results"]]


def test_a_full_text_index_that_is_gone_degrades_the_text_leg_and_the_rest_answers(call, service, driver):
    id = call.note(BACKUP)
    driver.execute_query("DROP INDEX current_text")
    try:
        answer = call("memory.recall", query=ASKED, min_score=0)
        assert answer["degraded"] == ["text"]
        assert [(hit["id"], hit["sources"]) for hit in answer["results"]] == [(id, ["vector"])]
    finally:
        service.store.auto("schema.010_current_text")
        schema.await_online(service.store)
        memory = service.dispatcher.runtime.states["memory"]
        memory.warmer.now()
    answer = call("memory.recall", query=ASKED, min_score=0)
    assert answer["degraded"] == []
    assert answer["results"][0]["sources"] == ["text", "vector"]


@pytest.fixture
def slow_vector_leg(service, ns, monkeypatch):
    """The vector leg of the real statement counts to ten thousand million before it searches."""
    memory, store = service.dispatcher.runtime.states["memory"], service.store
    statement = store.statements["recall.candidates"]
    search = "  MATCH (n:Current)\n    SEARCH"
    assert statement.text.count(search) == 1
    count_first = "  UNWIND range(1, 100000) AS i UNWIND range(1, 100000) AS j WITH go, count(i + j) AS ticks\n"
    slow = dataclasses.replace(statement, text=statement.text.replace(search, count_first + search))
    monkeypatch.setitem(store.statements, "recall.candidates", slow)
    query = embed(RecallRequest(query=ASKED), memory)
    params = parameters(ns, query, RecallRequest(query=ASKED), memory.config, ["memory"])
    params["ask"]["near"] = False
    store.within(ns).one("recall.candidates", timeout_s=60, **params)  # planned, so that only the leg is slow


def test_a_vector_leg_past_its_limit_is_named_and_the_rest_answers(call, slow_vector_leg):
    id = call.note(BACKUP)
    started = time.monotonic()
    answer = call("memory.recall", query=ASKED)
    assert answer["degraded"] == ["vector"]
    assert [(hit["id"], hit["sources"]) for hit in answer["results"]] == [(id, ["text"])]
    assert time.monotonic() - started < 10


def test_a_neuron_and_an_abstraction_rank_beside_a_note_that_says_the_same(call):
    """Raw scores would not do: an importance, a confidence and a full-text score have no scale in common."""
    said = "The backup of the orders database runs at night and goes to the cold bucket"
    note = call.note(f"{said} in Oslo", salience=0.5)
    fields = {"salience": 0.5, "decay_factor": 0.02, "memory_type": "episodic"}
    neuron = call("kg.create", label="Neuron", content=f"{said} in Bergen", triggers=["backup"], importance=1.0, **fields)[
        "id"
    ]
    fact = call("kg.create", label="Abstraction", content=f"{said} in Narvik", **fields)["id"]
    shout = call("kg.create", label="Neuron", content="Water the fig tree", triggers=["watering"], importance=1.0)["id"]
    hits = {hit["id"]: hit for hit in call("memory.recall", query=f"{said}, where?", explain=True)["results"]}
    assert set(hits) == {note, neuron, fact}
    assert shout not in hits
    for measure in ("relevance", "score"):
        values = [hits[id][measure] for id in (note, neuron, fact)]
        assert max(values) - min(values) < 0.05


def test_a_deadline_that_is_past_is_a_timeout(call):
    call.note(BACKUP)
    with pytest.raises(StoreTimeout, match=r"deadline|limit"):
        call("memory.recall", query=ASKED, deadline_s=1e-6)
    with pytest.raises(StoreTimeout):
        call.dispatcher.call("memory.recall", {"query": ASKED}, ns=call.ns, deadline_s=1e-6)


def test_a_generous_deadline_of_the_caller_does_not_stretch_a_short_one_of_the_request(call):
    started = time.monotonic()
    with pytest.raises(StoreTimeout):
        call.dispatcher.call("memory.recall", {"query": ASKED, "deadline_s": 1e-6}, ns=call.ns, deadline_s=60)
    assert time.monotonic() - started < 5


def test_a_store_of_one_note_and_one_of_a_hundred_alike_give_sensible_answers(call):
    one = call.note(BACKUP)
    assert call.found(ASKED, min_score=0.42) == [one]
    alike = call.within(f"{call.ns}.alike")
    alike("memory.remember", items=[{"content": BACKUP}] * 100)
    answer = alike("memory.recall", query=ASKED)
    assert 1 <= answer["selected_count"] <= 10
    assert alike("memory.recall", query="photosynthesis in algae")["abstained"] is True


def test_a_query_asked_again_is_not_embedded_again(service, call, monkeypatch):
    memory = service.dispatcher.runtime.states["memory"]
    call.note("The heron nests by the sluice.")
    asked = []
    embed = memory.embedder.queries
    monkeypatch.setattr(memory.embedder, "queries", lambda texts: asked.extend(texts) or embed(texts))
    first = call.found("where does the heron nest, once more")
    assert call.found("where does the heron nest, once more") == first
    assert asked == ["where does the heron nest, once more"]
