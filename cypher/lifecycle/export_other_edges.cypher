// A page of nodes of another label, as lifecycle.export_others has it, and the edges that lead from them inside the namespace.
// params: ns: string, label: string, after: string, limit: integer
// returns: id: string, labels: list<string>, edges: list<map>
MATCH (n:$($label)) WHERE n.ns = $ns AND coalesce(n.id, elementId(n)) > $after
WITH n, coalesce(n.id, elementId(n)) AS id
ORDER BY id LIMIT $limit
RETURN id, labels(n) AS labels, COLLECT {
  MATCH (n)-[r]->(m) WHERE m.ns = $ns AND NOT n:Deleted AND NOT m:Deleted AND NOT m:Passage
  RETURN {type: type(r), target: coalesce(m.id, elementId(m)), labels: labels(m), properties: properties(r)}
  ORDER BY type(r), coalesce(m.id, elementId(m))
} AS edges
ORDER BY id
