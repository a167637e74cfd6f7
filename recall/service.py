"""Puts the parts together: a server, a store at the right schema, an embedder, and the installed packs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from graph import schema
from graph.audit import AuditLog
from graph.doctor import examine
from graph.errors import PalimpsestError
from graph.keys import KeyRing
from graph.packs import Dispatcher, Pack, Runtime, installed
from graph.server import Endpoint, ManagedServer
from graph.settings import Settings
from graph.store import Store
from recall.embed import embedder
from recall.filling import Filler
from recall.index import Indexer
from recall.linker import linker
from recall.models import Models, beside, opened
from recall.reindex import fill
from recall.warm import load

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Service:
    """Everything open and ready. `server` is None where NEO4J_URI names a server that is not ours."""

    settings: Settings
    endpoint: Endpoint
    store: Store
    dispatcher: Dispatcher
    server: ManagedServer | None
    models: Models
    filler: Filler
    keys: KeyRing
    audit: AuditLog

    def readiness(self) -> dict[str, Any]:
        """Whether a request can be answered, and what is missing if not."""
        if not self.store.ready():
            self.store.away()
            return {"ready": False, "neo4j": "away", "schema": None, "indexes": {}}
        try:
            version, indexes = schema.version(self.store), schema.states(self.store)
        except PalimpsestError as error:
            log.warning("not ready: %s", error)
            return {"ready": False, "neo4j": "answers with an error", "schema": None, "indexes": {}}
        ready = all(state == "ONLINE" for state in indexes.values())
        return {"ready": ready, "neo4j": "up", "schema": version, "indexes": indexes}

    def doctor(self, *, repair: bool = False, ensure_memory_type: bool = False) -> dict[str, Any]:
        """What is wrong in the graph; see `graph.doctor.examine`."""
        model = self.models.primary
        return examine(
            self.store,
            slot=model.slot,
            model=model.embedder.name,
            embed=lambda: fill(self.store, self.models, model),
            repair=repair,
            ensure_memory_type=ensure_memory_type,
        )

    def close(self) -> None:
        """Finishes waiting writes, leaves the database, and stops the managed server if nobody else uses it."""
        self.audit.close()
        self.filler.close()
        self.dispatcher.close()
        disconnect(self.server, self.store)


def open_service(settings: Settings, packs: Iterable[Pack] | None = None) -> Service:
    """Starts or joins the managed server unless NEO4J_URI names one, migrates, and opens the packs.

    packs: those that are installed, if None.  Raises SettingsError, ServerError, StoreError, EmbeddingError, PackError.
    """
    main, other = embedder(settings.embedder, settings), beside(settings)
    loading = load(main)  # while Neo4j boots
    server, endpoint, store = connect(settings)
    try:
        models, held = opened(store, settings, main, other)
        schema.await_online(store)
        indexer = Indexer(models)
        runtime = Runtime(
            store=store,
            indexer=indexer,
            linker=linker(settings.linker, indexer),
            options={"embedder": main, "models": models, "settings": settings},
        )
        loading.join()
        dispatcher = Dispatcher(runtime, installed() if packs is None else packs)
    except BaseException:
        disconnect(server, store)
        raise
    filler = Filler(store, models, held)
    runtime.unread = filler.later
    return Service(
        settings=settings,
        endpoint=endpoint,
        store=store,
        dispatcher=dispatcher,
        server=server,
        models=models,
        filler=filler,
        keys=KeyRing(store),
        audit=AuditLog(store, settings.audit_days),
    )


def connect(settings: Settings) -> tuple[ManagedServer | None, Endpoint, Store]:
    """The server, started or joined unless NEO4J_URI names one, and a store on it whose schema is this program's."""
    server = None if settings.neo4j_uri else ManagedServer(settings)
    endpoint = server.start() if server else external(settings)
    store: Store | None = None
    try:
        store = Store(endpoint, revive=server.ensure_running if server else None)
        schema.migrate(store)
    except BaseException:
        disconnect(server, store)
        raise
    return server, endpoint, store


def disconnect(server: ManagedServer | None, store: Store | None) -> None:
    """Leaves the database, and stops the managed server if nobody else uses it."""
    if store:
        store.close()
    if server:
        server.stop()


@contextmanager
def connected(settings: Settings) -> Iterator[Store]:
    """A store, without an embedder and without packs."""
    server, _, store = connect(settings)
    try:
        yield store
    finally:
        disconnect(server, store)


def external(settings: Settings) -> Endpoint:
    """The server that NEO4J_URI names."""
    assert settings.neo4j_uri
    return Endpoint(
        uri=settings.neo4j_uri,
        username=settings.neo4j_username,
        password=settings.neo4j_password or "",
        database=settings.neo4j_database,
    )
