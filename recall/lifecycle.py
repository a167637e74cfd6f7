"""memory.prune and memory.vacuum: what is worth little goes out of recall, and what went long ago goes for good."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from graph.layers import soft_delete
from graph.packs import Answer, Call
from graph.records import timestamp
from graph.store import WRITE_S, Row, SpaceTransaction
from recall.chains import Fits, chosen, pages, still_so
from recall.config import DecayModel, RecallConfig
from recall.lifecycle_schemas import Prune, Vacuum
from recall.score import DAY, effective_salience

log = logging.getLogger(__name__)
SHOWN = 100  # ids in the answer
PAGE = 2_000  # nodes that vacuum looks at in one read
TOGETHER = 200  # nodes that go in one transaction


def prune(call: Call, request: Prune) -> Answer:
    """Takes notes out of recall that fit the criteria given, whole chains only; `vacuum` removes them for good later.

    Each batch is a transaction, so a run that is ended has done part of it, and the next one does the rest.
    """
    config: RecallConfig = call.state.config
    fits = criteria(request, now=timestamp(dt.datetime.now(dt.UTC)), decay_model=config.scoring.decay_model)
    ids: list[str] = []
    examined = fitting = count = batches = 0
    for page in pages(call.space):
        examined += sum(not row["deleted"] for row in page)
        fitting += sum(not row["deleted"] and fits(row) for row in page)
        for chains in together(chosen(call.space, page, fits)):
            gone = [id for chain in chains for id in chain]
            if not request.dry_run:
                gone = _retired(call, chains, fits)
                log.info("prune in %s: %d went, %d examined", call.space.ns, count + len(gone), examined)
            count, batches = count + len(gone), batches + 1
            ids += gone[: SHOWN - len(ids)]
    found = {"count": count, "kept": max(fitting - count, 0), "examined": examined, "batches": batches, "ids": ids}
    return Answer(found | {"dry_run": request.dry_run})


def _retired(call: Call, chains: Sequence[Sequence[str]], fits: Fits) -> list[str]:
    """Deletes chains, as far as they still fit. Returns the ids that went."""
    found: list[str] = _write(call, lambda tx: list(soft_delete(tx, still_so(tx, chains, fits)).ids))
    return found


def criteria(request: Prune, *, now: int, decay_model: DecayModel) -> Fits:
    """Whether a row of `lifecycle.page` fits: strictly less than what is given. now: microseconds."""
    before = None if request.before is None else timestamp(request.before)

    def less(value: float | None, limit: float | None) -> Iterator[bool]:
        if limit is not None:
            yield value is not None and value < limit

    def fits(row: Row) -> bool:
        salience, created = row["salience"], row["created_ts"]
        effective = None
        if None not in (salience, created):
            effective = effective_salience(salience, row["decay"] or 0.0, (now - created) / DAY, decay_model)
        found = [
            *less(salience, request.min_salience),
            *less(effective, request.min_effective_salience),
            *less(created, before),
        ]
        return any(found) if request.match == "any" else all(found)

    return fits


def vacuum(call: Call, request: Vacuum) -> Answer:
    """Removes for good what was deleted longer ago than the retention, and with `expired` what expired longer ago."""
    until = dt.datetime.now(dt.UTC) - dt.timedelta(days=request.retention_days)
    totals = dict.fromkeys(("count", "passages", "edges", "expired", "examined", "batches"), 0)
    for ids, seen in _deleted_before(call, until):
        totals["examined"] += seen
        for some in _slices(ids):
            _remove(call, some, totals, request.dry_run)
    if request.expired:
        _expired(call, timestamp(until), totals, request.dry_run)
    return Answer(totals | {"dry_run": request.dry_run})


def _expired(call: Call, until: int, totals: dict[str, int], dry_run: bool) -> None:
    """Chains whose heads expired before `until`."""

    def gone(row: Row) -> bool:
        return row["expires_ts"] is not None and row["expires_ts"] < until

    for page in pages(call.space):
        for chains in together(chosen(call.space, page, gone, heads_only=True)):
            some = [id for chain in chains for id in chain]
            totals["expired"] += len(some)
            if dry_run:
                totals["count"] += len(some)
                continue

            def work(tx: SpaceTransaction, chains: Sequence[Sequence[str]] = chains) -> list[Row]:
                ids = list(soft_delete(tx, still_so(tx, chains, gone, heads_only=True)).ids)
                return tx.rows("lifecycle.remove", ids=ids)

            _count(totals, _write(call, work)[0])


def _remove(call: Call, ids: Sequence[str], totals: dict[str, int], dry_run: bool) -> None:
    if dry_run:
        totals["count"] += len(ids)
        return
    _count(totals, _write(call, lambda tx: tx.rows("lifecycle.remove", ids=ids))[0])


def _count(totals: dict[str, int], row: Row) -> None:
    totals["count"] += row["nodes"]
    totals["passages"] += row["passages"]
    totals["edges"] += row["edges"]
    totals["batches"] += 1


def _deleted_before(call: Call, until: dt.datetime) -> Iterator[tuple[list[str], int]]:
    """Ids of deleted nodes, page by page, and how many nodes were looked at."""
    for label in ("Recallable", "Entity"):
        after: str | None = ""
        while after is not None:
            asked: dict[str, Any] = {"label": label, "until": timestamp(until) // 1000, "limit": PAGE}
            row = call.space.rows("lifecycle.vacuumable", after=after, **asked)[0]
            after = row["last"]
            if row["seen"]:
                yield row["ids"], row["seen"]


def _write(call: Call, work: Callable[[SpaceTransaction], Any]) -> Any:
    return call.space.write(work, timeout_s=call.left_s(WRITE_S))


def together(chains: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Chains in groups of about `TOGETHER` nodes."""
    group: list[Sequence[str]] = []
    for chain in chains:
        group.append(chain)
        if sum(map(len, group)) >= TOGETHER:
            yield group
            group = []
    if group:
        yield group


def _slices(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), TOGETHER):
        yield ids[start : start + TOGETHER]
