"""Pages of notes with the chains they head: what prune and vacuum decide about, chain by chain.

A chain is a head and all that it superseded, directly or through others, with whatever else superseded those. It goes as a
whole or not at all: without its head, what the head replaced would be current again; without its older layers, the history
of what is current would have holes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from graph.store import Row, Space, SpaceTransaction

PAGE = 500
Fits = Callable[[Row], bool]


def pages(space: Space, size: int = PAGE) -> Iterator[list[Row]]:
    """All recallable nodes of a namespace, `lifecycle.page` by page."""
    after = ""
    while rows := space.rows("lifecycle.page", after=after, limit=size):
        yield rows
        after = rows[-1]["id"]


def chosen(space: Space, page: Sequence[Row], fits: Fits, *, heads_only: bool = False) -> list[list[str]]:
    """The chains whose first head stands on a page, and of which every node fits, or with `heads_only` every head."""
    heads = {row["id"]: row for row in page if not row["deleted"] and not row["newer"] and fits(row)}
    found = dict(heads)
    _close(space, found)
    chains = []
    for chain in _families(heads, found):
        first = min((row["id"] for row in chain if not row["newer"]), default="")
        if first in heads and all(fits(row) for row in chain if not (heads_only and row["newer"])):
            chains.append(sorted(row["id"] for row in chain))
    return chains


def still_so(tx: SpaceTransaction, chains: Sequence[Sequence[str]], fits: Fits, *, heads_only: bool = False) -> list[str]:
    """Locks the nodes of chains, and returns those of the chains about which nothing has changed meanwhile."""
    ids = sorted(id for chain in chains for id in chain)
    tx.rows("lifecycle.hold", ids=ids)
    found = {row["id"]: row for row in tx.rows("lifecycle.of_ids", ids=ids)}
    return [id for chain in chains if _same(chain, found, fits, heads_only) for id in chain]


def _same(chain: Sequence[str], found: dict[str, Row], fits: Fits, heads_only: bool) -> bool:
    rows = [found[id] for id in chain if id in found]
    inside = all({*row["newer"], *row["older"]} <= set(chain) for row in rows)
    return len(rows) == len(chain) and inside and all(fits(row) for row in rows if not (heads_only and row["newer"]))


def _close(space: Space, found: dict[str, Row]) -> None:
    """Adds to `found` whatever its nodes superseded or were superseded by, until there is nothing more."""
    wanted = _beside(found.values(), found)
    while wanted:
        rows = space.rows("lifecycle.of_ids", ids=sorted(wanted))
        found |= {row["id"]: row for row in rows}
        wanted = _beside(rows, found)


def _beside(rows: Iterable[Row], found: dict[str, Row]) -> set[str]:
    return {id for row in rows for id in (*row["newer"], *row["older"]) if id not in found}


def _families(heads: Iterable[str], found: dict[str, Row]) -> Iterator[list[Row]]:
    """The chains of `heads`, each once."""
    seen: set[str] = set()
    for head in heads:
        if head in seen:
            continue
        chain, waiting = [], [head]
        while waiting:
            id = waiting.pop()
            if id in seen or id not in found:
                continue
            seen.add(id)
            chain.append(found[id])
            waiting += [*found[id]["newer"], *found[id]["older"]]
        yield chain
