"""The layers of nodes that change: after an edge, and when nodes are deleted; each inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.store import SpaceTransaction


@dataclass(frozen=True, kw_only=True)
class Deleted:
    """What a soft delete did. restored: ids that are current again.  derived: what was drawn from it and is stale now."""

    ids: Sequence[str]
    restored: Sequence[str]
    derived: Sequence[str]
    passages: int
    edges: int


def relabel(tx: SpaceTransaction, ids: Sequence[str]) -> list[str]:
    """Puts the layers of nodes right after their edges changed. Returns those that are current."""
    rows = tx.rows("note.relabel", ids=ids) if ids else []
    stale(tx, [row["id"] for row in rows if row["layer"] == "Superseded"])
    return [row["id"] for row in rows if row["layer"] == "Current"]


def stale(tx: SpaceTransaction, ids: Sequence[str]) -> list[str]:
    """Takes out of recall what a consolidation drew from nodes that hold no longer. Returns what that was."""
    drawn = [row["id"] for row in tx.rows("lifecycle.drawn_from", ids=ids)] if ids else []
    return expire(tx, drawn)


def expire(tx: SpaceTransaction, ids: Sequence[str]) -> list[str]:
    """Has nodes expire now, passages and all. Returns those that had not yet."""
    return sorted(row["id"] for row in tx.rows("lifecycle.expire", ids=ids)) if ids else []


def soft_delete(tx: SpaceTransaction, ids: Sequence[str]) -> Deleted:
    """Deletes the nodes of `ids` that are there and not deleted yet; what they superseded alone is current again."""
    rows = tx.rows("note.delete", ids=ids) if ids else []
    gone = [row["id"] for row in rows]
    return Deleted(
        ids=gone,
        restored=relabel(tx, sorted({id for row in rows for id in row["older"]} - set(gone))),
        derived=stale(tx, gone),
        passages=sum(row["passages"] for row in rows),
        edges=sum(row["edges"] for row in rows),
    )
