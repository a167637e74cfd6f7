"""Work that the first caller would otherwise wait for: the model is loaded, the candidate statement compiled."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
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
COLD_S = 20.0  # that a recall waits for its plan after a start, at most


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
        self._asked = {model.slot: plans(model.slot, model.embedder.dimensions, config) for model in models.all}
        self._planned = {slot: threading.Event() for slot in self._asked}
        self._store = runtime.store
        self._busy = threading.Lock()
        self._closed = False

    def first(self) -> None:
        """Returns when one plan of the first model is there, which is enough to start with."""
        self._plan(next(iter(self._asked.values()))[:1])

    def now(self) -> None:
        """Returns when all plans are there."""
        for asked in self._asked.values():
            self._plan(asked)

    def wait(self, slot: Slot, seconds: float) -> None:
        """Returns when recall was planned for a slot since the start, or could not be, or after so many seconds.

        Who does not wait has Neo4j make the same plan at the same time, and goes past the limit of a leg.
        """
        self._planned[slot].wait(seconds)

    def again(self) -> None:
        """The same in the background, once at a time."""
        if self._busy.acquire(blocking=False):
            threading.Thread(target=self._work, name="warm", daemon=True).start()

    def renewed(self, seconds: float) -> bool:
        """Has it planned `again`, and says whether that came to an end within so many seconds."""
        self.again()
        ended = self._busy.acquire(timeout=seconds)
        if ended:
            self._busy.release()
        return ended

    def close(self) -> None:
        """What goes on in the background may fail from now on, and nobody minds."""
        self._closed = True

    def _work(self) -> None:
        try:
            for slot, asked in self._asked.items():
                self._plan(asked, search=False)
                self._planned[slot].set()
        except PalimpsestError as error:
            if not self._closed:
                log.warning("recall could not be warmed: %s", error)
        finally:
            for planned in self._planned.values():
                planned.set()
            self._busy.release()

    def _plan(self, asked: Sequence[tuple[str, str, dict[str, Any]]], *, search: bool = True) -> None:
        """search: whether it is also run; a leg that is slow would hold its labels, and so whoever makes an index."""
        started = time.monotonic()
        off = {} if search else {"near": False, "lucene": "", "names": []}
        for ns, name, given in asked:
            params = given | {"ask": given["ask"] | off}
            self._store.within(ns).one(name, timeout_s=COMPILE_S, **params)
        log.info("recall is warm after %.1f s", time.monotonic() - started)
