"""Profiles and bindings: which one serves, what it changes, and what becomes of one that is archived, reset or broken."""

from __future__ import annotations

import time
from typing import Any

import pytest

from graph.errors import Conflict, NotFound, StatementFailed, StoreTimeout, ValidationFailed
from recall.brain import tunable_name
from recall.config import ScoringConfig

QUERY = "the backup job of the orders database"
SALIENCE = tunable_name("salience")


@pytest.fixture
def notes(call) -> list[str]:
    return [
        call.note(f"{QUERY.capitalize()} runs {when}", salience=salience, decay_factor=0)
        for when, salience in (("at two", 0.9), ("at four", 0.1))
    ]


def recalled(call, **fields: Any) -> dict[str, Any]:
    return call("memory.recall", query=QUERY, min_score=0, **fields)


def server(call, **fields: Any) -> str | None:
    return recalled(call, **fields)["served_by_profile_id"]


def taught(call, id: str, target: str, times: int = 5) -> None:
    """Profile `id` learns that `target` was useful."""
    for _ in range(times):
        serve = recalled(call, profile=id)["serve_id"]
        call("memory.feedback", target_id=target, signal="useful", serve_id=serve)


def made(call, *ids: str, **fields: Any) -> None:
    for id in ids:
        call("brain.profile_create", id=id, **fields)


# what a profile is


def test_a_profile_has_what_the_design_says(call):
    answer = call.answer(
        "brain.profile_create", id="ops", description="For those on duty", consumer_kind="agent", lifecycle="inactive"
    )
    assert answer.created
    assert {name: answer.body[name] for name in ("id", "description", "consumer_kind", "lifecycle", "epoch", "signals")} == {
        "id": "ops",
        "description": "For those on duty",
        "consumer_kind": "agent",
        "lifecycle": "inactive",
        "epoch": 0,
        "signals": 0,
    }
    found = call("brain.profile_get", id="ops")
    assert found["state"]["memory::relevance_weight"] == {"alpha": 7, "beta": 3, "mean": 0.7}
    assert found["weights"] == pytest.approx({"relevance": 0.7, "salience": 0.2, "temporal": 0.1})
    assert [event["event"] for event in found["events"]] == ["created"]
    assert found["bindings"] == []
    assert call("brain.profile_create")["id"]


def test_profiles_come_by_page_and_by_lifecycle(call):
    made(call, "a", "b", "c")
    call("brain.archive", id="b")
    first = call("brain.profiles", limit=2)
    assert ([p["id"] for p in first["results"]], first["next_cursor"]) == (["a", "b"], "b")
    rest = call("brain.profiles", limit=2, cursor="b")
    assert ([p["id"] for p in rest["results"]], rest["next_cursor"]) == (["c"], None)
    assert [p["id"] for p in call("brain.profiles", lifecycle="archived")["results"]] == ["b"]


def test_an_id_is_given_once_and_two_are_taken(call):
    made(call, "ops")
    for id in ("ops", "default"):
        with pytest.raises(Conflict):
            call("brain.profile_create", id=id)
    with pytest.raises(ValidationFailed):
        call("brain.profile_create", id="unattributed")
    assert call("brain.profile_get", id="default")["epoch"] == 0


def test_profiles_belong_to_a_namespace(call, notes):
    made(call, "ops")
    other = call.within(f"{call.ns}.other")
    other.note(QUERY)
    for verb, body in (
        ("brain.profile_get", {"id": "ops"}),
        ("brain.bind", {"profile": "ops"}),
        ("brain.reset", {"id": "ops"}),
        ("brain.archive", {"id": "ops"}),
        ("memory.recall", {"query": QUERY, "profile": "ops"}),
    ):
        with pytest.raises(NotFound):
            other(verb, **body)
    with pytest.raises(ValidationFailed, match="must be \\* or this namespace"):
        call("brain.bind", profile="ops", namespace=other.ns)


# which one serves


def test_the_default_serves_where_nothing_is_bound(call, notes):
    assert server(call) == server(call, actor="ada", consumer="agent") == "default"


def test_an_explicit_profile_serves_and_an_unknown_one_is_not_found(call, notes):
    made(call, "ops", "bound")
    call("brain.bind", profile="bound")
    assert server(call, profile="ops") == "ops"
    assert server(call, profile="default") == "default"
    with pytest.raises(NotFound) as error:
        recalled(call, profile="nobody")
    assert error.value.field == "profile"


def test_an_actor_weighs_4_a_namespace_2_and_a_consumer_1(call, notes):
    """Bound from the weakest to the strongest, each takes over from the one before, whatever the priorities."""
    ladder = [
        {},
        {"consumer": "agent"},
        {"namespace": call.ns},
        {"namespace": call.ns, "consumer": "agent"},
        {"actor": "ada"},
        {"actor": "ada", "consumer": "agent"},
        {"actor": "ada", "namespace": call.ns},
        {"actor": "ada", "namespace": call.ns, "consumer": "agent"},
    ]
    for step, whom in enumerate(ladder):
        made(call, f"p{step}")
        call("brain.bind", profile=f"p{step}", priority=100 - step, **whom)
        assert server(call, actor="ada", consumer="agent") == f"p{step}"
    assert server(call) == "p2"
    assert server(call, actor="eve") == "p2"
    assert server(call, actor="eve", consumer="agent") == "p3"
    assert server(call, actor="ada") == "p6"
    for step, whom in reversed(list(enumerate(ladder))):
        call("brain.unbind", profile=f"p{step}", **whom)
        assert server(call, actor="ada", consumer="agent") == (f"p{step - 1}" if step else "default")


def test_among_equals_the_priority_decides_and_then_the_age(call, notes):
    made(call, "first", "second", "third")
    for id in ("first", "second"):
        call("brain.bind", profile=id)
        time.sleep(0.01)
    assert server(call) == "first"
    call("brain.bind", profile="third", priority=1)
    assert server(call) == "third"
    call("brain.bind", profile="second", priority=2)
    assert server(call) == "second"


def test_the_caller_s_own_actor_counts_where_the_request_names_none(call, notes):
    made(call, "ops")
    call("brain.bind", profile="ops", actor="ada")
    answer = call.dispatcher.call("memory.recall", {"query": QUERY}, ns=call.ns, actor="ada").body
    assert answer["served_by_profile_id"] == "ops"
    answer = call.dispatcher.call("memory.recall", {"query": QUERY, "actor": "eve"}, ns=call.ns, actor="ada").body
    assert answer["served_by_profile_id"] == "default"


def test_binding_again_changes_the_priority_and_unbinding_twice_is_not_found(call, notes):
    made(call, "ops")
    first = call.answer("brain.bind", profile="ops", actor="ada")
    again = call.answer("brain.bind", profile="ops", actor="ada", priority=3)
    assert (first.created, again.created) == (True, False)
    assert again.body == first.body | {"priority": 3}
    assert call("brain.profile_get", id="ops")["bindings"] == [again.body]
    assert call("brain.unbind", profile="ops", actor="ada") == {"id": first.body["id"], "unbound": True}
    with pytest.raises(NotFound):
        call("brain.unbind", profile="ops", actor="ada")
    with pytest.raises(NotFound):
        call("brain.bind", profile="nobody")


def test_an_inactive_profile_serves_who_names_it_and_becomes_active_when_it_is_bound(call, notes):
    made(call, "draft", lifecycle="inactive")
    assert (server(call), server(call, profile="draft")) == ("default", "draft")
    call("brain.bind", profile="draft")
    assert call("brain.profile_get", id="draft")["lifecycle"] == "active"
    assert server(call) == "draft"


# archived


def test_an_archived_profile_never_serves(call, notes):
    made(call, "old", "other")
    call("brain.bind", profile="old", priority=9)
    call("brain.bind", profile="other")
    assert server(call) == "old"
    call("brain.archive", id="old")
    assert server(call) == "other"
    with pytest.raises(Conflict, match="archived"):
        recalled(call, profile="old")
    for verb, body in (("brain.bind", {"profile": "old"}), ("brain.reset", {"id": "old"})):
        with pytest.raises(Conflict, match="archived"):
            call(verb, **body)
    assert call("brain.archive", id="old")["lifecycle"] == "archived"


def test_an_archived_profile_takes_no_feedback(call, notes):
    made(call, "old")
    serve = recalled(call, profile="old")["serve_id"]
    call("brain.archive", id="old")
    before = call("brain.profile_get", id="old")
    answer = call("memory.feedback", target_id=notes[0], signal="useful", serve_id=serve)
    assert (answer["counted"], answer["profile_id"], answer["reason"]) == (True, None, "archived")
    assert call("brain.profile_get", id="old") == before


def test_the_default_profile_can_not_be_archived(call):
    with pytest.raises(Conflict):
        call("brain.archive", id="default")


# reset


def test_reset_returns_to_the_priors_and_raises_the_epoch(call, notes):
    made(call, "ops")
    taught(call, "ops", notes[0])
    assert call("brain.profile_get", id="ops")["state"][SALIENCE]["mean"] > 0.2
    late = recalled(call, profile="ops")["serve_id"]
    after = call("brain.reset", id="ops")
    assert (after["epoch"], after["signals"]) == (1, 0)
    assert after["state"] == call("brain.profile_get", id="default")["state"]
    assert [event["event"] for event in after["events"]] == ["created", "reset"]
    answer = call("memory.feedback", target_id=notes[0], signal="useful", serve_id=late)
    assert (answer["profile_id"], answer["reason"]) == (None, "reset")
    taught(call, "ops", notes[0], times=1)
    assert call("brain.profile_get", id="ops")["signals"] == 1
    assert call("brain.reset", id="default")["epoch"] == 1


# what a profile changes


def test_a_profile_s_means_are_the_weights_of_what_it_serves_and_of_nothing_else(call, notes):
    made(call, "salient", "plain")
    before = recalled(call, profile="plain")
    taught(call, "salient", notes[0])
    weights = call("brain.profile_get", id="salient")["weights"]
    assert weights["salience"] > 0.21
    hit = recalled(call, profile="salient", explain=True)["results"][0]
    composite = hit["breakdown"]["parts"]
    assert composite["salience"] == pytest.approx(weights["salience"] * hit["effective_salience"])
    assert composite["relevance"] == pytest.approx(weights["relevance"] * hit["relevance"])
    after = recalled(call, profile="plain", explain=True)["results"][0]["breakdown"]["parts"]
    assert after["salience"] == pytest.approx(0.2 * before["results"][0]["effective_salience"])


def test_request_knobs_lie_over_the_profile_s(call, notes):
    made(call, "salient")
    taught(call, "salient", notes[0])
    means = {name: b["mean"] for name, b in call("brain.profile_get", id="salient")["state"].items()}
    asked = {"relevance_weight": 1.0, "salience_weight": 0.0}
    hit = recalled(call, profile="salient", config=asked, explain=True)["results"][0]
    total = 1.0 + means["memory::temporal_weight"]
    assert hit["breakdown"]["parts"]["salience"] == 0
    assert hit["breakdown"]["parts"]["relevance"] == pytest.approx(hit["relevance"] / total)


def test_the_profile_s_lie_over_the_configuration_s_which_lie_over_the_defaults(call, notes, service, monkeypatch):
    memory = service.dispatcher.runtime.states["memory"]
    made(call, "ops")
    taught(call, "ops", notes[0])
    learned = recalled(call, profile="ops", explain=True)["results"][0]["breakdown"]["parts"]["salience"]
    config = ScoringConfig(relevance_weight=0.1, salience_weight=0.8, temporal_weight=0.1)
    object.__setattr__(memory.config, "scoring", config)
    try:
        hit = recalled(call, explain=True)["results"][0]
        assert hit["breakdown"]["parts"]["salience"] == pytest.approx(0.8 * hit["effective_salience"])
        again = recalled(call, profile="ops", explain=True)["results"][0]["breakdown"]["parts"]["salience"]
        assert again > 0.8 * hit["effective_salience"] > learned
    finally:
        object.__setattr__(memory.config, "scoring", ScoringConfig())


def test_the_id_is_on_the_answer_each_result_the_serve_and_in_telemetry(call, notes, service, by_hand, caplog):
    made(call, "ops")
    caplog.set_level("DEBUG", logger="recall.serving")
    answer = recalled(call, profile="ops", actor="ada")
    assert {(hit["served_by_profile_id"], hit["serve_id"]) for hit in answer["results"]} == {("ops", answer["serve_id"])}
    service.dispatcher.runtime.states["memory"].serves.flush()
    (row,) = by_hand("MATCH (s:Serve {ns: $ns, id: $id}) RETURN properties(s) AS serve", id=answer["serve_id"])
    serve = row["serve"]
    assert (serve["profile_id"], serve["epoch"], serve["actor"]) == ("ops", 0, "ada")
    assert serve["note_ids"] == [hit["id"] for hit in answer["results"]]
    assert serve["relevances"] == [hit["relevance"] for hit in answer["results"]]
    assert QUERY not in str(serve)
    (told,) = [r.fields for r in caplog.records if r.name == "recall.serving" and hasattr(r, "fields")]
    assert (told["served_by_profile_id"], told["serve_id"]) == ("ops", answer["serve_id"])


# trouble


def test_a_bound_profile_that_can_not_be_read_degrades_to_the_defaults_and_says_so(call, notes, by_hand):
    made(call, "broken")
    call("brain.bind", profile="broken")
    taught(call, "broken", notes[0])
    for harm in (
        "MATCH (p:Profile {ns: $ns, id: 'broken'}) SET p.`memory::salience_weight.for` = -1.0",
        "MATCH (p:Profile {ns: $ns, id: 'broken'}) SET p.`memory::salience_weight.for` = 'much'",
        "MATCH (p:Profile {ns: $ns, id: 'broken'}) DETACH DELETE p",
    ):
        by_hand(
            f"MATCH (space:Namespace {{name: $ns}}) SET space.brain_version = space.brain_version + 1 WITH 1 AS x {harm}"
        )
        answer = recalled(call, explain=True)
        assert (answer["served_by_profile_id"], answer["degraded"]) == ("unattributed", ["profile"])
        hit = answer["results"][0]
        assert hit["served_by_profile_id"] == "unattributed"
        assert hit["breakdown"]["parts"]["relevance"] == pytest.approx(0.7 * hit["relevance"])
        given = {"target_id": notes[0], "signal": "useful", "serve_id": answer["serve_id"]}
        assert call("memory.feedback", **given)["reason"] == "unattributed"


@pytest.mark.parametrize("fault", [StoreTimeout, StatementFailed])
def test_profiles_that_the_store_does_not_give_in_time_degrade_too(call, notes, service, monkeypatch, fault):
    made(call, "ops")
    call("brain.bind", profile="ops")
    rows = service.store.rows

    def failing(name: str, /, **params: Any) -> Any:
        if name == "brain.resolve":
            raise fault("not now")
        return rows(name, **params)

    monkeypatch.setattr(service.store, "rows", failing)
    answer = recalled(call)
    assert (answer["served_by_profile_id"], answer["degraded"]) == ("unattributed", ["profile"])
    assert len(answer["results"]) == 2
    with pytest.raises(fault):
        recalled(call, profile="ops")


def test_feedback_about_hits_that_the_store_does_not_give_is_named_and_the_rest_answers(call, notes, service, monkeypatch):
    call("memory.feedback", target_id=notes[0], signal="useful")
    rows = service.store.rows

    def failing(name: str, /, **params: Any) -> Any:
        if name == "brain.evidence":
            raise StoreTimeout("not now")
        return rows(name, **params)

    monkeypatch.setattr(service.store, "rows", failing)
    answer = recalled(call, explain=True)
    assert answer["degraded"] == ["feedback"]
    assert all("entities" not in hit["breakdown"]["parts"] for hit in answer["results"])


# what it costs


@pytest.fixture
def asked(service, monkeypatch) -> list[str]:
    """Names of the statements that reads run."""
    names: list[str] = []
    rows = service.store.rows
    monkeypatch.setattr(service.store, "rows", lambda name, /, **params: names.append(name) or rows(name, **params))
    return names


def test_a_profile_costs_no_round_trip_but_after_a_change(call, notes, asked):
    recalled(call)
    assert asked == ["recall.candidates"]
    made(call, "ops")
    call("brain.bind", profile="ops", actor="ada")
    recalled(call, actor="ada")
    asked.clear()
    assert [server(call, actor="ada") for _ in range(3)] == ["ops"] * 3
    assert asked == ["recall.candidates"] * 3


def test_a_change_counts_at_the_next_recall_of_any_process(call, notes, service):
    """Another process has read the profiles before the change, and serves by it right after."""
    from recall.profiles import Brain

    runtime = service.dispatcher.runtime
    mine, theirs = runtime.states["brain"], Brain(runtime)
    made(call, "ops")
    try:
        runtime.states["brain"] = theirs
        assert server(call) == "default"
        runtime.states["brain"] = mine
        call("brain.bind", profile="ops")
        runtime.states["brain"] = theirs
        assert server(call) == "ops"
    finally:
        runtime.states["brain"] = mine


def test_every_verb_of_the_brain_is_in_the_catalog(service):
    names = {verb.name for verb in service.dispatcher.verbs() if verb.name.startswith("brain.")}
    assert names == {
        f"brain.{name}" for name in ("profile_create", "profile_get", "profiles", "bind", "unbind", "reset", "archive")
    }


def test_the_score_stage_by_its_own_name_is_served_by_the_same_profile(call, notes):
    made(call, "salient")
    taught(call, "salient", notes[0])
    rows = call("memory.recall_candidates", query=QUERY)["candidates"]
    for profile in ("salient", "default"):
        whole = recalled(call, profile=profile)["results"]
        stage = call("memory.recall_score", query=QUERY, candidates=rows, profile=profile)["results"]
        assert [hit["id"] for hit in stage] == [hit["id"] for hit in whole]
        assert [hit["score"] for hit in stage] == pytest.approx([hit["score"] for hit in whole], rel=1e-4)
    with pytest.raises(NotFound):
        call("memory.recall_score", query=QUERY, candidates=rows, profile="nobody")
