"""What the kg pack takes; its limits are those of the whole service."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from marshmallow import ValidationError, fields, post_load, validates_schema

from graph.fields import Choice, Id, Moment, Number, Properties, Request, Several, Text, Whole
from graph.ontology import LABELS, MEMORY_TYPES, RELATIONS

CONTENT_BYTES = 1 << 20
NAME_BYTES = 1_024
BATCH = 1_000
DEFAULTS = {"episodic": (0.3, 0.02), "semantic": (0.5, 0.005)}  # salience, decay per day (half-lives of 35 and 139 days)


def defaults(memory_type: str | None) -> tuple[float, float]:
    """Salience and decay of a type; what is not classified counts as an episode, the rest as lasting knowledge."""
    return DEFAULTS.get(memory_type or "episodic", DEFAULTS["semantic"])


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node to be stored, its defaults filled in."""

    content: str
    salience: float
    decay_factor: float
    kind: str | None = None
    label: str | None = None
    memory_type: str | None = None
    tags: Sequence[str] = ()
    key: str | None = None
    source: str | None = None
    created_at: dt.datetime | None = None
    expires_at: dt.datetime | None = None
    properties: Mapping[str, Any] | None = None
    supersedes: Sequence[str] = ()
    source_id: str | None = None
    follows: str | None = None
    entities: Sequence[str] = ()
    triggers: Sequence[str] = ()
    importance: float | None = None


@dataclass(frozen=True, kw_only=True)
class Create:
    nodes: Sequence[Node]
    many: bool


class NoteFields(Request):
    """The fields of a note that every writing verb shares."""

    content = Text(most=CONTENT_BYTES, least=1, about="the text")
    salience = Number(low=0, high=1, about="how much it matters, by itself")
    decay_factor = Number(low=0, about="how fast that fades: exp(-decay_factor x days)")
    tags = Several(Text(most=256, least=1), most=64, about="labels to filter by")
    key = Text(
        most=NAME_BYTES, least=1, allow_none=True, about="your name for it: the same key in this namespace is the same note"
    )
    source = Text(most=NAME_BYTES, allow_none=True, about="where it comes from")
    created_at = Moment(about="when it came to be known; now")
    expires_at = Moment(allow_none=True, about="from then on it is not recalled")
    properties = Properties(allow_none=True, about="any JSON of yours, kept as it is")
    supersedes = Several(Id(), most=16, about="ids of notes that this one replaces")
    source_id = Id(allow_none=True, about="id of the node that it was derived from")
    follows = Id(allow_none=True, about="id of the note before it")
    entities = Several(
        Text(most=NAME_BYTES, least=1), most=64, about="names that it mentions, besides those found in the text"
    )

    def node(self, data: dict[str, Any]) -> Node:
        """The value with its type's defaults; an explicit value, zero too, always wins."""
        salience, decay = defaults(data.get("memory_type"))
        return Node(**{"salience": salience, "decay_factor": decay} | data)

    @validates_schema
    def _expiry_lies_ahead(self, data: Mapping[str, Any], **_: Any) -> None:
        if (expiry := data.get("expires_at")) and expiry <= dt.datetime.now(dt.UTC):
            raise ValidationError("must lie in the future", "expires_at")


class NodeFields(NoteFields):
    kind = Text(most=64, least=1, about="memory, knowledge, neuron, abstraction, person, document, ...; any name")
    label = Choice(LABELS, about="for a kind that nobody registered")
    memory_type = Choice(MEMORY_TYPES, allow_none=True, about="what kind of memory it is; none is eligible everywhere")
    triggers = Several(Text(most=256, least=1), most=64, about="of a neuron: words that bring it up")
    importance = Number(low=0, high=1, about="of a neuron or an abstraction")


class NodeItem(NodeFields):
    content = Text(most=CONTENT_BYTES, least=1, required=True)

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Node:
        return self.node(data)


def items_alone(data: Mapping[str, Any]) -> bool:
    """Whether a request is a batch. Raises ValidationError where it is one and something else besides."""
    if "items" in data and len(data) > 1:
        raise ValidationError(f"goes alone, not with {', '.join(sorted(data.keys() - {'items'}))}", "items")
    return "items" in data


def one_or_items(schema: NoteFields, data: dict[str, Any]) -> Create:
    """The nodes of a request that gives either one node or `items`."""
    if items_alone(data):
        return Create(nodes=data["items"], many=True)
    if "content" not in data:
        raise ValidationError("is required", "content")
    return Create(nodes=[schema.node(data)], many=False)


class CreateRequest(NodeFields):
    items = Several(fields.Nested(NodeItem), most=BATCH, least=1, about="a batch, all or nothing; goes alone")

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Create:
        return one_or_items(self, data)


@dataclass(frozen=True, kw_only=True)
class ById:
    id: str


class ByIdRequest(Request):
    makes = ById
    id = Id(required=True, about="the node's id")


@dataclass(frozen=True, kw_only=True)
class Update:
    id: str
    changes: Mapping[str, Any]


class UpdateRequest(Request):
    id = Id(required=True, about="the node's id")
    content = Text(most=CONTENT_BYTES, least=1, about="the new text; its vector, words and links are made anew")
    memory_type = Choice(MEMORY_TYPES, allow_none=True, about="null: none")
    salience = Number(low=0, high=1, about="how much it matters, by itself")
    decay_factor = Number(low=0, about="how fast that fades: exp(-decay_factor x days)")
    tags = Several(Text(most=256, least=1), most=64, about="all of them, anew")
    key = Text(most=NAME_BYTES, least=1, allow_none=True, about="null takes it away")
    source = Text(most=NAME_BYTES, allow_none=True, about="where it comes from")
    expires_at = Moment(allow_none=True, about="null: never")
    properties = Properties(allow_none=True, about="all of them, anew")
    triggers = Several(Text(most=256, least=1), most=64, about="of a neuron, all of them, anew")
    importance = Number(low=0, high=1, about="of a neuron or an abstraction")

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Update:
        if len(data) == 1:
            raise ValidationError("name at least one field to change", "id")
        return Update(id=data.pop("id"), changes=data)


@dataclass(frozen=True, kw_only=True)
class List:
    kind: str | None = None
    label: str | None = None
    cursor: str | None = None
    limit: int = 50


class ListRequest(Request):
    makes = List
    kind = Text(most=64, least=1, about="only these")
    label = Choice(LABELS, about="only these")
    cursor = Text(most=128, allow_none=True, about="`next_cursor` of the page before")
    limit = Whole(low=1, high=1000, about="most of a page")


@dataclass(frozen=True, kw_only=True)
class Edge:
    source: str
    target: str
    relation: str
    weight: float | None = None
    properties: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Links:
    edges: Sequence[Edge]
    many: bool


class EdgeFields(Request):
    source = Id(about="id of the node that it goes from")
    target = Id(about="id of the node that it goes to")
    relation = Choice(RELATIONS, about="its type")
    weight = Number(low=0, high=1_000_000, about="yours to use")
    properties = Properties(allow_none=True, about="any JSON of yours")


class EdgeItem(EdgeFields):
    makes = Edge
    source = Id(required=True, about="id of the node that it goes from")
    target = Id(required=True, about="id of the node that it goes to")
    relation = Choice(RELATIONS, required=True, about="its type")


class LinkRequest(EdgeFields):
    items = Several(fields.Nested(EdgeItem), most=BATCH, least=1, about="a batch, all or nothing; goes alone")

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Links:
        if items_alone(data):
            return Links(edges=data["items"], many=True)
        missing = [name for name in ("source", "target", "relation") if name not in data]
        if missing:
            raise ValidationError({name: ["is required"] for name in missing})
        return Links(edges=[Edge(**data)], many=False)


class UnlinkRequest(Request):
    makes = Edge
    source = Id(required=True, about="id of the node that it goes from")
    target = Id(required=True, about="id of the node that it goes to")
    relation = Choice(RELATIONS, required=True, about="its type")


Direction = Literal["out", "in", "both"]


@dataclass(frozen=True, kw_only=True)
class Neighbors:
    id: str
    relations: Sequence[str] = ()
    direction: Direction = "both"
    limit: int = 50


class NeighborsRequest(Request):
    makes: Any = Neighbors
    id = Id(required=True, about="the node's id")
    relations = Several(Choice(RELATIONS), most=len(RELATIONS), about="only by these; all")
    direction = Choice(("out", "in", "both"), about="out: from the node; in: to it")
    limit = Whole(low=1, high=1000, about="most nodes")


@dataclass(frozen=True, kw_only=True)
class Traverse:
    id: str
    relations: Sequence[str] = ()
    direction: Direction = "both"
    max_hops: int = 2
    limit: int = 100


class TraverseRequest(NeighborsRequest):
    makes: Any = Traverse
    max_hops = Whole(low=1, high=3, about="how far")


@dataclass(frozen=True, kw_only=True)
class Search:
    query: str
    kinds: Sequence[str] = ()
    limit: int = 20


class SearchRequest(Request):
    makes = Search
    query = Text(most=65_536, required=True, about="words of names and texts")
    kinds = Several(Text(most=64, least=1), most=32, about="only these")
    limit = Whole(low=1, high=200, about="most nodes")
