"""Work that the first caller would otherwise wait for: the model is loaded, the candidate statement compiled."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import numpy as np

from graph.errors import PalimpsestError
from graph.packs import Runtime
from graph.slots import Slot
from graph.store import Store
from recall.candidates import parameters, statement
from recall.config import RecallConfig
from recall.embed import Embedder
from recall.hits import Query, RecallRequest
from recall.models import Models
from recall.text import query_terms

log = logging.getLogger(__name__)
# Both hold nothing. A plan is kept for each size class of a text, and names of namespaces are mostly of these two: up to 10
# characters, and more.
NAMESPACES = ("warm", "palimpsest.warm")
COMPILE_S = 60.0


def load(embedder: Embedder) -> threading.Thread:
    """Starts loading the model while Neo4j boots; an error comes back to whoever embeds first."""

    def work() -> None:
        try:
            embedder.queries(["warm"])
        except PalimpsestError as error:
            log.warning("the embedding model could not be loaded ahead: %s", error)

    thread = threading.Thread(target=work, name="load-model", daemon=True)
    thread.start()
    return thread


def plans(slot: Slot, dimensions: int, config: RecallConfig) -> list[tuple[str, str, dict[str, Any]]]:
    """Namespace, statement and parameters of a recall for each plan that Neo4j should have."""
    embedding = np.full(dimensions, dimensions**-0.5, np.float32)
    query = Query(text="warm", terms=query_terms("warm"), embedding=embedding, slot=slot)
    request = RecallRequest(query="warm")
    return [(ns, statement(slot), parameters(ns, query, request, config, ("memory",))) for ns in NAMESPACES]


def plan(store: Store, slot: Slot, dimensions: int) -> None:
    """Has Neo4j plan recall for the model of a slot again: it forgets all plans when an index is made or dropped."""
    for ns, name, params in plans(slot, dimensions, RecallConfig()):
        store.within(ns).one(name, timeout_s=COMPILE_S, **params)


class Warmer:
    """Has Neo4j plan the candidate statement, which takes it seconds the first time and is cached from then on.

    A statement that is ended at its limit leaves no plan behind, so on a server that has just started every recall could
    fail in the same way: whoever meets that asks for `again`.
    """

    def __init__(self, runtime: Runtime, models: Models, config: RecallConfig):
        slots = [(model.slot, model.embedder.dimensions) for model in models.all]
        self._asked = [asked for slot, dimensions in slots for asked in plans(slot, dimensions, config)]
        self._store = runtime.store
        self._busy = threading.Lock()
        self._closed = False

    def now(self, most: int | None = None) -> None:
        """Returns when the statement is planned, or the first `most` of its plans are."""
        started = time.monotonic()
        for ns, name, params in self._asked[:most]:
            self._store.within(ns).one(name, timeout_s=COMPILE_S, **params)
        log.info("recall is warm after %.1f s", time.monotonic() - started)

    def again(self) -> None:
        """The same in the background, once at a time."""
        if self._busy.acquire(blocking=False):
            threading.Thread(target=self._work, name="warm", daemon=True).start()

    def close(self) -> None:
        """What goes on in the background may fail from now on, and nobody minds."""
        self._closed = True

    def _work(self) -> None:
        try:
            self.now()
        except PalimpsestError as error:
            if not self._closed:
                log.warning("recall could not be warmed: %s", error)
        finally:
            self._busy.release()
