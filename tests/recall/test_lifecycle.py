"""Prune and vacuum: each rule of their part of the design, on the real store."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import pytest

from graph.errors import NotFound, ValidationFailed
from recall import lifecycle


def ago(days: float) -> str:
    return (dt.datetime.now(dt.UTC) - dt.timedelta(days=days)).isoformat()


@pytest.fixture
def three(call) -> dict[str, str]:
    """Notes of low, middle and high salience, none of which decays."""
    return {
        name: call.note(f"The {name} bell hangs over the {name} gate.", salience=salience, decay_factor=0)
        for name, salience in (("small", 0.1), ("middle", 0.4), ("great", 0.9))
    }


@pytest.fixture
def long(service: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """A text that is longer than the model reads."""
    monkeypatch.setattr(service.models.primary.embedder, "max_tokens", 256)
    return " ".join(f"Sluice {n} is opened by the keeper of lock {n}." for n in range(400))


def alive(call, ids: Any) -> set[str]:
    found = set()
    for id in ids:
        try:
            found.add(call("kg.get", id=id)["id"])
        except NotFound:
            continue
    return found


def test_prune_by_salience_takes_what_is_strictly_less(call, three):
    assert call("memory.prune", min_salience=0.4)["ids"] == [three["small"]]
    assert alive(call, three.values()) == {three["middle"], three["great"]}


def test_prune_by_effective_salience_counts_decay(call):
    fresh = call.note("The weir was opened today.", salience=0.3, decay_factor=0.02)
    faded = call.note("The weir was opened last year.", salience=0.3, decay_factor=0.02, created_at=ago(365))
    lasting = call.note("The weir is made of oak.", salience=0.3, decay_factor=0, created_at=ago(365))
    found = call("memory.prune", min_effective_salience=0.1)
    assert (found["count"], found["ids"]) == (1, [faded])
    assert alive(call, [fresh, faded, lasting]) == {fresh, lasting}


def test_only_the_criteria_given_apply(call):
    """An old note of no salience stays when only the other criterion is asked for."""
    old = call.note("The mill wheel is elm.", salience=0.9, decay_factor=0, created_at=ago(900))
    low = call.note("The mill cat is grey.", salience=0.0)
    assert call("memory.prune", before=ago(30), min_salience=None)["ids"] == [old]
    assert alive(call, [old, low]) == {low}
    assert call("memory.prune", min_salience=0.01)["ids"] == [low]


def test_any_is_one_criterion_and_all_is_every_one(call):
    def notes() -> tuple[str, str, str]:
        return (
            call.note("Both: old and slight.", salience=0.1, created_at=ago(100)),
            call.note("Only old.", salience=0.9, created_at=ago(100)),
            call.note("Only slight.", salience=0.1),
        )

    both, old, slight = notes()
    assert call("memory.prune", min_salience=0.2, before=ago(50), match="all")["ids"] == [both]
    assert set(call("memory.prune", min_salience=0.2, before=ago(50))["ids"]) == {old, slight}, "any is the default"


def test_prune_without_a_criterion_is_refused(call, three):
    for body in ({}, {"dry_run": True}, {"match": "all"}, {"min_salience": None, "before": None}):
        with pytest.raises(ValidationFailed) as refused:
            call("memory.prune", **body)
        assert refused.value.errors[0]["field"] == "min_salience"
        assert "give at least one of min_salience, min_effective_salience, before" in refused.value.errors[0]["message"]
    assert alive(call, three.values()) == set(three.values())


@pytest.mark.parametrize(
    "body",
    [
        {"min_salience": 2},
        {"min_salience": math.nan},
        {"min_salience": "low"},
        {"min_effective_salience": -0.1},
        {"before": "2026-01-01T00:00:00"},
        {"min_salience": 0.1, "match": "some"},
        {"min_salience": 0.1, "dry_run": 1},
        {"min_salience": 0.1, "older_than": 3},
    ],
)
def test_prune_refuses_what_it_does_not_understand(call, three, body):
    with pytest.raises(ValidationFailed):
        call("memory.prune", **body)
    assert alive(call, three.values()) == set(three.values())


def test_a_dry_run_counts_the_same_and_changes_nothing(call, three):
    planned = call("memory.prune", min_salience=0.5, dry_run=True)
    assert alive(call, three.values()) == set(three.values())
    done = call("memory.prune", min_salience=0.5)
    assert planned | {"dry_run": False} == done
    assert (done["count"], done["kept"], done["examined"]) == (2, 0, 3)
    assert call("memory.prune", min_salience=0.5)["count"] == 0


def test_what_is_pruned_is_out_of_both_indexes_at_once(call, by_hand, three):
    call("memory.prune", min_salience=0.2)
    for fusion in ("keyword_only", "vector_only", "union"):
        found = call.found("The small bell hangs over the small gate.", fusion=fusion, include_superseded=True)
        assert three["small"] not in found
    (row,) = by_hand("MATCH (n {ns: $ns, id: $id}) RETURN labels(n) AS labels", id=three["small"])
    assert set(row["labels"]) == {"Note", "Recallable", "Deleted"}


def test_the_passages_of_a_pruned_note_are_out_of_the_indexes_too(call, long):
    id = call.note(long, salience=0.05)
    assert call.found("Sluice 377 keeper of lock") == [id]
    call("memory.prune", min_salience=0.1)
    assert call.found("Sluice 377 keeper of lock") == []


def test_the_chain_of_a_live_head_is_kept(call):
    first = call.note("The ferry leaves from pier one.", salience=0.05)
    second = call.note("It leaves from pier two.", salience=0.05, supersedes=[first])
    head = call.note("It leaves from pier three.", salience=0.8, supersedes=[second])
    found = call("memory.prune", min_salience=0.5)
    assert (found["count"], found["kept"]) == (0, 2)
    assert [node["id"] for node in call("kg.history", id=head)["results"]] == [first, second, head]


def test_a_head_is_kept_while_its_chain_has_what_stays(call):
    """Without the head its older layer would be current again, and stale: neither goes."""
    old = call.note("Deploys happen on Thursdays.", salience=0.9)
    head = call.note("No, Tuesdays now.", salience=0.1, supersedes=[old])
    found = call("memory.prune", min_salience=0.5)
    assert (found["count"], found["kept"]) == (0, 1)
    assert call.found("when do deploys happen") == [head]


def test_a_chain_that_fits_goes_as_a_whole(call):
    old = call.note("Deploys happen on Thursdays.", salience=0.1)
    middle = call.note("No, Tuesdays now.", salience=0.2, supersedes=[old])
    head = call.note("Wednesdays, since June.", salience=0.3, supersedes=[middle])
    assert set(call("memory.prune", min_salience=0.5)["ids"]) == {old, middle, head}
    assert call.found("when do deploys happen", include_superseded=True) == []


def test_a_fork_goes_only_with_both_of_its_heads(call):
    old = call.note("The tower has one bell.", salience=0.1)
    one = call.note("It has two bells.", salience=0.1, supersedes=[old])
    other = call.note("It has three bells.", salience=0.9, supersedes=[old])
    assert call("memory.prune", min_salience=0.5)["count"] == 0
    call("kg.update", id=other, salience=0.2)
    assert set(call("memory.prune", min_salience=0.5)["ids"]) == {old, one, other}


def test_prune_works_in_batches_and_completes_what_an_ended_run_began(call, monkeypatch):
    monkeypatch.setattr(lifecycle, "TOGETHER", 10)
    call("memory.remember", items=[{"content": f"Crate {n} is empty.", "salience": 0.1} for n in range(45)])
    soft_delete, batches = lifecycle.soft_delete, []

    def ends(tx: Any, ids: Any) -> Any:
        batches.append(len(ids))
        if len(batches) == 3:
            raise KeyboardInterrupt
        return soft_delete(tx, ids)

    monkeypatch.setattr(lifecycle, "soft_delete", ends)
    with pytest.raises(KeyboardInterrupt):
        call("memory.prune", min_salience=0.5)
    monkeypatch.setattr(lifecycle, "soft_delete", soft_delete)
    assert len(call("kg.list", kind="memory")["results"]) == 25, "two batches of ten are done, the third is not"
    found = call("memory.prune", min_salience=0.5)
    assert (found["count"], found["batches"]) == (25, 3)
    assert call("kg.list", kind="memory")["results"] == []


def test_prune_stays_in_its_namespace(call, three):
    other = call.within(f"{call.ns}-b")
    id = other.note("Another tenant's slight note.", salience=0.01)
    call("memory.prune", min_salience=0.99)
    assert alive(other, [id]) == {id}


def test_what_is_changed_meanwhile_is_not_pruned(call, three, monkeypatch):
    still_so = lifecycle.still_so

    def late(*args: Any, **more: Any) -> Any:
        call("kg.update", id=three["small"], salience=0.8)
        return still_so(*args, **more)

    monkeypatch.setattr(lifecycle, "still_so", late)
    assert call("memory.prune", min_salience=0.2)["count"] == 0
    assert alive(call, three.values()) == set(three.values())


def test_a_pruned_note_gives_its_key_back(call):
    call.note("The key of the shed hangs by the door.", key="shed", salience=0.1)
    call("memory.prune", min_salience=0.2)
    assert call.answer("memory.remember", content="The shed has a new lock.", key="shed").created


def test_vacuum_removes_what_was_deleted_longer_than_the_retention(call, by_hand, three, long):
    long = call.note(long)
    for id in (three["small"], three["middle"], long):
        call("kg.delete", id=id)
    by_hand(
        "UNWIND $ids AS id MATCH (n {ns: $ns, id: id}) SET n.deleted_at = datetime() - duration({days: 40})",
        ids=[three["small"], long],
    )
    assert call("memory.vacuum", dry_run=True)["count"] == 2
    found = call("memory.vacuum")
    assert (found["count"], found["passages"] > 1, found["dry_run"]) == (2, True, False)
    left = {row["id"] for row in by_hand("MATCH (n:Recallable {ns: $ns}) RETURN n.id AS id")}
    assert left == {three["middle"], three["great"]}
    assert by_hand("MATCH (p:Passage {ns: $ns}) RETURN count(p) AS n")[0]["n"] == 0
    assert call("memory.vacuum")["count"] == 0
    assert call("memory.vacuum", retention_days=0)["count"] == 1


def test_vacuum_removes_deleted_entities(call, by_hand):
    id = call("kg.create", label="Entity", kind="person", content="Rowan Berg")["id"]
    call("kg.delete", id=id)
    assert call("memory.vacuum", retention_days=0)["count"] == 1
    assert by_hand("MATCH (n:Entity {ns: $ns}) RETURN count(n) AS n")[0]["n"] == 0


def test_vacuum_brings_nothing_back(call, by_hand):
    old = call.note("The gate code is 1234.")
    middle = call.note("The gate code is 5678.", supersedes=[old])
    head = call.note("The gate code is 9999.", supersedes=[middle])
    call("kg.delete", id=head)
    call("memory.vacuum", retention_days=0)
    assert call.found("gate code") == [middle]


def expire(by_hand: Any, id: str, days: float) -> None:
    """As if the note had been written with an expiry in what was then the future."""
    by_hand(
        "MATCH (n {ns: $ns, id: $id}) SET n.expires_at = datetime() - duration({seconds: $s}), "
        "n.expires_ts = (datetime().epochMillis - $s * 1000) * 1000",
        id=id,
        s=round(days * 86_400),
    )


def test_expiry_needs_no_write_and_vacuum_takes_the_expired_only_when_asked(call, by_hand):
    id = call.note(
        "The office is closed this week.", expires_at=(dt.datetime.now(dt.UTC) + dt.timedelta(days=1)).isoformat()
    )
    assert call.found("is the office closed this week") == [id]
    expire(by_hand, id, 40)
    assert call.found("is the office closed this week", fusion="vector_only") == []
    assert call("memory.vacuum")["count"] == 0
    assert alive(call, [id]) == {id}
    assert call("memory.vacuum", expired=True, retention_days=50)["count"] == 0
    found = call("memory.vacuum", expired=True)
    assert (found["count"], found["expired"]) == (1, 1)
    assert alive(call, [id]) == set()


def test_an_expired_head_goes_with_its_chain_so_that_nothing_old_comes_back(call, by_hand):
    old = call.note("The office opens at nine.")
    head = call.note("The office opens at ten.", supersedes=[old])
    expire(by_hand, head, 40)
    assert call("memory.vacuum", expired=True)["count"] == 2
    assert call.found("when does the office open") == []
    assert by_hand("MATCH (n:Recallable {ns: $ns}) RETURN count(n) AS n")[0]["n"] == 0


def test_the_receipt_of_a_deletion_says_what_went(call, long):
    old = call.note("The ferry kiosk sells tokens at window three.")
    id = call.note(long, supersedes=[old], entities=["Ferry Kiosk"])
    found = call("kg.delete", id=id)
    assert found["passages"] > 1
    assert found | {"passages": 0, "edges": 0} == {
        "id": id,
        "deleted": True,
        "label": "Note",
        "kind": "memory",
        "restored": [old],
        "derived": [],
        "passages": 0,
        "edges": 0,
    }
    assert found["edges"] >= 2
    with pytest.raises(NotFound):
        call("kg.delete", id=id)
