"""Stage 4: features for a weighted rerank, for the hits that are left; off while `reranker_weights` is empty."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np

from recall.config import ScoringConfig
from recall.hits import Floats, Hit, Pool


def rerank(hits: Sequence[Hit], pool: Pool, config: ScoringConfig) -> Sequence[Hit]:
    """Sets text_match, vector_match and graph of each hit, all in [0, 1], where a weight asks for one of them."""
    weights = config.reranker_weights
    if not any(weights.get(name) for name in ("text_match", "vector_match", "graph")):
        return hits
    text, meaning = _share(pool.bm25), np.clip(np.nan_to_num(pool.cosine), 0, 1)
    ranks = pagerank(hits, pool) if weights.get("graph") else {}
    for hit in hits:
        hit.text_match, hit.vector_match = float(text[hit.row]), float(meaning[hit.row])
        hit.graph = ranks.get(hit.id, 0.0)
    return hits


def _share(values: Floats) -> Floats:
    top = values.max(initial=0.0)
    return values / top if top > 0 else values


def pagerank(hits: Sequence[Hit], pool: Pool) -> dict[str, float]:
    """Personalised PageRank over the candidates' subgraph, the best as 1; restarts at a hit in proportion to its relevance.

    Edges: FOLLOWS between candidates, and one to each note that a candidate came beside. Source: Haveliwala 2002.
    """
    graph = nx.Graph()
    graph.add_nodes_from(hit.id for hit in hits)
    for hit in hits:
        graph.add_edges_from((hit.id, other) for other in pool.columns["follows"][hit.row] if other in graph)
    restart = {hit.id: hit.relevance for hit in hits}
    if not graph.number_of_edges() or sum(restart.values()) <= 0:
        return restart
    ranks: dict[str, float] = nx.pagerank(graph, personalization=restart)
    top = max(ranks.values())
    return {id: rank / top for id, rank in ranks.items()}
