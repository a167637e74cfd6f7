"""The one door to the database, and the one place that puts the namespace into a statement.

`Store` runs statements by name. Work inside a namespace goes through `store.within(ns)`, which gives a `Space`; a statement
that declares `ns` can't be run otherwise, and one that does not can't be run from a `Space`.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ResultFailedError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)
from neo4j.vector import Vector

from graph.errors import (
    PalimpsestError,
    StatementError,
    StatementFailed,
    StoreConflict,
    StoreTimeout,
    StoreUnavailable,
)
from graph.statements import Statement, load
from graph.tracing import Started, span

log = logging.getLogger(__name__)
# Codes of a statement that was ended at its limit; the last, while it waited for a lock.
ENDED = ("TransactionTimedOut", "Transaction.Terminated", "LockClientStopped")
T = TypeVar("T")
Row = dict[str, Any]
WRITE_S = 60.0  # the longest that a write transaction may take
AUTO_S = 120.0  # how long a schema command waits for others to leave its label
SILENT_S = 15.0  # after which `up` asks
RETRY_S = 5.0  # how long a read or a write is tried again after a passing error


def vector(values: Any) -> Any:
    """A float32 array as the driver sends it fastest: one packed value, three times as fast as a list."""
    return Vector.from_numpy(values)


def record(row: Mapping[str, Any]) -> neo4j.Record:
    """A row in the driver's own form, for libraries that take that."""
    return neo4j.Record(row)  # type: ignore[no-untyped-call]


class Connection(Protocol):
    """What the store needs to know of a server; `graph.server.Endpoint` is one."""

    @property
    def uri(self) -> str: ...
    @property
    def username(self) -> str: ...
    @property
    def password(self) -> str: ...
    @property
    def database(self) -> str: ...


class Store:
    """Statements by name on one database. Safe for any number of threads.

    working: how many statements and transactions run now; each holds a connection.
    revive: called in the background, once at a time, when the database is found to be away (the managed server is
    started again by it).
    """

    def __init__(self, connection: Connection, *, revive: Callable[[], None] | None = None):
        self.statements = load()
        self.database = connection.database
        self._revive, self._reviving = revive, threading.Lock()
        self._heard, self._heard_at = False, float("-inf")
        self._counting, self.working = threading.Lock(), 0
        self._driver = neo4j.GraphDatabase.driver(
            connection.uri,
            auth=(connection.username, connection.password),
            notifications_min_severity="OFF",
            connection_acquisition_timeout=10.0,
            connection_timeout=5.0,
            max_transaction_retry_time=RETRY_S,
            keep_alive=True,
        )
        self._bookmarks = neo4j.GraphDatabase.bookmark_manager() if connection.uri.startswith("neo4j") else None

    def close(self) -> None:
        self._revive = None
        self._driver.close()

    def within(self, ns: str) -> Space:
        """The door to one namespace."""
        return Space(self, ns)

    def rows(self, name: str, /, *, timeout_s: float | None = None, **params: Any) -> list[Row]:
        """All rows of a reading statement, as mappings by column."""
        return self._read(self.statement(name, params), params, timeout_s)

    def one(self, name: str, /, *, timeout_s: float | None = None, **params: Any) -> Row | None:
        """The first row, or None."""
        return next(iter(self.rows(name, timeout_s=timeout_s, **params)), None)

    def value(self, name: str, /, *, timeout_s: float | None = None, **params: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.one(name, timeout_s=timeout_s, **params)
        return next(iter(row.values())) if row else None

    def write(self, work: Callable[[Transaction], T], *, timeout_s: float = WRITE_S) -> T:
        """What `work` returns, after its transaction is committed. `work` may run again after a passing error."""

        def attempt(tx: neo4j.ManagedTransaction) -> T:
            return work(Transaction(self, tx))

        attempt = neo4j.unit_of_work(timeout=timeout_s)(attempt)
        with self._translated(), self._session(neo4j.WRITE_ACCESS) as session:
            return session.execute_write(attempt)

    def auto(self, name: str, /, **params: Any) -> list[Row]:
        """Runs a statement in a transaction of its own making: schema commands and `CALL .. IN TRANSACTIONS`.

        A schema command needs a label to itself, and the server gives up after 10 s of others writing or planning: it is
        tried again for `AUTO_S`, so each of these statements must bear being run twice.
        """
        text = self.statement(name, params).text
        until = time.monotonic() + AUTO_S
        while True:
            try:
                with span("neo4j schema"), self._translated(), self._session(neo4j.WRITE_ACCESS) as session:
                    return session.run(text, params).data()
            except StoreConflict as error:
                if not isinstance(error.__cause__, TransientError) or time.monotonic() > until:
                    raise
                log.info("%s waits for others: %s", name, error)
                time.sleep(0.1)

    def up(self) -> bool:
        """Whether the database answered when it was last asked; if that is too long ago, whether it does now."""
        if time.monotonic() - self._heard_at > SILENT_S:
            self._hear(self.ready(1.0))
        return self._heard

    def _hear(self, answers: bool) -> None:
        self._heard, self._heard_at = answers, time.monotonic()

    def ready(self, timeout_s: float = 2.0) -> bool:
        """Whether a query answers."""
        try:
            with self._session(neo4j.READ_ACCESS) as session:
                session.run(neo4j.Query("RETURN 1", timeout=timeout_s)).consume()
        except (Neo4jError, DriverError, OSError):
            return False
        return True

    def statement(self, name: str, params: Mapping[str, Any]) -> Statement:
        """The statement of that name, if `params` are its parameters."""
        found = self.statements.get(name)
        if found is None:
            raise StatementError(f"no statement {name}")
        if params.keys() != found.params.keys():
            raise StatementError(f"{name} takes {sorted(found.params)}, got {sorted(params)}")
        return found

    def _session(self, mode: str) -> neo4j.Session:
        return self._driver.session(
            database=self.database, default_access_mode=mode, bookmark_manager=self._bookmarks, fetch_size=-1
        )

    def _read(self, statement: Statement, params: Mapping[str, Any], timeout_s: float | None) -> list[Row]:
        """Auto-commit: one round trip where a managed transaction takes three. A read may be repeated, so it is."""
        query = neo4j.Query(statement.text, timeout=timeout_s)
        until = time.monotonic() + min(RETRY_S, timeout_s or RETRY_S)
        while True:
            try:
                with _told(statement), self._translated(), self._session(neo4j.READ_ACCESS) as session:
                    result = session.run(query, dict(params))
                    keys = result.keys()
                    return [dict(zip(keys, record.values(), strict=True)) for record in result]
            except StoreUnavailable as error:
                if isinstance(error.__cause__, AuthError) or time.monotonic() > until:  # Neo4j locks out who tries in vain
                    raise
                time.sleep(0.1)

    def _translated(self) -> _Translated:
        return _Translated(self)

    def away(self) -> None:
        """Has the server started again, in the background, if that is ours to do."""
        if self._revive and self._reviving.acquire(blocking=False):
            threading.Thread(target=self._run_revive, args=(self._revive,), name="revive", daemon=True).start()

    def _run_revive(self, revive: Callable[[], None]) -> None:
        try:
            revive()
        except PalimpsestError as error:
            log.error("the database could not be started again: %s", error)
        finally:
            self._reviving.release()


class Space:
    """The same doors, inside one namespace: every statement gets `ns` here and nowhere else."""

    def __init__(self, store: Store, ns: str):
        self.store, self.ns = store, ns

    def rows(self, name: str, /, *, timeout_s: float | None = None, **params: Any) -> list[Row]:
        return self.store.rows(name, timeout_s=timeout_s, ns=self.ns, **params)

    def one(self, name: str, /, *, timeout_s: float | None = None, **params: Any) -> Row | None:
        return self.store.one(name, timeout_s=timeout_s, ns=self.ns, **params)

    def value(self, name: str, /, *, timeout_s: float | None = None, **params: Any) -> Any:
        return self.store.value(name, timeout_s=timeout_s, ns=self.ns, **params)

    def write(self, work: Callable[[SpaceTransaction], T], *, timeout_s: float = WRITE_S) -> T:
        return self.store.write(lambda tx: work(tx.within(self.ns)), timeout_s=timeout_s)


class Transaction:
    """Statements by name inside one open transaction."""

    def __init__(self, store: Store, tx: neo4j.ManagedTransaction):
        self._store, self._tx = store, tx

    def rows(self, name: str, /, **params: Any) -> list[Row]:
        statement = self._store.statement(name, params)
        with _told(statement):
            result = self._tx.run(statement.text, dict(params))
            keys = result.keys()
            return [dict(zip(keys, record.values(), strict=True)) for record in result]

    def within(self, ns: str) -> SpaceTransaction:
        return SpaceTransaction(self, ns)


class SpaceTransaction:
    """A transaction inside one namespace."""

    def __init__(self, tx: Transaction, ns: str):
        self._tx, self.ns = tx, ns

    def rows(self, name: str, /, **params: Any) -> list[Row]:
        return self._tx.rows(name, ns=self.ns, **params)

    def one(self, name: str, /, **params: Any) -> Row | None:
        return next(iter(self.rows(name, **params)), None)

    def value(self, name: str, /, **params: Any) -> Any:
        row = self.one(name, **params)
        return next(iter(row.values())) if row else None


def _told(statement: Statement) -> Started:
    """The span of a statement, which is known by its name."""
    return span(f"neo4j {statement.name}", {"db.system.name": "neo4j", "db.query.summary": statement.name})


class _Translated:
    """Turns the driver's two trees of errors (`Neo4jError`, `DriverError`) into ours."""

    def __init__(self, store: Store):
        self._store = store

    def __enter__(self) -> None:
        with self._store._counting:
            self._store.working += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        with self._store._counting:
            self._store.working -= 1
        if error is None:
            self._store._hear(True)
        if error is None or isinstance(error, PalimpsestError):
            return
        if isinstance(error, Neo4jError | DriverError | OSError):
            if isinstance(error, ResultFailedError) and isinstance(error.__cause__, Neo4jError):
                error = error.__cause__  # rolling back, the driver has said once more that the statement had failed
            ours = translate(error)
            if isinstance(ours, StoreUnavailable):
                self._store._hear(False)
                self._store.away()
            raise ours from error


def translate(error: Exception) -> PalimpsestError:
    """Our error for one of the driver's."""
    code = getattr(error, "code", "") or ""
    if isinstance(error, AuthError) or "AuthenticationRateLimit" in code:
        return StoreUnavailable(f"Neo4j refuses the login; check NEO4J_USERNAME and NEO4J_PASSWORD: {error}")
    if isinstance(error, ServiceUnavailable | SessionExpired | OSError | ConfigurationError):
        return StoreUnavailable(f"Neo4j does not answer: {error}")
    if isinstance(error, ConstraintError):
        return StoreConflict(str(error.message or error))
    if any(ending in code for ending in ENDED) or "timed out" in str(error):
        return StoreTimeout(f"the statement went past its limit: {error}")
    if "Deadlock" in code or "LockAcquisitionTimeout" in code:
        return StoreConflict(f"another write stood in the way: {error}")
    if isinstance(error, TransientError) or "DatabaseUnavailable" in code or "connection" in str(error).lower():
        return StoreUnavailable(f"Neo4j is not ready: {error}")
    return StatementFailed(str(error))
