"""Gives nodes, in the background of a service, the vectors that they lack."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graph import models
from graph.errors import PalimpsestError
from graph.models import Stored
from graph.slots import MULTILINGUAL, PRIMARY
from graph.store import Store
from recall.models import Model, Models
from recall.reindex import embed, fill

log = logging.getLogger(__name__)
BATCH = 8  # texts between two looks at whether the service closes; a slow model needs seconds for them


class Filler:
    """Catches up at the start what was written while the service did not run, and later what a write left unread.

    At the start only where that can be: another service wrote beside a reindexing, or the multilingual model was added.
    A model that has texts left to read is `filling` in the graph, so whoever starts next goes on with them.
    """

    def __init__(self, store: Store, reading: Models, held: Sequence[Stored]):
        self._store, self._reading, self._held = store, reading, list(held)
        self._ended = threading.Event()
        self._queue: queue.Queue[Callable[[], None] | None] = queue.Queue()
        primaries = sum(model.slot in PRIMARY for model in models.stored(store))
        for model, each in zip(reading.all, held, strict=True):
            if each.state == "filling" or (each.slot is not MULTILINGUAL and primaries > 1):
                self._queue.put(partial(self._catch_up, model))
        self._thread = threading.Thread(target=self._work, name="filler", daemon=True)
        self._thread.start()

    def later(self, ns: str, ids: Sequence[str]) -> None:
        """Has the multilingual model read what it has not read of these nodes."""
        self._queue.put(partial(self._read, ns, ids))

    @property
    def waiting(self) -> int:
        """Writes whose texts wait to be read."""
        return self._queue.qsize()

    def join(self) -> None:
        """Returns when everything is caught up."""
        self._queue.join()

    def close(self) -> None:
        """Ends after the batch that is being embedded."""
        self._ended.set()
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            try:
                if not self._ended.is_set():
                    job()
            except PalimpsestError as error:
                log.warning("texts that lack a vector could not be caught up; the next start tries again: %s", error)
            finally:
                self._queue.task_done()

    def _catch_up(self, model: Model) -> None:
        found = fill(self._store, self._reading, model, ended=self._ended.is_set)
        log.info("%d texts got their vector of %s", found, model.embedder.name)
        self._done(model)

    def _read(self, ns: str, ids: Sequence[str]) -> None:
        model = self._reading.multilingual
        assert model is not None
        self._mark(model, "filling")
        space = self._store.within(ns)
        asked: dict[str, Any] = {"suffix": model.slot.suffix, "model": model.embedder.name, "limit": 1}
        for id in ids:
            row = space.one("note.unembedded", after=id[:-1], **asked)  # the id itself sorts next to its beginning
            texts = [text for text in row["texts"] if self._reading.reads(model, text["content"] or "")] if row else []
            for start in range(0, len(texts), BATCH):
                if self._ended.is_set():
                    return
                embed(space, model, [text for text in texts[start : start + BATCH] if text["id"] == id])
        self._done(model)

    def _done(self, model: Model) -> None:
        """What waits behind this job says so itself, when it begins."""
        if not self._ended.is_set() and self._queue.empty():
            self._mark(model, "ready")

    def _mark(self, model: Model, state: str) -> None:
        at = self._reading.all.index(model)
        if self._held[at].state in models.SERVING and self._held[at].state != state:
            self._held[at] = models.mark(self._store, self._held[at], state)
