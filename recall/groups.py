"""Groups of close notes: communities of the graph that closeness draws.

Each connected part is divided for itself, so that a note which is close to none of it changes nothing there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import networkx as nx

from recall.closeness import Pair

LEAST = 3  # notes of a group
MOST = 24  # a larger one is divided further
SEED = 0


def groups(pairs: Sequence[Pair], least: int = LEAST, most: int = MOST) -> list[list[int]]:
    """Places of the notes of each group, ascending; the groups in the order of their first notes."""
    graph = nx.Graph()
    graph.add_weighted_edges_from((pair.first, pair.second, pair.strength) for pair in pairs)
    found = [sorted(part) for whole in nx.connected_components(graph) for part in _divided(graph, whole, most, 1.0)]
    return sorted(part for part in found if len(part) >= least)


def _divided(graph: nx.Graph, nodes: set[int], most: int, resolution: float) -> Iterator[set[int]]:
    """`nodes` as communities of at most `most`; what can't be told apart is cut in the order of the notes."""
    if len(nodes) <= 3:
        yield nodes
        return
    part = nx.Graph()
    part.add_nodes_from(sorted(nodes))
    part.add_weighted_edges_from(sorted(graph.subgraph(nodes).edges(data="weight")))
    communities = nx.community.louvain_communities(part, weight="weight", resolution=resolution, seed=SEED)
    told_apart = resolution == 1.0 or max(map(len, communities)) > 2
    if not told_apart:
        ordered = sorted(nodes)
        yield from (set(ordered[at : at + most]) for at in range(0, len(ordered), most))
        return
    for community in communities:
        if len(community) <= most:
            yield community
        else:
            yield from _divided(graph, community, most, resolution * 2)
