"""MENTIONS edges: the names that a namespace knows, and the edges from notes to the entities that bear them.

An edge that a linker drew says so (`by`), and goes when the note's content changes; one that a caller asked for stays.
Whoever draws here has locked the namespace's node (`note.namespace`), so that nobody else makes the same entity meanwhile.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.records import Draft, Reading
from graph.store import SpaceTransaction

ENTITY_KIND = "concept"  # of an entity that a note names without saying what it is
LINKER = "linker"  # what `by` says of an edge that nobody asked for
MOST = 200_000  # names of a namespace that are known by heart; in one with more, notes are linked by the form of names alone
HELD_NAMES, HELD_NAMESPACES = 400_000, 256  # in memory, all together
LOOK_BACK = 1_000  # notes that new entities of one transaction are linked to
NOTHING = 2**63 - 1  # a turn that never comes


@dataclass(frozen=True, slots=True)
class Names:
    """What a transaction knows of names. turn: its number in the namespace, which the entities that it names bear."""

    turn: int
    known: set[str] = field(default_factory=set)


class KnownNames:
    """Names of entities by namespace, as this process last saw them; what others added comes with each transaction.

    Each transaction that names entities has a number, and reads the names of later numbers than the process has seen. So
    nothing has to be told between processes, and a transaction that fails leaves nothing behind. A name that is gone may
    stay: no entity is found for it then. Safe for any number of threads.
    """

    def __init__(self, most: int = MOST):
        self.most = most
        self._held: OrderedDict[str, tuple[int, set[str]]] = OrderedDict()  # the last turn that was seen, and the names
        self._lock = threading.Lock()

    def enter(self, space: SpaceTransaction, count: int, *, reads: bool) -> tuple[Names, Mapping[str, Any]]:
        """Locks the namespace and counts `count` new nodes there; also gives the row of `note.namespace`.

        reads: whether a linker has to know the names.
        """
        with self._lock:
            seen = self._held.get(space.ns, (-1, set()))[0] if reads else NOTHING
        row = space.rows("note.namespace", count=count, seen=seen, most=self.most + 1)[0]
        return Names(row["turn"], self._learnt(space.ns, row) if reads else set()), row

    def _learnt(self, ns: str, row: Mapping[str, Any]) -> set[str]:
        with self._lock:
            seen, names = self._held.pop(ns, (-1, set()))
            names.update(row["fresh"])
            if seen == NOTHING or len(names) > self.most:
                self._held[ns] = NOTHING, set()
                return set()
            self._held[ns] = row["turn"] - 1, names
            while len(self._held) > HELD_NAMESPACES or sum(len(some) for _, some in self._held.values()) > HELD_NAMES:
                self._held.popitem(last=False)
            return names


def draw(space: SpaceTransaction, drafts: Sequence[Draft], names: Names, now: dt.datetime) -> None:
    """Links new notes to the entities that their callers name and to those that the linker finds, which are made if new."""
    names.known.update(draft.indexed["properties"]["name_key"] for draft in drafts if draft.label == "Entity")
    wanted: dict[str, dict[str, Any]] = {}
    for draft in drafts:
        asked = {name["name_key"]: name for name in reversed(draft.entities)}  # the first of those written differently
        found = {name["name_key"]: name for name in draft.reading.among(names.known)} if draft.reading else {}
        for key, name in (found | asked).items():
            _want(wanted, name, names.turn, now)["notes"].append({"id": draft.id, "by": None if key in asked else LINKER})
    _drawn(space, wanted)


def draw_anew(space: SpaceTransaction, id: str, reading: Reading | None, names: Names) -> None:
    """Replaces the edges that a linker drew from a note whose content has changed."""
    space.rows("link.unmention", id=id)
    wanted: dict[str, dict[str, Any]] = {}
    for name in reading.among(names.known) if reading else ():
        _want(wanted, name, names.turn, dt.datetime.now(dt.UTC))["notes"].append({"id": id, "by": LINKER})
    _drawn(space, wanted)


def look_back(space: SpaceTransaction, entities: Sequence[Mapping[str, str]]) -> None:
    """Links the notes that name new entities already, at most `LOOK_BACK`. entities: `id` and the full-text `query`."""
    if entities:
        space.rows("link.look_back", entities=entities, limit=LOOK_BACK)


def _want(wanted: dict[str, dict[str, Any]], name: Mapping[str, Any], turn: int, now: dt.datetime) -> dict[str, Any]:
    """The item of `link.mention` for a name."""
    item = wanted.setdefault(name["name_key"], {"name_key": name["name_key"], "new": None, "notes": []})
    if "name" in name and (item["new"] is None or item["new"]["named"] is None):
        properties = {"name_key": name["name_key"], "terms": name["terms"], "named": None if name.get("lone") else turn}
        indexed: dict[str, Any] = {"properties": properties, "vectors": [], "passages": []}
        item["new"] = Draft(label="Entity", kind=ENTITY_KIND, content=name["name"], indexed=indexed).as_entity(now)
    return item


def _drawn(space: SpaceTransaction, wanted: Mapping[str, Mapping[str, Any]]) -> None:
    if wanted:
        space.rows("link.mention", names=[wanted[key] for key in sorted(wanted)])
