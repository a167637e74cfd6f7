// Removes some nodes of a namespace for good, whatever their layer, with passages and edges; asked until there are none.
// params: ns: string, label: string, limit: integer
// returns: nodes: integer, passages: integer, edges: integer
// needs: recallable_id, entity_id
CALL () {
  MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > '' AND $label = 'Recallable'
  RETURN n LIMIT $limit
  UNION ALL
  MATCH (n:Entity) WHERE n.ns = $ns AND n.id > '' AND $label = 'Entity'
  RETURN n LIMIT $limit
}
WITH n, COUNT { (n)-[r WHERE type(r) <> 'HAS_PASSAGE']-() } AS edges
CALL (n) {
  OPTIONAL MATCH (n)-[:HAS_PASSAGE]->(p:Passage)
  DETACH DELETE p
  RETURN count(p) AS passages
}
DETACH DELETE n
RETURN count(*) AS nodes, coalesce(sum(passages), 0) AS passages, coalesce(sum(edges), 0) AS edges
