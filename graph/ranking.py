"""What a graph's shape says of its nodes, where Cypher is not enough: networkx over the rows of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx

DAMPING = 0.85


def by_pagerank(rows: Sequence[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The `limit` nodes of the highest PageRank, highest first; `rank` sums to 1 over all rows.

    rows: one a node: `id`, and `targets`, the ids that it leads to; those that have no row count for nothing.
    `edges_in` is how many nodes lead to it.  Page et al., "The PageRank Citation Ranking", 1999.
    """
    known = {row["id"]: row for row in rows}
    graph = nx.DiGraph()
    graph.add_nodes_from(known)
    graph.add_edges_from((row["id"], target) for row in rows for target in row["targets"] if target in known)
    ranks = nx.pagerank(graph, alpha=DAMPING) if known else {}
    best = sorted(known, key=lambda id: (-ranks[id], id))[:limit]
    return [{**known[id], "rank": ranks[id], "edges_in": graph.in_degree(id)} for id in best]
