// Nodes one edge away, strongest first.
// params: ns: string, id: string, types: list<string>, out: boolean, in: boolean, limit: integer
// returns: node: map, labels: list<string>, relation: string, outgoing: boolean, weight: float
// needs: recallable_id, entity_id
MATCH (n:Recallable|Entity {ns: $ns, id: $id}) WHERE NOT n:Deleted
MATCH (n)-[r]-(m:Recallable|Entity {ns: $ns})
WHERE NOT m:Deleted AND type(r) IN $types AND (($out AND startNode(r) = n) OR ($in AND endNode(r) = n))
WITH n, m, r, toLower(type(r)) AS relation, coalesce(r.weight, 1.0) AS weight
ORDER BY weight DESC, m.id, relation LIMIT $limit
RETURN m{.*, embedding: null, embedding_b: null, embedding_multilingual: null, terms: null, vector: null, vector_b: null,
         vector_multilingual: null} AS node, labels(m) AS labels, relation,
       startNode(r) = n AS outgoing, weight
ORDER BY weight DESC, node.id, relation
