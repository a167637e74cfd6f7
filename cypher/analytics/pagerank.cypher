// What matters most: nodes that much leads to, from nodes that much leads to (PageRank over the edges, in Python).
// Entities come first, then the notes stored last, up to `nodes` of both; more take longer than one cares to wait.
// The statement gives each current node with what it leads to; the ranking is networkx's. Refuting lends no rank.
// params: ns: string, nodes: integer
// returns: id: string, title: string, label: string, kind: string, targets: list<string>
// needs: recallable_id, entity_id
:param ns => 'default';
:param nodes => 20000;
CALL () {
  MATCH (n:Entity)
  USING INDEX n:Entity(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND NOT n:Deleted
  RETURN n ORDER BY n.kind, n.id LIMIT $nodes
  UNION ALL
  MATCH (n:Recallable)
  USING INDEX n:Recallable(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND n:Current
  RETURN n ORDER BY n.id DESC LIMIT $nodes
}
WITH n LIMIT $nodes
RETURN n.id AS id, n.title AS title, head([label IN labels(n) WHERE NOT label IN ['Recallable', 'Current']]) AS label, n.kind AS kind,
       COLLECT { MATCH (n)-[:!REFUTES&!SUPERSEDES&!HAS_PASSAGE&!ADMITTED&!DROPPED]->(m:Current|Entity) WHERE m.ns = $ns AND NOT m:Deleted RETURN m.id } AS targets
