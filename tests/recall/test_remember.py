"""memory.remember: defaults by type, idempotency by key, links in the same transaction, batches all or nothing."""

from __future__ import annotations

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest

from graph.errors import KeyInUse, NotAllowed, NotFound, ValidationFailed

NOBODY = "01999999-0000-7000-8000-000000000000"


def faults(error: pytest.ExceptionInfo) -> set[str]:
    return {fault["field"] for fault in error.value.details["errors"]}


@pytest.mark.parametrize(
    ("given", "memory_type", "salience", "decay"),
    [
        ({}, "episodic", 0.3, 0.02),
        ({"memory_type": "episodic"}, "episodic", 0.3, 0.02),
        ({"memory_type": "semantic"}, "semantic", 0.5, 0.005),
        ({"memory_type": "semantic", "salience": 0, "decay_factor": 0}, "semantic", 0.0, 0.0),
        ({"salience": 1.0}, "episodic", 1.0, 0.02),
    ],
)
def test_a_type_brings_its_defaults_and_explicit_values_win(call, given, memory_type, salience, decay):
    node = call("kg.get", id=call.note("Marta has a key", **given))
    assert (node["kind"], node["memory_type"], node["salience"], node["decay_factor"]) == (
        "memory",
        memory_type,
        salience,
        decay,
    )


@pytest.mark.parametrize("memory_type", ["procedural", "self", "personality", "associative", None, "Episodic", ""])
def test_other_types_are_for_other_writers(call, memory_type):
    with pytest.raises(ValidationFailed) as error:
        call.note("x", memory_type=memory_type)
    assert faults(error) == {"memory_type"}


def test_the_world_time_is_now_unless_it_is_told(call):
    node = call("kg.get", id=call.note("x"))
    assert node["created_at"] == node["recorded_at"]
    told = call("kg.get", id=call.note("y", created_at="1999-12-31T23:00:00-01:00"))
    assert told["created_at"] == "2000-01-01T00:00:00Z"
    assert dt.datetime.fromisoformat(told["recorded_at"]).year >= 2025


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"content": ""}, "content"),
        ({"content": "x", "kind": "observation"}, "kind"),
        ({"content": "x", "salience": float("nan")}, "salience"),
        ({"content": "x", "decay_factor": float("inf")}, "decay_factor"),
        ({"content": "x", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"content": "x", "created_at": "yesterday"}, "created_at"),
        ({"content": "x", "tags": ["a", ""]}, "tags.1"),
        ({"content": "x", "tags": ["t" * 257]}, "tags.0"),
        ({"content": "x", "entities": ["e"] * 65}, "entities"),
        ({"content": "x", "supersedes": "abc"}, "supersedes"),
        ({"content": "x", "source": "s" * 1025}, "source"),
        ({"content": "x", "properties": {"a": "x" * 65_536}}, "properties"),
        ({"content": "a\0b"}, "content"),
        ({"content": "\ud83d"}, "content"),
        ({}, "content"),
        ({"items": [{"content": "x"}, {"content": "x", "salience": 2}, {"tags": []}]}, "items.1.salience"),
        ({"items": [{"content": "x"}], "tags": ["a"]}, "items"),
    ],
)
def test_a_faulty_note_is_refused_by_its_field_and_not_stored(call, fields, field):
    with pytest.raises(ValidationFailed) as error:
        call("memory.remember", **fields)
    assert field in faults(error)
    assert call("kg.list")["results"] == []


def test_a_key_makes_it_idempotent(call):
    first = call.answer("memory.remember", content="port 8080", key="port")
    again = call.answer("memory.remember", content="port 8080", key="port", tags=["ignored"])
    assert (first.created, first.body["unchanged"]) == (True, False)
    assert (again.created, again.body) == (False, {"id": first.body["id"], "unchanged": True})
    assert call("kg.get", id=first.body["id"])["tags"] == []
    with pytest.raises(KeyInUse) as error:
        call.note("port 8443", key="port")
    assert error.value.existing_id == first.body["id"]


def test_a_key_is_held_per_namespace(call):
    assert call.note("a", key="k") != call.within(f"{call.ns}.other").note("b", key="k")


def test_superseding_the_holder_of_a_key_moves_the_key(call):
    old = call.note("port 8080", key="port")
    new = call.note("port 8443", key="port", supersedes=[old])
    assert call.found("port") == [new]
    assert call("memory.remember", content="port 8443", key="port")["id"] == new
    with pytest.raises(KeyInUse) as error:
        call.note("port 8080", key="port")
    assert error.value.existing_id == new


def test_a_note_without_a_key_is_stored_each_time(call):
    assert call.note("same") != call.note("same")


def test_links_are_drawn_with_the_note(call):
    document = call("kg.create", kind="document", content="Chapter one")["id"]
    first, older = call.note("first"), call.note("older")
    id = call.note(
        "second", follows=first, source_id=document, supersedes=[older], entities=["Marta Olsen", "marta olsen", "Ben"]
    )
    rows = {(row["relation"], row["direction"]): row for row in call("kg.neighbors", id=id)["results"]}
    assert rows["follows", "out"]["id"] == first
    assert rows["annotates", "out"]["id"] == document
    assert rows["supersedes", "out"]["id"] == older
    mentioned = list(call("kg.neighbors", id=id, relations=["mentions"])["results"])
    assert sorted(row["content"] for row in mentioned) == ["Ben", "Marta Olsen"]
    assert {(row["label"], row["kind"]) for row in mentioned} == {("Entity", "concept")}


def test_notes_that_name_the_same_entity_share_it(call):
    ids = [call.note(f"note {n}", entities=["Marta Olsen"]) for n in range(3)]
    (entity,) = call("kg.list", label="Entity")["results"]
    assert sorted(row["id"] for row in call("kg.neighbors", id=entity["id"])["results"]) == sorted(ids)


@pytest.mark.parametrize("field", ["supersedes", "source_id", "follows"])
def test_a_note_that_refers_to_nothing_is_not_stored(call, field):
    foreign = call.within(f"{call.ns}.other").note("theirs")
    deleted = call.note("gone")
    call("kg.delete", id=deleted)
    for id in (NOBODY, foreign, deleted):
        with pytest.raises(NotFound) as error:
            call.note("x", **{field: [id] if field == "supersedes" else id})
        assert faults(error) == {f"{field}.0" if field == "supersedes" else field}
    assert call("kg.list")["results"] == []


def test_a_note_can_not_supersede_or_follow_what_is_no_note(call):
    entity = call("kg.create", kind="person", content="Marta")["id"]
    for field, value in (("supersedes", [entity]), ("follows", entity)):
        with pytest.raises(NotAllowed) as error:
            call.note("x", **{field: value})
        assert faults(error) == {field}
    assert call.note("x", source_id=entity)


def test_a_batch_answers_in_order_with_a_mixed_fate(call):
    known = call.note("b", key="b")
    answer = call.answer("memory.remember", items=[{"content": c, "key": c} for c in "abc"])
    assert answer.created
    assert [result["unchanged"] for result in answer.body["results"]] == [False, True, False]
    assert answer.body["results"][1]["id"] == known
    again = call.answer("memory.remember", items=[{"content": c, "key": c} for c in "abc"])
    assert (again.created, again.body["results"][0]["unchanged"]) == (False, True)


def test_a_batch_with_one_faulty_item_stores_nothing(call):
    call.note("held", key="k")
    for faulty in ({"content": "x", "key": "k"}, {"content": "x", "follows": NOBODY}):
        with pytest.raises((KeyInUse, NotFound), match=r"x|no node|k"):
            call("memory.remember", items=[{"content": "good"}, faulty, {"content": "good too"}])
    assert [node["content"] for node in call("kg.list")["results"]] == ["held"]


def test_a_batch_of_a_thousand_is_stored_and_one_more_is_refused(call):
    items = [{"content": f"note {n}"} for n in range(1000)]
    results = call("memory.remember", items=items)["results"]
    assert len({result["id"] for result in results}) == 1000
    with pytest.raises(ValidationFailed, match="1 to 1,000 items"):
        call("memory.remember", items=[*items, {"content": "one more"}])


def test_a_note_is_found_by_the_very_next_recall(call):
    for n in range(10):
        id = call.note(f"The heron stands at post {n}")
        assert id in call.found(f"heron post {n}", limit=20)


def test_many_notes_at_once_are_all_there(call):
    with ThreadPoolExecutor(16) as pool:
        ids = list(pool.map(lambda n: call.note(f"Note number {n}"), range(64)))
    assert sorted(node["id"] for node in call("kg.list", limit=100)["results"]) == sorted(ids)
    assert [call("kg.get", id=id)["content"] for id in ids[::16]] == [f"Note number {n}" for n in range(0, 64, 16)]


@pytest.mark.parametrize(
    "content",
    [
        "a",
        "琴",
        "🙂",
        "x " * 2000,
        "no-spaces" * 500,
        "ﬁne",
        "e\u0301",
        "\u202eright to left",
        "line\nbreak\ttab",
        "a" * (1 << 20),
    ],
    ids=["letter", "character", "emoji", "words", "run", "ligature", "combining", "bidi", "lines", "1 MiB"],
)
def test_any_text_is_kept_as_it_is(call, content):
    assert call("kg.get", id=call.note(content))["content"] == content
