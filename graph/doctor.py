"""Finds what no verb should have left behind, and mends what can be mended without a choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graph import schema
from graph.layers import relabel
from graph.slots import FIRST, Slot
from graph.store import Store

MOST = 1000
CHECKS = {
    "layer": "schema.doctor_layers",
    "crossing_edge": "schema.doctor_crossing",
    "supersession_cycle": "schema.doctor_cycles",
    "no_vector": "schema.doctor_unindexed",
    "orphan_passage": "schema.doctor_orphans",
}


def examine(
    store: Store,
    *,
    slot: Slot = FIRST,
    model: str = "",
    embed: Callable[[], int] = lambda: 0,
    repair: bool = False,
    ensure_memory_type: bool = False,
) -> dict[str, Any]:
    """What is wrong in the whole database, at most 1,000 nodes a kind.

    slot, model: what serves; a node without a vector of it is not found by meaning.  embed: gives such nodes theirs.
    repair: labels that disagree with their edges are set right (the edges are the truth).  ensure_memory_type: neurons
    without a type become `associative`.  Returns `problems`, a list of {kind, count, examples, repaired}, `indexes` and
    `retyped`.
    """
    problems = []
    for kind, statement in CHECKS.items():
        asked: dict[str, Any] = {"suffix": slot.suffix, "model": model} if kind == "no_vector" else {}
        found = store.rows(statement, limit=MOST, **asked)
        if not found:
            continue
        repaired = 0
        if repair and kind == "layer":
            repaired = _relabel(store, found)
        elif repair and kind == "no_vector":
            repaired = min(embed(), len(found))
        examples = [f"{row['ns']}/{row['id']}" for row in found[:5]]
        problems.append({"kind": kind, "count": len(found), "examples": examples, "repaired": repaired})
    states = schema.states(store)
    offline = {name: state for name, state in states.items() if state != "ONLINE"}
    if offline:
        examples = [f"{name} is {state}" for name, state in offline.items()]
        problems.append({"kind": "index", "count": len(offline), "examples": examples, "repaired": 0})
    retyped = 0
    if ensure_memory_type:
        retyped = store.write(lambda tx: tx.rows("schema.untyped_neurons"))[0]["changed"]
    return {"problems": problems, "indexes": states, "retyped": retyped}


def _relabel(store: Store, found: list[dict[str, Any]]) -> int:
    repaired = 0
    for ns in sorted({row["ns"] for row in found}):
        ids = [row["id"] for row in found if row["ns"] == ns]
        store.within(ns).write(lambda tx, ids=ids: relabel(tx, ids))  # type: ignore[misc]
        repaired += len(ids)
    return repaired
