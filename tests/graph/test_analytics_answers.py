"""What each question answers, on a graph that the test wrote itself."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from graph.analytics import Asked, ask
from graph.store import Store
from tests.conftest import Caller

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def asked(store: Store, ns: str) -> Ask:
    def found(name: str, **fields: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = ask(store.within(ns), name, Asked(**fields))["rows"]
        return rows

    return found


@pytest.fixture
def gone_after(by_hand: Callable[..., Any]) -> Iterator[None]:
    """What a test drew by hand goes with it: the doctor would find it."""
    yield
    by_hand("MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > '' DETACH DELETE n")


@pytest.fixture
def neighbour(call: Caller) -> Caller:
    """Another tenant, whose notes must never show."""
    return call.within(f"test-{uuid.uuid4().hex[:12]}")


def ago(days: float) -> str:
    return (dt.datetime.now(dt.UTC) - dt.timedelta(days=days)).isoformat()


def chain(call: Caller, length: int, word: str, newest_days: float = 0.0) -> list[str]:
    """Notes that supersede one another, oldest first, a day apart."""
    ids: list[str] = []
    for n in range(length):
        created = ago(newest_days + length - 1 - n + 0.01)
        ids.append(call.note(f"{word} number {n}", created_at=created, **({"supersedes": ids[-1:]} if ids else {})))
    return ids


def test_the_longest_chain_comes_first_with_its_head_and_its_oldest_note(asked, call, neighbour):
    long, short = chain(call, 4, "harbour"), chain(call, 2, "meadow")
    chain(neighbour, 5, "harbour")
    rows = asked("supersession_chains")
    assert [(row["id"], row["layers"], row["superseded"]) for row in rows] == [(long[-1], 3, 3), (short[-1], 1, 1)]
    assert (rows[0]["oldest_id"], rows[0]["oldest_title"]) == (long[0], "harbour number 0")
    assert len(asked("supersession_chains", limit=1)) == 1


def test_a_deleted_head_leaves_the_chain_to_the_note_beneath(asked, call):
    ids = chain(call, 3, "harbour")
    call("kg.delete", id=ids[-1])
    (row,) = asked("supersession_chains")
    assert (row["id"], row["layers"]) == (ids[1], 1)


def test_an_edge_drawn_by_hand_makes_a_chain(asked, call, by_hand, gone_after):
    old, new = call.note("pier four"), call.note("pier nine")
    by_hand("MATCH (a {ns: $ns, id: $a}), (b {ns: $ns, id: $b}) CREATE (a)-[:SUPERSEDES]->(b)", a=new, b=old)
    assert [(row["id"], row["oldest_id"]) for row in asked("supersession_chains")] == [(new, old)]


def test_many_ways_down_a_family_are_not_walked_one_by_one(asked, by_hand, gone_after):
    """12 generations of 4, each superseding all of the one before: 4^11 ways from a head."""
    by_hand(
        "UNWIND range(0, 11) AS g UNWIND range(0, 3) AS k "
        "CREATE (n:Recallable:Note {ns: $ns, id: g + '-' + k, created_ts: g, g: g}) "
        "SET n:$(CASE g WHEN 11 THEN 'Current' ELSE 'Superseded' END)"
    )
    by_hand(
        "MATCH (a:Recallable) WHERE a.ns = $ns AND a.id > '' "
        "MATCH (b:Recallable) WHERE b.ns = $ns AND b.id > '' AND b.g = a.g - 1 CREATE (a)-[:SUPERSEDES]->(b)"
    )
    rows = asked("supersession_chains")
    assert [(row["layers"], row["superseded"]) for row in rows] == [(11, 44)] * 4


def test_churn_counts_what_was_superseded_by_period_and_how_long_it_had_held(asked, call, neighbour):
    chain(call, 3, "harbour", newest_days=0.0)
    chain(neighbour, 3, "harbour")
    rows = asked("churn")
    assert sum(row["superseded"] for row in rows) == 2
    assert all(row["held_days"] == pytest.approx(1.0, abs=0.01) for row in rows)
    assert [row["period"] for row in rows] == sorted(row["period"] for row in rows)
    assert sum(row["superseded"] for row in asked("churn", days=1)) == 1
    (month,) = {row["period"][-3:] for row in asked("churn", per="month")}
    assert month == "-01"


def test_growth_counts_what_was_stored_and_adds_up(asked, call, neighbour, by_hand):
    ids = [call.note(f"note {n}") for n in range(4)]
    call.note("note 0 is wrong", supersedes=[ids[0]])
    neighbour.note("elsewhere")
    by_hand(
        "MATCH (n:Recallable {ns: $ns}) WHERE n.id IN $ids SET n.recorded_at = n.recorded_at - duration('P2D')", ids=ids[:2]
    )
    by_hand("MATCH (n:Recallable {ns: $ns, id: $id}) SET n.recorded_at = n.recorded_at - duration('P50D')", id=ids[2])
    earlier, today = asked("growth")
    assert (earlier["stored"], earlier["superseded"], earlier["current"], earlier["total"]) == (2, 1, 1, 3)
    assert (today["stored"], today["superseded"], today["total"]) == (2, 0, 5)
    assert asked("growth", days=365)[0]["total"] == 1
    assert asked("growth", days=365, per="month")[-1]["total"] == 5


def test_a_note_whose_neighbours_were_superseded_is_at_risk(asked, call, neighbour):
    for each in (call, neighbour):
        stale = each.note("The crane lifts nine tonnes.", created_at=ago(90))
        fresh = each.note("The crane is new.", created_at=ago(2))
        safe = each.note("The quay is made of granite.", created_at=ago(90))
        old, kept = each.note("The crane was tested in May."), each.note("The crane is yellow.")
        each("kg.link", items=[{"source": stale, "target": id, "relation": "supports"} for id in (old, kept)])
        each("kg.link", source=fresh, target=old, relation="supports")
        each("kg.link", source=safe, target=kept, relation="supports")
        newer = each.note("The crane failed its test.", supersedes=[old], created_at=ago(0.5))
    ns_rows = asked("stale_risk")
    assert {row["title"] for row in ns_rows} == {"The crane lifts nine tonnes."}
    assert (ns_rows[0]["neighbours"], ns_rows[0]["superseded"], ns_rows[0]["risk"]) == (2, 1, 0.5)
    assert ns_rows[0]["age_days"] == pytest.approx(90, abs=0.1)
    assert len(asked("stale_risk", days=1)) == 2
    assert newer not in {row["id"] for row in ns_rows}


def test_orphans_have_no_edge_but_to_their_own_passages_and_traces(asked, call, neighbour):
    alone = call.note("zzz qqq")
    long = call.note("vvv www. " * 400)
    linked, other = call.note("aaa bbb"), call.note("ccc ddd")
    call("kg.link", source=linked, target=other, relation="supports")
    entity = call("kg.create", kind="concept", content="Solitude")["id"]
    neighbour.note("yyy xxx")
    rows = asked("orphans")
    assert {row["id"] for row in rows} == {alone, long, entity}
    assert {row["label"] for row in rows} == {"Note", "Entity"}
    assert [row["id"] for row in rows] == sorted((row["id"] for row in rows), reverse=True)


def test_the_hub_is_the_node_with_the_most_edges(asked, call, neighbour):
    for each in (call, neighbour):
        middle = each.note("the middle")
        around = [each.note(f"around {n}") for n in range(3)]
        each("kg.link", items=[{"source": id, "target": middle, "relation": "supports"} for id in around])
        entity = each("kg.create", kind="concept", content="Rope")["id"]
        each("kg.link", source=around[0], target=entity, relation="mentions")
    rows = asked("hubs")
    assert (rows[0]["title"], rows[0]["edges"], rows[0]["mentions"]) == ("the middle", 3, 0)
    assert {(row["title"], row["edges"]) for row in rows} >= {("around 0", 2), ("Rope", 1)}
    assert len([row for row in rows if row["title"] == "the middle"]) == 1


def test_what_refutes_what_is_listed_while_both_are_current(asked, call, neighbour):
    for each in (call, neighbour):
        one, other, third = each.note("It is open."), each.note("It is shut."), each.note("I saw it open.")
        each("kg.link", source=other, target=one, relation="refutes")
        each("kg.link", source=third, target=one, relation="supports")
    (row,) = asked("contradictions")
    assert (row["title"], row["refutes_title"], row["supporters"], row["refuters"]) == ("It is shut.", "It is open.", 1, 1)
    call.note("It has always been open.", supersedes=[row["id"]])
    assert asked("contradictions") == []


def test_duplicates_are_equal_but_for_case_and_punctuation(asked, call, neighbour):
    first = call.note("Lighthouse keeper: sleeps until nine", created_at=ago(3))
    for text in ("lighthouse keeper sleeps until nine.", "Lighthouse keeper: sleeps until nine"):
        call.note(text)
    call.note("The lighthouse keeper wakes at nine")
    neighbour.note("Lighthouse keeper: sleeps until nine")
    (row,) = asked("duplicates")
    assert (row["copies"], row["spellings"], row["oldest_id"], len(row["ids"])) == (3, 2, first, 3)
    assert row["title"] == "Lighthouse keeper: sleeps until nine"


@pytest.fixture
def recalled(call: Caller, service: Any, by_hand: Any) -> tuple[str, str]:
    """A note that two recalls served, and one that none did; both stored 40 days ago. One recall found nothing."""
    served = call.note("The ferry to Larkspur leaves from pier four at noon.")
    idle = call.note("zzz qqq")
    answer = call("memory.recall", query="ferry to Larkspur pier four noon", min_score=0, limit=1)
    assert [hit["id"] for hit in answer["results"]] == [served]
    call("memory.recall", query="Larkspur ferry leaves from pier four at noon", min_score=0, limit=1)
    assert call("memory.recall", query="what time is it")["results"] == []
    service.dispatcher.runtime.states["memory"].serves.flush()
    by_hand("MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > '' SET n.recorded_at = n.recorded_at - duration('P40D')")
    return served, idle


def test_the_top_memory_is_the_one_served_most(asked, call, recalled):
    served, _ = recalled
    call("memory.feedback", target_id=served, signal="useful")
    (row,) = asked("top_memories")
    assert (row["id"], row["served"], row["admitted"], row["superseded"]) == (served, 2, 0, False)
    assert row["useful"] == pytest.approx(1.0)
    call("kg.delete", id=served)
    assert asked("top_memories") == []


def test_what_no_recall_served_is_never_used(asked, recalled):
    assert [row["id"] for row in asked("never_used")] == [recalled[1]]
    assert asked("never_used", days=60) == []


def test_what_a_context_let_in_is_used(asked, call, recalled, by_hand):
    by_hand("CREATE (:Trace {ns: $ns, id: 't', created_ts: timestamp() * 1000})")
    by_hand(
        "MATCH (n:Recallable {ns: $ns, id: $id}), (t:Trace {ns: $ns, id: 't'}) CREATE (t)-[:ADMITTED]->(n)", id=recalled[1]
    )
    assert asked("never_used") == []
    assert {row["id"]: (row["served"], row["admitted"]) for row in asked("top_memories")}[recalled[1]] == (0, 1)


def test_recalls_are_counted_by_day_with_those_that_found_nothing(asked, recalled, by_hand):
    (today,) = asked("recalls")
    assert (today["recalls"], today["empty"]) == (3, 1)
    assert today["hits"] == pytest.approx(2 / 3)
    assert 0 < today["best_relevance"] <= 1
    by_hand("MATCH (s:Serve) WHERE s.ns = $ns AND s.id > '' SET s.at = s.at - duration('P40D')")
    assert asked("recalls") == []
    assert len(asked("recalls", days=60)) == 1


def test_weights_are_told_by_day_and_profile(asked, recalled):
    (today,) = asked("weights_over_time")
    assert (today["recalls"], today["epoch"]) == (3, 0)
    assert [today[name] for name in ("relevance", "salience", "temporal")] == pytest.approx([0.7, 0.2, 0.1])
    assert asked("weights_over_time", profile="nobody") == []


def test_posteriors_are_those_that_the_brain_works_with(asked, call, recalled):
    answer = call("memory.recall", query="ferry to Larkspur pier four noon", min_score=0)
    call("memory.feedback", target_id=recalled[0], signal="useful", serve_id=answer["serve_id"])
    (row,) = asked("posteriors")
    state = call("brain.profile_get", id="default")["state"]
    assert (row["profile"], row["lifecycle"], row["signals"]) == ("default", "active", 1)
    assert len(row["evidence"]) == 6
    assert sum(row["evidence"]) > 0
    for matter in ("relevance", "salience", "temporal"):
        assert row[matter] == pytest.approx(state[f"memory::{matter}_weight"]["mean"])


def test_feedback_is_counted_by_what_it_says(asked, call):
    note = call.note("The ferry leaves at noon.")
    for signal in ("useful", "explicit_positive", "not_useful", "wrong"):
        call("memory.feedback", target_id=note, signal=signal)
    (today,) = asked("feedback")
    assert (today["signals"], today["useful"], today["useless"], today["corrected"], today["rate"]) == (4, 2, 2, 1, 0.5)


def test_the_forecast_says_how_many_fall_below_which_level(asked, call, neighbour):
    call.note("one", salience=0.4, decay_factor=0.1)  # 0.4 now, 0.02 in 30 days
    call.note("two", salience=0.4, decay_factor=0.0)
    call.note(
        "three", salience=0.4, decay_factor=0.1, expires_at=(dt.datetime.now(dt.UTC) + dt.timedelta(days=5)).isoformat()
    )
    neighbour.note("four", salience=0.4, decay_factor=0.1)
    levels = {row["level"]: (row["now"], row["later"], row["falling"], row["notes"]) for row in asked("decay_forecast")}
    assert levels[0.5] == (2, 2, 0, 2)
    assert levels[0.1] == (0, 1, 1, 2)
    assert levels[0.01] == (0, 0, 0, 2)
    assert {row["falling"] for row in asked("decay_forecast", ahead=1)} == {0}


def test_what_fades_is_listed_with_the_days_that_are_left(asked, call, neighbour):
    fading = call.note("one", salience=0.4, decay_factor=0.1)
    call.note("two", salience=0.4, decay_factor=0.0)
    call.note("three", salience=0.01, decay_factor=0.1)
    neighbour.note("four", salience=0.4, decay_factor=0.1)
    (row,) = asked("fading")
    assert row["id"] == fading
    assert row["days_left"] == pytest.approx(20.8, abs=0.1)  # ln(0.4 / 0.05) / 0.1
    assert asked("fading", ahead=10) == []
    assert [row["id"] for row in asked("fading", ahead=10, percent=30)] == [fading]


def test_what_expires_soon_comes_first(asked, call, neighbour):
    def expiring(caller: Caller, text: str, days: int) -> str:
        return caller.note(text, expires_at=(dt.datetime.now(dt.UTC) + dt.timedelta(days=days)).isoformat())

    later, sooner = expiring(call, "ten", 10), expiring(call, "two", 2)
    expiring(call, "far", 100)
    expiring(neighbour, "two", 2)
    call.note("never")
    rows = asked("expiring")
    assert [row["id"] for row in rows] == [sooner, later]
    assert rows[0]["days_left"] == pytest.approx(2, abs=0.01)


def test_the_composition_counts_labels_kinds_types_and_layers(asked, call, neighbour):
    old = call.note("pier four", memory_type="semantic")
    call.note("pier nine", memory_type="semantic", supersedes=[old])
    call("kg.delete", id=call.note("gone"))
    call("kg.create", kind="concept", content="Ferry")
    neighbour.note("elsewhere")
    rows = {(row["label"], row["kind"], row["memory_type"]): row for row in asked("composition")}
    counts = {name: (row["current"], row["superseded"], row["deleted"]) for name, row in rows.items()}
    assert counts == {
        ("Note", "memory", "semantic"): (1, 1, 0),
        ("Note", "memory", "episodic"): (0, 0, 1),
        ("Entity", "concept", None): (1, 0, 0),
    }


def test_pagerank_puts_first_what_the_important_lead_to(asked, call, neighbour):
    for each in (call, neighbour):
        root, trunk = each.note("root"), each.note("trunk")
        leaves = [each.note(f"leaf {n}") for n in range(4)]
        doubted = each.note("doubted")
        edges = [(leaf, trunk, "supports") for leaf in leaves] + [(trunk, root, "supports")]
        edges += [(leaf, doubted, "refutes") for leaf in leaves]
        each("kg.link", items=[{"source": a, "target": b, "relation": relation} for a, b, relation in edges])
    rows = asked("pagerank")
    assert [row["title"] for row in rows[:2]] == ["root", "trunk"]
    assert {row["title"]: row["edges_in"] for row in rows} == {"root": 1, "trunk": 4, "doubted": 0} | {
        f"leaf {n}": 0 for n in range(4)
    }
    assert sum(row["rank"] for row in rows) == pytest.approx(1.0)
    assert len(asked("pagerank", limit=1)) == 1
    assert len(asked("pagerank", nodes=3)) == 3
