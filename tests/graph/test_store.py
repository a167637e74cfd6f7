"""The one door: statements by name, the namespace put in by it alone, and the driver's errors in our words."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import neo4j
import pytest
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConstraintError,
    DatabaseUnavailable,
    Neo4jError,
    ResultFailedError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from graph.errors import (
    NotFound,
    PalimpsestError,
    StatementError,
    StatementFailed,
    StoreConflict,
    StoreTimeout,
    StoreUnavailable,
)
from graph.server import Endpoint
from graph.statements import Statement
from graph.store import RETRY_S, Store, translate

SLOW = Statement(
    name="test.slow",
    purpose="Takes its time.",
    text="UNWIND range(1, 200000) AS a UNWIND range(1, 20000) AS b RETURN sum(a * b) AS total",
    params={},
    returns={"total": "integer"},
    needs=(),
)
BROKEN = Statement(name="test.broken", purpose="Fails.", text="RETURN 1 / 0 AS x", params={}, returns={}, needs=())


@pytest.fixture
def probed(service) -> Iterator[Store]:
    """A store of its own that knows two more statements."""
    opened = Store(service.endpoint)
    opened.statements = dict(opened.statements) | {SLOW.name: SLOW, BROKEN.name: BROKEN}
    yield opened
    opened.close()


@pytest.fixture
def nowhere() -> Iterator[Endpoint]:
    """Where nothing answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        uri = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        yield Endpoint(uri=uri, username="neo4j", password="secret", database="neo4j")


def test_rows_one_and_value(store, ns):
    space = store.within(ns)
    keep = [{"properties": {"id": f"{n}", "name_key": f"n{n}", "kind": "concept", "content": f"n{n}"}} for n in range(3)]
    made = space.write(lambda tx: tx.rows("note.entity", items=keep))
    assert [row["id"] for row in made] == ["0", "1", "2"]
    assert [row["id"] for row in space.rows("note.found", ids=["2", "0", "9"])] == ["2", "0"]
    assert space.one("note.found", ids=["1"])["kind"] == "concept"
    assert space.value("note.found", ids=["1"]) == "1"
    assert space.one("note.found", ids=["9"]) is None
    assert space.value("note.found", ids=["9"]) is None


def test_a_space_sees_its_own_namespace_only(store, ns):
    item = {"properties": {"id": "1", "name_key": "n", "kind": "concept", "content": "n"}}
    store.within(ns).write(lambda tx: tx.rows("note.entity", items=[item]))
    assert store.within(f"{ns}.other").rows("note.found", ids=["1"]) == []


def test_a_statement_takes_its_parameters_and_no_others(store, ns):
    with pytest.raises(StatementError, match=r"note\.get takes \['id', 'ns'\], got \['id'\]"):
        store.rows("note.get", id="x")
    with pytest.raises(StatementError, match=r"got \['id', 'more', 'ns'\]"):
        store.within(ns).rows("note.get", id="x", more=1)
    with pytest.raises(StatementError, match=r"no statement note\.nothing"):
        store.rows("note.nothing")


def test_a_statement_without_a_namespace_can_not_be_run_inside_one(store, ns):
    with pytest.raises(StatementError, match=r"schema\.applied takes \[\], got \['ns'\]"):
        store.within(ns).rows("schema.applied")
    with pytest.raises(StatementError):
        store.within(ns).write(lambda tx: tx.rows("schema.untyped_neurons"))


def test_a_transaction_that_raises_stores_nothing(store, ns):
    item = {"properties": {"id": "1", "name_key": "n", "kind": "concept", "content": "n"}}
    space = store.within(ns)

    def work(tx):
        tx.rows("note.entity", items=[item])
        assert tx.one("note.found", ids=["1"])
        raise NotFound("changed my mind")

    with pytest.raises(NotFound, match="changed my mind"):
        space.write(work)
    assert space.rows("note.found", ids=["1"]) == []


def test_a_write_is_seen_by_another_store_at_once(probed, store, ns):
    for n in range(20):
        item = {"properties": {"id": f"{n}", "name_key": f"n{n}", "kind": "concept", "content": "n"}}
        store.within(ns).write(lambda tx, item=item: tx.rows("note.entity", items=[item]))
        assert probed.within(ns).value("note.found", ids=[f"{n}"]) == f"{n}"


def test_a_statement_past_its_limit_is_a_timeout(probed):
    started = time.monotonic()
    with pytest.raises(StoreTimeout, match="went past its limit"):
        probed.rows("test.slow", timeout_s=0.3)
    assert time.monotonic() - started < 10
    with pytest.raises(StoreTimeout):
        probed.write(lambda tx: tx.rows("test.slow"), timeout_s=0.3)


def test_a_statement_that_the_server_refuses_is_a_failed_statement(probed):
    with pytest.raises(StatementFailed, match="by zero"):
        probed.rows("test.broken")


def test_a_server_that_is_away_is_unavailable_and_revived_once_at_a_time(nowhere):
    revived, go_on = [], threading.Event()

    def revive() -> None:
        revived.append(1)
        go_on.wait(10)

    store = Store(nowhere, revive=revive)
    try:
        assert not store.ready()
        for _ in range(3):
            with pytest.raises(StoreUnavailable, match="does not answer"):
                store.rows("schema.applied", timeout_s=0.2)
        assert len(revived) == 1
    finally:
        go_on.set()
        store.close()


def test_a_refused_login_is_told_apart_and_not_tried_again(service):
    """Neo4j locks a user out after three attempts; this user is nobody's."""
    end = service.endpoint
    store = Store(Endpoint(uri=end.uri, username="nobody", password="wrong", database=end.database))
    try:
        started = time.monotonic()
        with pytest.raises(StoreUnavailable, match="refuses the login; check NEO4J_USERNAME"):
            store.rows("schema.applied")
        assert time.monotonic() - started < RETRY_S / 2
        assert not store.ready()
        for _ in range(4):
            with pytest.raises(StoreUnavailable, match="refuses the login"):
                store.rows("schema.applied")
    finally:
        store.close()


def test_a_ready_server_answers(store):
    assert store.ready()


def test_a_schema_command_waits_until_others_leave_its_label(probed, monkeypatch):
    ran, tries = neo4j.Session.run, 0

    def busy(session, *args, **params):
        nonlocal tries
        tries += 1
        if tries < 3:
            raise raised("Neo.TransientError.Transaction.LockAcquisitionTimeout")
        return ran(session, *args, **params)

    monkeypatch.setattr(neo4j.Session, "run", busy)
    assert probed.auto("schema.drop_index", name="no_such_index") == []
    assert tries == 3
    monkeypatch.setattr("graph.store.AUTO_S", 0.0)
    tries = 0
    with pytest.raises(StoreConflict, match="stood in the way"):
        probed.auto("schema.drop_index", name="no_such_index")


def raised(code: str, message: str = "m") -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=code, message=message)


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (AuthError("no"), StoreUnavailable),
        (ServiceUnavailable("gone"), StoreUnavailable),
        (SessionExpired("gone"), StoreUnavailable),
        (ConfigurationError("odd"), StoreUnavailable),
        (OSError("reset"), StoreUnavailable),
        (ConstraintError("twice"), StoreConflict),
        (raised("Neo.ClientError.Schema.ConstraintValidationFailed"), StoreConflict),
        (raised("Neo.ClientError.Transaction.TransactionTimedOut"), StoreTimeout),
        (raised("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"), StoreTimeout),
        (raised("Neo.TransientError.Transaction.Terminated"), StoreTimeout),
        (raised("Neo.TransientError.Transaction.DeadlockDetected"), StoreConflict),
        (raised("Neo.TransientError.Transaction.LockAcquisitionTimeout"), StoreConflict),
        (raised("Neo.TransientError.General.DatabaseUnavailable"), StoreUnavailable),
        (raised("Neo.TransientError.General.MemoryPoolOutOfMemoryError"), StoreUnavailable),
        (raised("Neo.ClientError.Procedure.ProcedureCallFailed", "There is no such fulltext schema index"), StatementFailed),
        (ClientError("odd"), StatementFailed),
    ],
    ids=lambda value: getattr(value, "code", None) or getattr(value, "__name__", type(value).__name__),
)
def test_a_driver_error_is_translated(error, ours):
    assert type(translate(error)) is ours


def test_both_roots_of_the_driver_errors_are_of_one_tree_of_ours(probed, monkeypatch):
    for error in (ServiceUnavailable("a DriverError"), TransientError("a Neo4jError"), DatabaseUnavailable("another")):

        def fail(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(neo4j.Session, "execute_write", fail)
        with pytest.raises(PalimpsestError):
            probed.write(lambda tx: None)


def test_what_failed_first_is_told_where_the_driver_says_it_twice(store):
    """Rolling back, the driver may find the result failed once more, and raise that over what had happened."""

    def work(_tx):
        raise ResultFailedError(None, "The result has failed.") from ConstraintError("already exists")

    with pytest.raises(StoreConflict):
        store.write(work)
