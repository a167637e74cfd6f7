"""Speed of recall, without the embedding, beside the bare statements, all in one run on one store.

    python -m tests.bench.recall_speed [--notes 100000] [--rounds 300] [--home DIR]

Prints median and 95th percentile in milliseconds of
  minimal     a vector and a full-text search in one statement, ids and scores only
  bare        the same with a walk of two hops from the ten nearest: what recall joins, and nothing else
  statement   `recall.candidates` alone, as recall sends it, its row read and thrown away
  recall      `memory.recall` through the dispatcher: validation, statement, fusion, relevance, score, serve, answer
and the ratios of the medians. Queries differ from call to call; all take turns on each.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import neo4j
import numpy as np

from graph.settings import Settings
from graph.store import vector
from recall.candidates import parameters
from recall.config import RecallConfig
from recall.embed import register
from recall.hits import Query, RecallRequest
from recall.service import Service, open_service
from recall.text import query_terms
from tests.bench.dataset import DIMENSIONS, Dataset, Source, fill

MINIMAL = """CYPHER 25
CALL () {
  MATCH (n:Current)
    SEARCH n IN (VECTOR INDEX current_embedding FOR $embedding WHERE n.ns = $ns LIMIT $k) SCORE AS score
  RETURN collect(n.id) AS vector_ids, collect(score) AS vector_scores
}
CALL () {
  CALL db.index.fulltext.queryNodes('current_text', $lucene, {limit: $k}) YIELD node, score
  RETURN collect(node.id) AS text_ids, collect(score) AS text_scores
}
RETURN vector_ids, vector_scores, text_ids, text_scores"""

BARE = """CYPHER 25
CALL () {
  MATCH (n:Current)
    SEARCH n IN (VECTOR INDEX current_embedding FOR $embedding WHERE n.ns = $ns LIMIT $k) SCORE AS score
  RETURN collect(n) AS near, collect(n.id) AS vector_ids, collect(score) AS vector_scores
}
CALL () {
  CALL db.index.fulltext.queryNodes('current_text', $lucene, {limit: $k}) YIELD node, score
  RETURN collect(node.id) AS text_ids, collect(score) AS text_scores
}
CALL (near) {
  UNWIND near[..10] AS start
  MATCH (start)-[:FOLLOWS|SUPPORTS]-{1,2}(x:Current) WHERE x.ns = $ns
  RETURN collect(DISTINCT x.id) AS walk_ids
}
RETURN vector_ids, vector_scores, text_ids, text_scores, walk_ids"""


class Given:
    """An embedder that gives the vector it was told to."""

    name, dimensions, max_tokens = "given", DIMENSIONS, 512

    def __init__(self) -> None:
        self.next = np.eye(1, DIMENSIONS, dtype=np.float32)

    def documents(self, texts: Any) -> Any:
        return np.repeat(self.next, len(texts), axis=0)

    def queries(self, texts: Any) -> Any:
        return self.next

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def measure(service: Service, given: Given, dataset: Dataset, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each way, a list in the order of the rounds."""
    source, chance = Source(dataset, dataset.seed + 2), random.Random(dataset.seed)
    driver = neo4j.GraphDatabase.driver(service.endpoint.uri, auth=(service.endpoint.username, service.endpoint.password))
    took: dict[str, list[float]] = {"minimal": [], "bare": [], "statement": [], "recall": []}
    kinds = sorted(service.dispatcher.runtime.kinds)
    for text, found in zip(source.texts(rounds, 8), source.vectors(rounds), strict=True):
        ns = chance.choice(dataset.namespaces)
        request = RecallRequest(query=text)
        query = Query(text=text, terms=query_terms(text), embedding=found)
        params = parameters(ns, query, request, RecallConfig(), kinds)
        given.next = found[None]
        minimal = {"ns": ns, "embedding": vector(found), "lucene": params["ask"]["lucene"], "k": params["k"]}
        ways = {
            "minimal": lambda minimal=minimal: _run(driver, MINIMAL, minimal),
            "bare": lambda minimal=minimal: _run(driver, BARE, minimal),
            "statement": lambda ns=ns, params=params: service.store.within(ns).one("recall.candidates", **params),
            "recall": lambda ns=ns, text=text: service.dispatcher.call(
                "memory.recall", {"query": text, "min_score": 0}, ns=ns
            ),
        }
        take_turns(ways, took, chance)
    driver.close()
    return took


def take_turns(ways: Mapping[str, Callable[[], Any]], took: dict[str, list[float]], chance: random.Random) -> None:
    """Goes each way once, in an order by chance, and notes its milliseconds."""
    for name in chance.sample(list(ways), len(ways)):
        started = time.perf_counter()
        ways[name]()
        took[name].append((time.perf_counter() - started) * 1000)


def _run(driver: neo4j.Driver, statement: str, params: dict[str, Any]) -> None:
    with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
        session.run(statement, params).data()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--notes", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=300)
    options.add_argument("--home", type=Path, help="kept for another run; filled if it is empty")
    args = options.parse_args()
    given = Given()
    register("given", lambda cache: given)
    home = args.home or Path(tempfile.mkdtemp(prefix="palimpsest-bench-"))
    dataset = Dataset(notes=args.notes)
    service = open_service(Settings.from_environment({}, home=home, embedder="given"))
    try:
        if not service.store.within(dataset.namespaces[-1]).rows(
            "note.list", kinds=["memory"], label="Note", after="", limit=1
        ):
            started = time.perf_counter()
            fill(service.store, dataset, print)
            print(f"{args.notes} notes until searchable: {time.perf_counter() - started:.0f} s")
        measure(service, given, dataset, args.rounds // 3)  # warm
        took = measure(service, given, dataset, args.rounds)
    finally:
        service.close()
    for name, times in took.items():
        print(f"{name:10} p50 {np.percentile(times, 50):6.1f} ms   p95 {np.percentile(times, 95):6.1f} ms")
    for beside in ("statement", "bare", "minimal"):
        ratios = [np.percentile(took["recall"], q) / np.percentile(took[beside], q) for q in (50, 95)]
        print(f"recall / {beside}: p50 {ratios[0]:.2f}, p95 {ratios[1]:.2f}")


if __name__ == "__main__":
    main()
