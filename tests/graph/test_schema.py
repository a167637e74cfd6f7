"""Migrations, the lease that one process at a time holds, and the indexes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from graph import schema
from graph.errors import SchemaError
from graph.slots import FIRST
from graph.statements import FOLDER

NEWER = 999


@pytest.fixture
def from_the_future(driver):
    """A record of a migration that this program does not know."""
    driver.execute_query("CREATE (:Migration {name: 'schema.999_future', version: $version})", {"version": NEWER})
    yield
    driver.execute_query("MATCH (m:Migration {version: $version}) DELETE m", {"version": NEWER})


def test_each_migration_has_a_number_of_its_own_and_they_begin_with_1(store):
    files = sorted(path.stem for path in FOLDER.glob("schema/[0-9]*.cypher"))
    assert [f"schema.{name}" for name in files] == list(schema.migrations(store).values())
    assert next(iter(schema.migrations(store))) == 1


def test_the_database_is_at_the_newest_version_and_each_migration_is_recorded_once(store, driver):
    assert schema.version(store) == max(schema.migrations(store))
    rows = driver.execute_query(
        "MATCH (m:Migration) WHERE m.version IS NOT NULL RETURN m.name AS name ORDER BY name"
    ).records
    assert [row["name"] for row in rows] == sorted(schema.migrations(store).values())


def test_migrating_again_changes_nothing(store, driver):
    before = driver.execute_query("SHOW INDEXES YIELD id, name RETURN id, name ORDER BY id").records
    assert schema.migrate(store) == schema.version(store)
    assert driver.execute_query("SHOW INDEXES YIELD id, name RETURN id, name ORDER BY id").records == before


def test_a_database_of_a_newer_program_is_refused(store, from_the_future):
    with pytest.raises(SchemaError, match=r"has schema 999, this program knows \d+: install a newer Palimpsest"):
        schema.migrate(store)


def test_an_index_of_other_dimensions_is_refused(store):
    with pytest.raises(SchemaError, match="current_embedding holds vectors of 384 dimensions, not of 768"):
        schema.vector_indexes(store, FIRST, 768)


def test_vectors_are_not_quantized_and_filtered_inside_the_index(driver):
    rows = driver.execute_query(
        "SHOW VECTOR INDEXES YIELD name, labelsOrTypes, properties, options RETURN * ORDER BY name"
    ).records
    assert [(row["name"], row["labelsOrTypes"]) for row in rows] == [
        ("current_embedding", ["Current"]),
        ("superseded_embedding", ["Superseded"]),
    ]
    for row in rows:
        assert row["options"]["indexConfig"]["vector.quantization.type"] == "NONE"
        assert set(row["properties"]) >= {"ns", "kind", "type_key", "created_ts", "superseded_ts", "expires_ts"}


def test_every_index_that_a_statement_needs_is_online(store):
    assert schema.needed(store) >= {"recallable_id", "current_text", "superseded_embedding"}
    assert set(schema.states(store).values()) == {"ONLINE"}


def test_an_index_that_is_gone_is_named(store, driver):
    driver.execute_query("DROP INDEX entity_page")
    try:
        with pytest.raises(SchemaError, match="entity_page is MISSING"):
            schema.await_online(store)
    finally:
        store.auto("schema.008_entity_page")
    schema.await_online(store)


def test_an_index_that_is_gone_is_made_again_at_the_next_start(store, driver):
    driver.execute_query("DROP INDEX entity_page")
    driver.execute_query("DROP INDEX current_text")
    schema.migrate(store)
    schema.await_online(store)
    assert set(schema.states(store).values()) == {"ONLINE"}


def test_the_migration_lease_is_held_by_one(store):
    start = threading.Barrier(8)

    def take(owner: int) -> bool:
        start.wait()
        return store.write(lambda tx: tx.rows("schema.lock", owner=f"owner {owner}", lease_s=60))[0]["mine"]

    try:
        with ThreadPoolExecutor(8) as pool:
            assert sorted(pool.map(take, range(8))) == [False] * 7 + [True]
    finally:
        for owner in range(8):
            store.write(lambda tx, owner=owner: tx.rows("schema.unlock", owner=f"owner {owner}"))


def test_a_lease_that_ran_out_is_taken_over(store):
    def lease(owner: str, lease_s: int) -> bool:
        return store.write(lambda tx: tx.rows("schema.lock", owner=owner, lease_s=lease_s))[0]["mine"]

    try:
        assert lease("dead", 0)
        assert lease("heir", 60)
        assert not lease("dead", 60)
    finally:
        store.write(lambda tx: tx.rows("schema.unlock", owner="heir"))
