"""The namespaces' backgrounds: measured as they grow, kept in the graph, held in memory by version."""

from __future__ import annotations

import logging
import queue
import threading
from collections import OrderedDict

from graph.errors import PalimpsestError
from graph.store import Space, Store
from recall.background import Background
from recall.index import unpacked

log = logging.getLogger(__name__)
FIRST_AT = 64  # notes written from which a namespace is measured
GROWTH = 1.5  # it is measured again when it has grown by this factor
SAMPLE = 4_000  # notes that are enough to measure one
HELD = 256  # namespaces in memory


class Backgrounds:
    """One for the process. Measuring goes on in a thread of its own, so no write and no recall waits for it."""

    def __init__(self, store: Store, model: str, dimensions: int):
        self._store, self._model, self._dimensions = store, model, dimensions
        self._held: OrderedDict[str, tuple[int, Background]] = OrderedDict()
        self._lock = threading.Lock()
        self._queue: queue.Queue[tuple[str, int] | None] = queue.Queue()
        self._waiting: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="backgrounds", daemon=True)
        self._thread.start()

    def of(self, space: Space, version: int) -> Background:
        """The background of a namespace at a version that a recall has just seen; 0 is the one that ships."""
        if version == 0:
            return Background.shipped(self._model)
        with self._lock:
            held = self._held.get(space.ns)
            if held and held[0] == version:
                self._held.move_to_end(space.ns)
                return held[1]
        return self._read(space)

    def _read(self, space: Space) -> Background:
        row = space.one("recall.background_read")
        if row is None or row["model"] != self._model:
            return Background.shipped(self._model)
        found = Background.from_bytes(bytes(row["background"]), self._model)
        with self._lock:
            self._held[space.ns] = (row["version"], found)
            self._held.move_to_end(space.ns)
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
        """Measures a namespace now and keeps the result. Returns its version."""
        space = self._store.within(ns)
        row = space.one("recall.background_sample", share=min(1.0, SAMPLE / max(written, 1)))
        terms, vectors = (row["terms"], row["vectors"]) if row else ([], [])
        found = Background.measure(terms, unpacked(vectors, self._dimensions), self._model)
        kept = {"background": found.to_bytes(), "model": self._model, "measured": written}
        version: int = space.write(lambda tx: tx.value("recall.background_write", **kept))
        return version

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
