// The same where one end, or both, is of another label, whose nodes are read once for all edges of the list.
// params: ns: string, source_label: string, target_label: string, edges: list<map>
// returns: drawn: integer, created: integer
// needs: recallable_id, entity_id
CALL () {
  MATCH (a:$($source_label)) WHERE a.ns = $ns AND a.id IN [edge IN $edges | edge.source] AND NOT a:Recallable AND NOT a:Entity
  RETURN collect(a) AS sources
}
CALL () {
  MATCH (b:$($target_label)) WHERE b.ns = $ns AND b.id IN [edge IN $edges | edge.target] AND NOT b:Recallable AND NOT b:Entity
  RETURN collect(b) AS targets
}
UNWIND $edges AS edge
CALL (edge, sources) {
  MATCH (a:Recallable {ns: $ns, id: edge.source}) WHERE NOT a:Deleted RETURN a
  UNION ALL
  MATCH (a:Entity {ns: $ns, id: edge.source}) WHERE NOT a:Deleted RETURN a
  UNION ALL
  UNWIND sources AS a
  WITH a WHERE a.id = edge.source
  RETURN a
}
CALL (edge, targets) {
  MATCH (b:Recallable {ns: $ns, id: edge.target}) WHERE NOT b:Deleted RETURN b
  UNION ALL
  MATCH (b:Entity {ns: $ns, id: edge.target}) WHERE NOT b:Deleted RETURN b
  UNION ALL
  UNWIND targets AS b
  WITH b WHERE b.id = edge.target
  RETURN b
}
MERGE (a)-[r:$(edge.type)]->(b)
ON CREATE SET r += edge.properties, r.ns = $ns, r.fresh = true
WITH r, coalesce(r.fresh, false) AS fresh
REMOVE r.fresh
RETURN count(r) AS drawn, coalesce(sum(CASE WHEN fresh THEN 1 ELSE 0 END), 0) AS created
