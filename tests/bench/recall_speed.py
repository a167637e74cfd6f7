"""Speed of recall beside the bare statements, all in one run on one store.

    python -m tests.bench.recall_speed [--notes 100000] [--rounds 300] [--home DIR]

Prints median and 95th percentile in milliseconds of
  minimal     a vector and a full-text search in one statement, 100 of each, ids and scores only
  bare        the same with a walk of two hops from the ten nearest: what recall joins, and nothing else
  narrow      bare, but as many of each as recall asks its legs for
  statement   `recall.candidates` alone, as recall sends it, its row read and thrown away
  recall      `memory.recall` through the dispatcher: validation, statement, fusion, relevance, score, serve, answer
  model       the embedding of a query by the model that ships
  http        `POST /v1/memory/recall` on a connection that is kept, the embedding included
the ratios of recall, and what http takes over bare and model. Queries differ from call to call; all take turns on each.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import neo4j
import numpy as np

from graph.settings import Settings
from graph.store import vector
from recall.candidates import parameters
from recall.config import RecallConfig
from recall.embed import E5, register
from recall.hits import Query, RecallRequest
from recall.service import Service, open_service
from recall.text import query_terms
from tests.bench.dataset import DIMENSIONS, Dataset, Source, fill
from tests.serving import served

BARE_K = 100  # of each leg
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
    """An embedder that gives the vector it was told to; with `model`, after reading the query as that model does."""

    name, dimensions, max_tokens = "given", DIMENSIONS, 512
    model: E5 | None = None

    def __init__(self) -> None:
        self.next = np.eye(1, DIMENSIONS, dtype=np.float32)

    def documents(self, texts: Any) -> Any:
        return np.repeat(self.next, len(texts), axis=0)

    def queries(self, texts: Any) -> Any:
        if self.model:
            self.model.queries(texts)
        return self.next

    def count_tokens(self, text: str) -> int:
        return len(text) // 4


def measure(service: Service, given: Given, model: E5, http: Http, dataset: Dataset, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each way, a list in the order of the rounds."""
    source, chance = Source(dataset, dataset.seed + 2), random.Random(dataset.seed)
    driver = neo4j.GraphDatabase.driver(service.endpoint.uri, auth=(service.endpoint.username, service.endpoint.password))
    took: dict[str, list[float]] = {}
    kinds = sorted(service.dispatcher.runtime.kinds)
    for text, found in zip(source.texts(rounds, 8), source.vectors(rounds), strict=True):
        ns = chance.choice(dataset.namespaces)
        request = RecallRequest(query=text)
        query = Query(text=text, terms=query_terms(text), embedding=found)
        params = parameters(ns, query, request, RecallConfig(), kinds)
        given.next = found[None]
        narrow = {"ns": ns, "embedding": vector(found), "lucene": params["ask"]["lucene"], "k": params["k"]}
        wide = narrow | {"k": BARE_K}
        turned = " ".join(reversed(text.split()))  # another text of the same words, whose embedding is not held
        ways: dict[str, Callable[[], Any]] = {
            "minimal": lambda wide=wide: _run(driver, MINIMAL, wide),
            "bare": lambda wide=wide: _run(driver, BARE, wide),
            "narrow": lambda narrow=narrow: _run(driver, BARE, narrow),
            "statement": lambda ns=ns, params=params: service.store.within(ns).one("recall.candidates", **params),
            "recall": lambda ns=ns, text=text: service.dispatcher.call(
                "memory.recall", {"query": text, "min_score": 0}, ns=ns
            ),
            "model": lambda text=text: model.queries([text]),
            "http": lambda ns=ns, turned=turned: _over_http(http, given, model, ns, turned),
        }
        take_turns(ways, took, chance)
    driver.close()
    return took


def _over_http(http: Http, given: Given, model: E5, ns: str, text: str) -> None:
    given.model = model
    http.recall(ns, text)
    given.model = None


class Http:
    """A client on one connection."""

    def __init__(self, url: str):
        self._connection = HTTPConnection(urlsplit(url).netloc)

    def recall(self, ns: str, text: str) -> None:
        headers = {"Content-Type": "application/json", "X-Namespace": ns}
        self._connection.request("POST", "/v1/memory/recall", json.dumps({"query": text, "min_score": 0}), headers)
        answer = self._connection.getresponse()
        body = json.load(answer)
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {body}")


def take_turns(ways: Mapping[str, Callable[[], Any]], took: dict[str, list[float]], chance: random.Random) -> None:
    """Goes each way once, in an order by chance, and notes its milliseconds."""
    for name in chance.sample(list(ways), len(ways)):
        started = time.perf_counter()
        ways[name]()
        took.setdefault(name, []).append((time.perf_counter() - started) * 1000)


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
        model = E5(Settings.from_environment().cache)
        with served(service, Settings(port=0, auth="off")) as url:
            http = Http(url)
            measure(service, given, model, http, dataset, args.rounds // 3)  # warm
            took = measure(service, given, model, http, dataset, args.rounds)
    finally:
        service.close()
    at = {name: np.percentile(times, (50, 95)) for name, times in took.items()}
    for name, (p50, p95) in at.items():
        print(f"{name:10} p50 {p50:6.1f} ms   p95 {p95:6.1f} ms")
    for beside in ("statement", "narrow", "bare", "minimal"):
        ratios = at["recall"] / at[beside]
        print(f"recall / {beside}: p50 {ratios[0]:.2f}, p95 {ratios[1]:.2f}")
    over = at["http"] - at["bare"] - at["model"]
    print(f"http - bare - model: p50 {over[0]:.1f} ms, p95 {over[1]:.1f} ms")


if __name__ == "__main__":
    main()
