"""What the memory pack takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, post_load

from graph.fields import Choice, Flag, Moment, Number, Request, Response, Several, Text, Whole, described
from graph.kg_schemas import NAME_BYTES
from graph.ontology import MEMORY_TYPES
from recall.config import DECAY_MODELS, FEATURES, FUSIONS, Knobs, ScoringConfig
from recall.hits import RecallRequest

QUERY_BYTES = 65_536


class Weights(fields.Field[Mapping[str, float]]):
    """Weights by name of feature: finite, none negative, not all 0; empty leaves the stage off."""

    def __init__(self, **kwargs: Any):
        super().__init__(**described(kwargs, type="object", additionalProperties={"type": "number", "minimum": 0}))

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
    relevance_weight = Number(low=0, high=1_000_000, about="weight of relevance in the score; the three are normalised")
    salience_weight = Number(low=0, high=1_000_000, about="weight of salience after decay")
    temporal_weight = Number(low=0, high=1_000_000, about="weight of recency")
    temporal_half_life_days = Number(above=0, high=1_000_000, about="age at which recency has halved")
    decay_model = Choice(DECAY_MODELS, about="how recency falls with age")
    reranker_weights = Weights(about="weights of a second order over the best; empty leaves it off")

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
    query = Text(most=QUERY_BYTES, required=True, about="what is asked, in any words; never query syntax")
    limit = Whole(low=1, high=200, about="most hits")
    memory_type = Several(
        Choice(MEMORY_TYPES),
        most=len(MEMORY_TYPES),
        or_one=True,
        allow_none=True,
        about="only notes of these types, and those without one",
    )
    kind = Several(Text(most=64, least=1), most=32, or_one=True, allow_none=True, about="only nodes of these kinds")
    tags = Several(Text(most=256, least=1), most=64, about="only notes that bear all of these")
    min_score = Number(low=0, high=1, allow_none=True, about="floor of relevance, instead of 0.42; 0 switches it off")
    as_of = Moment(allow_none=True, about="what was current at this time; ages count from it")
    include_superseded = Flag(about="also what was superseded, marked")
    fusion = Choice(FUSIONS, about="how the candidates of words and vectors are joined; the two _only leave a leg out")
    config = fields.Nested(KnobsRequest, metadata={"description": "weights for this call alone, over the profile's"})
    profile = Text(
        most=128,
        least=1,
        allow_none=True,
        about="the profile whose weights serve; else the one that is bound, else the default",
    )
    actor = Text(most=NAME_BYTES, least=1, allow_none=True, about="who asks, instead of X-Actor")
    consumer = Text(most=128, least=1, allow_none=True, about="what asks, for bindings")
    entity_names = Several(
        Text(most=NAME_BYTES, least=1),
        most=64,
        allow_none=True,
        about="names to walk from, instead of those found in the query; [] for none",
    )
    token_budget = Whole(low=1, high=16_000, about="most tokens of content in the answer")
    full_content = Flag(about="false: a long note comes as the passage that matched")
    explain = Flag(about="each hit's parts, and what stopped those near the floor")
    deadline_s = Number(above=0, high=120, allow_none=True, about="seconds after which it is a 504")


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
