"""The kg verbs on the real server: what they do, and every refusal that a caller can meet."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import Any

import pytest

from graph.errors import KeyInUse, NotAllowed, NotFound, SupersessionCycle, ValidationFailed

NOBODY = "01999999-0000-7000-8000-000000000000"


@pytest.fixture
def note(call):
    """Makes a note; gives its id."""
    return lambda content="A quiet note", **fields: call("kg.create", kind="memory", content=content, **fields)["id"]


@pytest.fixture
def entity(call):
    """Makes an entity; gives its id."""
    return lambda name, kind="concept", **fields: call("kg.create", label="Entity", kind=kind, content=name, **fields)["id"]


@pytest.fixture
def link(call):
    return lambda source, relation, target, **fields: call(
        "kg.link", source=source, target=target, relation=relation, **fields
    )


def found(call, query: str, **fields: Any) -> list[str]:
    return [hit["id"] for hit in call("kg.search", query=query, **fields)["results"]]


def faults(error: pytest.ExceptionInfo) -> dict[str, str]:
    return {fault["field"]: fault["message"] for fault in error.value.details["errors"]}


# kg.create and kg.get


def test_a_note_comes_back_with_its_fields(call, note):
    fields = {
        "salience": 0.75,
        "decay_factor": 0.0,
        "tags": ["b", "a"],
        "key": "tide-1",
        "source": "log",
        "memory_type": "procedural",
        "created_at": "2020-02-29T12:00:00.000001+02:00",
        "expires_at": "2999-01-01T00:00:00Z",
    }
    id = note("The tide gauge reads twice a day", **fields)
    node = call("kg.get", id=id)
    recorded = dt.datetime.fromisoformat(node.pop("recorded_at"))
    assert abs((dt.datetime.now(dt.UTC) - recorded).total_seconds()) < 60
    assert node.pop("updated_at") == recorded.isoformat().replace("+00:00", "Z")
    assert node == fields | {
        "id": id,
        "label": "Note",
        "kind": "memory",
        "state": "current",
        "content": "The tide gauge reads twice a day",
        "created_at": "2020-02-29T10:00:00.000001Z",
        "superseded_by": [],
    }


@pytest.mark.parametrize(
    ("fields", "label", "kind"),
    [
        ({"kind": "observation"}, "Note", "observation"),
        ({"kind": "document"}, "Note", "document"),
        ({"kind": "document", "label": "Entity"}, "Entity", "document"),
        ({"kind": "person"}, "Entity", "person"),
        ({"label": "Note"}, "Note", "memory"),
        ({"label": "Entity"}, "Entity", "concept"),
        ({"label": "Neuron", "triggers": ["tea"], "importance": 0.0}, "Neuron", "neuron"),
        ({"kind": "abstraction"}, "Abstraction", "abstraction"),
        ({"label": "Knowledge"}, "Knowledge", "knowledge"),
    ],
)
def test_a_node_of_each_label_can_be_made(call, fields, label, kind):
    answer = call.answer("kg.create", content="Kettle", **fields)
    assert answer.created
    node = call("kg.get", id=answer.body["id"])
    assert (node["label"], node["kind"], node["content"]) == (label, kind, "Kettle")
    if label == "Neuron":
        assert (node["triggers"], node["importance"], node["memory_type"]) == (["tea"], 0.0, "associative")
    elif label != "Entity":
        assert "memory_type" not in node


@pytest.mark.parametrize(
    "properties",
    [
        {"float": 2.0, "whole": 2, "null": None, "truth": True, "text": "2"},
        {"big": 2**70, "negative": -(2**70), "tiny": 5e-324, "nested": {"list": [1, 1.0, None, {"a": []}], "empty": {}}},
        {"": "an empty name", "ns": "not the namespace", "id": "not the id", "ключ": "значение", "a\u2028b": "𝄞"},
        {},
    ],
)
def test_properties_come_back_as_they_went_in(call, note, properties):
    made = [note(properties=properties), call("kg.create", label="Entity", content="Kettle", properties=properties)["id"]]
    for id in made:
        assert repr(call("kg.get", id=id)["properties"]) == repr(properties)


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"content": "x"}, "kind", "say kind or label"),
        ({"content": "x", "kind": "recipe"}, "kind", "no kind 'recipe'"),
        ({"content": "x", "kind": "person", "label": "Note"}, "kind", "a Note can't be of kind 'person'"),
        ({"content": "x", "kind": "memory", "label": "Neuron"}, "kind", "a Neuron can't be of kind 'memory'"),
        ({"content": "x", "kind": "memory", "triggers": ["a"]}, "triggers", "only a neuron"),
        ({"content": "x", "kind": "memory", "importance": 0.0}, "triggers", "only a neuron"),
        ({"items": [{"content": "x", "kind": "memory"}, {"content": "x", "kind": "no"}]}, "items.1.kind", "no kind 'no'"),
    ],
)
def test_a_kind_that_does_not_fit_is_refused_with_those_that_do(call, fields, field, message):
    with pytest.raises(NotAllowed, match=message) as error:
        call("kg.create", **fields)
    assert field in faults(error)
    if field.endswith("kind"):
        assert error.value.details["allowed"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"kind": "memory"}, "content"),
        ({"kind": "memory", "content": " "}, "content"),
        ({"kind": "memory", "content": "x", "colour": "red"}, "colour"),
        ({"kind": "memory", "content": "x", "salience": 1.5}, "salience"),
        ({"kind": "memory", "content": "x", "decay_factor": -0.1}, "decay_factor"),
        ({"kind": "memory", "content": "x", "created_at": "2026-01-01T00:00:00"}, "created_at"),
        ({"kind": "memory", "content": "x", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"kind": "memory", "content": "x", "tags": ["a"] * 65}, "tags"),
        ({"kind": "memory", "content": "x", "key": "k" * 1025}, "key"),
        ({"kind": "memory", "content": "x", "memory_type": "vague"}, "memory_type"),
        ({"kind": "memory", "content": "x" * ((1 << 20) + 1)}, "content"),
        ({"kind": "memory", "content": "x", "supersedes": ["a"] * 17}, "supersedes"),
        ({"items": [{"kind": "memory", "content": "x"}], "content": "y"}, "items"),
        ({"items": []}, "items"),
        ({"items": [{"kind": "memory", "content": "x"}] * 1001}, "items"),
        ({"items": [{"kind": "memory", "content": "x"}, {"kind": "memory"}]}, "items.1.content"),
        ({"items": [{"kind": "memory", "content": "x", "expires_at": "2020-01-01T00:00:00Z"}]}, "items.0.expires_at"),
    ],
)
def test_a_faulty_node_is_refused_by_its_field(call, fields, field):
    with pytest.raises(ValidationFailed) as error:
        call("kg.create", **fields)
    assert field in faults(error)


def test_an_entity_is_one_by_its_name_and_kind(call, entity):
    first = entity("Marta Olsen", "person")
    again = call.answer("kg.create", label="Entity", kind="person", content="  marta  OLSEN’s ")
    assert again.body == {"id": first, "unchanged": True}
    assert not again.created
    assert entity("Marta Olsen", "org") != first
    assert call.within(f"{call.ns}.other")("kg.create", kind="person", content="Marta Olsen")["id"] != first


def test_a_batch_answers_in_order_and_knows_what_was_there(call, note):
    known = note("first", key="k1")
    items = [
        {"kind": "memory", "content": "second"},
        {"kind": "memory", "content": "first", "key": "k1"},
        {"kind": "person", "content": "Ida"},
    ]
    results = call("kg.create", items=items)["results"]
    assert results[1] == {"id": known, "unchanged": True}
    assert [call("kg.get", id=result["id"])["content"] for result in results] == ["second", "first", "Ida"]


@pytest.mark.parametrize(
    ("faulty", "error", "place"),
    [
        ({"content": "other", "key": "held"}, KeyInUse, "items.2.key"),
        ({"content": "x", "supersedes": [NOBODY]}, NotFound, "items.2.supersedes.0"),
        ({"content": "x", "source_id": NOBODY}, NotFound, "items.2.source_id"),
        ({"content": "x", "follows": NOBODY}, NotFound, "items.2.follows"),
    ],
)
def test_a_batch_is_all_or_nothing_and_names_the_item(call, note, faulty, error, place):
    note("mine", key="held")
    good = [{"kind": "memory", "content": f"good {n}", "key": f"good-{n}"} for n in range(2)]
    with pytest.raises(error) as raised:
        call("kg.create", items=[*good, {"kind": "memory"} | faulty, {"kind": "person", "content": "Ida"}])
    assert place in str(raised.value) or place in faults(raised)
    assert [node["content"] for node in call("kg.list")["results"]] == ["mine"]


def test_two_items_of_one_batch_with_one_key(call):
    same = [{"kind": "memory", "content": "a", "key": "k"}] * 2
    first, second = call("kg.create", items=same)["results"]
    assert first["id"] == second["id"]
    assert (first["unchanged"], second["unchanged"]) == (False, True)
    with pytest.raises(KeyInUse):
        call("kg.create", items=[{"kind": "memory", "content": c, "key": "k2"} for c in "ab"])
    assert len(call("kg.list")["results"]) == 1


def test_a_used_key_with_other_content_names_its_holder(call, note):
    id = note("port 8080", key="port")
    assert call("kg.create", kind="memory", content="port 8080", key="port") == {"id": id, "unchanged": True}
    with pytest.raises(KeyInUse, match="in supersedes to replace it") as error:
        note("port 8443", key="port")
    assert error.value.details == {"existing_id": id}
    assert call("kg.create", kind="observation", content="port 8443", key="port")["unchanged"] is False, (
        "a key is of its kind"
    )


def test_a_key_moves_to_the_note_that_supersedes_its_holder(call, note):
    old = note("port 8080", key="port")
    new = note("port 8443", key="port", supersedes=[old])
    assert call("kg.get", id=new)["key"] == "port"
    assert "key" not in call("kg.get", id=old)
    assert call("kg.create", kind="memory", content="port 8443", key="port")["id"] == new


def test_a_key_stays_with_a_note_whose_successor_does_not_ask_for_it(call, note):
    old = note("port 8080", key="port")
    note("the port has changed", supersedes=[old])
    assert call("kg.get", id=old)["key"] == "port"
    assert call("kg.create", kind="memory", content="port 8080", key="port") == {"id": old, "unchanged": True}


def test_a_call_that_is_sent_twice_is_unchanged_even_when_what_it_named_is_gone(call, note):
    old = note("port 8080")
    new = note("port 8443", key="port", supersedes=[old])
    call("kg.delete", id=old)
    again = call("kg.create", kind="memory", content="port 8443", key="port", supersedes=[old])
    assert again == {"id": new, "unchanged": True}


@pytest.mark.parametrize("whose", ["unknown", "foreign", "deleted"])
@pytest.mark.parametrize("verb", ["get", "update", "delete", "neighbors", "traverse", "history"])
def test_an_id_that_is_not_here_is_not_found(call, note, verb, whose):
    id = NOBODY if whose == "unknown" else note()
    if whose == "foreign":
        call = call.within(f"{call.ns}.other")
    if whose == "deleted":
        call("kg.delete", id=id)
    with pytest.raises(NotFound, match="no node") as error:
        call(f"kg.{verb}", id=id, **({"content": "x"} if verb == "update" else {}))
    assert "id" in faults(error)


@pytest.mark.parametrize("whose", ["unknown", "foreign", "deleted"])
@pytest.mark.parametrize("end", ["source", "target"])
def test_an_edge_to_what_is_not_here_is_not_found(call, note, whose, end):
    here, id = note("here"), NOBODY if whose == "unknown" else note("there")
    if whose == "deleted":
        call("kg.delete", id=id)
    if whose == "foreign":
        id = call.within(f"{call.ns}.other")("kg.create", kind="memory", content="theirs")["id"]
    ends = {"source": here, "target": here} | {end: id}
    with pytest.raises(NotFound) as error:
        call("kg.link", **ends, relation="follows")
    assert end in faults(error)
    with pytest.raises(NotFound):
        call("kg.unlink", **ends, relation="follows")


# kg.update


def test_an_update_changes_what_is_named_takes_away_nulls_and_keeps_the_rest(call, note):
    id = note("text", tags=["a"], key="k", source="s", properties={"a": 1}, expires_at="2999-01-01T00:00:00Z")
    before = call("kg.get", id=id)
    after = call("kg.update", id=id, tags=[], source=None, expires_at=None, properties={"b": 2.0}, salience=0.0)
    assert after == call("kg.get", id=id)
    assert (after["tags"], after["properties"], after["salience"]) == ([], {"b": 2.0}, 0.0)
    assert not after.keys() & {"source", "expires_at"}
    kept = ["content", "key", "created_at", "recorded_at", "decay_factor"]
    assert [after[name] for name in kept] == [before[name] for name in kept]
    assert after["updated_at"] > before["updated_at"]


def test_new_content_is_found_by_its_new_words_and_no_longer_by_the_old(call, note):
    id = note("The harbour crane is painted yellow")
    call("kg.update", id=id, content="The lighthouse lamp burns kerosene")
    assert found(call, "kerosene lighthouse") == call.found("kerosene lighthouse lamp") == [id]
    assert found(call, "harbour crane") == []
    (hit,) = call("memory.recall", query="harbour crane yellow", min_score=0)["results"] or [{"sources": ["vector"]}]
    assert "text" not in hit["sources"]


def test_new_content_of_a_long_note_replaces_its_passages(call, note, by_hand, monkeypatch, service):
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 48)
    id = note(" ".join(f"Sentence {n} tells of the heron." for n in range(40)))
    passages = "MATCH (:Note {ns: $ns})-[:HAS_PASSAGE]->(p) RETURN count(p) AS n, collect(DISTINCT labels(p)) AS labels"
    (before,) = by_hand(passages)
    assert before["n"] > 2
    call("kg.update", id=id, content=" ".join(f"Sentence {n} tells of the otter." for n in range(20)))
    (after,) = by_hand(passages)
    assert 1 < after["n"] < before["n"]
    assert (found(call, "heron"), found(call, "otter")) == ([], [id])
    call("kg.update", id=id, content="One short text about a badger")
    assert by_hand(passages)[0]["n"] == 0
    assert (found(call, "otter"), found(call, "badger")) == ([], [id])


def test_an_update_of_a_superseded_note_leaves_it_superseded(call, note):
    old = note("The ferry leaves at nine")
    note("It leaves at ten", supersedes=[old])
    call("kg.update", id=old, content="The ferry leaves at half past nine")
    assert call("kg.get", id=old)["state"] == "superseded"
    assert found(call, "ferry half past nine") == []


def test_a_changed_type_tag_or_expiry_counts_at_the_next_recall(call, note):
    id = note("The sluice opens at dawn", memory_type="semantic", tags=["old"])
    call("kg.update", id=id, memory_type="procedural", tags=["new"])
    assert call.found("sluice dawn", memory_type="procedural", tags=["new"]) == [id]
    assert call.found("sluice dawn", memory_type="semantic") == call.found("sluice dawn", tags=["old"]) == []
    call("kg.update", id=id, expires_at="2999-01-01T00:00:00Z")
    assert call.found("sluice dawn", as_of="2999-06-01T00:00:00Z") == []


def test_an_update_to_a_used_key_is_refused_with_its_holder(call, note):
    holder, other = note("a", key="k"), note("b")
    with pytest.raises(KeyInUse) as error:
        call("kg.update", id=other, key="k", content="c")
    assert error.value.existing_id == holder
    assert call("kg.get", id=other)["content"] == "b"
    assert call("kg.update", id=holder, key="k2")["key"] == "k2"
    assert call("kg.update", id=other, key="k")["key"] == "k"
    assert "key" not in call("kg.update", id=other, key=None)


def test_an_entity_that_is_renamed_is_found_by_its_new_name(call, entity):
    id = entity("Old Mill", "org")
    call("kg.update", id=id, content="New Mill")
    assert entity("New Mill", "org") == id
    assert entity("Old Mill", "org") != id


def test_an_entity_can_not_take_the_name_of_another(call, entity):
    entity("Old Mill", "org")
    other = entity("New Mill", "org")
    with pytest.raises(KeyInUse) as error:
        call("kg.update", id=other, content="old mill")
    assert error.value.existing_id == entity("Old Mill", "org")
    assert call("kg.get", id=other)["content"] == "New Mill"


def test_an_update_of_nothing_is_refused(call, note):
    with pytest.raises(ValidationFailed, match="at least one field"):
        call("kg.update", id=note())


@pytest.mark.parametrize("fields", [{"triggers": ["tea"]}, {"importance": 0.5}])
def test_only_a_neuron_gets_triggers_by_an_update(call, note, fields):
    with pytest.raises(NotAllowed, match="only a neuron"):
        call("kg.update", id=note(), **fields)


def test_new_triggers_of_a_neuron_are_found(call):
    id = call("kg.create", label="Neuron", content="Offer a blanket", triggers=["shivering"])["id"]
    assert found(call, "shivering") == [id]
    call("kg.update", id=id, triggers=["freezing"])
    assert (found(call, "shivering"), found(call, "freezing")) == ([], [id])


# kg.delete


def test_a_deleted_note_is_gone_from_every_verb_and_brings_its_predecessor_back(call, note):
    oldest = note("The mooring costs five crowns")
    old = note("The mooring costs six crowns", supersedes=[oldest])
    new = note("The mooring costs seven crowns", supersedes=[old], key="mooring")
    receipt = call("kg.delete", id=new)
    went = {"label": "Note", "kind": "memory", "restored": [old], "derived": [], "passages": 0, "edges": 1}
    assert receipt == {"id": new, "deleted": True} | went
    assert found(call, "mooring") == call.found("mooring costs") == [old]
    assert [node["id"] for node in call("kg.list")["results"]] == [oldest, old]
    assert call("kg.get", id=old)["state"] == "current"
    assert "superseded_at" not in call("kg.get", id=old)
    assert call("kg.get", id=oldest)["state"] == "superseded"
    with pytest.raises(NotFound):
        call("kg.delete", id=new)


def test_a_deleted_note_gives_its_key_and_a_deleted_entity_its_name_away(call, note, entity):
    call("kg.delete", id=note("a", key="k"))
    assert call("kg.create", kind="memory", content="a", key="k")["unchanged"] is False
    first = entity("Old Mill", "org")
    call("kg.delete", id=first)
    assert entity("Old Mill", "org") != first


def test_of_a_fork_one_deletion_brings_nothing_back(call, note):
    old = note("one")
    heads = [note("two", supersedes=[old]), note("three", supersedes=[old])]
    assert call("kg.delete", id=heads[0])["restored"] == []
    assert call("kg.get", id=old)["superseded_by"] == [heads[1]]
    assert call("kg.delete", id=heads[1])["restored"] == [old]


def test_the_receipt_counts_passages(call, note, monkeypatch, service, by_hand):
    monkeypatch.setattr(service.dispatcher.runtime.indexer.embedder, "max_tokens", 48)
    id = note(" ".join(f"Sentence {n} tells of the heron." for n in range(40)))
    assert call("kg.delete", id=id)["passages"] > 2
    assert by_hand("MATCH (p:Passage {ns: $ns}) WHERE NOT p:Deleted OR p:Current RETURN p") == []
    assert call.found("heron sentence") == []


# kg.list


def test_pages_hold_every_node_once_in_the_order_of_storing(call):
    items = [{"kind": ("memory", "observation", "person")[n % 3], "content": f"node {n}"} for n in range(50)]
    ids = [result["id"] for result in call("kg.create", items=items)["results"]]
    for kind, wanted in ((None, ids), ("person", ids[2::3]), ("memory", ids[::3])):
        seen, cursor, pages = [], None, 0
        while pages == 0 or cursor:
            page = call("kg.list", limit=7, cursor=cursor, **({"kind": kind} if kind else {}))
            assert 1 <= len(page["results"]) <= 7
            seen += [node["id"] for node in page["results"]]
            cursor, pages = page["next_cursor"], pages + 1
        assert seen == sorted(wanted)
        assert pages == -(-len(wanted) // 7)


def test_a_page_is_stable_while_others_write_and_delete(call, note):
    ids = [note(f"node {n}") for n in range(10)]
    first = call("kg.list", limit=4)
    call("kg.delete", id=ids[1])
    call("kg.delete", id=ids[5])
    late = note("late")
    rest = call("kg.list", limit=100, cursor=first["next_cursor"])
    assert [node["id"] for node in rest["results"]] == [ids[4], *ids[6:], late]
    assert rest["next_cursor"] is None


def test_a_list_can_ask_for_a_label(call, note, entity):
    ids = [note(), entity("Kettle"), call("kg.create", label="Neuron", content="tea")["id"]]
    for label, id in zip(("Note", "Entity", "Neuron"), ids, strict=True):
        assert [node["id"] for node in call("kg.list", label=label)["results"]] == [id]
    assert call("kg.list", label="Abstraction") == {"results": [], "next_cursor": None}
    assert call("kg.list", kind="no such kind")["results"] == []


# kg.link and kg.unlink


def test_an_edge_is_one_and_linking_again_updates_it(call, note, link):
    a, b = note("a"), note("b")
    first = call.answer("kg.link", source=a, target=b, relation="supports", weight=0.5, properties={"why": "x"})
    assert first.created
    assert first.body == {"source": a, "target": b, "relation": "supports", "weight": 0.5, "created": True}
    again = call.answer("kg.link", source=a, target=b, relation="supports", weight=2.0)
    assert not again.created
    assert again.body["created"] is False
    (neighbor,) = call("kg.neighbors", id=a)["results"]
    assert (neighbor["id"], neighbor["weight"], neighbor["direction"]) == (b, 2.0, "out")
    link(b, "supports", a)
    assert len(call("kg.neighbors", id=a)["results"]) == 2, "the other way is another edge"


def test_a_symmetric_relation_is_one_edge_whichever_way_it_is_said(call, entity, link):
    a, b = sorted([entity("Gas", "concept"), entity("Wind", "concept")])
    assert link(b, "competes_with", a)["source"] == a
    assert link(a, "competes_with", b, weight=3.0)["created"] is False
    assert [row["direction"] for row in call("kg.neighbors", id=a)["results"]] == ["out"]
    assert call("kg.unlink", source=b, target=a, relation="competes_with")["deleted"] is True
    assert call("kg.neighbors", id=a)["results"] == []


def test_a_self_link_is_refused(call, note, link):
    a = note()
    with pytest.raises(NotAllowed, match="can't be linked to itself"):
        link(a, "follows", a)


def test_a_pair_outside_the_table_is_refused_with_what_is_allowed(call, note, entity, link):
    with pytest.raises(NotAllowed, match="supersedes can't lead from") as error:
        link(note(), "supersedes", entity("Gas"))
    assert error.value.details["allowed"] == ["annotates", "mentions"]
    with pytest.raises(ValidationFailed, match="must be one of contains, "):
        link(note(), "likes", note())


@pytest.mark.parametrize("missing", ["source", "target", "relation"])
def test_an_edge_needs_both_ends_and_a_relation(call, note, missing):
    fields = {"source": note(), "target": note(), "relation": "follows"}
    del fields[missing]
    with pytest.raises(ValidationFailed) as error:
        call("kg.link", **fields)
    assert faults(error) == {missing: "is required"}


def test_a_supersession_by_hand_takes_the_old_note_out_and_unlink_brings_it_back(call, note, link):
    old, new = (
        note("The well is dry", created_at="2020-01-01T00:00:00Z"),
        note("The well is full", created_at="2021-01-01T00:00:00Z"),
    )
    link(new, "supersedes", old)
    assert call.found("well") == [new]
    assert call("kg.get", id=old)["superseded_at"] == "2021-01-01T00:00:00Z"
    answer = call("kg.unlink", source=new, target=old, relation="supersedes")
    assert answer == {"source": new, "target": old, "relation": "supersedes", "deleted": True}
    assert sorted(call.found("well")) == sorted([old, new])
    with pytest.raises(NotFound, match="no edge supersedes"):
        call("kg.unlink", source=new, target=old, relation="supersedes")


def test_superseded_since_is_never_before_the_old_note_itself(call, note, link):
    old, new = note("a", created_at="2022-01-01T00:00:00Z"), note("b", created_at="2021-01-01T00:00:00Z")
    link(new, "supersedes", old)
    assert call("kg.get", id=old)["superseded_at"] == "2022-01-01T00:00:00Z"


def test_a_cycle_is_refused_with_its_chain_and_changes_nothing(call, note, link):
    a, b, c = note("a"), note("b"), note("c")
    link(b, "supersedes", a)
    link(c, "supersedes", b)
    with pytest.raises(SupersessionCycle, match=f"{a} -> {c} -> {b} -> {a}") as error:
        link(a, "supersedes", c)
    assert error.value.details["chain"] == [a, c, b, a]
    assert [call("kg.get", id=id)["state"] for id in (a, b, c)] == ["superseded", "superseded", "current"]
    assert call("kg.neighbors", id=a, direction="out")["results"] == []


def test_a_cycle_that_a_batch_closes_by_itself_is_refused(call, note):
    ids = [note(f"{n}") for n in range(4)]
    edges = [{"source": ids[n], "target": ids[(n + 1) % 4], "relation": "supersedes"} for n in range(4)]
    with pytest.raises(SupersessionCycle):
        call("kg.link", items=edges)
    assert {call("kg.get", id=id)["state"] for id in ids} == {"current"}


def test_a_long_cycle_is_refused(call, note):
    ids = [note(f"{n}") for n in range(40)]
    edges = [{"source": new, "target": old, "relation": "supersedes"} for old, new in itertools.pairwise(ids)]
    call("kg.link", items=edges)
    with pytest.raises(SupersessionCycle) as error:
        call("kg.link", source=ids[0], target=ids[-1], relation="supersedes")
    assert len(error.value.chain) == 41


def test_a_batch_of_edges_answers_in_order_and_is_all_or_nothing(call, note, entity):
    a, b, c = note("a"), note("b"), entity("c")
    items = [
        {"source": a, "target": b, "relation": "supports"},
        {"source": a, "target": c, "relation": "mentions", "weight": 0.25},
        {"source": a, "target": b, "relation": "supports", "weight": 3},
    ]
    results = call("kg.link", items=items)["results"]
    assert [(row["target"], row["relation"]) for row in results] == [(b, "supports"), (c, "mentions"), (b, "supports")]
    assert [(row["id"], row["weight"]) for row in call("kg.neighbors", id=a)["results"]] == [(b, 3.0), (c, 0.25)]
    with pytest.raises(NotAllowed) as error:
        call(
            "kg.link",
            items=[{"source": b, "target": c, "relation": "mentions"}, {"source": c, "target": b, "relation": "mentions"}],
        )
    assert list(faults(error)) == ["items.1.relation"]
    with pytest.raises(NotFound) as error:
        call(
            "kg.link",
            items=[
                {"source": b, "target": c, "relation": "mentions"},
                {"source": b, "target": NOBODY, "relation": "mentions"},
            ],
        )
    assert list(faults(error)) == ["items.1.target"]
    assert [row["relation"] for row in call("kg.neighbors", id=b)["results"]] == ["supports"]


# kg.neighbors, kg.traverse, kg.history, kg.search


def test_neighbors_are_strongest_first_and_by_direction_and_relation(call, entity, link):
    hub, strong, weak, source = (entity(name) for name in ("Hub", "Strong", "Weak", "Source"))
    link(hub, "contains", weak, weight=0.1)
    link(hub, "extends", strong, weight=5)
    link(source, "enables", hub)
    rows = call("kg.neighbors", id=hub)["results"]
    assert [(row["id"], row["relation"], row["direction"], row["weight"]) for row in rows] == [
        (strong, "extends", "out", 5.0),
        (source, "enables", "in", 1.0),
        (weak, "contains", "out", 0.1),
    ]
    assert [row["id"] for row in call("kg.neighbors", id=hub, direction="in")["results"]] == [source]
    assert [row["id"] for row in call("kg.neighbors", id=hub, direction="out", limit=1)["results"]] == [strong]
    assert [row["id"] for row in call("kg.neighbors", id=hub, relations=["contains"])["results"]] == [weak]


@pytest.mark.parametrize(("hops", "reached"), [(1, 1), (2, 2), (3, 3)])
def test_a_traversal_goes_as_far_as_it_is_told(call, entity, link, hops, reached):
    ids = [entity(f"Ring {n}") for n in range(5)]
    for inner, outer in itertools.pairwise(ids):
        link(inner, "contains", outer)
    answer = call("kg.traverse", id=ids[0], max_hops=hops)
    assert [(node["id"], node["distance"]) for node in answer["nodes"]] == [(ids[n], n) for n in range(1, reached + 1)]
    assert [(edge["source"], edge["target"]) for edge in answer["edges"]] == list(itertools.pairwise(ids[: reached + 1]))
    back = call("kg.traverse", id=ids[4], max_hops=hops, direction="in")["nodes"]
    assert [node["id"] for node in back] == ids[3 : 3 - reached : -1]
    assert call("kg.traverse", id=ids[4], direction="out") == {"nodes": [], "edges": []}


def test_a_traversal_does_not_go_through_a_deleted_node_and_not_past_three_hops(call, entity, link):
    a, b, c = (entity(name) for name in "abc")
    link(a, "contains", b)
    link(b, "contains", c)
    call("kg.delete", id=b)
    assert call("kg.traverse", id=a) == {"nodes": [], "edges": []}
    with pytest.raises(ValidationFailed, match="from 1 to 3"):
        call("kg.traverse", id=a, max_hops=4)


def test_a_node_that_is_reached_twice_comes_once_by_its_shortest_way(call, entity, link):
    a, b, c = (entity(name) for name in "abc")
    link(a, "contains", b)
    link(b, "contains", c)
    link(a, "extends", c)
    nodes = call("kg.traverse", id=a, max_hops=3)["nodes"]
    assert sorted((node["id"], node["distance"]) for node in nodes) == sorted([(b, 1), (c, 1)])


def test_history_is_the_whole_family_from_any_member(call, note):
    times = [f"202{n}-01-01T00:00:00Z" for n in range(5)]
    root = note("root", created_at=times[0])
    left, right = (note(side, supersedes=[root], created_at=times[n]) for side, n in (("left", 1), ("right", 2)))
    tip = note("tip", supersedes=[left], created_at=times[3])
    note("a stranger")
    for member in (root, left, right, tip):
        rows = call("kg.history", id=member)["results"]
        assert [row["id"] for row in rows] == [root, left, right, tip]
        assert [row["supersedes"] for row in rows] == [[], [root], [root], [left]]
        assert [row["state"] for row in rows] == ["superseded", "superseded", "current", "current"]
        assert [row.get("superseded_at") for row in rows] == [times[1], times[3], None, None]
    call("kg.delete", id=left)
    rows = call("kg.history", id=right)["results"]
    assert [(row["id"], row["supersedes"]) for row in rows] == [(root, []), (right, [root]), (tip, [])]


def test_search_finds_names_and_words_best_first_and_nothing_superseded(call, note, entity):
    person = entity("Marta Olsen", "person")
    both, one = note("Marta Olsen tuned the organ"), note("Somebody tuned the radio in the evening after a long day")
    assert found(call, "Marta Olsen tuned")[0] == both
    assert set(found(call, "Marta Olsen tuned")) == {person, both, one}
    assert found(call, "Marta Olsen", kinds=["person"]) == [person]
    assert found(call, "tuned", limit=1) in ([both], [one])
    scores = [hit["score"] for hit in call("kg.search", query="Marta Olsen tuned")["results"]]
    assert scores == sorted(scores, reverse=True)
    note("Marta Olsen sold the organ", supersedes=[both])
    assert both not in found(call, "tuned organ")
    assert found(call.within(f"{call.ns}.other"), "Marta") == []


@pytest.mark.parametrize("query", ["*", "!!!", '"', "kind:memory", "+ns:other", "a AND (b OR", "\\", "~", "[a TO b]"])
def test_a_search_is_never_read_as_query_syntax(call, note, query):
    note("nothing of the sort")
    assert found(call, query) == found(call, "nothing", kinds=[query or "x"]) == []


def test_search_by_kind_is_not_starved_by_other_kinds(call):
    call("kg.create", items=[{"kind": "memory", "content": f"The ferry timetable {n}"} for n in range(30)])
    id = call("kg.create", kind="observation", content="The old ferry timetable hung for years in the hall by the door")[
        "id"
    ]
    assert found(call, "ferry timetable", kinds=["observation"], limit=5) == [id]
