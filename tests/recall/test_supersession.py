"""What is new supersedes what is old: recall shows only heads, and the old words lead to them."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from recall.config import FUSIONS

YEARS = [f"20{year:02}-01-01T00:00:00Z" for year in range(10, 99)]
OLD = "The backup job of the orders database runs every night at two and writes to the cold bucket in Oslo"
QUESTION = "when does the backup job of the orders database run"
DRAW = "MATCH (new {id: $new}), (old {id: $old}) CREATE (new)-[:SUPERSEDES]->(old)"


def recall(call, query: str = QUESTION, **fields: Any) -> dict[str, dict[str, Any]]:
    """Hits by id, in order, without a floor."""
    return {hit["id"]: hit for hit in call("memory.recall", query=query, **{"min_score": 0} | fields)["results"]}


def old_step(hit: dict[str, Any]) -> dict[str, Any]:
    (step,) = [step for step in hit["path"] if step["leg"] == "superseded"]
    return step


@pytest.fixture
def chain(call):
    """A <- B <- C, a year apart, of different words."""
    a = call.note(OLD, created_at=YEARS[0])
    b = call.note("It has moved to three in the morning", created_at=YEARS[1], supersedes=[a])
    c = call.note("Four o'clock since the upgrade", created_at=YEARS[2], supersedes=[b])
    return a, b, c


def test_a_short_correction_is_found_by_the_words_of_the_long_note_that_it_replaces(call):
    old = call.note(OLD)
    new = call.note("No, at four now", supersedes=[old])
    answer = call("memory.recall", query=QUESTION)
    (hit,) = answer["results"]
    assert (hit["id"], hit["content"], answer["abstained"]) == (new, "No, at four now", False)
    assert old_step(hit) == {"leg": "superseded", "id": old, "content": OLD}
    assert "superseded" in hit["sources"]
    assert "superseded" not in hit


@pytest.mark.parametrize("fusion", ["vector_only", "keyword_only", "weighted", "rrf", "union"])
def test_each_leg_follows_the_old_words_to_the_head(call, fusion):
    new = call.note("No, at four now", supersedes=[call.note(OLD)])
    assert list(recall(call, fusion=fusion)) == [new]


def test_what_is_served_is_the_head_with_its_own_salience_and_time(call):
    old = call.note(OLD, salience=0.9, created_at=YEARS[0], tags=["old"])
    new = call.note("No, at four now", salience=0.1, created_at=YEARS[5], supersedes=[old])
    hit = recall(call)[new]
    assert (hit["salience"], hit["created_at"], hit["tags"]) == (0.1, YEARS[5], [])


def test_of_a_chain_only_the_head_is_shown_by_the_words_of_any_member(call, chain):
    a, b, c = chain
    for query in (QUESTION, "moved to three in the morning", "four o'clock upgrade"):
        assert list(recall(call, query)) == [c]
    assert old_step(recall(call)[c])["id"] == a
    assert old_step(recall(call, "moved three morning")[c])["id"] == b


def test_of_a_fork_both_heads_are_shown(call):
    old = call.note(OLD)
    heads = {call.note("At four, says Ada", supersedes=[old]), call.note("At five, says Ben", supersedes=[old])}
    hits = recall(call)
    assert set(hits) == heads
    assert {old_step(hit)["id"] for hit in hits.values()} == {old}


def test_one_note_that_replaces_two_is_shown_once(call):
    olds = [call.note(OLD), call.note("The orders database backup job takes an hour")]
    new = call.note("See the new runbook", supersedes=olds)
    hits = recall(call)
    assert list(hits) == [new]
    assert old_step(hits[new])["id"] in olds


def test_a_diamond_shows_its_one_head_once(call):
    root = call.note(OLD)
    sides = [call.note(side, supersedes=[root]) for side in ("left", "right")]
    head = call.note("both sides joined", supersedes=sides)
    assert list(recall(call)) == [head]


def test_deleting_the_head_brings_the_one_before_back(call, chain):
    a, b, c = chain
    call("kg.delete", id=c)
    assert list(recall(call)) == [b]
    call("kg.delete", id=b)
    assert list(recall(call)) == [a]
    assert recall(call)[a]["path"] == []


def test_deleting_a_middle_note_brings_what_it_replaced_back(call, chain):
    a, b, c = chain
    call("kg.delete", id=b)
    assert set(recall(call, f"{OLD} four o'clock upgrade")) == {a, c}


def test_a_head_is_found_through_thirty_predecessors(call, service):
    words = ("anvil", "basket", "candle", "drum", "engine", "fiddle", "goblet", "hammer")
    items = [
        {"content": f"version {n} keeps a {word} there", "created_at": YEARS[n]}
        for n, word in zip(range(31), itertools.cycle(words), strict=False)
    ]
    ids = [result["id"] for result in call("memory.remember", items=items)["results"]]
    edges = [{"source": new, "target": old, "relation": "supersedes"} for old, new in itertools.pairwise(ids)]
    call("kg.link", items=edges)
    hits = recall(call, "who keeps the anvil there", limit=50)
    assert list(hits) == [ids[-1]]
    assert len(call("kg.history", id=ids[0])["results"]) == 31
    assert recall(call, "anvil", as_of=YEARS[0]).keys() == {ids[0]}


def test_an_expired_head_leads_to_nothing_and_its_predecessor_stays_silent(call, by_hand):
    old = call.note(OLD)
    new = call.note("No, at four now", supersedes=[old], expires_at="2999-01-01T00:00:00Z")
    assert list(recall(call)) == [new]
    assert list(recall(call, as_of="2999-06-01T00:00:00Z")) == []


def test_filters_apply_to_the_head_that_is_served(call):
    old = call("kg.create", kind="memory", content=OLD, memory_type="semantic")["id"]
    head = call("kg.create", kind="observation", content="At four", memory_type="self", supersedes=[old])["id"]
    assert list(recall(call, kind="observation")) in ([head], [])
    assert recall(call, kind="memory") == recall(call, memory_type="semantic") == {}


# passages


@pytest.fixture
def long_note(call, service, monkeypatch):
    """A note of several passages; the third one alone tells of the heron."""
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 56)
    sentences = [f"In chapter {n} the warden walks along the dyke and counts the boats." for n in range(12)]
    sentences[7] = "Beside the pumping station a grey heron waits for the eel."
    return call.note(" ".join(sentences), created_at=YEARS[0]), sentences[7]


def test_a_long_note_is_served_whole_with_the_passage_that_matched(call, long_note):
    id, sentence = long_note
    hits = recall(call, "grey heron waits for the eel")
    assert list(hits) == [id]
    assert sentence in hits[id]["passage"]
    assert len(hits[id]["passage"]) < len(hits[id]["content"]) / 2


def test_passages_follow_their_note_into_the_past_and_back(call, long_note, by_hand):
    id, _sentence = long_note
    layers = "MATCH (:Note {ns: $ns})-[:HAS_PASSAGE]->(p) RETURN DISTINCT p:Current AS current, p:Superseded AS superseded"
    new = call.note("The warden has retired", supersedes=[id], created_at=YEARS[1])
    assert by_hand(layers) == [{"current": False, "superseded": True}]
    hits = recall(call, "grey heron waits for the eel")
    assert list(hits) == [new]
    assert old_step(hits[new])["id"] == id
    assert list(recall(call, "grey heron waits for the eel", as_of=YEARS[0])) == [id]
    call("kg.delete", id=new)
    assert by_hand(layers) == [{"current": True, "superseded": False}]
    assert list(recall(call, "grey heron waits for the eel")) == [id]
    call("kg.delete", id=id)
    assert by_hand(layers) == [{"current": False, "superseded": False}]
    assert recall(call, "grey heron") == {}


# edges drawn by hand


def test_an_edge_drawn_by_hand_counts_at_the_next_recall_before_any_label_changes(call, by_hand):
    old, new = call.note(OLD, created_at=YEARS[0]), call.note("No, at four now", created_at=YEARS[1])
    assert next(iter(recall(call))) == old
    by_hand(DRAW, new=new, old=old)
    assert by_hand("MATCH (n {id: $id}) RETURN n:Current AS current", id=old) == [{"current": True}]
    hits = recall(call)
    assert list(hits) == [new]
    assert old_step(hits[new]) == {"leg": "superseded", "id": old, "content": OLD}


def test_an_edge_drawn_by_hand_is_marked_when_both_are_asked_for(call, by_hand):
    old, new = call.note(OLD, created_at=YEARS[0]), call.note("No, at four now", created_at=YEARS[1])
    by_hand(DRAW, new=new, old=old)
    hits = recall(call, include_superseded=True)
    assert set(hits) == {old, new}
    assert hits[old]["superseded"] is True
    assert "superseded_at" not in hits[old], "nobody noted it"
    assert "superseded" not in hits[new]


def test_an_edge_removed_by_hand_counts_after_the_doctor(call, by_hand, service):
    old, new = call.note(OLD), call.note("No, at four now")
    call("kg.link", source=new, target=old, relation="supersedes")
    by_hand("MATCH ({ns: $ns})-[r:SUPERSEDES]->() DELETE r")
    service.doctor(repair=True)
    assert set(recall(call)) == {old, new}


@pytest.mark.parametrize("direction", ["theirs supersedes ours", "ours supersedes theirs"])
def test_an_edge_between_namespaces_neither_suppresses_nor_leaks(call, by_hand, direction):
    theirs = call.within(f"{call.ns}.other")
    our_note, their_note = call.note(OLD), theirs.note("A secret of another tenant")
    ends = (their_note, our_note) if direction.startswith("theirs") else (our_note, their_note)
    by_hand(DRAW, new=ends[0], old=ends[1])
    assert list(recall(call)) == [our_note]
    assert list(recall(theirs, "secret tenant")) == [their_note]
    for where, id in ((call, our_note), (theirs, their_note)):
        assert recall(where, include_superseded=True).keys() <= {id}
        assert "superseded" not in recall(where, include_superseded=True).get(id, {})
        assert where("kg.get", id=id)["superseded_by"] == []
        around = where("kg.neighbors", id=id)["results"] + where("kg.traverse", id=id)["nodes"]
        assert [node for node in around if node["label"] == "Note"] == []
        assert [node["id"] for node in where("kg.history", id=id)["results"]] == [id]
    assert call("kg.update", id=our_note, salience=0.1)["state"] == "current"
    by_hand("MATCH (a {id: $a})-[r:SUPERSEDES]->() DELETE r", a=ends[0])


def test_a_cycle_drawn_by_hand_does_not_hang_and_shows_nothing_of_itself(call, by_hand):
    a, b = call.note(OLD), call.note("The backup job of the orders database is new")
    by_hand(DRAW, new=a, old=b)
    by_hand(DRAW, new=b, old=a)
    bystander = call.note("An orders database exists")
    assert list(recall(call)) == [bystander]
    by_hand("MATCH ({ns: $ns})-[r:SUPERSEDES]->() DELETE r")


# as_of and include_superseded


@pytest.mark.parametrize(("year", "shown"), [(0, 0), (1, 1), (2, 2), (9, 2)])
def test_as_of_answers_what_was_current_then(call, chain, year, shown):
    assert list(recall(call, as_of=YEARS[year])) == [chain[shown]]


def test_as_of_before_anything_was_known_finds_nothing(call, chain):
    answer = call("memory.recall", query=QUESTION, as_of="2009-12-31T23:59:59Z")
    assert (answer["results"], answer["reason"]) == ([], "no_candidates")


def test_as_of_just_before_a_supersession_still_shows_the_old_note(call, chain):
    assert list(recall(call, as_of="2010-12-31T23:59:59.999999Z")) == [chain[0]]


def test_ages_are_measured_from_as_of(call, chain):
    hit = recall(call, as_of="2010-01-31T00:00:00Z")[chain[0]]
    assert hit["temporal"] == pytest.approx(0.5)


def test_the_past_keeps_to_the_edges_drawn_by_hand(call, by_hand):
    old, new = call.note(OLD, created_at=YEARS[0]), call.note("No, at four now", created_at=YEARS[1])
    by_hand(DRAW, new=new, old=old)
    assert list(recall(call, as_of=YEARS[0])) == [old]
    assert list(recall(call, as_of=YEARS[1])) == [new]


def test_both_are_shown_and_the_old_ones_marked_when_asked_for(call, chain):
    a, b, c = chain
    hits = recall(call, f"{OLD} moved to three in the morning four o'clock upgrade", include_superseded=True)
    assert set(hits) == {a, b, c}
    assert [hits[id].get("superseded") for id in chain] == [True, True, None]
    assert [hits[id].get("superseded_at") for id in chain] == [YEARS[1], YEARS[2], None]


def test_with_as_of_what_was_superseded_by_then_is_marked_and_what_came_later_absent(call, chain):
    a, b, _ = chain
    hits = recall(call, f"{OLD} moved to three in the morning", include_superseded=True, as_of=YEARS[1])
    assert set(hits) == {a, b}
    assert [hits[id].get("superseded") for id in (a, b)] == [True, None]


def test_a_correction_dated_before_the_note_it_corrects_holds_from_that_note_on(call):
    old = call.note(OLD, created_at=YEARS[5])
    new = call.note("No, at four now", created_at=YEARS[3], supersedes=[old])
    assert list(recall(call)) == [new]
    assert list(recall(call, as_of=YEARS[5])) == [new]


def test_a_correction_of_the_future_holds_at_once(call):
    old = call.note(OLD)
    new = call.note("From next year at four", supersedes=[old], created_at="2998-01-01T00:00:00Z")
    assert list(recall(call)) == [new]
    assert list(recall(call, as_of="2997-01-01T00:00:00Z")) == [old]


def test_a_long_history_does_not_crowd_out_what_was_current_then(call):
    asked = "The sluice opens at dawn"
    items = [{"content": asked, "created_at": "2001-01-01T00:00:00Z"}] * 240
    worn = [stored["id"] for stored in call("memory.remember", items=items)["results"]]
    head = call.note("Closed for good", created_at="2005-01-01T00:00:00Z")
    call("kg.link", items=[{"source": head, "target": id, "relation": "supersedes"} for id in worn])
    then = call.note("The sluice of the lower mill opens somewhat after dawn on Sundays", created_at="2002-01-01T00:00:00Z")
    call.note("It stays shut", created_at="2020-01-01T00:00:00Z", supersedes=[then])
    for fusion in FUSIONS:
        assert set(recall(call, asked, as_of="2015-01-01T00:00:00Z", fusion=fusion)) == {head, then}


def test_a_question_about_the_past_takes_two_round_trips(call, service, monkeypatch):
    call.note("The sluice opens at dawn", created_at="2001-01-01T00:00:00Z")
    asked = []
    rows = service.store.rows
    monkeypatch.setattr(service.store, "rows", lambda name, /, **params: asked.append(name) or rows(name, **params))
    assert recall(call, "sluice dawn", as_of="2015-01-01T00:00:00Z")
    assert asked == ["recall.candidates"] * 2
