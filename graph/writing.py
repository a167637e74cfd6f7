"""Stores drafts: keys, references, supersession and links, all in one transaction.

`Writer` lets concurrent single writes share a transaction: one note a transaction is bound by the commit, a hundred in one
cost little more. Each caller still hears of its own note only after the commit, and a faulty request fails alone.
"""

from __future__ import annotations

import datetime as dt
import logging
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any

from graph import mentions
from graph.errors import Busy, KeyInUse, NotFound, PalimpsestError, StoreConflict, StoreTimeout
from graph.layers import relabel
from graph.ontology import check, relation_type
from graph.records import Draft, content_hash
from graph.store import SpaceTransaction, Store, Transaction

log = logging.getLogger(__name__)
TOGETHER = 256  # drafts that share a transaction, at most
WAITING = 10_000  # requests that may wait; past it a write is refused as Busy
RELATION_OF_FIELD = {
    "supersedes": "supersedes",
    "source_id": "annotates",
    "follows": "follows",
    "derived_from": "derived_from",
}


@dataclass(frozen=True)
class Stored:
    """What became of one draft. `unchanged`: a node with its key and content was there already."""

    id: str
    unchanged: bool = False


Outcome = list[Stored] | PalimpsestError


@dataclass
class Request:
    """Drafts that are stored together or not at all."""

    ns: str
    drafts: Sequence[Draft]
    context: Context = field(default_factory=copy_context)  # of the caller, for spans
    result: Future[list[Stored]] = field(default_factory=Future)

    def settle(self, outcome: Outcome) -> None:
        """Tells the caller who waits."""
        if isinstance(outcome, PalimpsestError):
            self.result.set_exception(outcome)
        else:
            self.result.set_result(outcome)


class Writer:
    """Stores requests, several to a transaction. Safe for any number of threads."""

    def __init__(self, store: Store):
        self._store = store
        self.names = mentions.KnownNames()
        self.listeners: list[Callable[[str, int, int], None]] = []  # hear of a namespace, its notes, and of those measured
        self._queue: queue.Queue[Request | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="writer", daemon=True)
        self._thread.start()

    def store(self, ns: str, drafts: Sequence[Draft], timeout_s: float = 120.0) -> list[Stored]:
        """Returns after the commit, in the order of `drafts`. Raises RequestError or StoreError; then nothing is stored."""
        request = Request(ns, drafts)
        try:
            self._queue.put_nowait(request)
        except queue.Full:
            raise Busy("too many writes are waiting; try again") from None
        try:
            return request.result.result(timeout_s)
        except TimeoutError:
            raise StoreTimeout(f"not stored after {timeout_s:g} s; it may still be: ask before sending it again") from None

    @property
    def waiting(self) -> int:
        """Requests that wait for a transaction."""
        return self._queue.qsize()

    def close(self) -> None:
        """Finishes what is waiting."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, size = [first], len(first.drafts)
            stop = False
            while size < TOGETHER:
                try:
                    following = self._queue.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    stop = True
                    break
                batch.append(following)
                size += len(following.drafts)
            first.context.run(self._store_all, batch)
            if stop:
                return

    def _store_all(self, batch: list[Request]) -> None:
        try:
            outcomes, counts = self._store.write(lambda tx: store_together(tx, batch, self.names))
        except StoreConflict:
            self._one_by_one(batch)
        except Exception as error:  # the thread must go on for the next callers
            for request in batch:
                request.result.set_exception(error)
        else:
            for request, outcome in zip(batch, outcomes, strict=True):
                request.settle(outcome)
            for ns, (written, measured) in counts.items():
                for hear in self.listeners:
                    hear(ns, written, measured)

    def _one_by_one(self, batch: list[Request]) -> None:
        """Another process took a key in the meantime: alone, each request sees that and gets its own answer."""
        for request in batch:
            for last in (False, True):
                try:
                    outcome = self._store.write(lambda tx, r=request: store_together(tx, [r], self.names))[0][0]  # type: ignore[misc]
                except StoreConflict as conflict:
                    if last:
                        request.result.set_exception(Busy(f"another write stands in the way: {conflict}"))
                except Exception as fault:
                    request.result.set_exception(fault)
                    break
                else:
                    request.settle(outcome)
                    break


def store_together(
    tx: Transaction, batch: Sequence[Request], known: mentions.KnownNames
) -> tuple[list[Outcome], dict[str, tuple[int, int]]]:
    """One outcome a request, in order, and by namespace how many notes it has had in all and at its last measuring.

    An error raised here undoes the transaction; one returned concerns its request alone.
    """
    counts: dict[str, tuple[int, int]] = {}
    outcomes: dict[int, Outcome] = {}
    for ns in dict.fromkeys(request.ns for request in batch):
        space = tx.within(ns)
        mine = [request for request in batch if request.ns == ns]
        plans = _plan(space, mine)
        new = [draft for plan in plans for draft in plan.new]
        found: dict[str, Stored] = {}
        if new:
            names, row = known.enter(space, len(new), reads=any(draft.reading for draft in new))
            counts[ns] = row["written"], row["measured"]
            found = _create(space, new, names)
        for request, plan in zip(mine, plans, strict=True):
            if isinstance(plan.outcome, list):
                plan.outcome = [found.get(stored.id, stored) for stored in plan.outcome]
            outcomes[id(request)] = plan.outcome
    return [outcomes[id(request)] for request in batch], counts


@dataclass
class _Plan:
    outcome: Outcome
    new: list[Draft] = field(default_factory=list)


def _plan(space: SpaceTransaction, requests: Sequence[Request]) -> list[_Plan]:
    """What each request comes to, given who holds its keys and which nodes it names."""
    drafts = [draft for request in requests for draft in request.drafts]
    keys = [{"kind": draft.kind, "key": draft.key} for draft in drafts if draft.key is not None]
    ids = sorted({id for draft in drafts for _, id in draft.references})
    held = {(row["kind"], row["key"]): row for row in space.rows("note.held_keys", keys=keys)} if keys else {}
    found = {row["id"]: row for row in space.rows("note.found", ids=ids)} if ids else {}
    plans = []
    for request in requests:
        try:
            plan = _plan_request(request, held, found)
        except PalimpsestError as error:
            plan = _Plan(error)
        else:
            for draft in plan.new:
                if draft.key is not None:
                    held[draft.kind, draft.key] = {"id": draft.id, "content_hash": content_hash(draft.content)}
        plans.append(plan)
    return plans


def _plan_request(request: Request, held: Mapping[Any, Any], found: Mapping[str, Any]) -> _Plan:
    mine = dict(held)
    stored, new = [], []
    for draft in request.drafts:
        place = draft.place
        holder = mine.get((draft.kind, draft.key)) if draft.key is not None else None
        if holder and holder["content_hash"] == content_hash(draft.content):
            stored.append(Stored(holder["id"], unchanged=True))
            continue
        for name, id in draft.references:
            if id not in found:
                raise NotFound(f"no node {id!r} here to refer to", f"{place}{name}")
        if holder and holder["id"] not in draft.supersedes:
            raise KeyInUse(
                f"{place}key: {holder['id']} has {draft.key!r} with other content; name it in supersedes to replace it",
                holder["id"],
            )
        _check_links(draft, found, place)
        if draft.key is not None:
            mine[draft.kind, draft.key] = {"id": draft.id, "content_hash": content_hash(draft.content)}
        stored.append(Stored(draft.id))
        new.append(draft)
    return _Plan(stored, new)


def _check_links(draft: Draft, found: Mapping[str, Any], place: str) -> None:
    own = (draft.label, draft.kind)
    for name, id in draft.references:
        of = name.partition(".")[0]
        check(RELATION_OF_FIELD[of], own, (found[id]["label"], found[id]["kind"]), f"{place}{of}")
    if draft.entities:
        check("mentions", own, ("Entity", mentions.ENTITY_KIND), f"{place}entities")


def _create(space: SpaceTransaction, drafts: Sequence[Draft], names: mentions.Names) -> dict[str, Stored]:
    """Stores drafts; returns, by the draft's id, the entities that bore the name already."""
    now = dt.datetime.now(dt.UTC)
    older = list(dict.fromkeys(id for draft in drafts for id in draft.supersedes))
    if older:
        space.rows("note.give_key", ids=older, keys=[draft.key for draft in drafts if draft.key and draft.supersedes])
    known = _entities(space, [draft for draft in drafts if draft.label == "Entity"], names.turn, now)
    recallable = [draft for draft in drafts if draft.label != "Entity"]
    if recallable:
        space.rows("note.create", items=[draft.as_item(now) for draft in recallable])
    links = [link for draft in drafts for link in draft_links(draft) if draft.id not in known]
    if links and len(space.rows("link.create", links=links)) < len(links):
        raise StoreConflict("a node was deleted while edges to it were drawn")
    mentions.draw(space, drafts, names, now)
    if older:
        relabel(space, older)
    return known


def _entities(space: SpaceTransaction, drafts: Sequence[Draft], turn: int, now: dt.datetime) -> dict[str, Stored]:
    """Before the notes of the same request, which find these names known; notes from before are looked for."""
    items = [{"properties": draft.as_entity(now) | {"named": turn}} for draft in drafts]
    rows = space.rows("note.entity", items=items) if items else []
    new = [draft for draft, row in zip(drafts, rows, strict=True) if row["created"] and draft.mentioned]
    mentions.look_back(space, [{"id": draft.id, "query": draft.mentioned or ""} for draft in new])
    return {
        draft.id: Stored(row["id"], unchanged=True) for draft, row in zip(drafts, rows, strict=True) if row["id"] != draft.id
    }


def draft_links(draft: Draft) -> list[dict[str, Any]]:
    """The edges that a draft asks for, but for those to entities."""
    wanted = dict.fromkeys((id, RELATION_OF_FIELD[name.partition(".")[0]]) for name, id in draft.references)
    return [link(draft.id, id, relation) for id, relation in wanted]


def link(
    source: str, target: str, relation: str, weight: float | None = None, properties_json: str | None = None
) -> dict[str, Any]:
    """An item of `link.create`."""
    return {
        "source": source,
        "target": target,
        "relation": relation,
        "type": relation_type(relation),
        "weight": weight,
        "properties_json": properties_json,
    }
