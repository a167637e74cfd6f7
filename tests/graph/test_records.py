"""The forms of a node: what is stored for the indexes, and what a caller sees."""

from __future__ import annotations

import datetime as dt
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.records import (
    ALWAYS_TS,
    NEVER_TS,
    Draft,
    content_hash,
    dumped,
    moment_of,
    new_id,
    shown,
    tag_token,
    time_key,
    timestamp,
)

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
INDEXED = {"properties": {"terms": "a b", "vector": b"1"}, "vectors": ["e"], "passages": []}
MOMENTS = st.datetimes(timezones=st.just(dt.UTC))


def draft(**fields) -> Draft:
    return Draft(**{"label": "Note", "kind": "memory", "content": "a b", "indexed": INDEXED} | fields)


@given(MOMENTS, MOMENTS)
def test_keys_of_times_sort_as_the_times_do(one: dt.datetime, other: dt.datetime):
    keys = time_key(timestamp(one)), time_key(timestamp(other))
    assert (keys[0] < keys[1]) == (one < other)
    assert len(keys[0]) == len(keys[1]) == 18
    assert keys[0] < time_key(NEVER_TS) == time_key(ALWAYS_TS)


@given(MOMENTS)
def test_a_timestamp_is_exact_to_the_microsecond(moment: dt.datetime):
    assert moment_of(timestamp(moment)) == moment


def test_ids_are_uuids_that_sort_by_time():
    ids = [new_id() for _ in range(200)]
    assert ids == sorted(ids)
    assert {uuid.UUID(id).version for id in ids} == {7}


def test_a_tag_becomes_one_token_without_query_syntax():
    tokens = {tag_token(tag) for tag in ("a b", "a", "b", "+a", 'a"', "A", "ä", "")}
    assert len(tokens) == 8
    assert all(token.isalnum() for token in tokens)


def test_a_draft_without_a_time_is_of_now_and_without_expiry_never_ends():
    stored = draft().as_item(NOW)["properties"]
    assert (stored["created_at"], stored["recorded_at"], stored["updated_at"]) == (NOW, NOW, NOW)
    assert stored["expires_ts"] == stored["superseded_ts"] == NEVER_TS
    assert stored["expires_key"] == stored["superseded_key"] == "~"
    assert stored["type_key"] == "none"
    assert stored["memory_type"] is None


def test_a_draft_keeps_the_world_time_apart_from_the_storing_time():
    earlier = NOW - dt.timedelta(days=400)
    stored = draft(created_at=earlier, expires_at=NOW + dt.timedelta(days=1), memory_type="semantic").as_item(NOW)[
        "properties"
    ]
    assert (stored["created_at"], stored["recorded_at"]) == (earlier, NOW)
    assert stored["created_ts"] == timestamp(earlier)
    assert stored["expires_key"] > stored["created_key"]
    assert stored["type_key"] == "semantic"
    assert stored["content_hash"] == content_hash("a b") != content_hash("a b ")


def test_a_passage_carries_what_its_note_is_filtered_by():
    passage = {"properties": {"content": "a", "position": 0}, "vectors": ["p"]}
    item = draft(indexed=INDEXED | {"vectors": [], "passages": [passage]}, tags=["x"]).as_item(NOW)
    filtered = {"kind", "type_key", "tag_key", "created_ts", "superseded_ts", "expires_ts", "created_key", "expires_key"}
    properties = item["passages"][0]["properties"]
    assert {name: properties[name] for name in filtered} == {name: item["properties"][name] for name in filtered}
    assert properties["content"] == "a"


def test_references_are_told_by_their_fields():
    wanted = draft(supersedes=["a", "b"], source_id="c", follows="d").references
    assert wanted == [("supersedes.0", "a"), ("supersedes.1", "b"), ("source_id", "c"), ("follows", "d")]


@pytest.mark.parametrize(
    ("labels", "label", "state"),
    [
        (["Recallable", "Current", "Note"], "Note", "current"),
        (["Superseded", "Recallable", "Neuron"], "Neuron", "superseded"),
        (["Entity"], "Entity", "current"),
        (["Entity", "Deleted"], "Entity", "deleted"),
    ],
)
def test_a_node_is_shown_with_its_label_and_layer(labels, label, state):
    assert shown({"id": "x"}, labels) == {"id": "x", "label": label, "state": state}


def test_the_forms_for_the_indexes_are_not_shown():
    stored = draft(properties={"a": None, "b": 2.0}, key="k").as_item(NOW)["properties"]
    seen = shown(stored | {"ns": "x", "former_key": "old", "name_key": "n"}, ["Note"])
    assert seen["properties"] == {"a": None, "b": 2.0}
    assert seen["created_at"] == "2026-03-01T12:00:00Z"
    assert not seen.keys() & {"ns", "terms", "vector", "content_hash", "created_ts", "created_key", "former_key", "name_key"}


def test_empty_properties_differ_from_none():
    assert (dumped({}), dumped(None)) == ("{}", None)
    assert shown({"properties_json": "{}"}, ["Note"])["properties"] == {}
    assert "properties" not in shown({}, ["Note"])
