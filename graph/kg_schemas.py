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

    content = Text(most=CONTENT_BYTES, least=1)
    salience = Number(low=0, high=1)
    decay_factor = Number(low=0)
    tags = Several(Text(most=256, least=1), most=64)
    key = Text(most=NAME_BYTES, least=1, allow_none=True)
    source = Text(most=NAME_BYTES, allow_none=True)
    created_at = Moment()
    expires_at = Moment(allow_none=True)
    properties = Properties(allow_none=True)
    supersedes = Several(Id(), most=16)
    source_id = Id(allow_none=True)
    follows = Id(allow_none=True)
    entities = Several(Text(most=NAME_BYTES, least=1), most=64)

    def node(self, data: dict[str, Any]) -> Node:
        """The value with its type's defaults; an explicit value, zero too, always wins."""
        salience, decay = defaults(data.get("memory_type"))
        return Node(**{"salience": salience, "decay_factor": decay} | data)

    @validates_schema
    def _expiry_lies_ahead(self, data: Mapping[str, Any], **_: Any) -> None:
        if (expiry := data.get("expires_at")) and expiry <= dt.datetime.now(dt.UTC):
            raise ValidationError("must lie in the future", "expires_at")


class NodeFields(NoteFields):
    kind = Text(most=64, least=1)
    label = Choice(LABELS)
    memory_type = Choice(MEMORY_TYPES, allow_none=True)
    triggers = Several(Text(most=256, least=1), most=64)
    importance = Number(low=0, high=1)


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
    items = Several(fields.Nested(NodeItem), most=BATCH, least=1)

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Create:
        return one_or_items(self, data)


@dataclass(frozen=True, kw_only=True)
class ById:
    id: str


class ByIdRequest(Request):
    makes = ById
    id = Id(required=True)


@dataclass(frozen=True, kw_only=True)
class Update:
    id: str
    changes: Mapping[str, Any]


class UpdateRequest(Request):
    id = Id(required=True)
    content = Text(most=CONTENT_BYTES, least=1)
    memory_type = Choice(MEMORY_TYPES, allow_none=True)
    salience = Number(low=0, high=1)
    decay_factor = Number(low=0)
    tags = Several(Text(most=256, least=1), most=64)
    key = Text(most=NAME_BYTES, least=1, allow_none=True)
    source = Text(most=NAME_BYTES, allow_none=True)
    expires_at = Moment(allow_none=True)
    properties = Properties(allow_none=True)
    triggers = Several(Text(most=256, least=1), most=64)
    importance = Number(low=0, high=1)

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
    kind = Text(most=64, least=1)
    label = Choice(LABELS)
    cursor = Text(most=128, allow_none=True)
    limit = Whole(low=1, high=1000)


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
    source = Id()
    target = Id()
    relation = Choice(RELATIONS)
    weight = Number(low=0, high=1_000_000)
    properties = Properties(allow_none=True)


class EdgeItem(EdgeFields):
    makes = Edge
    source = Id(required=True)
    target = Id(required=True)
    relation = Choice(RELATIONS, required=True)


class LinkRequest(EdgeFields):
    items = Several(fields.Nested(EdgeItem), most=BATCH, least=1)

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
    source = Id(required=True)
    target = Id(required=True)
    relation = Choice(RELATIONS, required=True)


Direction = Literal["out", "in", "both"]


@dataclass(frozen=True, kw_only=True)
class Neighbors:
    id: str
    relations: Sequence[str] = ()
    direction: Direction = "both"
    limit: int = 50


class NeighborsRequest(Request):
    makes: Any = Neighbors
    id = Id(required=True)
    relations = Several(Choice(RELATIONS), most=len(RELATIONS))
    direction = Choice(("out", "in", "both"))
    limit = Whole(low=1, high=1000)


@dataclass(frozen=True, kw_only=True)
class Traverse:
    id: str
    relations: Sequence[str] = ()
    direction: Direction = "both"
    max_hops: int = 2
    limit: int = 100


class TraverseRequest(NeighborsRequest):
    makes: Any = Traverse
    max_hops = Whole(low=1, high=3)


@dataclass(frozen=True, kw_only=True)
class Search:
    query: str
    kinds: Sequence[str] = ()
    limit: int = 20


class SearchRequest(Request):
    makes = Search
    query = Text(most=65_536, required=True)
    kinds = Several(Text(most=64, least=1), most=32)
    limit = Whole(low=1, high=200)
