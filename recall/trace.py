"""Trace v5: what each build of a context let in and left out, kept in the graph, joined to the memories concerned.

Versions only add fields. A reader takes the fields of its own version, whatever version wrote, and ignores the rest.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from graph.errors import NotFound, StoreConflict, StoreError
from graph.fields import shown_time
from graph.packs import Call
from graph.records import timestamp
from graph.store import Space
from recall.budget import Block, Dropped

log = logging.getLogger(__name__)
INFERENCE_TRACE_SCHEMA_VERSION: Final = 5
ADDED: Final[Mapping[int, tuple[str, ...]]] = {  # fields by the version that brought them
    1: ("id", "schema_version", "created_at", "task_id", "blocks"),
    2: ("dropped",),
    3: ("window", "tokens", "over_window", "memory_budget", "memory_tokens"),
    4: ("conversation", "degraded", "took_ms"),
    5: ("memory_candidates", "memory_selected", "memory_abstained", "memory_reason", "memory_types_queried"),
}
WAITING = 1000  # traces that a process keeps while Neo4j is away
EXPIRE_EACH_S, EXPIRE_AT_ONCE = 3600.0, 1000


@dataclass(frozen=True, kw_only=True)
class Trace:
    """One build. tokens: of all that was let in; more than `window` only where the active task alone is (`over_window`).

    memory_candidates, memory_selected: how many were looked at, and how many of them were let in.  memory_abstained: nothing
    cleared the floor; `memory_reason` says why there is none.
    """

    id: str
    task_id: str
    conversation: str
    window: int
    memory_budget: int
    blocks: tuple[Block, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    memory_candidates: int = 0
    memory_selected: int = 0
    memory_abstained: bool = True
    memory_reason: str | None = None
    memory_types_queried: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    took_ms: float = 0.0
    created_at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))

    @property
    def tokens(self) -> int:
        return sum(block.tokens for block in self.blocks)

    @property
    def facts(self) -> dict[str, Any]:
        """Every field but blocks and drops."""
        return {
            "id": self.id,
            "schema_version": INFERENCE_TRACE_SCHEMA_VERSION,
            "created_at": self.created_at,
            "task_id": self.task_id,
            "conversation": self.conversation,
            "window": self.window,
            "tokens": self.tokens,
            "over_window": self.tokens > self.window,
            "memory_budget": self.memory_budget,
            "memory_tokens": sum(block.tokens for block in self.blocks if block.memory),
            "memory_candidates": self.memory_candidates,
            "memory_selected": self.memory_selected,
            "memory_abstained": self.memory_abstained,
            "memory_reason": self.memory_reason,
            "memory_types_queried": list(self.memory_types_queried),
            "degraded": list(self.degraded),
            "took_ms": self.took_ms,
        }

    def stored(self) -> dict[str, Any]:
        """The parameter of `trace.write`."""
        blocks = [_shown(block) for block in self.blocks]
        dropped = [_shown(drop.block) | {"reason": drop.reason} for drop in self.dropped]
        lists = {"blocks_json": _json(blocks), "dropped_json": _json(dropped)}
        return {
            "properties": self.facts | lists | {"created_ts": timestamp(self.created_at)},
            "admitted": [_edge(block) for block in self.blocks if block.memory],
            "dropped": [_edge(drop.block) | {"reason": drop.reason} for drop in self.dropped if drop.block.memory],
        }


def _shown(block: Block) -> dict[str, Any]:
    return {"name": block.name, "priority": block.priority, "tokens": block.tokens, "sources": list(block.sources)}


def _edge(block: Block) -> dict[str, Any]:
    """Properties of the edge to a memory, and the id of the memory."""
    assert block.memory
    memory = block.memory
    return {
        "id": memory.id,
        "block": block.name,
        "tokens": block.tokens,
        "relevance": memory.relevance,
        "found_by": " ".join(memory.sources),
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read(stored: Mapping[str, Any], version: int = INFERENCE_TRACE_SCHEMA_VERSION) -> dict[str, Any]:
    """A stored trace of any version, as a reader of `version` knows it; fields that its writer did not have are left out."""
    known = [name for added in range(1, version + 1) for name in ADDED[added]]
    found = dict(stored)
    for name in ("blocks", "dropped"):
        if f"{name}_json" in found:
            found[name] = json.loads(found[f"{name}_json"])
    if hasattr(found.get("created_at"), "to_native"):
        found["created_at"] = shown_time(found["created_at"].to_native())
    return {"schema_version": 1} | {name: found[name] for name in known if found.get(name) is not None}


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """Traces that wait for Neo4j, and when each namespace is next looked through for old ones. keep_days: retention."""

    keep_days: int = 30
    waiting: deque[tuple[str, Trace]] = field(default_factory=lambda: deque(maxlen=WAITING))
    due: dict[str, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class TraceLog:
    """The traces of the call's namespace."""

    call: Call
    shelf: Shelf

    def write(self, trace: Trace) -> bool:
        """Whether it is stored. If not, it waits and is stored with a later one."""
        self.shelf.waiting.append((self.call.space.ns, trace))
        if trace.degraded and not self.call.space.store.ready():  # a write would be tried for seconds
            return False
        try:
            while self.shelf.waiting:
                ns, first = self.shelf.waiting.popleft()
                try:
                    _store(self.call.space.store.within(ns), first)
                except StoreError:
                    self.shelf.waiting.appendleft((ns, first))
                    raise
            self._expire()
        except StoreError as error:
            log.warning("the trace %s waits: %s", trace.id, error)
            return False
        return True

    def get(self, id: str) -> dict[str, Any]:
        """The fields of a trace. Raises NotFound."""
        for ns, trace in list(self.shelf.waiting):
            if (ns, trace.id) == (self.call.space.ns, id):
                stored = trace.stored()["properties"]
                return read(stored | {"created_at": shown_time(trace.created_at)})
        row = self.call.space.one("trace.get", timeout_s=self.call.left_s(10.0), id=id)
        if row is None:
            raise NotFound(f"no trace {id!r} here", "id")
        return read(row["trace"])

    def _expire(self) -> None:
        """Removes what is past its retention, from time to time."""
        ns, now = self.call.space.ns, time.monotonic()
        with self.shelf.lock:
            if self.shelf.due.get(ns, 0.0) > now:
                return
            self.shelf.due[ns] = now + EXPIRE_EACH_S
        before = timestamp(dt.datetime.now(dt.UTC) - dt.timedelta(days=self.shelf.keep_days))
        expire = {"before": before, "limit": EXPIRE_AT_ONCE}
        removed = self.call.space.write(lambda tx: tx.value("trace.expire", **expire))
        if removed == EXPIRE_AT_ONCE:
            self.shelf.due[ns] = now


def _store(space: Space, trace: Trace) -> None:
    try:
        space.write(lambda tx: tx.rows("trace.write", trace=trace.stored()))
    except StoreConflict:
        if space.one("trace.get", id=trace.id) is None:  # else an attempt whose answer was lost has stored it
            raise
