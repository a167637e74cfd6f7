// A page of nodes in the order of their ids, and the edges that lead from them inside the namespace.
// params: ns: string, label: string, after: string, limit: integer
// returns: id: string, labels: list<string>, edges: list<map>
// needs: recallable_id, entity_id
CALL () {
  MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > $after AND $label = 'Recallable'
  RETURN n, n.id AS id ORDER BY id LIMIT $limit
  UNION ALL
  MATCH (n:Entity) WHERE n.ns = $ns AND n.id > $after AND $label = 'Entity'
  RETURN n, n.id AS id ORDER BY id LIMIT $limit
}
RETURN id, labels(n) AS labels, COLLECT {
  MATCH (n)-[r]->(m) WHERE m.ns = $ns AND NOT n:Deleted AND NOT m:Deleted AND NOT m:Passage
  RETURN {type: type(r), target: coalesce(m.id, elementId(m)), labels: labels(m), properties: properties(r)}
  ORDER BY type(r), coalesce(m.id, elementId(m))
} AS edges
ORDER BY id
