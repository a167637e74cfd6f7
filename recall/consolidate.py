"""memory.consolidate: groups of close notes are told in few words, beside the notes and never in their place.

What it drew quotes notes, so it holds only while they do: `graph.layers` has it expire in the transaction that supersedes or
deletes one, and the next run draws it anew, superseding the old. A group that has not changed is left as it is.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph.drafting import drafted
from graph.errors import NotFound, StoreConflict
from graph.kg_schemas import Node, defaults
from graph.layers import expire
from graph.packs import Answer, Call
from graph.records import NEVER_TS, Draft, moment_of, timestamp
from graph.store import WRITE_S, Row
from recall.background import Background
from recall.closeness import Note, Pair, Words, close_pairs
from recall.digest import Extractive
from recall.groups import groups
from recall.index import unpacked
from recall.lifecycle_schemas import Consolidate
from recall.models import Model

log = logging.getLogger(__name__)
PAGE = 1_000  # notes in one read
CLIP = 4_000  # characters of each that are read
SERVES = 5_000  # recalls, the latest, of which it counts what they served together
LABELS = ("Knowledge", "Abstraction")
KINDS = tuple(label.lower() for label in LABELS)
TAGS = 64
TOGETHER = 16  # groups stored in one transaction


@dataclass(frozen=True, kw_only=True)
class Group:
    """Notes that belong together, the oldest first. fingerprint: of what they are and say, and of the way of telling."""

    notes: Sequence[Note]
    fingerprint: str


def consolidate(call: Call, request: Consolidate) -> Answer:
    """Tells groups of close notes in few words, as Knowledge and Abstraction nodes, and proposes what supersedes what."""
    summariser = call.runtime.summariser or Extractive()
    now = timestamp(dt.datetime.now(dt.UTC))
    drawn = [_retired(call, row, request.dry_run) for row in call.space.rows("lifecycle.consolidated", kinds=KINDS, now=now)]
    model = call.state.models.primary
    notes = list(read(call, model, now, request.limit))
    background = Background.shipped(model.embedder.name)
    words = Words(notes, background)
    close, same = close_pairs(notes, words, background)
    found = [_group([notes[at] for at in places], summariser.name) for places in groups(close, request.min_group)]
    told = {row["fingerprint"] for row in drawn if not row["stale"]}
    new = [group for group in found if group.fingerprint not in told]
    heirs = _heirs(new, [row for row in drawn if row["stale"] or row["fingerprint"] not in {g.fingerprint for g in found}])
    gone = [row["id"] for row in drawn if row["id"] not in {id for ids in heirs.values() for id in ids}]
    gone = [id for id in gone if _vanished(id, drawn, found)]
    written = 0
    if not request.dry_run:
        written = sum(_write(call, new[at : at + TOGETHER], heirs, words) for at in range(0, len(new), TOGETHER))
        if gone:
            call.space.write(lambda tx: expire(tx, gone), timeout_s=call.left_s(WRITE_S))
        log.info("consolidate in %s: %d notes, %d groups, %d told anew", call.space.ns, len(notes), len(found), written)
    return Answer(
        {
            "notes": len(notes),
            "groups": len(found),
            "created": len(new) if request.dry_run else written,
            "unchanged": len(found) - len(new),
            "superseded": sum(map(len, heirs.values())),
            "stale": len(gone),
            "proposals": list(proposals(notes, words, same, request.proposals)),
            "dry_run": request.dry_run,
        }
    )


def _retired(call: Call, row: Row, dry_run: bool) -> Row:
    """The row of something drawn before, which is stale from now on where one of its notes holds no longer."""
    if row["holds"] or row["stale"]:
        return row
    if not dry_run:
        call.space.write(lambda tx: expire(tx, [row["id"]]), timeout_s=call.left_s(WRITE_S))
    return row | {"stale": True}


def read(call: Call, model: Model, now: int, limit: int) -> Iterator[Note]:
    """The newest notes that are current, at most `limit`, in the order of their ids."""
    rows: list[Row] = []
    asked: dict[str, Any] = {"suffix": model.slot.suffix, "now": now, "clip": CLIP}
    before = "~"
    while len(rows) < limit:
        page = call.space.rows("lifecycle.notes", before=before, limit=PAGE, **asked)
        if not page:
            break
        before = page[-1]["id"]
        rows += [row for row in page if row["reads"]]
    served: dict[str, list[int]] = {}
    for serve, ids in enumerate(call.space.value("lifecycle.serves", limit=SERVES)):
        for id in ids:
            served.setdefault(id, []).append(serve)
    for row in reversed(rows[:limit]):
        yield _note(row, model.embedder.dimensions, served.get(row["id"], ()))


def _note(row: Mapping[str, Any], dimensions: int, serves: Sequence[int]) -> Note:
    mean = unpacked(row["vectors"], dimensions).mean(axis=0) if row["vectors"] else np.zeros(dimensions, np.float32)
    length = float(np.linalg.norm(mean))
    return Note(
        id=row["id"],
        content=row["content"],
        hash=row["hash"] or "",
        vector=(mean / length if length else mean).astype(np.float32),
        salience=0.5 if row["salience"] is None else row["salience"],
        created_ts=row["created_ts"],
        expires_ts=row["expires_ts"],
        memory_type=row["type"],
        tags=row["tags"],
        source=row["source"],
        serves=serves,
    )


def _group(notes: Sequence[Note], way: str) -> Group:
    ordered = sorted(notes, key=lambda note: (note.created_ts, note.id))
    marks = "\n".join([way, *sorted(f"{note.id} {note.hash}" for note in notes)])
    return Group(notes=ordered, fingerprint=hashlib.sha256(marks.encode()).hexdigest()[:32])


def _heirs(new: Sequence[Group], old: Sequence[Row]) -> dict[str, list[str]]:
    """By fingerprint of a new group, what was drawn before that it takes the place of: the group that shares most notes."""
    heirs: dict[str, list[str]] = {}
    for row in old:
        shares = [(len({note.id for note in group.notes} & set(row["sources"])), group.fingerprint) for group in new]
        most, heir = max(shares, default=(0, ""))
        if most:
            heirs.setdefault(heir, []).append(row["id"])
    return heirs


def _vanished(id: str, drawn: Sequence[Row], found: Sequence[Group]) -> bool:
    """Whether something that nothing takes the place of was drawn from a group that is none any more."""
    row = next(row for row in drawn if row["id"] == id)
    return not row["stale"] and row["fingerprint"] not in {group.fingerprint for group in found}


def _write(call: Call, groups: Sequence[Group], heirs: Mapping[str, Sequence[str]], words: Words) -> int:
    """Stores what groups say: all or, where a note went meanwhile, those that still can. Returns how many that were."""
    call.left_s(WRITE_S)
    old = {group.fingerprint: heirs.get(group.fingerprint, ()) for group in groups}
    kinds = {row["id"]: row["kind"] for row in call.space.rows("note.found", ids=[id for ids in old.values() for id in ids])}
    drafts = [draft for group in groups for draft in _drafts(call, group, old[group.fingerprint], kinds, words)]
    try:
        call.runtime.states["kg"].store(call.space.ns, drafts)
    except (NotFound, StoreConflict) as error:
        if len(groups) > 1:
            return sum(_write(call, [group], heirs, words) for group in groups)
        log.info("consolidate in %s: a group changed meanwhile, the next run sees to it: %s", call.space.ns, error)
        return 0
    return len(groups)


def _drafts(call: Call, group: Group, old: Sequence[str], kinds: Mapping[str, str], words: Words) -> list[Draft]:
    """The nodes of a group. Their key keeps two runs at once from storing both theirs."""
    summariser = call.runtime.summariser or Extractive()
    digest = summariser.digest([note.content for note in group.notes], words.weight)
    lineage = hashlib.sha256(" ".join([group.fingerprint, *sorted(old)]).encode()).hexdigest()[:32]
    nodes, labels = [], []
    for label, content in zip(LABELS, (digest.knowledge, digest.abstraction), strict=True):
        if label == "Abstraction" and content == digest.knowledge:
            continue
        replaced = [id for id in old if kinds.get(id) == label.lower()]
        nodes.append(_node(group, content, digest.keywords, f"consolidated:{lineage}", replaced))
        labels.append(label)
    own = {"consolidated": group.fingerprint, "drawn_from": len(group.notes)}
    return drafted(call, nodes, labels, own=own, derived_from=[note.id for note in group.notes])


def _node(group: Group, content: str, keywords: Sequence[str], key: str, replaced: Sequence[str]) -> Node:
    notes = group.notes
    types = {note.memory_type for note in notes}
    memory_type = types.pop() if len(types) == 1 else None
    expires_ts = min(note.expires_ts for note in notes)
    shared = set(notes[0].tags).intersection(*(note.tags for note in notes))
    sources = {note.source for note in notes}
    return Node(
        content=content,
        salience=max(note.salience for note in notes),
        decay_factor=defaults("semantic")[1],
        memory_type="semantic" if memory_type in (None, "episodic") else memory_type,
        key=key,
        created_at=moment_of(max(note.created_ts for note in notes)),
        expires_at=None if expires_ts >= NEVER_TS else moment_of(expires_ts),
        tags=sorted(shared)[:TAGS],
        source=sources.pop() if len(sources) == 1 else None,
        properties={"notes": len(notes), "keywords": list(keywords)},
        supersedes=replaced,
    )


def proposals(notes: Sequence[Note], words: Words, same: Sequence[Pair], most: int) -> Iterator[dict[str, Any]]:
    """Pairs that say nearly the same, the nearest first, as `kg.link` would take them; nothing is done about them."""
    for pair in sorted(same, key=lambda pair: (-pair.words - pair.cosine, pair.first, pair.second))[:most]:
        older, newer = sorted((pair.first, pair.second), key=lambda at: (notes[at].created_ts, notes[at].id))
        yield {
            "source": notes[newer].id,
            "target": notes[older].id,
            "relation": "supersedes",
            "similarity": round(min((pair.words + pair.cosine) / 2, 1.0), 3),
            "newer": notes[newer].content[:240],
            "older": notes[older].content[:240],
            "only_newer": sorted(words.sets[newer] - words.sets[older])[:8],
            "only_older": sorted(words.sets[older] - words.sets[newer])[:8],
        }
