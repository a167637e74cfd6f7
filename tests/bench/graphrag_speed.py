"""Recall beside the retrievers of neo4j-graphrag on one store: `python -m tests.bench.graphrag_speed --home DIR`.

    HybridRetriever        vector and full text of all namespaces, the best ten of each joined; it takes no filters;
                           the same of forty, as many as recall asks each leg for, and of a hundred
    HybridCypherRetriever  of ten, then two hops from each hit
    memory.recall          one namespace, what is current, the walk, relevance, floor off, ten hits

None embeds: the vector is given. DIR is a home that `tests.bench.recall_speed --home DIR` has filled.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import neo4j
import numpy as np
from neo4j_graphrag.retrievers import HybridCypherRetriever, HybridRetriever

from graph.settings import Settings
from recall.embed import register
from recall.service import Service, open_service
from tests.bench.dataset import Dataset, Source
from tests.bench.recall_speed import Given, take_turns

HOPS = """OPTIONAL MATCH (node)-[:FOLLOWS|SUPPORTS]-{1,2}(x:Current)
RETURN node.id AS id, node.content AS content, score, collect(DISTINCT x.id)[..20] AS near"""


def measure(service: Service, given: Given, dataset: Dataset, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each way, taking turns."""
    source, chance = Source(dataset, dataset.seed + 4), random.Random(dataset.seed)
    endpoint = service.endpoint
    driver = neo4j.GraphDatabase.driver(endpoint.uri, auth=(endpoint.username, endpoint.password))
    indexes = {"vector_index_name": "current_embedding", "fulltext_index_name": "current_text"}
    plain = HybridRetriever(driver, **indexes, return_properties=["id", "content"])
    hops = HybridCypherRetriever(driver, **indexes, retrieval_query=HOPS)
    took: dict[str, list[float]] = {}
    for text, found in zip(source.texts(rounds, 8), source.vectors(rounds), strict=True):
        ns, given.next = chance.choice(dataset.namespaces), found[None]
        asked = {"query_text": text, "query_vector": found.tolist()}
        ways = {
            "HybridRetriever": lambda asked=asked: plain.search(**asked, top_k=10),
            "HybridRetriever of 40": lambda asked=asked: plain.search(**asked, top_k=40),
            "HybridRetriever of 100": lambda asked=asked: plain.search(**asked, top_k=100),
            "HybridCypherRetriever": lambda asked=asked: hops.search(**asked, top_k=10),
            "memory.recall": lambda ns=ns, text=text: service.dispatcher.call(
                "memory.recall", {"query": text, "min_score": 0}, ns=ns
            ),
        }
        take_turns(ways, took, chance)
    driver.close()
    return took


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--rounds", type=int, default=300)
    args = options.parse_args()
    given = Given()
    register("given", lambda cache: given)
    service = open_service(Settings.from_environment({}, home=args.home, embedder="given"))
    try:
        measure(service, given, Dataset(notes=100_000), args.rounds // 3)  # warm
        took = measure(service, given, Dataset(notes=100_000), args.rounds)
    finally:
        service.close()
    ours = np.percentile(took["memory.recall"], [50, 95])
    for name, times in took.items():
        p50, p95 = np.percentile(times, [50, 95])
        print(f"{name:22} p50 {p50:6.1f} ms   p95 {p95:6.1f} ms   of recall's: {p50 / ours[0]:.2f}, {p95 / ours[1]:.2f}")


if __name__ == "__main__":
    main()
