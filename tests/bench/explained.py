"""Whether the parts that `explain` shows sum to the score, for every hit of a benchmark's queries.

    python -m tests.bench.explained BASE_URL NAMESPACE CORPORA.json [--seed 0]

NAMESPACE holds notes (those that `recall_bench.py` loaded). Each query of the corpora is asked with a configuration drawn at
random: weights, decay model, half-life, fusion, reranking, floor. Prints how many hits were looked at, and the largest
difference.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import requests

from recall.config import DECAY_MODELS, FEATURES, FUSIONS


def drawn(chance: random.Random) -> dict[str, Any]:
    """What a request may set for itself."""
    weights = {f"{name}_weight": chance.choice([0, 0.1, 1, 7]) for name in ("salience", "temporal")}
    reranked = {name: chance.random() for name in chance.sample(FEATURES, chance.randint(0, len(FEATURES)))}
    half_life = {"temporal_half_life_days": chance.choice([1, 30, 1000]), "decay_model": chance.choice(DECAY_MODELS)}
    return {
        "fusion": chance.choice(FUSIONS),
        "min_score": chance.choice([0, None]),
        "limit": chance.choice([5, 20]),
        "config": weights | half_life | {"relevance_weight": 0.5, "reranker_weights": reranked},
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("base")
    options.add_argument("namespace")
    options.add_argument("corpora", type=Path)
    options.add_argument("--seed", type=int, default=0)
    args = options.parse_args()
    chance, hits, worst = random.Random(args.seed), 0, 0.0
    session = requests.Session()
    session.headers["X-Namespace"] = args.namespace
    read = json.loads(args.corpora.read_text(encoding="utf-8"))
    for corpus in read if isinstance(read, list) else [read]:
        for query in corpus["queries"]:
            body = {"query": query["q"], "explain": True} | drawn(chance)
            answer = session.post(f"{args.base}/v1/memory/recall", json=body, timeout=60)
            answer.raise_for_status()
            for hit in answer.json()["results"]:
                hits += 1
                worst = max(worst, abs(sum(hit["breakdown"]["parts"].values()) - hit["score"]))
    print(f"{hits:,} hits, largest difference between score and sum of parts: {worst:.2g}")


if __name__ == "__main__":
    main()
