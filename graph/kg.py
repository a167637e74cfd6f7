"""The kg pack: nodes and edges of the knowledge graph, by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph import kg_answers as answers
from graph import kg_schemas as schemas
from graph.drafting import keep, node_label
from graph.errors import NotAllowed, NotFound, StoreConflict, SupersessionCycle
from graph.layers import relabel, soft_delete
from graph.ontology import RELATIONS, SYMMETRIC, check, relation_type
from graph.packs import Answer, Call, Pack, Verb
from graph.records import dumped, shown
from graph.store import Row, SpaceTransaction
from graph.updating import change
from graph.writing import Writer, link

HISTORY_LIMIT = 1000


def create(call: Call, request: schemas.Create) -> Answer:
    """Stores nodes of any kind: notes, neurons, abstractions, knowledge, entities. A known key or name gives that node."""
    labels = [node_label(call.runtime, node, f"items.{n}." if request.many else "") for n, node in enumerate(request.nodes)]
    return keep(call, request, labels, call.state)


def get(call: Call, request: schemas.ById) -> Answer:
    """One node's fields, the free ones under `properties`."""
    row = call.space.one("note.get", id=request.id)
    if row is None:
        raise NotFound(f"no node {request.id!r} here", "id")
    return Answer(shown(row["node"], row["labels"], superseded_by=row["superseded_by"]))


def update(call: Call, request: schemas.Update) -> Answer:
    """Changes fields of one node; what is null is taken away, what is not named stays."""
    change(call, request, call.state)
    return get(call, schemas.ById(id=request.id))


def delete(call: Call, request: schemas.ById) -> Answer:
    """Takes a node out of recall; what it superseded is current again. The receipt says what went and what came back."""

    def work(tx: SpaceTransaction) -> Mapping[str, Any]:
        row = tx.one("note.found", ids=[request.id])
        gone = soft_delete(tx, [request.id])
        if row is None or not gone.ids:
            raise NotFound(f"no node {request.id!r} here", "id")
        counts = {"passages": gone.passages, "edges": gone.edges, "restored": gone.restored, "derived": gone.derived}
        return {"id": request.id, "deleted": True, "label": row["label"], "kind": row["kind"], **counts}

    return Answer(call.space.write(work))


def list_nodes(call: Call, request: schemas.List) -> Answer:
    """A page of nodes, in the order of storing; `next_cursor` asks for the next."""
    kinds = [request.kind] if request.kind else sorted(call.runtime.kinds)
    rows = call.space.rows(
        "note.list", kinds=kinds, label=request.label or "", after=request.cursor or "", limit=request.limit + 1
    )
    page = [shown(row["node"], row["labels"]) for row in rows[: request.limit]]
    return Answer({"results": page, "next_cursor": page[-1]["id"] if len(rows) > request.limit else None})


def link_nodes(call: Call, request: schemas.Links) -> Answer:
    """Draws edges; with `supersedes` the source is the newer. Drawing one again changes its weight and properties."""
    many = request.many
    rows = call.space.write(lambda tx: draw(tx, request.edges, many=many))
    created = any(row["created"] for row in rows)
    return Answer({"results": rows} if many else rows[0], created=created)


def draw(tx: SpaceTransaction, edges: Sequence[schemas.Edge], *, many: bool = False) -> list[Row]:
    """Draws edges inside a transaction; what is superseded by them is relabelled. Raises RequestError and StoreConflict."""
    items = _checked(tx, edges, many)
    newer = [edge for edge in items if edge["relation"] == "supersedes"]
    if newer:
        tx.rows("link.lock")
    rows = tx.rows("link.create", links=items)
    if len(rows) < len(items):
        raise StoreConflict("a node was deleted while edges to it were drawn")
    if newer:
        _refuse_cycles(tx, newer)
        relabel(tx, sorted({edge["target"] for edge in newer}))
    return rows


def _checked(tx: SpaceTransaction, edges: Sequence[schemas.Edge], many: bool) -> list[dict[str, Any]]:
    """Items of `link.create`. Raises NotFound and NotAllowed, naming the item."""
    ids = sorted({id for edge in edges for id in (edge.source, edge.target)})
    found = {row["id"]: row for row in tx.rows("note.found", ids=ids)}
    items = []
    for number, edge in enumerate(edges):
        place = f"items.{number}." if many else ""
        for name, id in (("source", edge.source), ("target", edge.target)):
            if id not in found:
                raise NotFound(f"no node {id!r} here", f"{place}{name}")
        if edge.source == edge.target:
            raise NotAllowed("a node can't be linked to itself", f"{place}target")
        ends = [(found[id]["label"], found[id]["kind"]) for id in (edge.source, edge.target)]
        check(edge.relation, ends[0], ends[1], f"{place}relation")
        source, target = _ends(edge)
        items.append(link(source, target, edge.relation, edge.weight, dumped(edge.properties)))
    return items


def _ends(edge: schemas.Edge) -> tuple[str, str]:
    """Source and target as stored: the smaller id first where the relation has no direction."""
    if edge.relation in SYMMETRIC and edge.target < edge.source:
        return edge.target, edge.source
    return edge.source, edge.target


def _refuse_cycles(tx: SpaceTransaction, edges: Sequence[Mapping[str, Any]]) -> None:
    row = tx.one("link.cycle", pairs=[{"newer": edge["source"], "older": edge["target"]} for edge in edges])
    if row:
        chain = [row["newer"], *row["chain"]]
        raise SupersessionCycle(f"the chain would supersede itself: {' -> '.join(chain)}", chain)


def unlink(call: Call, request: schemas.Edge) -> Answer:
    """Takes one edge away; without its last `supersedes` the older node is current again."""
    source, target = _ends(request)

    def work(tx: SpaceTransaction) -> Mapping[str, Any]:
        row = tx.one("link.delete", links=[link(source, target, request.relation)])
        if row is None:
            raise NotFound(f"no edge {request.relation} from {source!r} to {target!r} here", "relation")
        if request.relation == "supersedes":
            relabel(tx, [target])
        return row | {"deleted": True}

    return Answer(call.space.write(work))


def neighbors(call: Call, request: schemas.Neighbors) -> Answer:
    """Nodes one edge away, strongest edge first."""
    _must_live(call, request.id)
    rows = call.space.rows("link.neighbors", id=request.id, limit=request.limit, **_walk(request))
    return Answer(
        {
            "results": [
                shown(
                    row["node"],
                    row["labels"],
                    relation=row["relation"],
                    direction="out" if row["outgoing"] else "in",
                    weight=row["weight"],
                )
                for row in rows
            ]
        }
    )


def traverse(call: Call, request: schemas.Traverse) -> Answer:
    """Nodes and edges within a few hops, nearest first."""
    _must_live(call, request.id)
    rows = call.space.rows("link.traverse", id=request.id, hops=request.max_hops, limit=request.limit, **_walk(request))
    edges = {(e["source"], e["target"], e["relation"]): e for row in rows for e in row["via"]}
    nodes = [shown(row["node"], row["labels"], distance=row["distance"]) for row in rows]
    return Answer({"nodes": nodes, "edges": list(edges.values())})


def _walk(request: schemas.Neighbors | schemas.Traverse) -> dict[str, Any]:
    types = [relation_type(relation) for relation in request.relations or RELATIONS]
    return {"types": types, "out": request.direction != "in", "in": request.direction != "out"}


def search(call: Call, request: schemas.Search) -> Answer:
    """Nodes whose names or words fit, best first, without any floor."""
    lucene = call.indexer.search(call.space.ns, request.query, request.kinds)
    kinds = request.kinds or sorted(call.runtime.kinds)
    rows = call.space.rows("note.search", lucene=lucene, kinds=kinds, limit=request.limit) if lucene else []
    return Answer({"results": [shown(row["node"], row["labels"], score=row["score"]) for row in rows]})


def history(call: Call, request: schemas.ById) -> Answer:
    """The whole chain of what superseded what, from any member, oldest first, forks included."""
    rows = call.space.rows("link.history", id=request.id, limit=HISTORY_LIMIT)
    if not rows:
        raise NotFound(f"no node {request.id!r} here", "id")
    return Answer({"results": [shown(row["node"], row["labels"], supersedes=row["supersedes"]) for row in rows]})


def _must_live(call: Call, id: str) -> None:
    if not call.space.rows("note.found", ids=[id]):
        raise NotFound(f"no node {id!r} here", "id")


pack = Pack(
    name="kg",
    open=lambda runtime: Writer(runtime.store),
    close=lambda writer: writer.close(),
    verbs=(
        Verb(
            name="kg.create",
            illocution="commissive",
            role="write",
            request=schemas.CreateRequest(),
            response=answers.Stored(),
            handler=create,
        ),
        Verb(
            name="kg.get", illocution="assertive", request=schemas.ByIdRequest(), response=answers.NodeAnswer(), handler=get
        ),
        Verb(
            name="kg.update",
            illocution="commissive",
            role="write",
            request=schemas.UpdateRequest(),
            response=answers.NodeAnswer(),
            handler=update,
        ),
        Verb(
            name="kg.delete",
            illocution="directive",
            role="write",
            request=schemas.ByIdRequest(),
            response=answers.Receipt(),
            handler=delete,
        ),
        Verb(
            name="kg.list",
            illocution="assertive",
            request=schemas.ListRequest(),
            response=answers.Page(),
            handler=list_nodes,
        ),
        Verb(
            name="kg.link",
            illocution="commissive",
            role="write",
            request=schemas.LinkRequest(),
            response=answers.Linked(),
            handler=link_nodes,
        ),
        Verb(
            name="kg.unlink",
            illocution="directive",
            role="write",
            request=schemas.UnlinkRequest(),
            response=answers.Unlinked(),
            handler=unlink,
        ),
        Verb(
            name="kg.neighbors",
            illocution="assertive",
            request=schemas.NeighborsRequest(),
            response=answers.Found(),
            handler=neighbors,
        ),
        Verb(
            name="kg.traverse",
            illocution="assertive",
            request=schemas.TraverseRequest(),
            response=answers.Subgraph(),
            handler=traverse,
        ),
        Verb(
            name="kg.search",
            illocution="assertive",
            request=schemas.SearchRequest(),
            response=answers.Found(),
            handler=search,
        ),
        Verb(
            name="kg.history",
            illocution="assertive",
            request=schemas.ByIdRequest(),
            response=answers.Found(),
            handler=history,
        ),
    ),
)
