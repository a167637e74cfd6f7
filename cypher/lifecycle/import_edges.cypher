// Draws edges from elsewhere; one that is there stays as it is. An edge: type, source, target, properties.
// params: ns: string, edges: list<map>
// returns: drawn: integer, created: integer
// needs: recallable_id, entity_id
UNWIND $edges AS edge
CALL (edge) {
  MATCH (a:Recallable {ns: $ns, id: edge.source}) RETURN a UNION ALL MATCH (a:Entity {ns: $ns, id: edge.source}) RETURN a
}
CALL (edge) {
  MATCH (b:Recallable {ns: $ns, id: edge.target}) RETURN b UNION ALL MATCH (b:Entity {ns: $ns, id: edge.target}) RETURN b
}
WITH edge, a, b WHERE NOT a:Deleted AND NOT b:Deleted AND a <> b
MERGE (a)-[r:$(edge.type)]->(b)
ON CREATE SET r += edge.properties, r.ns = $ns, r.fresh = true
WITH r, coalesce(r.fresh, false) AS fresh
REMOVE r.fresh
RETURN count(r) AS drawn, coalesce(sum(CASE WHEN fresh THEN 1 ELSE 0 END), 0) AS created
