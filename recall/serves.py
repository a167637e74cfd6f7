"""What was served: kept in the graph for the feedback that may come, in batches and in the background.

No recall waits for it. Feedback that is sooner than the record of its serve waits until that is written. A process that is
killed loses the records of its last moments, and feedback on them is then refused as unknown.
"""

from __future__ import annotations

import hashlib
import logging
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from graph.errors import PalimpsestError
from graph.expiry import Due
from graph.records import new_id
from graph.store import Space, Store
from recall.config import ScoringConfig
from recall.hits import Hit, RecallRequest
from recall.profiles import Serving

log = logging.getLogger(__name__)
LINGER_S = 0.5  # how long records wait for others
TOGETHER = 500  # records that share a transaction, at most
WAITING = 20_000  # records that may wait; past it new ones are lost
TRIES = 5  # times that a batch is tried while the database is away
RETENTION_DAYS = 90  # how long serves and signals are kept
EXPIRED_AT_ONCE, EXPIRED_BATCHES = 2_000, 50
ELSEWHERE_S = 2.0  # how long another process may take to write a record
RECENT_S = 60.0  # a serve older than this is written, or never will be


def query_hash(ns: str, query: str) -> str:
    """Tells the same question asked again, without keeping what was asked."""
    return hashlib.sha256(f"{ns}\n{query}".encode()).hexdigest()


def record(
    request: RecallRequest, hits: Sequence[Hit], serving: Serving, scoring: ScoringConfig, *, ns: str, actor: str | None
) -> dict[str, Any]:
    """The properties of a Serve: lists of one length, a hit each, in the order of serving, and the weights that ranked."""
    return {
        "id": new_id(),
        "query_hash": query_hash(ns, request.query),
        "profile_id": serving.profile_id,
        "epoch": serving.epoch,
        "actor": actor,
        "note_ids": [hit.id for hit in hits],
        "scores": [hit.score for hit in hits],
        "relevances": [hit.relevance for hit in hits],
        "saliences": [hit.effective_salience for hit in hits],
        "temporals": [hit.temporal for hit in hits],
        "weights": list(scoring.weights),
    }


class Recorder:
    """Writes records in a thread of its own. Safe for any number of threads.

    lost: records that could not be kept since the start.
    """

    def __init__(self, store: Store):
        self._store = store
        self._queue: queue.Queue[tuple[str, dict[str, Any]] | None] = queue.Queue(WAITING)
        self._pending: set[str] = set()
        self._changed = threading.Condition()
        self._hurry = threading.Event()
        self._due = Due()
        self.lost = 0
        self._thread = threading.Thread(target=self._work, name="serves", daemon=True)
        self._thread.start()

    def keep(self, ns: str, serve: dict[str, Any]) -> None:
        """Has a record written soon."""
        with self._changed:
            self._pending.add(serve["id"])
        try:
            self._queue.put_nowait((ns, serve))
        except queue.Full:
            self._settle([serve["id"]])
            self.lost += 1
            log.warning("too many serves wait to be written; %s is not kept", serve["id"])

    @property
    def waiting(self) -> int:
        """Records that wait to be written."""
        return len(self._pending)

    def await_own(self, id: str, timeout_s: float) -> None:
        """Returns when a record of this process is written, or is no longer tried; at once for one of another process."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while id in self._pending and (left := until - time.monotonic()) > 0:
                self._hurry.set()
                self._changed.wait(left)

    def await_written(self, space: Space, id: str, timeout_s: float) -> bool:
        """Whether the record of a serve is in the graph, after waiting for it where it may still come."""
        self.await_own(id, timeout_s)
        until = time.monotonic() + min(timeout_s, ELSEWHERE_S if _age_s(id) < RECENT_S else 0.0)
        while space.value("brain.serve_found", id=id) is None:
            if time.monotonic() >= until:
                return False
            time.sleep(0.05)
        return True

    def flush(self, timeout_s: float = 10.0) -> None:
        """Returns when everything is written that waits now."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while self._pending and (left := until - time.monotonic()) > 0:
                self._hurry.set()
                self._changed.wait(left)

    def close(self) -> None:
        """Writes what is waiting, with one try."""
        self._hurry.set()
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        open_ = True
        while open_ and (first := self._queue.get()) is not None:
            self._hurry.wait(LINGER_S)
            self._hurry.clear()
            batch: dict[str, list[dict[str, Any]]] = defaultdict(list)
            batch[first[0]].append(first[1])
            for _ in range(TOGETHER - 1):
                try:
                    following = self._queue.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    open_ = False
                    break
                batch[following[0]].append(following[1])
            for ns, serves in batch.items():
                self._write(ns, serves, TRIES if open_ else 1)

    def _write(self, ns: str, serves: list[dict[str, Any]], tries: int) -> None:
        space = self._store.within(ns)
        for attempt in range(tries):
            try:
                space.write(lambda tx: tx.rows("brain.serve_create", items=serves))
                self._expire(space)
                break
            except Exception as error:  # the thread must go on for the next ones
                known = isinstance(error, PalimpsestError)
                log.warning("%d serves of %s could not be written: %s", len(serves), ns, error, exc_info=not known)
                if attempt + 1 < tries:
                    time.sleep(0.2 * 2**attempt)
                else:
                    self.lost += len(serves)
        self._settle([serve["id"] for serve in serves])

    def _expire(self, space: Space) -> None:
        if not self._due.now(space.ns):
            return
        for _ in range(EXPIRED_BATCHES):
            if expire(space) < EXPIRED_AT_ONCE:
                break

    def _settle(self, ids: Sequence[str]) -> None:
        with self._changed:
            self._pending.difference_update(ids)
            self._changed.notify_all()


def expire(space: Space, *, days: float = RETENTION_DAYS, at_once: int = EXPIRED_AT_ONCE) -> int:
    """Forgets serves and signals older than `days`, at most `at_once` of each. Returns how many went."""
    before = first_id(time.time() - days * 86_400)
    gone: int = space.write(lambda tx: tx.value("brain.expire", before=before, limit=at_once))
    return gone


def first_id(moment_s: float) -> str:
    """The first UUIDv7 of a moment, in seconds since 1970."""
    digits = f"{max(int(moment_s * 1000), 0):012x}"
    return f"{digits[:8]}-{digits[8:]}"


def _age_s(id: str) -> float:
    """Seconds since an id was made; infinite for what is no UUIDv7."""
    try:
        made_ms = int(id[:8] + id[9:13], 16)
    except ValueError:
        return float("inf")
    return time.time() - made_ms / 1000
