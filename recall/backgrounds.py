"""The namespaces' backgrounds: measured as they grow, kept in the graph, held in memory by version."""

from __future__ import annotations

import logging
import queue
import threading
from collections import OrderedDict

from graph.errors import PalimpsestError
from graph.store import Space, Store
from recall.background import Background
from recall.hits import Query
from recall.index import unpacked
from recall.models import Model, Models

log = logging.getLogger(__name__)
FIRST_AT = 64  # notes written from which a namespace is measured
GROWTH = 1.5  # it is measured again when it has grown by this factor
SAMPLE = 4_000  # notes that are enough to measure one
HELD = 256  # namespaces in memory


class Backgrounds:
    """One for the process. Measuring goes on in a thread of its own, so no write and no recall waits for it."""

    def __init__(self, store: Store, models: Models):
        self._store, self._models = store, models
        self._held: OrderedDict[tuple[str, str], tuple[int, Background]] = OrderedDict()
        self._lock = threading.Lock()
        self._queue: queue.Queue[tuple[str, int] | None] = queue.Queue()
        self._waiting: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="backgrounds", daemon=True)
        self._thread.start()

    def of(self, space: Space, version: int, query: Query) -> Background:
        """The background of a namespace for the query's model, at a version that a recall has just seen.

        Version 0 is the one that ships.
        """
        if version == 0:
            return Background.shipped(query.model)
        key = (space.ns, query.slot.suffix)
        with self._lock:
            held = self._held.get(key)
            if held and held[0] == version:
                self._held.move_to_end(key)
                return held[1]
        return self._read(space, query)

    def _read(self, space: Space, query: Query) -> Background:
        row = space.one("recall.background_read", suffix=query.slot.suffix)
        if row is None or row["model"] != query.model:
            return Background.shipped(query.model)
        found = Background.from_bytes(bytes(row["background"]), query.model)
        with self._lock:
            self._held[space.ns, query.slot.suffix] = (row["version"], found)
            self._held.move_to_end((space.ns, query.slot.suffix))
            while len(self._held) > HELD:
                self._held.popitem(last=False)
        return found

    def written(self, ns: str, written: int, measured: int) -> None:
        """Hears of a write: `written` notes in all, `measured` of them when the background was last taken."""
        if written < FIRST_AT or written < GROWTH * measured:
            return
        with self._lock:
            if ns in self._waiting:
                return
            self._waiting.add(ns)
        self._queue.put((ns, written))

    def measure(self, ns: str, written: int) -> int:
        """Measures a namespace now for each model and keeps the result. Returns the version of the primary one's."""
        versions = [measure(self._store.within(ns), written, model) for model in self._models.all]
        return versions[0]

    def close(self) -> None:
        """Ends after what is being measured."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            ns, written = job
            with self._lock:
                self._waiting.discard(ns)
            try:
                self.measure(ns, written)
            except PalimpsestError as error:
                log.warning("the background of %s could not be measured: %s", ns, error)


def measure(space: Space, written: int, model: Model) -> int:
    """Measures a namespace of `written` notes for one model, and keeps the result. Returns its version."""
    name, suffix = model.embedder.name, model.slot.suffix
    row = space.one("recall.background_sample", suffix=suffix, share=min(1.0, SAMPLE / max(written, 1)))
    terms, vectors = (row["terms"], row["vectors"]) if row else ([], [])
    found = Background.measure(terms, unpacked(vectors, model.embedder.dimensions), name)
    kept = {"background": found.to_bytes(), "model": name, "measured": written, "suffix": suffix}
    version: int = space.write(lambda tx: tx.value("recall.background_write", **kept))
    return version
