"""How well relevance ranks, abstains and is calibrated, on labelled corpora read offline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from recall.calibrate import Calibrator, Odds
from recall.config import RECALL_MIN_SCORE
from recall.corpora import LIMIT, Asked, Corpus
from recall.evidence import NAMES, Floats, gathered
from recall.links import linked

Ranked = tuple[Corpus, Asked, Floats, list[bool]]  # relevance of the first notes, and whether each is relevant


def evidence_of(corpus: Corpus, asked: Asked, mode: str) -> Floats:
    """The evidence of a query's pool as the mode sees it, without the second hop."""
    vector = None if mode == "lexical" else asked.embedding
    return gathered(asked.pool, asked.terms, vector, corpus.background, words=mode != "dense").values


def set_links(corpus: Corpus, asked: Asked, values: Floats, match: Odds, mode: str) -> None:
    """Sets the evidence `linked` of a query's rows by the order that `match` gives them without it."""
    at = NAMES.index("linked")
    values[:, at] = 0
    words = None if mode == "dense" else asked.terms
    values[:, at] = linked(asked.pool, values, match.log_ratio(values), words, corpus.background)


def ranked(read: Sequence[Corpus], calibrator: Calibrator, mode: str) -> Iterator[Ranked]:
    """Each query with the relevance of its first `LIMIT` notes."""
    for corpus in read:
        for asked in corpus.asked:
            values = evidence_of(corpus, asked, mode)
            set_links(corpus, asked, values, calibrator.match, mode)
            relevance = calibrator.probability(values)
            order = np.argsort(-relevance, kind="stable")
            _, best = np.unique(asked.notes[order], return_index=True)
            rows = order[np.sort(best)][:LIMIT]
            yield corpus, asked, relevance[rows], [int(note) in asked.relevant for note in asked.notes[rows]]


def figures(read: Sequence[Corpus], calibrator: Calibrator, mode: str) -> dict[str, float]:
    """The figures of `bench/recall_bench.py`, and the expected calibration error at even odds."""
    found: dict[str, list[float]] = defaultdict(list)
    tops: dict[str, list[float]] = defaultdict(list)
    rows = list(ranked(read, calibrator, mode))
    for _, asked, relevance, good in rows:
        over = relevance >= RECALL_MIN_SCORE
        kind = "answerable" if asked.answerable else "trivial" if asked.kind == "trivial" else "cross"
        tops[kind].append(float(relevance.max(initial=0.0)))
        if not asked.answerable:
            found[f"abstained_{kind}"].append(float(not over.any()))
            continue
        for k in (5, 10, 20):
            found[f"R@{k}"].append(sum(good[:k]) / len(asked.relevant))
        found["MRR"].append(next((1 / (at + 1) for at, hit in enumerate(good) if hit), 0.0))
        found["kept"].append(float((over & np.array(good, dtype=bool)).any()))
        found["served"].append(float(over.sum()))
    summary = {name: round(float(np.mean(values)), 3) for name, values in found.items()}
    for kind in ("cross", "trivial"):
        if tops[kind] and tops["answerable"]:
            summary[f"AUROC_{kind}"] = round(auroc(tops["answerable"], tops[kind]), 4)
    return summary | {"ECE": round(expected_error(reliability(rows)), 3)}


def expected_error(curve: Iterable[dict[str, float]]) -> float:
    """Expected calibration error: how far the bins' means lie from what is true, on average by weight."""
    return sum(bin["weight"] * abs(bin["true"] - bin["mean"]) for bin in curve)


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Chance that a positive lies above a negative, ties half."""
    below = np.sort(negative)
    wins = np.searchsorted(below, positive, "left") + np.searchsorted(below, positive, "right")
    return float(np.mean(wins) / 2 / len(below))


def reliability(rows: Iterable[Ranked], bins: int = 10) -> list[dict[str, float]]:
    """Per bin of relevance its weight, its mean relevance, and the share that is true; at even odds against noise."""
    halves: dict[str, list[float]] = defaultdict(list)
    for _, asked, relevance, good in rows:
        if not asked.answerable:
            halves["unanswerable"] += relevance[:5].tolist()
            continue
        for value, hit in zip(relevance.tolist(), good, strict=True):
            halves["true" if hit else "other"].append(value)
    odds = {"true": 0.5, "unanswerable": 0.25, "other": 0.25}
    values = np.concatenate([halves[name] for name in odds if halves[name]])
    weight = np.concatenate([np.full(len(halves[name]), odds[name] / len(halves[name])) for name in odds if halves[name]])
    true = np.repeat([name == "true" for name in odds if halves[name]], [len(halves[name]) for name in odds if halves[name]])
    weight /= weight.sum()
    bin_of = np.minimum((values * bins).astype(int), bins - 1)
    curve = []
    for number in range(bins):
        here = bin_of == number
        total = float(weight[here].sum())
        if total > 0:
            mean, share = (float(weight[here] @ side[here]) / total for side in (values, true))
            curve.append({"from": number / bins, "weight": round(total, 4), "mean": round(mean, 3), "true": round(share, 3)})
    return curve
