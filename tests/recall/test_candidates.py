"""The candidate statement: its legs, and that every filter works inside the indexes, where nothing can be starved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from samples import DAY_TS

from graph.errors import StatementFailed, StoreTimeout, StoreUnavailable
from graph.records import ALWAYS_TS
from recall.candidates import Moment, candidates, lucene_filters, parameters
from recall.config import RecallConfig, candidate_count, old_candidate_count
from recall.hits import Query, RecallRequest
from recall.text import query_terms

CLOSE = "The red boat sails north"
FAR = "Far away a red boat was seen on its way through the fog to some harbour that nobody there had a name for"
CROWD = 300  # more than a leg is asked for at limit 10


@pytest.fixture(scope="module")
def crowd(service) -> Iterator[str]:
    """A namespace of 300 notes that are closer to CLOSE than anything else."""
    ns = "test-crowd"
    if not service.dispatcher.call("kg.list", {"limit": 1}, ns=ns).body["results"]:
        items = [{"content": f"{CLOSE} {n}", "created_at": "2024-06-01T00:00:00Z"} for n in range(CROWD)]
        service.dispatcher.call("memory.remember", {"items": items}, ns=ns)
    return ns


@pytest.fixture
def among(call, crowd):
    """Calls in the crowded namespace; what a test stores there is deleted after it."""
    inside = call.within(crowd)
    kept: list[str] = []

    def note(content: str = FAR, **fields: Any) -> str:
        kept.append(inside("kg.create", kind=fields.pop("kind", "memory"), content=content, **fields)["id"])
        return kept[-1]

    inside.note = note  # type: ignore[method-assign]
    yield inside
    for id in kept:
        inside("kg.delete", id=id)


def test_a_leg_is_asked_for_four_times_the_limit_within_bounds():
    assert [candidate_count(limit) for limit in (1, 2, 3, 10, 25, 200)] == [40, 40, 40, 40, 100, 500]
    assert [old_candidate_count(limit, most=40) for limit in (1, 10, 25, 200)] == [10, 10, 25, 40]


# filters


def test_a_tagged_note_is_found_among_three_hundred_closer_ones_without_the_tag(among):
    id = among.note(tags=["harbour log", "x"])
    assert among.found(CLOSE, tags=["harbour log"]) == [id]
    assert among.found(CLOSE, tags=["harbour log", "x"]) == [id]
    assert among.found(CLOSE, tags=["harbour log", "y"]) == among.found(CLOSE, tags=["harbour"]) == []


def test_a_note_of_another_type_is_found_among_closer_ones(among):
    id = among.note(memory_type="personality")
    assert among.found(CLOSE, memory_type="personality") == [id]
    assert among.found(CLOSE, memory_type=["personality", "self"]) == [id]


def test_a_note_of_another_kind_is_found_among_closer_ones(among):
    id = among.note(kind="observation")
    assert among.found(CLOSE, kind="observation") == [id]
    assert among.found(CLOSE, kind=["observation", "document"]) == [id]


def test_an_older_note_is_found_among_closer_ones_that_came_later(among):
    id = among.note(created_at="2020-01-01T00:00:00Z")
    assert among.found(CLOSE, as_of="2021-01-01T00:00:00Z") == [id]


def test_each_leg_alone_finds_what_the_filters_leave(among):
    id = among.note(tags=["t"], kind="observation", memory_type="self", created_at="2020-01-01T00:00:00Z")
    for filters in ({"tags": ["t"]}, {"kind": "observation"}, {"memory_type": "self"}, {"as_of": "2021-01-01T00:00:00Z"}):
        for fusion in ("vector_only", "keyword_only"):
            assert among.found(CLOSE, fusion=fusion, **filters) == [id], (filters, fusion)


def test_closer_notes_of_another_tenant_starve_nobody(call, crowd):
    id = call.note(FAR)
    assert call.found(CLOSE) == [id]
    assert call.found(CLOSE, fusion="vector_only") == call.found(CLOSE, fusion="keyword_only") == [id]
    assert id not in call.within(crowd).found(CLOSE, limit=200, token_budget=16_000)


def test_superseded_notes_take_no_place_among_the_candidates(call):
    items = [{"content": f"{CLOSE} {n}"} for n in range(250)]
    old = [result["id"] for result in call("memory.remember", items=items)["results"]]
    head = call.note("Nothing of that sort any more")
    edges = [{"source": head, "target": id, "relation": "supersedes"} for id in old]
    call("kg.link", items=edges)
    live = call.note(FAR)
    assert set(call.found(CLOSE)) == {head, live}


def test_an_unclassified_note_answers_a_typed_query(call):
    typed = call("kg.create", kind="memory", content="The sluice opens at dawn", memory_type="semantic")["id"]
    untyped = call("kg.create", kind="memory", content="The sluice closes at dusk")["id"]
    assert set(call.found("sluice", memory_type="semantic")) == {typed, untyped}
    assert call.found("sluice", memory_type="self") == [untyped]


def test_an_expired_note_is_not_found_and_one_that_will_expire_is(call, by_hand):
    gone, soon = (
        call.note(f"The ferry {word} at nine", expires_at="2999-01-01T00:00:00Z") for word in ("leaves", "arrives")
    )
    assert set(call.found("ferry nine")) == {gone, soon}
    past = "SET n.expires_at = datetime('2020-01-01'), n.expires_ts = 1577836800000000, n.expires_key = '063713433600000000'"
    by_hand(f"MATCH (n {{ns: $ns, id: $id}}) {past}", id=gone)
    assert call.found("ferry nine") == [soon]
    assert call.found("ferry nine", as_of="3000-01-01T00:00:00Z") == []


def test_a_note_of_the_future_is_found_with_an_age_of_nothing(call):
    id = call.note("The bridge will open", created_at="2999-01-01T00:00:00Z")
    (hit,) = call("memory.recall", query="bridge will open", min_score=0)["results"]
    assert (hit["id"], hit["temporal"], hit["effective_salience"]) == (id, 1.0, hit["salience"])


@pytest.mark.parametrize("kind", ['"', "\\", 'x") OR ns:(other', "*", "a b", "+", "{a TO b}", "memory~"])
def test_a_kind_is_never_read_as_query_syntax(call, kind):
    call.note("The sluice opens at dawn")
    answer = call("memory.recall", query="sluice", kind=kind, min_score=0)
    assert (answer["results"], answer["degraded"], answer["reason"]) == ([], [], "no_candidates")


@pytest.mark.parametrize(
    "query", ["sluice AND", "sluice) OR (ns:x", '"sluice', "sluice~2 *", "\\sluice", "sluice^", "+sluice -dawn"]
)
def test_a_query_is_never_read_as_query_syntax(call, query):
    id = call.note("The sluice opens at dawn")
    answer = call("memory.recall", query=query, min_score=0, fusion="keyword_only")
    assert ([hit["id"] for hit in answer["results"]], answer["degraded"]) == ([id], [])


# legs and paths


def test_a_hit_names_the_legs_that_found_it(call):
    call.note("The sluice opens at dawn")
    (hit,) = call("memory.recall", query="sluice dawn", min_score=0)["results"]
    assert (hit["sources"], hit["path"]) == (["text", "vector"], [])


@pytest.fixture
def tuned(call):
    """A note that mentions Marta Olsen without her name in it, and one a hop further."""
    near = call.note("She tuned the organ on Sunday", entities=["Marta Olsen"])
    org = call("kg.create", kind="org", content="Harbour Choir")["id"]
    person = call("kg.neighbors", id=near, relations=["mentions"])["results"][0]["id"]
    far = call.note("They sing every spring", entities=["Harbour Choir Society"])
    call("kg.link", source=far, target=org, relation="mentions")
    call("kg.create", kind="person", content="Marta Olsen")
    (named,) = [n["id"] for n in call("kg.list", kind="person")["results"]]
    call("kg.link", source=named, target=org, relation="part_of")
    assert person != named
    return near, far


def by_walk(call, query: str, **fields: Any) -> dict[str, str]:
    """What a recall found by the walk, and by which way."""
    hits = call("memory.recall", query=query, min_score=0, **fields)["results"]
    return {hit["id"]: step["by"] for hit in hits for step in hit["path"] if step["leg"] == "walk"}


def test_a_query_that_names_an_entity_finds_what_mentions_it_and_what_lies_a_hop_further(call, tuned):
    near, far = tuned
    found = by_walk(call, "What did Marta Olsen do?")
    assert found[near] == "Marta Olsen mentions"
    assert found[far] == "Marta Olsen part_of Harbour Choir mentions"


def test_the_caller_names_the_entities_or_turns_them_off(call, tuned):
    near, _ = tuned
    assert near in by_walk(call, "who did it", entity_names=["marta  OLSEN’s"])
    assert by_walk(call, "What did Marta Olsen do?", entity_names=[]) == {}
    assert by_walk(call, "What did Marta Olsen do?", entity_names=["Nobody"]) == {}
    assert by_walk(call.within(f"{call.ns}.other"), "What did Marta Olsen do?") == {}


def test_a_name_without_spaces_around_it_is_found(call):
    id = call.note("She plays on Sundays", entities=["钢琴室"])
    assert by_walk(call, "请问钢琴室在哪里") == {id: "钢琴室 mentions"}


def test_a_deleted_entity_leads_nowhere(call, tuned):
    for node in call("kg.list", label="Entity")["results"]:
        call("kg.delete", id=node["id"])
    assert by_walk(call, "What did Marta Olsen do?") == {}


def test_the_turn_before_and_after_a_strong_hit_comes_beside_it(call):
    before = call.note("Where did you leave the ladder?")
    hit = call.note("Behind the greenhouse, by the compost", follows=before)
    after = call.note("Thanks, found it", follows=hit)
    assert by_walk(call, "greenhouse compost").items() >= {before: f"{hit} follows", after: f"{hit} follows"}.items()


def test_what_a_neuron_is_associated_with_comes_beside_it(call):
    note = call.note("There are blankets in the attic")
    neuron = call("kg.create", label="Neuron", content="Offer something warm", triggers=["shivering"])["id"]
    call("kg.link", source=neuron, target=note, relation="associates")
    assert by_walk(call, "shivering")[note] == f"{neuron} associates"


def test_the_walk_keeps_to_the_filters(call, tuned):
    near, far = tuned
    assert by_walk(call, "Marta Olsen", kind="observation") == {}
    assert by_walk(call, "Marta Olsen", as_of="2001-01-01T00:00:00Z") == {}
    call.note("She sold the organ", supersedes=[near])
    assert near not in by_walk(call, "Marta Olsen")
    call("kg.delete", id=far)
    assert far not in by_walk(call, "Marta Olsen")


def test_everything_comes_in_one_round_trip(call, service, monkeypatch):
    call.note("The sluice opens at dawn")
    asked = count_reads(service.store, monkeypatch)
    call.found("sluice")
    assert asked == ["recall.candidates"]


def count_reads(store, monkeypatch) -> list[str]:
    """Names of the statements that are read from now on."""
    asked: list[str] = []
    rows = store.rows

    def counted(name: str, /, **params: Any) -> Any:
        asked.append(name)
        return rows(name, **params)

    monkeypatch.setattr(store, "rows", counted)
    return asked


# parameters and failing legs


def query(text: str = "sluice", embedding: bool = True) -> Query:
    vector = np.ones(4, np.float32) / 2
    return Query(text=text, terms=query_terms(text), embedding=vector if embedding else None)


def test_no_parameter_is_ever_null_and_types_do_not_change():
    """A plan is cached by the types of its parameters, and takes seconds to make."""
    requests = [
        (query(), RecallRequest(query="x")),
        (query(embedding=False), RecallRequest(query="x", fusion="keyword_only", entity_names=[])),
        (query("!"), RecallRequest(query="x", fusion="vector_only", tags=["a"], memory_type=["self"], kind=["memory"])),
    ]

    found = [parameters("ns", q, request, RecallConfig(), ["memory"]) for q, request in requests]
    assert len({frozenset(params) for params in found}) == len({frozenset(params["ask"]) for params in found}) == 1
    outer = [{name: type(value) for name, value in params.items()} for params in found]
    assert outer[0] == outer[1] == outer[2]
    assert list not in outer[0].values(), "a list of another length is another plan"
    assert None not in [value for params in found for value in (params | params["ask"]).values()]


def test_a_question_about_the_past_looks_from_there():
    import datetime as dt

    past = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    assert Moment.of(RecallRequest(query="x", as_of=past)) == Moment(now=18262 * DAY_TS, at=18262 * DAY_TS)
    assert Moment.of(RecallRequest(query="x")).at == ALWAYS_TS


def test_filters_are_clauses_that_do_not_count():
    clauses = lucene_filters(
        "a.b", RecallRequest(query="x", tags=["t"], kind=["k"], memory_type=["self"]), Moment(now=0, at=0)
    )
    parts = clauses.split(" +")
    assert len(parts) == 5
    assert all(part.endswith("^0") for part in parts)
    assert parts[0] == '+ns:"a.b"^0'


class Failing:
    """A space in which the statement fails while a leg that is switched on is among `broken`."""

    ns = "x"

    def __init__(self, *broken: str, error: type[Exception] = StatementFailed):
        self.broken, self.error, self.asked = set(broken), error, []

    def one(self, name: str, /, *, timeout_s: float, **params: Any) -> dict[str, Any]:
        on = {leg for leg, switch in (("vector", "near"), ("text", "lucene"), ("walk", "names")) if params["ask"][switch]}
        self.asked.append(on)
        if on & self.broken:
            raise self.error("broken")
        return {
            "hit_ids": [],
            "note_ids": [],
            "vector_ids": ["a"] if "vector" in on else [],
            "vector_scores": [0.9] * ("vector" in on),
        }


def pooled(space: Failing, q: Query | None = None, **fields: Any):
    request = RecallRequest(query="x", entity_names=["marta"], **fields)
    return candidates(space, q or query(), request, RecallConfig(), kinds=["memory"], left_s=lambda most: most)  # type: ignore[arg-type]


def test_when_all_goes_well_nothing_is_asked_twice():
    space = Failing()
    assert pooled(space).degraded == ()
    assert space.asked == [{"vector", "text", "walk"}]


@pytest.mark.parametrize("error", [StatementFailed, StoreTimeout])
@pytest.mark.parametrize("leg", ["vector", "text", "walk"])
def test_a_leg_that_fails_or_is_too_slow_is_named_and_the_others_answer(leg, error):
    space = Failing(leg, error=error)
    found = pooled(space)
    assert found.degraded == (leg,)
    assert found.evaluated == (leg != "vector")
    assert space.asked == [{"vector", "text", "walk"}, {"vector"}, {"text"}, {"walk"}]


def test_a_leg_that_was_not_asked_for_is_not_degraded():
    assert pooled(Failing("text"), fusion="vector_only").degraded == ()
    assert pooled(Failing("vector"), query(embedding=False), fusion="keyword_only").degraded == ()


def test_a_database_that_is_away_is_no_failing_leg():
    with pytest.raises(StoreUnavailable):
        pooled(Failing("text", error=StoreUnavailable))


def test_the_same_row_of_two_legs_counts_once(call):
    call.note("The sluice opens at dawn")
    answer = call("memory.recall", query="sluice opens dawn", min_score=0)
    assert answer["candidates_evaluated"] == 1
