"""What prune, vacuum and consolidate take and give."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Literal

from marshmallow import ValidationError, fields, post_load

from graph.fields import Choice, Flag, Moment, Number, Request, Response, Whole

CRITERIA = ("min_salience", "min_effective_salience", "before")


@dataclass(frozen=True, kw_only=True)
class Prune:
    """Which notes go: a criterion that is None counts for nothing."""

    min_salience: float | None = None
    min_effective_salience: float | None = None
    before: dt.datetime | None = None
    match: Literal["any", "all"] = "any"
    dry_run: bool = False


class PruneRequest(Request):
    min_salience = Number(low=0, high=1, allow_none=True, metadata={"description": "notes of a lower salience go"})
    min_effective_salience = Number(
        low=0, high=1, allow_none=True, metadata={"description": "notes whose salience has decayed below it go"}
    )
    before = Moment(allow_none=True, metadata={"description": "notes created before it go"})
    match = Choice(("any", "all"), metadata={"description": "whether one criterion is enough; any is the default"})
    dry_run = Flag(metadata={"description": "count, and change nothing"})

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Prune:
        if all(data.get(name) is None for name in CRITERIA):
            raise ValidationError({name: [f"give at least one of {', '.join(CRITERIA)}"] for name in CRITERIA[:1]})
        return Prune(**data)


class Pruned(Response):
    count = fields.Integer(metadata={"description": "notes that went, or would go"})
    kept = fields.Integer(metadata={"description": "notes that fit and stay: their chain has others that don't"})
    examined = fields.Integer()
    batches = fields.Integer()
    ids = fields.List(fields.String(), metadata={"description": "the first 100 of those that went, or would go"})
    dry_run = fields.Boolean()


@dataclass(frozen=True, kw_only=True)
class Vacuum:
    retention_days: float = 30.0
    expired: bool = False
    dry_run: bool = False


class VacuumRequest(Request):
    makes = Vacuum
    retention_days = Number(low=0, high=36_500, metadata={"description": "how long deleted nodes stay; 30 by default"})
    expired = Flag(metadata={"description": "also what expired longer ago than that"})
    dry_run = Flag(metadata={"description": "count, and change nothing"})


class Vacuumed(Response):
    count = fields.Integer(metadata={"description": "nodes that were removed for good, or would be"})
    expired = fields.Integer(metadata={"description": "how many of them had expired"})
    passages = fields.Integer()
    edges = fields.Integer()
    examined = fields.Integer()
    batches = fields.Integer()
    dry_run = fields.Boolean()


@dataclass(frozen=True, kw_only=True)
class Consolidate:
    limit: int = 20_000
    min_group: int = 3
    proposals: int = 50
    dry_run: bool = False


class ConsolidateRequest(Request):
    makes = Consolidate
    limit = Whole(low=1, high=20_000, metadata={"description": "how many notes are read, the newest; 20,000 by default"})
    min_group = Whole(low=2, high=24, metadata={"description": "notes of a group, at least; 3 by default"})
    proposals = Whole(low=0, high=1_000, metadata={"description": "most of them in the answer; 50 by default"})
    dry_run = Flag(metadata={"description": "count and propose, and store nothing"})


class Proposal(Response):
    source = fields.String(metadata={"description": "the newer note"})
    target = fields.String()
    relation = fields.String()
    similarity = fields.Float()
    newer = fields.String()
    older = fields.String()
    only_newer = fields.List(fields.String(), metadata={"description": "words that only the newer has, the first 8"})
    only_older = fields.List(fields.String())


class Consolidated(Response):
    notes = fields.Integer(metadata={"description": "that were read"})
    groups = fields.Integer()
    created = fields.Integer(metadata={"description": "groups told, or told anew"})
    unchanged = fields.Integer(metadata={"description": "groups that are told already"})
    superseded = fields.Integer(metadata={"description": "nodes of earlier runs that new ones take the place of"})
    stale = fields.Integer(metadata={"description": "nodes of earlier runs that expire without an heir"})
    proposals = fields.List(fields.Nested(Proposal))
    dry_run = fields.Boolean()
