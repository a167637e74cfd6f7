"""What the memory pack takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, post_load

from graph.fields import Choice, Flag, Moment, Number, Request, Response, Several, Text, Whole
from graph.kg_schemas import NAME_BYTES
from graph.ontology import MEMORY_TYPES
from recall.config import DECAY_MODELS, FEATURES, FUSIONS, Knobs, ScoringConfig
from recall.hits import RecallRequest

QUERY_BYTES = 65_536


class Weights(fields.Field[Mapping[str, float]]):
    """Weights by name of feature: finite, none negative, not all 0; empty leaves the stage off."""

    def __init__(self, **kwargs: Any):
        super().__init__(
            **kwargs | {"metadata": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}}}
        )

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Mapping[str, float]:
        if not isinstance(value, Mapping):
            raise ValidationError("must be an object of weights by name")
        if unknown := sorted(set(value) - set(FEATURES)):
            raise ValidationError(f"no feature {', '.join(map(str, unknown))}; there are {', '.join(FEATURES)}")
        number = Number(low=0)
        weights = {str(name): float(number.deserialize(weight, name, value) or 0) for name, weight in value.items()}
        if weights and sum(weights.values()) <= 0:
            raise ValidationError("must not all be 0")
        return weights


class KnobsRequest(Request):
    makes = Knobs
    relevance_weight = Number(low=0, high=1_000_000)
    salience_weight = Number(low=0, high=1_000_000)
    temporal_weight = Number(low=0, high=1_000_000)
    temporal_half_life_days = Number(above=0, high=1_000_000)
    decay_model = Choice(DECAY_MODELS)
    reranker_weights = Weights()

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Knobs:
        knobs = Knobs(**data)
        try:
            knobs.over(ScoringConfig())
        except ValueError as error:
            raise ValidationError(str(error), "relevance_weight") from error
        return knobs


class RecallRequestSchema(Request):
    makes = RecallRequest
    query = Text(most=QUERY_BYTES, required=True)
    limit = Whole(low=1, high=200)
    memory_type = Several(Choice(MEMORY_TYPES), most=len(MEMORY_TYPES), or_one=True, allow_none=True)
    kind = Several(Text(most=64, least=1), most=32, or_one=True, allow_none=True)
    tags = Several(Text(most=256, least=1), most=64)
    min_score = Number(low=0, high=1, allow_none=True)
    as_of = Moment(allow_none=True)
    include_superseded = Flag()
    fusion = Choice(FUSIONS)
    config = fields.Nested(KnobsRequest)
    profile = Text(most=128, least=1, allow_none=True)
    actor = Text(most=NAME_BYTES, least=1, allow_none=True)
    consumer = Text(most=128, least=1, allow_none=True)
    entity_names = Several(Text(most=NAME_BYTES, least=1), most=64, allow_none=True)
    token_budget = Whole(low=1, high=16_000)
    full_content = Flag()
    explain = Flag()
    deadline_s = Number(above=0, high=120, allow_none=True)


class Step(Response):
    leg = fields.String(metadata={"description": "superseded: found by the words of an old note; walk: by an edge"})
    id = fields.String()
    content = fields.String()
    by = fields.String()


class HitAnswer(Response):
    id = fields.String()
    kind = fields.String()
    content = fields.String()
    score = fields.Float(metadata={"description": "orders; in [0, 1]"})
    relevance = fields.Float(metadata={"description": "calibrated probability of a true match; the floor applies to it"})
    salience = fields.Float()
    effective_salience = fields.Float()
    temporal = fields.Float()
    memory_type = fields.String(allow_none=True)
    created_at = fields.String()
    sources = fields.List(fields.String())
    path = fields.List(fields.Nested(Step))
    tags = fields.List(fields.String())
    key = fields.String(allow_none=True)
    source = fields.String(allow_none=True)
    passage = fields.String()
    cut = fields.Boolean()
    superseded = fields.Boolean()
    superseded_at = fields.String()
    breakdown = fields.Dict()
    served_by_profile_id = fields.String(allow_none=True)
    serve_id = fields.String()


class RecallAnswer(Response):
    results = fields.List(fields.Nested(HitAnswer))
    abstained = fields.Boolean()
    reason = fields.String(allow_none=True)
    candidates_evaluated = fields.Integer()
    selected_count = fields.Integer()
    types_queried = fields.List(fields.String())
    degraded = fields.List(fields.String())
    truncated = fields.Boolean()
    took_ms = fields.Dict()
    best_score = fields.Float()
    irrelevant_rate = fields.Float()
    near_floor = fields.List(fields.Dict())
    served_by_profile_id = fields.String(allow_none=True)
    serve_id = fields.String()
