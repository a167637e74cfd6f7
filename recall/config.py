"""Settings of recall: frozen values with the defaults that the design names.

`RecallConfig` is the service's own; `Knobs` are what a request may change for itself, merged over the profile's, over the
configuration's, over the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

RECALL_MIN_SCORE = 0.42  # the one floor of relevance, for every source
FUSIONS = ("weighted", "rrf", "union", "vector_only", "keyword_only")
DECAY_MODELS = ("exponential", "hyperbolic", "power", "none")
FEATURES = ("relevance", "salience", "temporal", "text_match", "vector_match", "graph")
DecayModel = Literal["exponential", "hyperbolic", "power", "none"]


@dataclass(frozen=True, kw_only=True)
class ScoringConfig:
    """How a candidate's score is made of its parts. Weights are normalised; half-lives are in days."""

    relevance_weight: float = 0.7
    salience_weight: float = 0.2
    temporal_weight: float = 0.1
    temporal_half_life_days: float = 30.0
    decay_model: DecayModel = "exponential"
    reranker_weights: Mapping[str, float] = field(default_factory=dict)
    multilingual_model: str | None = None

    @property
    def weights(self) -> tuple[float, float, float]:
        """(relevance, salience, temporal), summing to 1."""
        raw = (self.relevance_weight, self.salience_weight, self.temporal_weight)
        total = sum(raw)
        return raw[0] / total, raw[1] / total, raw[2] / total


@dataclass(frozen=True, kw_only=True)
class Knobs:
    """What a request may set for itself; None leaves it as it is."""

    relevance_weight: float | None = None
    salience_weight: float | None = None
    temporal_weight: float | None = None
    temporal_half_life_days: float | None = None
    decay_model: DecayModel | None = None
    reranker_weights: Mapping[str, float] | None = None

    def over(self, scoring: ScoringConfig) -> ScoringConfig:
        """`scoring` with what is set here. Raises ValueError where no weight is left above 0."""
        named = {name: value for name in self.__dataclass_fields__ if (value := getattr(self, name)) is not None}
        merged = replace(scoring, **named)
        if merged.relevance_weight + merged.salience_weight + merged.temporal_weight <= 0:
            raise ValueError("relevance_weight, salience_weight and temporal_weight must not all be 0")
        return merged


@dataclass(frozen=True, kw_only=True)
class RecallConfig:
    """The service's settings of recall; a request can't change these."""

    scoring: ScoringConfig = field(default_factory=ScoringConfig)
    vector_weight: float = 0.7
    text_weight: float = 0.3
    rrf_k: int = 60
    leg_timeout_s: float = 2.0
    deadline_s: float = 30.0
    strong_hits: int = 5  # of each leg: those whose neighbours the walk takes
    old_candidates: int = 40  # of the superseded layer, by each leg, at most
    clip_characters: int = 1000  # of a content that come with the candidates; the rest is read if the hit is served
    near_duplicate: float = 0.99  # cosine from which a hit counts as nearly the same as one above it
    near_duplicate_penalty: float = 0.15  # most that it costs, as a share of the score


def candidate_count(limit: int) -> int:
    """How many each leg is asked for: beyond that rank a hit has no way into the first `limit`."""
    return min(max(limit * 4, 40), 500)


def old_candidate_count(limit: int, most: int) -> int:
    """How many of the superseded layer each leg is asked for; each is followed to the heads of its chain."""
    return min(max(limit, 10), most)
