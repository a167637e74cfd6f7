"""Replays what was served and what became of it: how held-out queries would rank by the priors and by what was learned.

Every query is held out once: the queries are dealt into folds, and those of a fold are ranked by what the signals of all the
others teach. So no query is ranked by what was said about itself. Nothing is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from graph.store import Space
from recall.brain import SIGNALS, BalancedRecallState, Evidence, Judged, added, recall_evidence

MOST = 20_000  # serves that are looked at, the latest first
CUT = 10  # ranks that nDCG looks at


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """A serve that signals came for. features, weights: as `recall.brain.Judged`'s; signals: (row, name), in order."""

    query: str
    profile_id: str
    features: NDArray[np.float64]
    weights: Sequence[float]
    signals: Sequence[tuple[int, str]]

    @property
    def gains(self) -> NDArray[np.float64]:
        """(n,) 1 for a hit whose last word was that it is useful, else 0."""
        gains = np.zeros(len(self.features))
        for row, name in self.signals:
            gains[row] = SIGNALS[name].useful
        return gains

    @property
    def judged(self) -> list[int]:
        return sorted({row for row, _ in self.signals})


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """How queries rank by some weights, over the hits that were judged. ndcg, mrr: means over those with a useful hit.

    pairs: the share of (useful, not useful) pairs of a serve that are in order, ties counted half; None without such pairs.
    """

    weights: tuple[float, float, float]
    ndcg: float | None
    mrr: float | None
    pairs: float | None


@dataclass(frozen=True, kw_only=True)
class Replay:
    """One profile's. before: by the priors.  after: each query by what the others teach; its weights are those of all.

    better, same, worse: serves, by nDCG.
    """

    profile_id: str
    queries: int
    signals: int
    before: Ranking
    after: Ranking
    better: int
    same: int
    worse: int


def read(space: Space, *, profile: str | None = None, limit: int = MOST) -> list[Labelled]:
    """The latest serves of a namespace that signals came for, of one profile or of all."""
    found = []
    for row in space.rows("brain.signalled", limit=limit):
        serve = row["serve"]
        rows = {id: n for n, id in enumerate(serve["note_ids"])}
        if serve.get("profile_id") is None or profile not in (None, serve["profile_id"]):
            continue
        features = np.array([serve["relevances"], serve["saliences"], serve["temporals"]], dtype=np.float64).T
        signals = [(rows[id], name) for id, name in zip(row["targets"], row["signals"], strict=True)]
        found.append(
            Labelled(
                query=serve["query_hash"],
                profile_id=serve["profile_id"],
                features=features,
                weights=serve["weights"],
                signals=signals,
            )
        )
    return found


def learned(serves: Sequence[Labelled], prior: BalancedRecallState) -> BalancedRecallState:
    """What the signals of `serves` teach."""
    evidence: Evidence = {}
    for serve in serves:
        for row, name in serve.signals:
            judged = Judged(features=serve.features, weights=serve.weights, row=row, useful=SIGNALS[name].useful)
            evidence = added(evidence, recall_evidence(judged), SIGNALS[name].weight)
    return prior.learned(evidence)


def replay(
    serves: Sequence[Labelled], *, folds: int = 5, seed: int = 0, prior: BalancedRecallState | None = None
) -> list[Replay]:
    """A row a profile. folds: at least 2; seed: of the dealing."""
    by_profile: dict[str, list[Labelled]] = defaultdict(list)
    for serve in serves:
        by_profile[serve.profile_id].append(serve)
    start = prior or BalancedRecallState()
    return [_replayed(id, mine, folds, seed, start) for id, mine in sorted(by_profile.items())]


def _replayed(id: str, serves: list[Labelled], folds: int, seed: int, prior: BalancedRecallState) -> Replay:
    queries = sorted({serve.query for serve in serves})
    order = np.random.default_rng(seed).permutation(len(queries))
    fold = {queries[place]: n % folds for n, place in enumerate(order)}
    before, after = _Tally(), _Tally()
    for held in range(min(folds, len(queries))):
        taught = learned([serve for serve in serves if fold[serve.query] != held], prior)
        for serve in (serve for serve in serves if fold[serve.query] == held):
            before.add(serve, prior.means)
            after.add(serve, taught.means)
    changes = np.array(after.ndcgs) - np.array(before.ndcgs)
    return Replay(
        profile_id=id,
        queries=len(queries),
        signals=sum(len(serve.signals) for serve in serves),
        before=before.ranking(prior.means),
        after=after.ranking(learned(serves, prior).means),
        better=int((changes > 1e-9).sum()),
        same=int((np.abs(changes) <= 1e-9).sum()),
        worse=int((changes < -1e-9).sum()),
    )


@dataclass
class _Tally:
    ndcgs: list[float] = field(default_factory=list)
    reciprocals: list[float] = field(default_factory=list)
    ordered: float = 0.0
    pairs: int = 0

    def add(self, serve: Labelled, weights: Sequence[float]) -> None:
        """What nobody judged is left out of the order, for nobody knows what it was worth (Sakai 2007: condensed lists)."""
        judged = serve.judged
        scores, gains = serve.features[judged] @ np.array(weights), serve.gains[judged]
        if gains.any():
            ranked = gains[np.argsort(-scores, kind="stable")]
            self.ndcgs.append(ndcg(ranked, gains))
            self.reciprocals.append(1 / (1 + int(ranked.argmax())))
        useful, not_useful = scores[gains > 0], scores[gains == 0]
        apart = useful[:, None] - not_useful[None, :]
        self.ordered += float((apart > 0).sum() + 0.5 * (apart == 0).sum())
        self.pairs += apart.size

    def ranking(self, weights: Sequence[float]) -> Ranking:
        total = sum(weights)
        return Ranking(
            weights=(weights[0] / total, weights[1] / total, weights[2] / total),
            ndcg=float(np.mean(self.ndcgs)) if self.ndcgs else None,
            mrr=float(np.mean(self.reciprocals)) if self.reciprocals else None,
            pairs=self.ordered / self.pairs if self.pairs else None,
        )


def ndcg(ranked: NDArray[np.float64], gains: NDArray[np.float64], cut: int = CUT) -> float:
    """Normalised discounted cumulative gain of the first `cut` (Järvelin and Kekäläinen 2002).  ranked: `gains` in order."""
    discounts = 1 / np.log2(np.arange(2, cut + 2))
    ideal = -np.sort(-gains)[:cut]
    best = float(ideal @ discounts[: len(ideal)])
    top = ranked[:cut]
    return float(top @ discounts[: len(top)]) / best if best > 0 else 0.0


def as_rows(rows: Sequence[Replay]) -> list[Mapping[str, object]]:
    """For JSON."""
    return [
        {
            "profile": row.profile_id,
            "queries": row.queries,
            "signals": row.signals,
            **{
                name: {"weights": list(of.weights), "ndcg": of.ndcg, "mrr": of.mrr, "pairs": of.pairs}
                for name, of in (("before", row.before), ("after", row.after))
            },
            "better": row.better,
            "same": row.same,
            "worse": row.worse,
        }
        for row in rows
    ]
