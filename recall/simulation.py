"""Simulated users of known taste: whether profiles learn it, and what that does to the ranking of queries never judged.

A query has candidates with a relevance, a salience and an age, spread as those of notes are. A user's pleasure in a hit is a
weighted sum of its three features; the weights are the user's taste. The service ranks by what the profile has learned so
far and serves ten; the user looks at the first five, judges each with even odds, and calls it useful the more probably the
more it pleases beside the others. Everything that learns is the service's own code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recall.brain import EXAMINED, BalancedRecallState, Evidence, Judged, added, recall_evidence
from recall.config import RECALL_MIN_SCORE
from recall.replay import CUT, ndcg

Taste = tuple[float, float, float]
TASTES: Mapping[str, Taste] = {
    "relevance-minded": (1.0, 0.0, 0.0),
    "recency-minded": (0.4, 0.0, 0.6),
    "salience-minded": (0.4, 0.6, 0.0),
    "balanced, as the defaults": (0.7, 0.2, 0.1),
}
SERVED = 10
KEENNESS = 12.0  # how sharply pleasure tells a useful hit from another
HELD_OUT = 300  # queries that the ranking is measured on


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """Who uses a profile. noise: share of signals that say the opposite.  leaning: log-odds by which all seems useful."""

    name: str
    taste: Taste
    noise: float = 0.0
    leaning: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Learned:
    """How a crowd's held-out queries rank, as means over seeds; `worst` is the worst change of a seed."""

    crowd: Crowd
    signals: int
    weights: Taste
    before: float
    after: float
    worst: float


def crowds(noise: float = 0.1) -> list[Crowd]:
    """Each taste alone, each with a share of wrong signals, and each among callers who call nearly everything useful."""
    told = f"{noise:.0%} of the signals wrong"
    return [
        *(Crowd(name=name, taste=taste) for name, taste in TASTES.items()),
        *(Crowd(name=f"{name}; {told}", taste=taste, noise=noise) for name, taste in TASTES.items()),
        *(Crowd(name=f"{name}; lenient", taste=taste, leaning=2.0) for name, taste in TASTES.items()),
    ]


def candidates(rng: np.random.Generator, queries: int, each: int) -> NDArray[np.float64]:
    """(queries, each, 3): relevance above the floor, salience decayed by age, recency with a half-life of 30 days."""
    shape = (queries, each)
    relevance = RECALL_MIN_SCORE + (1 - RECALL_MIN_SCORE) * rng.beta(1.6, 1.6, shape)
    salience = rng.choice([0.3, 0.5, 0.9], p=[0.5, 0.35, 0.15], size=shape)
    age_days = rng.lognormal(3.0, 1.6, shape)
    decayed = salience * np.exp(-np.where(salience == 0.3, 0.02, 0.005) * age_days)
    return np.stack([relevance, decayed, 2.0 ** (-age_days / 30)], axis=-1)


def simulate(crowd: Crowd, *, seed: int, signals: int = 200, each: int = 40) -> tuple[Taste, float, float]:
    """Weights after `signals`, and nDCG@10 of held-out queries by the defaults and by them. each: candidates of a query."""
    rng = np.random.default_rng(seed)
    taste = np.array(crowd.taste)
    evidence: Evidence = {}
    given, state = 0, BalancedRecallState()
    while given < signals:
        hits = candidates(rng, 1, each)[0]
        served = hits[np.argsort(-(hits @ np.array(state.means)))][:SERVED]
        pleasure = served @ taste
        for row in range(min(EXAMINED, len(served))):
            if given == signals or rng.random() < 0.5:
                continue
            odds = KEENNESS * (pleasure[row] - np.median(pleasure)) + crowd.leaning
            useful = (rng.random() < 1 / (1 + np.exp(-odds))) != (rng.random() < crowd.noise)
            judged = Judged(features=served, weights=state.means, row=row, useful=bool(useful))
            evidence = added(evidence, recall_evidence(judged), 1.0)
            given += 1
        state = BalancedRecallState().learned(evidence)
    held = candidates(np.random.default_rng((seed, 1)), HELD_OUT, each)
    means = np.array(state.means)
    total = means.sum()
    weights = (float(means[0] / total), float(means[1] / total), float(means[2] / total))
    return weights, _ranked(held, taste, BalancedRecallState().means), _ranked(held, taste, state.means)


def _ranked(held: NDArray[np.float64], taste: NDArray[np.float64], weights: Sequence[float]) -> float:
    """Mean nDCG; a hit's gain is what it pleases, 0 for the least of its query and 1 for the most."""
    found = []
    for hits in held:
        pleasure = hits @ taste
        gains = (pleasure - pleasure.min()) / np.ptp(pleasure)
        found.append(ndcg(gains[np.argsort(-(hits @ np.array(weights)))], gains, CUT))
    return float(np.mean(found))


def table(*, seeds: int = 10, signals: int = 200, noise: float = 0.1) -> list[Learned]:
    """A row for each crowd, over `seeds` runs each."""
    rows = []
    for crowd in crowds(noise):
        runs = [simulate(crowd, seed=seed, signals=signals) for seed in range(seeds)]
        weights = np.mean([run[0] for run in runs], axis=0)
        rows.append(
            Learned(
                crowd=crowd,
                signals=signals,
                weights=(float(weights[0]), float(weights[1]), float(weights[2])),
                before=float(np.mean([run[1] for run in runs])),
                after=float(np.mean([run[2] for run in runs])),
                worst=float(min(run[2] - run[1] for run in runs)),
            )
        )
    return rows
