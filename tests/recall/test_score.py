"""The score that orders: its parts, its decay, and that what `explain` shows is what counts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import DAY_TS, NOW_TS, hit

from recall.config import DECAY_MODELS, FEATURES, Knobs, ScoringConfig
from recall.score import effective_salience, entity_multiplier, score, temporal

SHARE = st.floats(0, 1)
WEIGHT = st.floats(0, 1e6)


def scored(one, config: ScoringConfig | None = None, **more):
    return score([one], config or ScoringConfig(), now=NOW_TS, **more)[0]


@pytest.mark.parametrize(
    ("model", "left"),
    [
        ("exponential", 0.8 * math.exp(-0.02 * 35)),
        ("hyperbolic", 0.8 / (1 + 0.02 * 35)),
        ("power", 0.8 * 36**-0.02),
        ("none", 0.8),
    ],
)
def test_salience_decays_by_its_model(model, left):
    assert effective_salience(0.8, 0.02, 35, model) == pytest.approx(left)


def test_the_default_decays_halve_in_35_and_139_days():
    assert effective_salience(1.0, 0.02, 34.657) == pytest.approx(0.5, abs=1e-4)
    assert effective_salience(1.0, 0.005, 138.63) == pytest.approx(0.5, abs=1e-4)


@given(SHARE, st.floats(0, 1e9), st.floats(-1e6, 1e6), st.sampled_from(DECAY_MODELS))
def test_salience_never_grows_and_a_future_age_counts_as_none(salience, decay, age, model):
    left = effective_salience(salience, decay, age, model)
    assert 0 <= left <= salience
    if age <= 0:
        assert left == salience


@pytest.mark.parametrize(
    ("age", "half_life", "value"), [(0, 30, 1.0), (30, 30, 0.5), (60, 30, 0.25), (-5, 30, 1.0), (15, 7.5, 0.25)]
)
def test_recency_halves_every_half_life(age, half_life, value):
    assert temporal(age, half_life) == pytest.approx(value)


def test_recency_of_a_very_old_note_is_small_and_positive():
    assert 0 < temporal(1e9, 1e-6) < 1e-100


@pytest.mark.parametrize(("mean", "multiplier"), [(0.5, 1.0), (1.0, 1.15), (0.0, 0.85), (0.6, 1.03), (0.4, 0.97), (9, 1.15)])
def test_what_entities_add_is_bounded(mean, multiplier):
    assert entity_multiplier(mean) == pytest.approx(multiplier)


def test_the_default_score_worked_out_by_hand():
    one = scored(hit(relevance=0.9, salience=0.5, decay_factor=0.02, age_days=30))
    left = 0.5 * math.exp(-0.6)
    assert one.effective_salience == pytest.approx(left)
    assert one.temporal == pytest.approx(0.5)
    assert one.parts == pytest.approx({"relevance": 0.63, "salience": 0.2 * left, "temporal": 0.05})
    assert one.score == pytest.approx(0.63 + 0.2 * left + 0.05)


def test_weights_are_normalised():
    twice = ScoringConfig(relevance_weight=14, salience_weight=4, temporal_weight=2)
    assert scored(hit(), twice).score == pytest.approx(scored(hit()).score)
    assert ScoringConfig(relevance_weight=1, salience_weight=0, temporal_weight=0).weights == (1, 0, 0)


def test_a_half_life_touches_recency_and_leaves_salience_alone():
    short, long = (
        scored(hit(age_days=10, decay_factor=0.02), ScoringConfig(temporal_half_life_days=days)) for days in (1, 1000)
    )
    assert short.effective_salience == long.effective_salience
    assert short.temporal < long.temporal


def test_ages_are_measured_from_now():
    one = hit(age_days=10)
    assert score([one], ScoringConfig(), now=NOW_TS - 10 * DAY_TS)[0].temporal == 1.0
    assert score([one], ScoringConfig(), now=NOW_TS + 20 * DAY_TS)[0].temporal == pytest.approx(0.5)


def test_entities_lift_or_lower_within_their_bounds_and_neutral_changes_nothing():
    plain = scored(hit(relevance=0.6)).score
    assert scored(hit(relevance=0.6), entity_means={"a": 0.5}).score == plain
    assert "entities" not in scored(hit(), entity_means={"a": 0.5, "b": 1.0}).parts
    assert scored(hit(relevance=0.6), entity_means={"a": 1.0}).score == pytest.approx(plain * 1.15)
    assert scored(hit(relevance=0.6), entity_means={"a": 0.0}).score == pytest.approx(plain * 0.85)
    assert scored(hit(relevance=1.0, salience=1.0), entity_means={"a": 1.0}).score == 1.0


def test_reranker_weights_replace_the_composite_with_a_weighted_mean():
    one = hit(relevance=0.9, text_match=0.5, vector_match=0.25, graph=1.0, age_days=30)
    config = ScoringConfig(reranker_weights={"relevance": 1, "text_match": 2, "graph": 1})
    assert scored(one, config).parts == pytest.approx({"relevance": 0.225, "text_match": 0.25, "graph": 0.25})
    assert one.score == pytest.approx(0.725)


KNOBS = st.builds(
    Knobs,
    relevance_weight=st.none() | WEIGHT,
    salience_weight=st.none() | WEIGHT,
    temporal_weight=st.none() | WEIGHT,
    temporal_half_life_days=st.none() | st.floats(1e-6, 1e6),
    decay_model=st.none() | st.sampled_from(DECAY_MODELS),
    reranker_weights=st.none()
    | st.dictionaries(st.sampled_from(FEATURES), WEIGHT).filter(lambda w: not w or sum(w.values()) > 0),
)
HITS = st.builds(
    hit,
    relevance=SHARE,
    age_days=st.floats(-1e5, 1e5),
    salience=SHARE,
    decay_factor=st.floats(0, 1e6),
    text_match=SHARE,
    vector_match=SHARE,
    graph=SHARE,
)


@given(HITS, KNOBS, st.none() | SHARE)
def test_the_parts_sum_to_the_score_which_lies_from_0_to_1(one, knobs, mean):
    try:
        config = knobs.over(ScoringConfig())
    except ValueError:
        return
    scored(one, config, entity_means={} if mean is None else {"a": mean})
    assert sum(one.parts.values()) == pytest.approx(one.score, abs=1e-9)
    assert 0 <= one.score <= 1


def test_knobs_lie_over_the_configuration_and_leave_the_rest():
    config = ScoringConfig(salience_weight=0.5, decay_model="power", reranker_weights={"graph": 1.0})
    merged = Knobs(relevance_weight=0.0, reranker_weights={}).over(config)
    assert merged == ScoringConfig(relevance_weight=0.0, salience_weight=0.5, decay_model="power", reranker_weights={})
    with pytest.raises(ValueError, match="must not all be 0"):
        Knobs(relevance_weight=0.0, salience_weight=0.0, temporal_weight=0.0).over(config)
