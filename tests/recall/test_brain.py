"""The rules of learning, without a store: posteriors, what a judgement says, fading, the cap."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.brain import (
    DAY_US,
    ENTITY_HALF_LIFE_US,
    EXPLAINED,
    IMPLICIT_HALF_LIFE_US,
    IMPLICIT_MOST,
    SIGNALS,
    BalancedRecallState,
    Beta,
    Judged,
    added,
    faded_mean,
    hit_means,
    implicit_room,
    left,
    recall_evidence,
    tunable_name,
)
from recall.config import ScoringConfig
from recall.memory import pack as memory_pack
from recall.score import entity_multiplier

MASS = st.floats(0, 1e6)
SHARE = st.floats(0, 1)
RELEVANCE, SALIENCE, TEMPORAL = (tunable_name(matter) for matter in ("relevance", "salience", "temporal"))


def judged(*rows, row=0, useful=True, weights=(0.7, 0.2, 0.1)):
    return Judged(features=np.array(rows, dtype=np.float64), weights=weights, row=row, useful=useful)


# posteriors


def test_the_three_weights_are_the_means_of_three_betas_with_the_priors_of_the_design():
    state = BalancedRecallState()
    assert [(b.alpha, b.beta) for b in (state.relevance, state.salience, state.temporal)] == [(7, 3), (2, 8), (1, 9)]
    assert state.means == (0.7, 0.2, 0.1)
    assert state.over(ScoringConfig()).weights == ScoringConfig().weights


def test_the_memory_pack_offers_its_three_weights_as_tunables():
    class State:
        class config:  # noqa: N801
            scoring = ScoringConfig()

    tunables = {one.name: (one.prior.alpha, one.prior.beta) for one in memory_pack.tunables(State())}
    assert tunables == {
        "memory::relevance_weight": (7, 3),
        "memory::salience_weight": (2, 8),
        "memory::temporal_weight": (1, 9),
    }


def test_configured_weights_are_where_learning_starts():
    scoring = ScoringConfig(relevance_weight=5, salience_weight=4, temporal_weight=1)
    assert BalancedRecallState.configured(scoring).means == pytest.approx((0.5, 0.4, 0.1))
    assert BalancedRecallState.configured(ScoringConfig()) == BalancedRecallState()


@pytest.mark.parametrize("prior", [Beta(alpha=7, beta=3), Beta(alpha=1, beta=9), Beta(alpha=1, beta=1)])
@given(mass=MASS)
def test_as_much_evidence_for_as_against_leaves_a_posterior_s_mean_where_it_was(prior, mass):
    assert prior.learned(mass, mass).mean == pytest.approx(prior.mean)


@given(MASS, MASS)
def test_evidence_moves_the_mean_its_way_and_its_odds_go_to_the_prior_s_times_the_evidence_s(supporting, opposing):
    prior = Beta(alpha=2, beta=8)
    learned = prior.learned(supporting, opposing)
    assert 0 < learned.mean < 1
    if supporting > opposing + 1e-6:
        assert learned.mean > prior.mean
    assert Beta(alpha=2, beta=8).learned(3e9, 1e9).mean == pytest.approx(0.75 / (0.75 + 1), abs=1e-6)


# what a judgement says


def test_each_posterior_learns_only_from_its_own_matter():
    """Where all hits are alike in a matter, its posterior hears nothing, whatever is said of them."""
    for column, name in enumerate((RELEVANCE, SALIENCE, TEMPORAL)):
        rows = np.full((4, 3), 0.5)
        rows[:, column] = (0.9, 0.6, 0.5, 0.4)
        for useful in (True, False):
            found = recall_evidence(judged(*rows, useful=useful))
            assert {other for other, by in found.items() if by} == {name}
            assert (found[name] > 0) is useful


def test_relevance_learns_from_whether_the_relevant_hits_were_the_useful_ones():
    hits = ([0.9, 0.5, 0.5], [0.5, 0.5, 0.5])
    left = (1 - EXPLAINED) * 0.4  # of standing out by 0.4 where nothing but relevance makes the scores differ
    assert recall_evidence(judged(*hits, row=0))[RELEVANCE] == pytest.approx(left)
    assert recall_evidence(judged(*hits, row=1))[RELEVANCE] == pytest.approx(-left)
    assert recall_evidence(judged(*hits, row=0, useful=False))[RELEVANCE] == pytest.approx(-left)
    assert recall_evidence(judged(*hits, row=1, useful=False))[RELEVANCE] == pytest.approx(left)


def test_salience_learns_from_whether_salient_hits_were_the_useful_ones_and_temporal_from_recent_ones():
    hits = ([0.6, 0.9, 0.1], [0.6, 0.1, 0.9])
    salient, recent = (recall_evidence(judged(*hits, row=row)) for row in (0, 1))
    assert salient[SALIENCE] > 0.6 > -0.8 > salient[TEMPORAL]
    assert recent[SALIENCE] < -0.6 < 0.8 < recent[TEMPORAL]
    assert salient[RELEVANCE] == recent[RELEVANCE] == 0


def test_a_lone_hit_is_measured_by_what_its_relevance_promised():
    """Right as often as it promised, relevance 0.8 stays where it is: 0.8 * 0.2 for, 0.2 * 0.8 against."""
    useful, not_useful = (recall_evidence(judged([0.8, 0.3, 0.3], useful=u)) for u in (True, False))
    assert useful == pytest.approx({RELEVANCE: 0.2})
    assert not_useful == pytest.approx({RELEVANCE: -0.8})
    assert 0.8 * useful[RELEVANCE] + 0.2 * not_useful[RELEVANCE] == pytest.approx(0)


@given(st.lists(st.tuples(SHARE, SHARE, SHARE), min_size=2, max_size=5))
def test_a_caller_who_calls_everything_he_looks_at_useful_confirms_nothing(rows):
    """Learning never confirms itself: the order of serving is no evidence for the weights that made it."""
    total = np.zeros(3)
    for row in range(len(rows)):
        total += list(recall_evidence(judged(*rows, row=row)).values())
    assert total == pytest.approx([0, 0, 0], abs=1e-9)


def test_what_the_weights_explain_already_teaches_little():
    """Callers who judge by the score itself teach each posterior far less than those who judge by one feature."""
    rng = np.random.default_rng(0)
    weights = np.array((0.7, 0.2, 0.1))
    by_score, by_salience = np.zeros(3), np.zeros(3)
    for _ in range(500):
        rows = rng.random((5, 3))
        for total, pleases in ((by_score, rows @ weights), (by_salience, rows[:, 1])):
            for row in range(5):
                found = recall_evidence(judged(*rows, row=row, useful=bool(pleases[row] > np.median(pleases))))
                total += [found[name] for name in (RELEVANCE, SALIENCE, TEMPORAL)]
    assert by_salience[1] > 4 * abs(by_score[1])
    assert by_salience[1] > 0 > by_salience[0]


def test_hits_below_those_that_a_caller_looked_at_are_not_compared_with():
    above = [[0.9, 0.5, 0.5], [0.8, 0.4, 0.5], [0.7, 0.5, 0.4], [0.6, 0.5, 0.5], [0.5, 0.5, 0.5]]
    assert recall_evidence(judged(*above, [0.0, 0.0, 0.0])) == recall_evidence(judged(*above))
    assert recall_evidence(judged(*above, [0.0, 0.0, 0.0], row=5)) != recall_evidence(judged(*above, row=4))


@given(st.lists(st.tuples(SHARE, SHARE, SHARE), min_size=1, max_size=12), st.data())
def test_a_judgement_says_a_bounded_amount_and_nothing_of_the_time_that_was_taken(rows, data):
    row = data.draw(st.integers(0, len(rows) - 1))
    found = recall_evidence(judged(*rows, row=row))
    assert set(found) <= {RELEVANCE, SALIENCE, TEMPORAL}
    assert all(abs(by) <= 2 for by in found.values())
    assert set(Judged.__dataclass_fields__) == {"features", "weights", "row", "useful"}  # no latency among them


def test_signals_have_the_weights_of_the_design():
    assert {name: (signal.weight, signal.useful) for name, signal in SIGNALS.items()} == {
        "useful": (1.0, True),
        "not_useful": (1.0, False),
        "wrong": (1.0, False),
        "explicit_positive": (1.5, True),
        "explicit_negative": (1.5, False),
        "implicit_positive": (0.1, True),
        "implicit_negative": (0.1, False),
        "correction": (2.0, False),
    }
    assert {name for name, signal in SIGNALS.items() if signal.implicit} == {"implicit_positive", "implicit_negative"}
    assert {name for name, signal in SIGNALS.items() if signal.retires} == {"wrong", "correction"}


def test_evidence_is_added_by_weight_on_the_side_that_it_speaks_for():
    evidence = added({"a": (1.0, 0.0)}, {"a": 0.5, "b": -0.25}, 2.0)
    assert evidence == {"a": (2.0, 0.0), "b": (0.0, 0.5)}


# entities and notes


def test_an_entity_starts_at_beta_1_1_and_every_signal_moves_it():
    assert faded_mean(0, 0, 0) == 0.5
    assert faded_mean(1, 0, 0) == pytest.approx(2 / 3)
    assert faded_mean(0, 1.5, 0) == pytest.approx(1 / 3.5)


def test_evidence_about_an_entity_halves_in_30_days_and_fades_to_neutral():
    assert ENTITY_HALF_LIFE_US == 30 * DAY_US
    assert faded_mean(4, 0, 30 * DAY_US) == pytest.approx(faded_mean(2, 0, 0))
    assert faded_mean(1000, 0, 3650 * DAY_US) == pytest.approx(0.5, abs=1e-6)
    assert faded_mean(4, 0, -DAY_US) == faded_mean(4, 0, 0)


def test_a_hit_s_mean_is_that_over_itself_and_its_entities_and_its_multiplier_is_bounded():
    means = hit_means(["a", "a", "b"], [1.0, 0.0, 1e9], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    assert means == pytest.approx({"a": (2 / 3 + 1 / 3) / 2, "b": 1.0})
    assert (entity_multiplier(means["b"]), entity_multiplier(faded_mean(0, 1e9, 0))) == pytest.approx((1.15, 0.85))
    assert entity_multiplier(hit_means([], [], [], []).get("a", 0.5)) == 1


# the cap of implicit signals


def test_implicit_signals_on_a_target_add_up_to_one_and_a_half_at_most():
    mass = 0.0
    for _ in range(100):
        mass += min(0.1, implicit_room(mass, 0))
    assert mass == pytest.approx(IMPLICIT_MOST)
    assert implicit_room(mass, 0) == pytest.approx(0)


@given(st.lists(st.floats(0, 30 * DAY_US), max_size=200))
def test_their_decayed_mass_never_passes_the_cap(pauses):
    mass = 0.0
    for pause in pauses:
        weight = min(0.1, implicit_room(mass, pause))
        mass = left(mass, pause, IMPLICIT_HALF_LIFE_US) + weight
        assert 0 <= mass <= IMPLICIT_MOST + 1e-9


def test_the_room_for_implicit_signals_comes_back_with_a_half_life_of_7_days():
    assert IMPLICIT_HALF_LIFE_US == 7 * DAY_US
    assert implicit_room(IMPLICIT_MOST, 7 * DAY_US) == pytest.approx(IMPLICIT_MOST / 2)


@given(MASS, st.floats(-1e18, 1e18))
def test_what_fades_never_grows(mass, age):
    assert 0 <= left(mass, age, ENTITY_HALF_LIFE_US) <= mass
    assert math.isfinite(left(mass, age, ENTITY_HALF_LIFE_US))
