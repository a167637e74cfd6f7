"""What a node is on its way into and out of the graph: drafts, and the fields that a caller sees.

Times are kept three ways: a datetime to read, microseconds since 1970 for the vector index's ranges (`*_ts`), and the same
as digits of one width for the full-text index's (`*_key`).
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Protocol

import uuid_utils

from graph.fields import shown_time
from graph.ontology import LABELS, UNTYPED
from graph.slots import STORED

NEVER_TS = 2**63 - 1
ALWAYS_TS = NEVER_TS - 1  # "as of" this time everything that was ever current and never superseded is current
UNKNOWN_TS = -NEVER_TS  # superseded by an edge drawn by hand, at a time that nobody noted
NEVER_KEY = "~"  # sorts after every digit
TITLE_CHARACTERS = 60
_YEAR_1 = 62_135_596_800_000_000  # microseconds from year 1 to 1970
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)
_TIMES = ("created", "superseded", "expires")
HIDDEN = frozenset(
    {"ns", "title", "terms", "content_hash", "former_key", "former_name_key", *STORED}
    | {"type_key", "tag_key", "name_key", "named", "properties_json"}
    | {"evidence_for", "evidence_against", "evidence_ts", "implicit_mass", "implicit_ts"}
    | {f"{time}_{form}" for time in _TIMES for form in ("ts", "key")}
)


def new_id() -> str:
    """A UUIDv7: sorts by the time of storing."""
    return str(uuid_utils.uuid7())


def timestamp(moment: dt.datetime) -> int:
    """Microseconds since 1970; negative before."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(ts: int) -> dt.datetime:
    return _EPOCH + ts * _MICROSECOND


def time_key(ts: int) -> str:
    """18 digits that sort as the time does."""
    return NEVER_KEY if ts >= ALWAYS_TS else f"{ts + _YEAR_1:018d}"


def content_hash(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def title(content: str) -> str:
    """The start of a content on one line: what Neo4j Browser writes on a node when it has no style sheet."""
    return textwrap.shorten(content[: TITLE_CHARACTERS * 4], TITLE_CHARACTERS, placeholder="…") or content[:TITLE_CHARACTERS]


def tag_key(tags: Iterable[str]) -> str:
    """All tags of a note as the full-text index holds them."""
    return " ".join(tag_token(tag) for tag in tags)


def expiry(expires_at: dt.datetime | None) -> dict[str, Any]:
    """The forms by which indexes filter out what has expired."""
    expires_ts = timestamp(expires_at) if expires_at else NEVER_TS
    return {"expires_ts": expires_ts, "expires_key": time_key(expires_ts)}


def tag_token(tag: str) -> str:
    """A tag as one token without blanks or query syntax."""
    return hashlib.sha256(tag.encode()).hexdigest()[:24]


class Reading(Protocol):
    """What a linker read in one text (see `graph.packs.Linker`)."""

    def among(self, known: Set[str]) -> Sequence[Mapping[str, Any]]:
        """The names that the text mentions: `name_key`, with `name` and `terms` where a new entity may be made for it.

        `lone` says of such a name that it must not be among the known ones only because it stands here.

        known: keys of names that entities of the namespace bear; may hold a few that are gone.
        """


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A node about to be stored. `indexed` is what the indexer made of its content (see `graph.packs.Indexer`)."""

    label: str
    kind: str
    content: str
    indexed: Mapping[str, Any]
    memory_type: str | None = None
    salience: float = 0.5
    decay_factor: float = 0.005
    created_at: dt.datetime | None = None
    expires_at: dt.datetime | None = None
    tags: Sequence[str] = ()
    source: str | None = None
    key: str | None = None
    properties: Mapping[str, Any] | None = None
    own: Mapping[str, Any] = field(default_factory=dict)  # properties of the label, such as a neuron's triggers
    supersedes: Sequence[str] = ()
    source_id: str | None = None
    follows: str | None = None
    derived_from: Sequence[str] = ()
    entities: Sequence[Mapping[str, str]] = ()  # {name, name_key, terms} that the caller named
    reading: Reading | None = None  # what a linker read in the content of a recallable node
    mentioned: str | None = None  # the full-text query for notes that name an entity already
    place: str = ""  # where in the request it stood (`items.3.`), for errors
    id: str = field(default_factory=new_id)

    @property
    def references(self) -> list[tuple[str, str]]:
        """(field, id) of every node that must exist."""
        found = [(f"supersedes.{n}", id) for n, id in enumerate(self.supersedes)]
        found += [(f"derived_from.{n}", id) for n, id in enumerate(self.derived_from)]
        found += [("source_id", self.source_id)] if self.source_id else []
        return found + ([("follows", self.follows)] if self.follows else [])

    def as_item(self, now: dt.datetime) -> dict[str, Any]:
        """The item of `note.create`."""
        created = self.created_at or now
        filters = self.filters(created)
        passages = [
            {"properties": filters | dict(passage["properties"]), "vectors": passage["vectors"]}
            for passage in self.indexed["passages"]
        ]
        properties = filters | self._fields(created, now)
        return {
            "label": self.label,
            "properties": properties | {"salience": self.salience, "decay_factor": self.decay_factor},
            "vectors": self.indexed["vectors"],
            "passages": passages,
        }

    def as_entity(self, now: dt.datetime) -> dict[str, Any]:
        """The properties of an item of `note.entity`; `indexed` gives name_key and terms."""
        return {"kind": self.kind} | self._fields(self.created_at or now, now)

    def _fields(self, created: dt.datetime, now: dt.datetime) -> dict[str, Any]:
        found = {
            "id": self.id,
            "content": self.content,
            "title": title(self.content),
            "content_hash": content_hash(self.content),
            "memory_type": self.memory_type,
            "created_at": created,
            "recorded_at": now,
            "updated_at": now,
            "expires_at": self.expires_at,
            "tags": list(self.tags),
            "source": self.source,
            "key": self.key,
            "properties_json": dumped(self.properties),
            "created_ts": timestamp(created),
        }
        return found | dict(self.indexed["properties"]) | dict(self.own)

    def filters(self, created: dt.datetime) -> dict[str, Any]:
        """The forms that indexes filter by; a passage carries them too."""
        created_ts = timestamp(created)
        return {
            "kind": self.kind,
            "type_key": self.memory_type or UNTYPED,
            "tag_key": tag_key(self.tags),
            "created_ts": created_ts,
            "created_key": time_key(created_ts),
            "superseded_ts": NEVER_TS,
            "superseded_key": NEVER_KEY,
        } | expiry(self.expires_at)


def dumped(properties: Mapping[str, Any] | None) -> str | None:
    return None if properties is None else json.dumps(properties, ensure_ascii=False, allow_nan=False)


def shown(node: Mapping[str, Any], labels: Iterable[str], **more: Any) -> dict[str, Any]:
    """A node's fields as callers see them: times in ISO 8601, free properties under `properties`, index forms left out."""
    found = {name: _plain(value) for name, value in node.items() if name not in HIDDEN and value is not None}
    labels = set(labels)
    found["label"] = next((label for label in LABELS if label in labels), None)
    found["state"] = next((layer.lower() for layer in ("Deleted", "Superseded") if layer in labels), "current")
    if node.get("properties_json"):
        found["properties"] = json.loads(node["properties_json"])
    return found | more


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        return shown_time(value)
    if hasattr(value, "to_native"):
        return shown_time(value.to_native())
    return value
