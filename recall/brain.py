"""What the brain learns and how: posteriors, what a signal says, and how evidence fades. No store, no clock.

A profile has a Beta posterior for each parameter that a pack lets be tuned (`PackTunable`); its mean is the value.
Recall's three are a `BalancedRecallState`. Entities and notes have a Beta(1, 1) each, which moves a hit within 15 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from recall.config import ScoringConfig

DAY_US = 86_400e6  # microseconds
ENTITY_HALF_LIFE_US = 30 * DAY_US
IMPLICIT_HALF_LIFE_US = 7 * DAY_US
IMPLICIT_MOST = 1.5  # decayed mass of implicit signals that a target takes
EXAMINED = 5  # hits that a caller is taken to have looked at, or more where the judged one stands lower
EXPLAINED = 0.6  # how much of what a hit's score lets expect is taken off what it teaches
NO_SPREAD = 1e-12  # variance of scores below which they tell no hits apart
STRENGTH = 10.0  # evidence that the priors are worth
MATTERS = ("relevance", "salience", "temporal")


@dataclass(frozen=True, kw_only=True)
class Signal:
    """What a kind of feedback is worth. useful: whether it speaks for the hit.  retires: may name what supersedes it."""

    useful: bool
    weight: float
    implicit: bool = False
    retires: bool = False


SIGNALS: Mapping[str, Signal] = {
    "useful": Signal(useful=True, weight=1.0),
    "not_useful": Signal(useful=False, weight=1.0),
    "wrong": Signal(useful=False, weight=1.0, retires=True),
    "explicit_positive": Signal(useful=True, weight=1.5),
    "explicit_negative": Signal(useful=False, weight=1.5),
    "implicit_positive": Signal(useful=True, weight=0.1, implicit=True),
    "implicit_negative": Signal(useful=False, weight=0.1, implicit=True),
    "correction": Signal(useful=False, weight=2.0, retires=True),
}


@dataclass(frozen=True, kw_only=True)
class Beta:
    """A Beta distribution; both parameters > 0, or one of them 0 for a certainty."""

    alpha: float
    beta: float

    @property
    def mean(self) -> float:
        return self.alpha / (self.alpha + self.beta)

    def learned(self, supporting: float, opposing: float) -> Beta:
        """The posterior after evidence >= 0, weighed so that as much for as against leaves the mean where it was.

        Without the weighing a parameter that says nothing, right half of the time, would go to 0.5.  So the odds of the
        mean go to the prior's times supporting / opposing.
        """
        mean = self.mean
        return Beta(alpha=self.alpha + mean * supporting, beta=self.beta + (1 - mean) * opposing)


Evidence = Mapping[str, tuple[float, float]]  # by tunable: supporting and opposing, each >= 0


@dataclass(frozen=True, kw_only=True)
class Tunable:
    """A parameter that profiles learn. name: `pack::parameter`.  prior: its mean is the value before anything is learned."""

    name: str
    prior: Beta


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A hit that somebody judged, among those that it was served with.

    features: (n, 3), a row a hit in the order of serving; relevance, effective salience and recency, each in [0, 1].
    weights: (relevance, salience, temporal), by which they were served.  row: the judged one.
    """

    features: NDArray[np.float64]
    weights: Sequence[float]
    row: int
    useful: bool


@runtime_checkable
class PackTunable(Protocol):
    """A pack whose parameters the brain tunes."""

    name: str

    def tunables(self, state: Any) -> Sequence[Tunable]:
        """What can be learned. state: what the pack's `open` returned."""

    def evidence(self, judged: Judged) -> Mapping[str, float]:
        """How much a judgement speaks for (> 0) or against (< 0) each parameter; about 1 at most."""


@dataclass(frozen=True, kw_only=True)
class BalancedRecallState:
    """The three posteriors of recall's weights. `epoch` counts how often they were reset."""

    relevance: Beta = field(default_factory=lambda: Beta(alpha=7.0, beta=3.0))
    salience: Beta = field(default_factory=lambda: Beta(alpha=2.0, beta=8.0))
    temporal: Beta = field(default_factory=lambda: Beta(alpha=1.0, beta=9.0))
    epoch: int = 0

    @classmethod
    def configured(cls, scoring: ScoringConfig) -> BalancedRecallState:
        """Priors whose means are the configured weights, of the strength of the defaults."""
        if scoring.weights == ScoringConfig().weights:
            return cls()
        relevance, salience, temporal = (
            Beta(alpha=STRENGTH * weight, beta=STRENGTH * (1 - weight)) for weight in scoring.weights
        )
        return cls(relevance=relevance, salience=salience, temporal=temporal)

    def tunables(self) -> tuple[Tunable, ...]:
        return tuple(Tunable(name=tunable_name(matter), prior=getattr(self, matter)) for matter in MATTERS)

    def learned(self, evidence: Evidence) -> BalancedRecallState:
        """The posteriors after `evidence`."""
        none = (0.0, 0.0)
        return replace(self, **{m: getattr(self, m).learned(*evidence.get(tunable_name(m), none)) for m in MATTERS})

    @property
    def means(self) -> tuple[float, float, float]:
        """(relevance, salience, temporal); they need not sum to 1."""
        return self.relevance.mean, self.salience.mean, self.temporal.mean

    def over(self, scoring: ScoringConfig) -> ScoringConfig:
        """`scoring` with the means as its weights."""
        relevance, salience, temporal = self.means
        return replace(scoring, relevance_weight=relevance, salience_weight=salience, temporal_weight=temporal)


def tunable_name(matter: str) -> str:
    return f"memory::{matter}_weight"


def recall_evidence(judged: Judged) -> dict[str, float]:
    """What a judgement says about relevance, salience and recency, each by its own feature.

    A hit that stands out in a feature among those that the caller looked at, and was useful, speaks for that feature by as
    much as it stands out; one that was not useful speaks against it; and one that lacks the feature the other way round.

    Compared is only with hits down to the judged one, or the first 5: to count on hits that nobody looked at would
    confirm whatever order they were served in.  And most of what the score lets expect is taken off first: a hit that
    stands out by its score stands out, on average, in each feature by its share in the score's variance.  So what the
    weights explain already teaches little, and learning comes to rest where they fit.

    A lone hit has nothing beside it: its relevance r, a probability, promised r, so being useful speaks for relevance by
    1 - r, and not being useful against it by r.
    """
    features, row, sign = judged.features, judged.row, 1 if judged.useful else -1
    seen = features[: max(row + 1, EXAMINED)]
    if len(seen) < 2:
        relevance = float(features[row][0])
        return {tunable_name("relevance"): 1 - relevance if judged.useful else -relevance}
    outstanding = features[row] - (seen.sum(axis=0) - seen[row]) / (len(seen) - 1)
    weights = np.asarray(judged.weights, dtype=np.float64)
    shares = weights * seen.var(axis=0)
    if (spread := float(weights @ shares)) > NO_SPREAD:
        outstanding = outstanding - EXPLAINED * float(weights @ outstanding) / spread * shares
    return {tunable_name(matter): sign * float(by) for matter, by in zip(MATTERS, outstanding, strict=True)}


def added(evidence: Evidence, found: Mapping[str, float], weight: float) -> dict[str, tuple[float, float]]:
    """`evidence` with what a judgement of that weight adds."""
    grown = dict(evidence)
    for name, by in found.items():
        supporting, opposing = grown.get(name, (0.0, 0.0))
        grown[name] = supporting + weight * max(by, 0.0), opposing + weight * max(-by, 0.0)
    return grown


def left(mass: float, age_us: float, half_life_us: float) -> float:
    """What is left of `mass` after `age_us` microseconds; a negative age (clock skew) counts as 0."""
    return mass * math.exp2(-min(max(age_us, 0.0) / half_life_us, 1000.0))


def implicit_room(mass: float, age_us: float) -> float:
    """How much more implicit signals may add to a target that had taken `mass` of them `age_us` microseconds ago."""
    return max(IMPLICIT_MOST - left(mass, age_us, IMPLICIT_HALF_LIFE_US), 0.0)


def faded_mean(supporting: float, opposing: float, age_us: float) -> float:
    """The mean of an entity's Beta(1, 1) after evidence that fades: 0.5 without any, and again long after it.

    supporting, opposing: as of `age_us` microseconds ago.
    """
    up, down = (left(mass, age_us, ENTITY_HALF_LIFE_US) for mass in (supporting, opposing))
    return (1 + up) / (2 + up + down)


def hit_means(
    ids: Sequence[str], supporting: Sequence[float], opposing: Sequence[float], ages_us: Sequence[float]
) -> dict[str, float]:
    """The mean of each hit: over itself and the entities that it mentions, as far as there is evidence about them.

    The four are of one length; a hit's id stands once for each of them.
    """
    means: dict[str, list[float]] = {}
    for id, up, down, age in zip(ids, supporting, opposing, ages_us, strict=True):
        means.setdefault(id, []).append(faded_mean(up, down, age))
    return {id: math.fsum(values) / len(values) for id, values in means.items()}
