"""What the kg pack answers."""

from __future__ import annotations

from marshmallow import fields

from graph.fields import Response


class StoredOne(Response):
    id = fields.String()
    unchanged = fields.Boolean()


class Stored(StoredOne):
    results = fields.List(fields.Nested(StoredOne))


class NodeAnswer(Response):
    id = fields.String()
    label = fields.String()
    state = fields.String(metadata={"description": "current or superseded"})
    kind = fields.String()
    content = fields.String()
    memory_type = fields.String()
    salience = fields.Float()
    decay_factor = fields.Float()
    created_at = fields.String()
    recorded_at = fields.String()
    updated_at = fields.String()
    superseded_at = fields.String()
    superseded_by = fields.List(fields.String())
    supersedes = fields.List(fields.String())
    expires_at = fields.String()
    tags = fields.List(fields.String())
    key = fields.String()
    source = fields.String()
    triggers = fields.List(fields.String())
    importance = fields.Float()
    properties = fields.Dict()


class FoundNode(NodeAnswer):
    relation = fields.String()
    direction = fields.String()
    weight = fields.Float()
    distance = fields.Integer()
    score = fields.Float()


class Page(Response):
    results = fields.List(fields.Nested(NodeAnswer))
    next_cursor = fields.String(allow_none=True)


class Found(Response):
    results = fields.List(fields.Nested(FoundNode))


class EdgeAnswer(Response):
    source = fields.String()
    target = fields.String()
    relation = fields.String()
    weight = fields.Float()
    created = fields.Boolean()


class Linked(EdgeAnswer):
    results = fields.List(fields.Nested(EdgeAnswer))


class Unlinked(EdgeAnswer):
    deleted = fields.Boolean()


class Subgraph(Response):
    nodes = fields.List(fields.Nested(FoundNode))
    edges = fields.List(fields.Nested(EdgeAnswer))


class Receipt(Response):
    id = fields.String()
    deleted = fields.Boolean()
    label = fields.String()
    kind = fields.String()
    restored = fields.List(fields.String(), metadata={"description": "what is current again"})
    derived = fields.List(fields.String(), metadata={"description": "what a consolidation drew from it; stale now"})
    passages = fields.Integer()
    edges = fields.Integer()
