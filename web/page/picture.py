"""The neighbourhood of a memory as a picture: which nodes and edges, and where each stands.

The layers of the chain lie one over another, the newest on top; what is linked otherwise stands above them, or below. So the
same graph always gives the same picture.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import networkx as nx

from web.page.words import shortened

Node = Mapping[str, Any]
MOST_CHAIN = 60
COLUMN, ROW = 150, 150  # between two nodes, in the picture's own pixels
PER_ROW = 9
TITLE = 34


def pictured(node: Node, layers: Sequence[Node], around: Sequence[Node], url: Callable[[str], str]) -> dict[str, Any]:
    """`nodes` and `edges` as Cytoscape.js takes them. url: the page of a node.

    layers: the chain, each with the ids that it `supersedes`.  around: neighbours, each with `relation` and `direction`.
    """
    chain = _chain(node, layers)
    shown = {layer["id"]: layer for layer in layers if layer["id"] in chain}
    places = _layered(chain)
    x, y = places[node["id"]]
    nodes = [_node(layer, places[id], url, me=id == node["id"]) for id, layer in shown.items()]
    top, bottom = min(row for _, row in places.values()), max(row for _, row in places.values())
    others = [other for other in _once(around) if other["id"] not in shown]
    edge, side = (top, -1) if y - top <= bottom - y else (bottom, 1)
    nodes += [_node(other, _beside(x, edge, n, len(others), side), url) for n, other in enumerate(others)]
    edges = [_edge(newer, older, "supersedes") for newer, older in chain.edges]
    known = shown.keys() | {other["id"] for other in others}
    for other in around:
        if other["id"] in known:
            ends = (node["id"], other["id"]) if other["direction"] == "out" else (other["id"], node["id"])
            edges.append(_edge(*ends, other["relation"]))
    return {"nodes": nodes, "edges": edges}


def _chain(node: Node, layers: Sequence[Node]) -> nx.DiGraph:
    """Newer to older, of the layers nearest to the node."""
    whole = nx.DiGraph()
    whole.add_nodes_from(layer["id"] for layer in layers)
    whole.add_node(node["id"])
    whole.add_edges_from((layer["id"], old) for layer in layers for old in layer.get("supersedes", ()) if old in whole)
    near = nx.single_source_shortest_path_length(whole.to_undirected(as_view=True), node["id"])
    kept = sorted(near, key=near.__getitem__)[:MOST_CHAIN]
    return nx.DiGraph(whole.subgraph(kept))


def _layered(chain: nx.DiGraph) -> dict[str, tuple[int, int]]:
    """The oldest generation at the bottom, each newer one above it; of one generation, each near what it supersedes."""
    depth: dict[str, int] = {}
    acyclic = nx.is_directed_acyclic_graph(chain)  # an edge that was drawn by hand may close a circle
    for id in nx.topological_sort(chain.reverse(copy=False)) if acyclic else list(chain):
        depth[id] = max((depth[old] + 1 for old in chain.successors(id) if old in depth), default=0)
    generations: dict[int, list[str]] = {}
    for id in sorted(depth):
        generations.setdefault(depth[id], []).append(id)
    places: dict[str, tuple[int, int]] = {}
    for layer, ids in sorted(generations.items()):
        ids.sort(
            key=lambda id: (statistics.fmean([places[old][0] for old in chain.successors(id) if old in places] or [0]), id)
        )
        places |= {id: (round((n - (len(ids) - 1) / 2) * COLUMN), -layer * ROW) for n, id in enumerate(ids)}
    return places


def _beside(x: int, edge: int, n: int, of: int, side: int) -> tuple[int, int]:
    """Where the n-th of `of` neighbours stands: in rows of PER_ROW beyond the `edge` of the layers."""
    row, place = divmod(n, PER_ROW)
    width = min(of - row * PER_ROW, PER_ROW)
    return round(x + (place - (width - 1) / 2) * COLUMN), round(edge + side * (row + 1.3) * ROW)


def _once(around: Sequence[Node]) -> list[Node]:
    return list({other["id"]: other for other in around}.values())


def _node(node: Node, place: tuple[int, int], url: Callable[[str], str], *, me: bool = False) -> dict[str, Any]:
    label = node.get("label") or ""
    classes = [node.get("state") or "current", label.lower(), *(["me"] if me else [])]
    data = {"id": node["id"], "title": shortened(node["content"], TITLE), "url": url(node["id"])}
    return {"data": data, "position": {"x": place[0], "y": place[1]}, "classes": " ".join(classes)}


def _edge(source: str, target: str, relation: str) -> dict[str, Any]:
    data = {
        "id": f"{source} {relation} {target}",
        "source": source,
        "target": target,
        "relation": relation.replace("_", " "),
    }
    return {"data": data, "classes": relation}
