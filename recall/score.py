"""Stage 5: the score that orders, as a sum of parts that `explain` shows as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from recall.config import DecayModel, ScoringConfig
from recall.hits import Hit

DAY = 86_400e6  # microseconds
ENTITY_GAIN, ENTITY_LOW, ENTITY_HIGH = 0.3, 0.85, 1.15


def effective_salience(salience: float, decay_factor: float, age_days: float, model: DecayModel = "exponential") -> float:
    """Salience left after `age_days`.

    salience: in [0, 1].  decay_factor: per day, >= 0; 0.02 halves it in about 35 days under `exponential`.
    age_days: negative ages (clock skew) count as 0.  Returns a value in [0, salience].
    model: exponential s*exp(-d*t), hyperbolic s/(1+d*t), power s*(1+t)^-d, none s.
    """
    age = max(age_days, 0.0)
    if model == "exponential":
        return salience * math.exp(-decay_factor * age)
    if model == "hyperbolic":
        return salience / (1 + decay_factor * age)
    if model == "power":
        return salience * math.exp(-decay_factor * math.log1p(age))
    return salience


def temporal(age_days: float, half_life_days: float) -> float:
    """Recency in (0, 1]: halves every `half_life_days` (> 0). A score of its own; salience decays apart from it."""
    return float(2.0 ** max(-max(age_days, 0.0) / half_life_days, -1000.0))


def entity_multiplier(mean: float) -> float:
    """What feedback about a hit's entities does: within [.85, 1.15], and exactly 1 at the neutral mean of 0.5."""
    return min(max(1 + ENTITY_GAIN * (mean - 0.5), ENTITY_LOW), ENTITY_HIGH)


def score(
    hits: Sequence[Hit], config: ScoringConfig, *, now: int, entity_means: Mapping[str, float] | None = None
) -> Sequence[Hit]:
    """Sets effective_salience, temporal, score and parts. now: microseconds. The parts sum to the score, in [0, 1]."""
    relevance_weight, salience_weight, temporal_weight = config.weights
    for hit in hits:
        age_days = (now - hit.created_ts) / DAY
        hit.effective_salience = effective_salience(hit.salience, hit.decay_factor, age_days, config.decay_model)
        hit.temporal = temporal(age_days, config.temporal_half_life_days)
        hit.parts = (
            reranked(hit, config)
            if config.reranker_weights
            else {
                "relevance": relevance_weight * hit.relevance,
                "salience": salience_weight * hit.effective_salience,
                "temporal": temporal_weight * hit.temporal,
            }
        )
        composite = sum(hit.parts.values())
        mean = (entity_means or {}).get(hit.id)
        if mean is not None and mean != 0.5:
            lifted = min(composite * entity_multiplier(mean), 1.0)
            hit.parts["entities"] = lifted - composite
        hit.score = min(max(sum(hit.parts.values()), 0.0), 1.0)
    return hits


def reranked(hit: Hit, config: ScoringConfig) -> dict[str, float]:
    """Stage 4's parts: the weighted mean of the features that `reranker_weights` names."""
    total = sum(config.reranker_weights.values())
    return {name: config.reranker_weights[name] * value / total for name, value in features(hit, config).items()}


def features(hit: Hit, config: ScoringConfig) -> dict[str, float]:
    """The features that `reranker_weights` names, each in [0, 1]."""
    return {name: getattr(hit, "effective_salience" if name == "salience" else name) for name in config.reranker_weights}
