"""Who did what: each writing call that came with a key, as an `Audit` node, in batches and in the background.

No call waits for it. A process that is killed loses the records of its last moments, and while Neo4j is away some thousand
wait for it. What was written stays for as many days as is set, and goes with its namespace when that is forgotten.
"""

from __future__ import annotations

import datetime as dt
import logging
import queue
import threading
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from graph.errors import PalimpsestError
from graph.expiry import Due
from graph.records import new_id, timestamp
from graph.store import Space, Store

if TYPE_CHECKING:
    from graph.keys import ApiKey

log = logging.getLogger(__name__)
LINGER_S = 0.5  # how long records wait for others
TOGETHER = 500  # records that share a transaction, at most
WAITING = 20_000  # records that may wait; past it new ones are lost, and the log says so
AGAIN_S = 2.0  # how long after a failure a batch is tried again
TRIES = 30  # times that a batch is tried
EXPIRED_AT_ONCE = 2_000


@dataclass(frozen=True, kw_only=True)
class Done:
    """A call. key_id, key_name: of the key that it came with.  status: of HTTP's; 2xx says that it was done."""

    key_id: str
    key_name: str
    verb: str
    status: int
    actor: str | None = None
    request_id: str | None = None
    id: str = field(default_factory=new_id)
    created_ts: int = field(default_factory=lambda: timestamp(dt.datetime.now(dt.UTC)))


class AuditLog:
    """Writes records in a thread of its own, which starts with the first. Safe for any number of threads.

    lost: records that could not be kept since the start.
    """

    def __init__(self, store: Store, days: int):
        self._store, self._days = store, days
        self._queue: queue.Queue[tuple[str, Done] | None] = queue.Queue(WAITING)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._due = Due()
        self.lost = 0

    def called(self, ns: str, key: ApiKey, verb: str, status: int, *, actor: str | None, request_id: str | None) -> None:
        """Has a call that came with a key kept, whatever became of it."""
        self.keep(ns, Done(key_id=key.id, key_name=key.name, verb=verb, status=status, actor=actor, request_id=request_id))

    def keep(self, ns: str, done: Done) -> None:
        """Has a record written soon."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="audit", daemon=True)
                self._thread.start()
        try:
            self._queue.put_nowait((ns, done))
        except queue.Full:
            self.lost += 1
            log.error("too many records wait to be written; lost: %s", done)

    @property
    def waiting(self) -> int:
        """Records that wait to be written."""
        return self._queue.qsize()

    def flush(self) -> None:
        """Returns when everything is written, or given up, that waits now."""
        self._queue.join()

    def close(self) -> None:
        """Writes what is waiting, with one try."""
        self._closing.set()
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()

    def _work(self) -> None:
        open_ = True
        while open_:
            taken = [self._queue.get()]
            self._closing.wait(LINGER_S)
            while len(taken) < TOGETHER and not self._queue.empty():
                taken.append(self._queue.get())
            batch: dict[str, list[Done]] = defaultdict(list)
            for one in taken:
                if one is None:
                    open_ = False
                else:
                    batch[one[0]].append(one[1])
            for ns, some in batch.items():
                self._write(self._store.within(ns), some)
            for _ in taken:
                self._queue.task_done()

    def _write(self, space: Space, some: list[Done]) -> None:
        items = [asdict(done) for done in some]
        for attempt in range(TRIES):
            try:
                space.write(lambda tx: tx.rows("key.audit_write", items=items))
                return self._expire(space)
            except Exception as error:  # the thread must go on for the next ones
                known = isinstance(error, PalimpsestError)
                log.warning("%d records of %s could not be written: %s", len(some), space.ns, error, exc_info=not known)
                if self._closing.is_set() or attempt + 1 == TRIES:
                    break
                self._closing.wait(AGAIN_S)
        self.lost += len(some)
        return log.error("%d records of who did what in %s are lost", len(some), space.ns)

    def _expire(self, space: Space) -> None:
        if not self._due.now(space.ns):
            return
        while not self._closing.is_set() and expire(space, days=self._days) == EXPIRED_AT_ONCE:
            pass


def expire(space: Space, *, days: float) -> int:
    """Removes what is older than `days`, at most EXPIRED_AT_ONCE. Returns how many went."""
    before = timestamp(dt.datetime.now(dt.UTC) - dt.timedelta(days=days))
    gone: int = space.write(lambda tx: tx.value("key.audit_expire", before=before, limit=EXPIRED_AT_ONCE))
    return gone


def newest(space: Space, limit: int) -> list[dict[str, Any]]:
    """What was done in a namespace, the newest first; `created_at` is a datetime. Raises StoreError."""
    found = [row["done"] for row in space.rows("key.audit_page", limit=limit)]
    return [done | {"created_at": done["created_at"].to_native()} for done in found]
