// What matters most: nodes that much leads to, from nodes that much leads to (PageRank over the edges, in Python).
// The statement gives the notes stored last and the entities named most, up to `nodes` of each, with what each leads to; the
// ranking is networkx's, and takes longer than all the rest. Refuting lends no rank.
// params: ns: string, nodes: integer
// returns: id: string, title: string, label: string, kind: string, targets: list<string>
// needs: recallable_id, entity_id
:param ns => 'default';
:param nodes => 10000;
CALL () {
  MATCH (n:Recallable)
  USING INDEX SEEK n:Recallable(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND n:Current
  RETURN n ORDER BY n.id DESC LIMIT $nodes
  UNION ALL
  MATCH (n:Entity)
  USING INDEX SEEK n:Entity(ns, id)
  WHERE n.ns = $ns AND n.id > '' AND NOT n:Deleted
  RETURN n ORDER BY COUNT { (n)<--() } DESC, n.id LIMIT $nodes
}
RETURN n.id AS id, n.title AS title, head([label IN labels(n) WHERE NOT label IN ['Recallable', 'Current']]) AS label, n.kind AS kind,
       COLLECT {
         MATCH (n)-[:!REFUTES&!SUPERSEDES&!HAS_PASSAGE&!ADMITTED&!DROPPED]->(m:Current|Entity)
         WHERE m.ns = $ns AND NOT m:Deleted
         RETURN m.id
       } AS targets
