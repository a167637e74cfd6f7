"""Simulated users: each profile moves the right way, none ranks worse than the defaults, noise does little harm."""

from __future__ import annotations

import numpy as np
import pytest

from recall.simulation import TASTES, Crowd, Learned, candidates, simulate, table

SEEDS = 4
CHANCE = 0.002  # of nDCG: what the luck of 200 signals moves where there is nothing to learn


@pytest.fixture(scope="module")
def learned() -> dict[str, Learned]:
    return {row.crowd.name: row for row in table(seeds=SEEDS, signals=200, noise=0.1)}


def changed(row: Learned) -> float:
    return row.after - row.before


@pytest.mark.parametrize(("name", "feature"), [("relevance-minded", 0), ("salience-minded", 1), ("recency-minded", 2)])
def test_a_profile_moves_to_what_its_users_mind(learned, name, feature):
    weights = np.array(learned[name].weights) / (0.7, 0.2, 0.1)
    assert weights.argmax() == feature
    assert weights[feature] > 1.05


@pytest.mark.parametrize("name", ["relevance-minded", "salience-minded", "recency-minded"])
def test_users_with_a_taste_get_a_better_ranking_of_queries_never_judged(learned, name):
    assert changed(learned[name]) > 0.01
    assert learned[name].worst > 0


def test_after_200_signals_no_crowd_is_served_worse_than_by_the_defaults(learned):
    assert {name: changed(row) for name, row in learned.items() if changed(row) < -CHANCE} == {}


@pytest.mark.parametrize("name", ["relevance-minded", "salience-minded", "recency-minded"])
def test_a_small_share_of_noisy_users_does_little_harm(learned, name):
    noisy = learned[f"{name}; 10% of the signals wrong"]
    assert changed(noisy) > 0.5 * changed(learned[name])


def test_users_who_call_nearly_everything_useful_do_not_confirm_the_defaults_either(learned):
    for name in TASTES:
        assert changed(learned[f"{name}; lenient"]) > -CHANCE


def test_signals_that_say_nothing_teach_nothing():
    weights = np.mean(
        [simulate(Crowd(name="x", taste=TASTES["recency-minded"], noise=0.5), seed=n)[0] for n in range(6)], axis=0
    )
    assert weights == pytest.approx([0.7, 0.2, 0.1], abs=0.02)


def test_a_run_is_the_same_for_the_same_seed():
    crowd = Crowd(name="x", taste=TASTES["salience-minded"])
    assert simulate(crowd, seed=3, signals=50) == simulate(crowd, seed=3, signals=50) != simulate(crowd, seed=4, signals=50)


def test_simulated_candidates_have_features_like_those_of_notes():
    hits = candidates(np.random.default_rng(0), 50, 40)
    assert hits.shape == (50, 40, 3)
    assert (hits[..., 0] >= 0.42).all()
    assert ((hits >= 0) & (hits <= 1)).all()
