"""memory.feedback on the real server: whom it credits, what it counts once, what it leaves alone."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from graph.errors import NotAllowed, NotFound, SupersessionCycle, ValidationFailed
from graph.fields import Request, Response
from graph.kg import pack as kg
from graph.packs import Answer, Dispatcher, Pack, Runtime, Verb
from recall.brain import SIGNALS, Beta, Judged, Tunable, recall_evidence, tunable_name
from recall.brain_pack import pack as brain
from recall.memory import pack as memory

QUERY = "the backup job of the orders database"
RELEVANCE, SALIENCE, TEMPORAL = (tunable_name(matter) for matter in ("relevance", "salience", "temporal"))
NOBODY = "01890000-0000-7000-8000-000000000000"


def state(call, id="default") -> dict[str, tuple[float, float]]:
    """(alpha, beta) of each posterior of a profile."""
    return {name: (b["alpha"], b["beta"]) for name, b in call("brain.profile_get", id=id)["state"].items()}


PRIORS = {RELEVANCE: (7.0, 3.0), SALIENCE: (2.0, 8.0), TEMPORAL: (1.0, 9.0)}


@pytest.fixture
def notes(call) -> list[str]:
    """Three notes of one matter that differ in salience and age."""
    return [
        call.note(f"{QUERY.capitalize()} runs {when}", salience=salience, decay_factor=0, created_at=at, entities=[name])
        for when, salience, at, name in (
            ("at two", 0.9, "2024-01-01T00:00:00Z", "Alpha"),
            ("at four", 0.2, "2026-11-20T00:00:00Z", "Beta"),
            ("on Sundays", 0.4, "2026-06-01T00:00:00Z", "Gamma"),
        )
    ]


def served(call, **fields: Any) -> dict[str, Any]:
    return call("memory.recall", query=QUERY, min_score=0, **fields)


def marks(by_hand, id: str) -> dict[str, Any]:
    (row,) = by_hand("MATCH (n {ns: $ns, id: $id}) RETURN properties(n) AS node", id=id)
    return {name: row["node"].get(name) for name in ("evidence_for", "evidence_against", "implicit_mass")}


# whom it credits


def test_feedback_credits_the_profile_that_served_and_never_another(call, notes):
    for id in ("mine", "yours"):
        call("brain.profile_create", id=id)
    serve = served(call, profile="mine")
    answer = call("memory.feedback", target_id=notes[0], signal="useful", serve_id=serve["serve_id"])
    assert (answer["profile_id"], answer["counted"], answer["reason"]) == ("mine", True, None)
    assert state(call, "mine") != PRIORS
    assert state(call, "yours") == state(call, "default") == PRIORS
    assert call("brain.profile_get", id="mine")["signals"] == 1


def test_without_a_serve_no_profile_is_credited_and_the_note_is(call, notes, by_hand):
    answer = call("memory.feedback", target_id=notes[0], signal="useful")
    assert (answer["profile_id"], answer["reason"]) == (None, "no_serve")
    assert state(call) == PRIORS
    assert marks(by_hand, notes[0])["evidence_for"] == 1


def test_useful_salient_hits_raise_salience_and_useful_recent_ones_recency(call, notes):
    for id, row, name in (("s", 0, SALIENCE), ("t", 1, TEMPORAL)):
        call("brain.profile_create", id=id)
        serve = served(call, profile=id)["serve_id"]
        call("memory.feedback", target_id=notes[row], signal="useful", serve_id=serve)
        assert state(call, id)[name][0] > PRIORS[name][0]
        assert state(call, id)[name][1] == PRIORS[name][1]


@pytest.mark.parametrize("signal", SIGNALS)
def test_each_signal_counts_with_its_weight_on_its_side(call, notes, by_hand, signal):
    answer = call("memory.feedback", target_id=notes[0], signal=signal)
    rule = SIGNALS[signal]
    assert answer["weight"] == rule.weight
    found = marks(by_hand, notes[0])
    assert (found["evidence_for"], found["evidence_against"]) == pytest.approx(
        (rule.weight, 0) if rule.useful else (0, rule.weight)
    )


def test_what_served_without_being_judged_credits_nothing(call, notes, by_hand, service):
    for _ in range(5):
        served(call)
    service.dispatcher.runtime.states["memory"].serves.flush()
    assert state(call) == PRIORS
    assert all(set(marks(by_hand, id).values()) == {None} for id in notes)
    assert by_hand("MATCH (s:Serve {ns: $ns}) RETURN count(s) AS n")[0]["n"] == 5


def test_how_long_a_recall_took_is_neither_kept_nor_learned_from(call, notes, service, by_hand):
    served(call)
    service.dispatcher.runtime.states["memory"].serves.flush()
    (row,) = by_hand("MATCH (s:Serve {ns: $ns}) RETURN keys(s) AS keys")
    assert not [key for key in row["keys"] if "took" in key or "ms" in key or "latency" in key]


# what is refused


@pytest.mark.parametrize("signal", ["love", "", "USEFUL", None, 5, ["useful"]])
def test_an_unknown_signal_is_an_error_that_lists_the_known(call, notes, signal):
    with pytest.raises(ValidationFailed) as error:
        call("memory.feedback", target_id=notes[0], signal=signal)
    assert error.value.errors[0]["field"] == "signal"


def test_an_unknown_foreign_or_deleted_target_is_not_found(call, notes):
    foreign = call.within(f"{call.ns}.other").note("elsewhere")
    call("kg.delete", id=notes[2])
    for id in (NOBODY, foreign, notes[2]):
        with pytest.raises(NotFound) as error:
            call("memory.feedback", target_id=id, signal="useful")
        assert error.value.field == "target_id"


def test_an_unknown_or_foreign_serve_is_not_found(call, notes):
    other = call.within(f"{call.ns}.other")
    other.note(QUERY)
    for id in (NOBODY, "no id", served(other)["serve_id"]):
        with pytest.raises(NotFound) as error:
            call("memory.feedback", target_id=notes[0], signal="useful", serve_id=id)
        assert error.value.field == "serve_id"


def test_a_target_that_the_serve_did_not_hold_is_refused(call, notes):
    stranger = call("kg.create", kind="observation", content="Ada waters the garden on Sundays")["id"]
    serve = served(call, kind="memory")["serve_id"]
    with pytest.raises(ValidationFailed) as error:
        call("memory.feedback", target_id=stranger, signal="useful", serve_id=serve)
    assert error.value.errors[0]["field"] == "target_id"


# what supersedes


@pytest.mark.parametrize("signal", ["wrong", "correction"])
def test_wrong_and_correction_may_name_the_note_that_supersedes(call, notes, signal):
    newer = call.note(f"{QUERY} is gone")
    serve = served(call)["serve_id"]
    call("memory.feedback", target_id=notes[0], signal=signal, serve_id=serve, superseded_by=newer)
    assert [node["id"] for node in call("kg.history", id=newer)["results"]] == [notes[0], newer]
    assert notes[0] not in call.found(QUERY, limit=20)


def test_other_signals_may_not(call, notes):
    with pytest.raises(ValidationFailed) as error:
        call("memory.feedback", target_id=notes[0], signal="useful", superseded_by=notes[1])
    assert error.value.errors[0]["field"] == "superseded_by"


def test_feedback_is_one_transaction_of_which_nothing_is_left_if_it_fails(call, notes, by_hand):
    newer = call.note("What is newer", supersedes=[notes[0]])
    serve = served(call)["serve_id"]
    with pytest.raises(SupersessionCycle):
        call("memory.feedback", target_id=newer, signal="wrong", superseded_by=notes[0])
    with pytest.raises(NotFound):
        call("memory.feedback", target_id=newer, signal="wrong", serve_id=serve, superseded_by=NOBODY)
    with pytest.raises(NotAllowed):
        call("memory.feedback", target_id=newer, signal="wrong", superseded_by=newer)
    assert set(marks(by_hand, newer).values()) == {None}
    assert by_hand("MATCH (s:Signal {ns: $ns}) RETURN count(s) AS n")[0]["n"] == 0
    assert state(call) == PRIORS


# what counts once, and what is capped


def test_the_same_signal_for_the_same_serve_and_target_counts_once(call, notes, by_hand):
    serve = served(call)["serve_id"]
    given = {"target_id": notes[0], "signal": "useful", "serve_id": serve}
    first = call.answer("memory.feedback", **given)
    after = state(call), marks(by_hand, notes[0])
    again = call.answer("memory.feedback", **given)
    assert (first.created, again.created) == (True, False)
    assert (again.body["counted"], again.body["weight"], again.body["reason"]) == (False, 0, "counted_before")
    assert (state(call), marks(by_hand, notes[0])) == after
    for other in ({"target_id": notes[1]}, {"signal": "not_useful"}, {"serve_id": served(call)["serve_id"]}):
        assert call("memory.feedback", **given | other)["counted"] is True


def test_a_signal_that_comes_many_times_at_once_counts_once(call, notes):
    given = {"target_id": notes[0], "signal": "useful", "serve_id": served(call)["serve_id"]}
    with ThreadPoolExecutor(8) as pool:
        counted = list(pool.map(lambda _: call("memory.feedback", **given)["counted"], range(16)))
    assert sorted(counted) == [False] * 15 + [True]
    assert call("brain.profile_get", id="default")["signals"] == 1


def test_implicit_signals_on_a_target_are_capped(call, notes, by_hand):
    weights = [
        call("memory.feedback", target_id=notes[0], signal=f"implicit_{'positive' if n % 2 else 'negative'}")["weight"]
        for n in range(20)
    ]
    assert weights[:15] == [0.1] * 15
    assert weights[15:] == pytest.approx([0] * 5, abs=1e-5)
    assert marks(by_hand, notes[0])["implicit_mass"] == pytest.approx(1.5)
    assert call("memory.feedback", target_id=notes[1], signal="implicit_positive")["weight"] == 0.1
    assert call("memory.feedback", target_id=notes[0], signal="explicit_positive")["weight"] == 1.5


def test_their_mass_halves_in_7_days_and_makes_room_again(call, notes, by_hand):
    for _ in range(15):
        call("memory.feedback", target_id=notes[0], signal="implicit_positive")
    by_hand("MATCH (n {ns: $ns, id: $id}) SET n.implicit_ts = n.implicit_ts - $week", id=notes[0], week=7 * 86_400_000_000)
    assert call("memory.feedback", target_id=notes[0], signal="implicit_positive")["weight"] == 0.1
    assert marks(by_hand, notes[0])["implicit_mass"] == pytest.approx(0.85, abs=1e-4)


def test_a_hundred_feedbacks_at_once_add_up_exactly(call, notes, by_hand):
    """The same judgement of a hundred serves: its evidence is a hundred times that of one, for the profile and the note."""
    serves = [served(call)["serve_id"] for _ in range(100)]
    start = threading.Barrier(10)

    def give(share: list[str]) -> int:
        start.wait()
        answers = [call("memory.feedback", target_id=notes[0], signal="useful", serve_id=serve) for serve in share]
        return sum(answer["counted"] for answer in answers)

    with ThreadPoolExecutor(10) as pool:
        assert sum(pool.map(give, [serves[n::10] for n in range(10)])) == 100
    assert call("brain.profile_get", id="default")["signals"] == 100
    (row,) = by_hand("MATCH (p:Profile {ns: $ns, id: 'default'}) RETURN properties(p) AS node")
    (one,) = by_hand("MATCH (s:Serve {ns: $ns}) RETURN properties(s) AS serve ORDER BY s.id LIMIT 1")
    serve = one["serve"]
    features = np.array([serve["relevances"], serve["saliences"], serve["temporals"]]).T
    mine = serve["note_ids"].index(notes[0])
    said = recall_evidence(Judged(features=features, weights=(0.7, 0.2, 0.1), row=mine, useful=True))
    given = len(by_hand("MATCH (s:Signal {ns: $ns}) RETURN s.id AS id"))
    assert given == 100
    for name, by in said.items():
        masses = row["node"][f"{name}.for"], row["node"][f"{name}.against"]
        assert masses == pytest.approx((100 * max(by, 0), 100 * max(-by, 0)), rel=1e-5)
    assert marks(by_hand, notes[0])["evidence_for"] == pytest.approx(100, rel=1e-4)


# notes and entities


def test_feedback_about_a_note_lifts_what_shares_its_entities_within_the_bounds(call, by_hand):
    ferry = call.note("The ferry to Zanzibar leaves at noon", entities=["Zanzibar"])
    beach = call.note("The beach of Zanzibar is white", entities=["Zanzibar"])
    plain = {hit["id"]: hit for hit in call("memory.recall", query="Zanzibar", min_score=0, explain=True)["results"]}
    assert all("entities" not in hit["breakdown"]["parts"] for hit in plain.values())
    for _ in range(50):
        call("memory.feedback", target_id=ferry, signal="explicit_positive")
    after = {hit["id"]: hit for hit in call("memory.recall", query="Zanzibar", min_score=0, explain=True)["results"]}
    for id in (ferry, beach):
        parts = after[id]["breakdown"]["parts"]
        composite = sum(value for name, value in parts.items() if name in ("relevance", "salience", "temporal"))
        assert 1 < (composite + parts["entities"]) / composite <= 1.15
    call("memory.feedback", target_id=beach, signal="wrong")
    assert by_hand("MATCH (e:Entity {ns: $ns, content: 'Zanzibar'}) RETURN e.evidence_against AS against")[0]["against"] > 0


def test_evidence_about_an_entity_fades_when_it_is_read(call, notes, by_hand):
    call("memory.feedback", target_id=notes[0], signal="explicit_positive")
    fresh = {hit["id"]: hit for hit in served(call, explain=True)["results"]}[notes[0]]["breakdown"]["parts"]["entities"]
    month = 30 * 86_400_000_000
    by_hand("MATCH (n {ns: $ns}) WHERE n.evidence_ts IS NOT NULL SET n.evidence_ts = n.evidence_ts - $month", month=month)
    faded = {hit["id"]: hit for hit in served(call, explain=True)["results"]}[notes[0]]["breakdown"]["parts"]["entities"]
    mean, half = 2.5 / 3.5, 1.75 / 2.75
    assert faded / fresh == pytest.approx((half - 0.5) / (mean - 0.5), rel=1e-3)
    by_hand(
        "MATCH (n {ns: $ns}) WHERE n.evidence_ts IS NOT NULL SET n.evidence_ts = n.evidence_ts - $years", years=99 * month
    )
    gone = {hit["id"]: hit for hit in served(call, explain=True)["results"]}[notes[0]]["breakdown"]["parts"]
    assert gone.get("entities", 0) == pytest.approx(0, abs=1e-9)


def test_evidence_that_comes_later_weighs_as_much_as_what_came_first_did(call, notes, by_hand):
    """Kept as of the first: a second signal 30 days later is added twofold, and both are halved when they are read."""
    call("memory.feedback", target_id=notes[0], signal="useful")
    month = 30 * 86_400_000_000
    by_hand("MATCH (n {ns: $ns, id: $id}) SET n.evidence_ts = n.evidence_ts - $month", id=notes[0], month=month)
    call("memory.feedback", target_id=notes[0], signal="useful")
    assert marks(by_hand, notes[0])["evidence_for"] == pytest.approx(3, rel=1e-4)


def test_what_feedback_leaves_on_a_note_is_not_among_its_fields(call, notes):
    before = call("kg.get", id=notes[0])
    call("memory.feedback", target_id=notes[0], signal="implicit_positive")
    assert call("kg.get", id=notes[0]) == before


def test_feedback_of_one_namespace_never_moves_another(call, notes):
    other = call.within(f"{call.ns}.other")
    theirs = other.note(f"{QUERY} runs at six", salience=0.6)
    before = served(other)["results"][0]["score"]
    for _ in range(3):
        serve = served(call)["serve_id"]
        call("memory.feedback", target_id=notes[0], signal="correction", serve_id=serve)
    assert state(other) == PRIORS
    hit = served(other)["results"][0]
    assert (hit["id"], hit["score"]) == (theirs, pytest.approx(before, abs=1e-6))


# other packs, and none


def runtime(service) -> Runtime:
    mine = service.dispatcher.runtime
    return Runtime(store=mine.store, indexer=mine.indexer, linker=mine.linker, options=mine.options)


def test_without_the_brain_pack_recall_serves_the_configured_defaults_and_feedback_tunes_nothing(
    service, call, notes, by_hand
):
    for _ in range(3):  # what the brain has learned is no matter to a service without it
        call("memory.feedback", target_id=notes[1], signal="useful", serve_id=served(call)["serve_id"])
    learned = state(call)
    bare = Dispatcher(runtime(service), [kg, memory])
    try:
        found = bare.call("memory.recall", {"query": QUERY, "min_score": 0, "explain": True}, ns=call.ns).body
        assert found["served_by_profile_id"] is None
        hit = found["results"][0]
        parts = hit["breakdown"]["parts"]
        assert parts["relevance"] == pytest.approx(0.7 * hit["relevance"])
        assert "entities" not in parts
        before = marks(by_hand, notes[0])
        given = {"target_id": notes[0], "signal": "useful", "serve_id": found["serve_id"]}
        answer = bare.call("memory.feedback", given, ns=call.ns).body
        assert (answer["counted"], answer["profile_id"], answer["reason"]) == (True, None, "no_brain")
        assert marks(by_hand, notes[0]) == before
        assert by_hand("MATCH (s:Signal {ns: $ns, id: $id}) RETURN s.signal AS signal", id=answer["id"]) == [
            {"signal": "useful"}
        ]
        with pytest.raises(NotFound, match="brain pack"):
            bare.call("memory.recall", {"query": QUERY, "profile": "mine"}, ns=call.ns)
    finally:
        bare.close()
    assert state(call) == learned


class Weather(Pack):
    """A third party's pack that lets itself be tuned."""

    def tunables(self, state: Any) -> list[Tunable]:
        return [Tunable(name="weather::caution", prior=Beta(alpha=1, beta=1))]

    def evidence(self, judged: Any) -> dict[str, float]:
        return {"weather::caution": 1.0 if judged.useful else -1.0}


def test_every_pack_that_implements_the_protocol_is_tuned(service, call, notes):
    verb = Verb(
        name="weather.ask",
        illocution="assertive",
        request=Request(),
        response=Response(),
        handler=lambda call, request: Answer({}),
    )
    more = Dispatcher(runtime(service), [kg, brain, memory, Weather(name="weather", verbs=(verb,))])
    try:
        serve = more.call("memory.recall", {"query": QUERY, "min_score": 0}, ns=call.ns).body["serve_id"]
        given = {"target_id": notes[0], "signal": "explicit_positive", "serve_id": serve}
        more.call("memory.feedback", given, ns=call.ns)
        found = more.call("brain.profile_get", {"id": "default"}, ns=call.ns).body["state"]
        assert found["weather::caution"] == pytest.approx({"alpha": 1.75, "beta": 1.0, "mean": 1.75 / 2.75})
        assert set(found) == {*PRIORS, "weather::caution"}
    finally:
        more.close()


# serves


def test_feedback_that_is_sooner_than_its_record_waits_for_it(call, notes, service, monkeypatch):
    """The record is held back for half a second; the feedback comes at once and still finds it."""
    serves = service.dispatcher.runtime.states["memory"].serves
    write = serves._write
    monkeypatch.setattr(serves, "_write", lambda *words: (time.sleep(0.5), write(*words)))
    started = time.monotonic()
    serve = served(call)["serve_id"]
    recalled = time.monotonic() - started
    assert call("memory.feedback", target_id=notes[0], signal="useful", serve_id=serve)["profile_id"] == "default"
    assert time.monotonic() - started > 0.5
    assert recalled < 0.5
