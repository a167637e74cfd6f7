// Nodes and edges around one node, nearest first, each node once.
// params: ns: string, id: string, types: list<string>, out: boolean, in: boolean, hops: integer, limit: integer
// returns: node: map, labels: list<string>, distance: integer, via: list<map>
// needs: recallable_id, entity_id
MATCH (n:Recallable|Entity {ns: $ns, id: $id}) WHERE NOT n:Deleted
MATCH path = (n)-[rels*1..3]-(m:Recallable|Entity {ns: $ns})
WHERE length(path) <= $hops AND m <> n AND NOT m:Deleted
  AND all(r IN rels WHERE type(r) IN $types)
  AND all(x IN nodes(path) WHERE x.ns = $ns AND NOT x:Deleted)
  AND all(i IN range(0, length(path) - 1) WHERE ($out AND startNode(rels[i]) = nodes(path)[i])
                                             OR ($in AND endNode(rels[i]) = nodes(path)[i]))
WITH m, min(length(path)) AS distance, head(collect(path)) AS sample
ORDER BY distance, m.id LIMIT $limit
RETURN m{.*, embedding: null, embedding_b: null, embedding_multilingual: null, terms: null, vector: null, vector_b: null,
         vector_multilingual: null} AS node, labels(m) AS labels, distance,
       [r IN relationships(sample) | {source: startNode(r).id, target: endNode(r).id, relation: toLower(type(r)),
                                      weight: coalesce(r.weight, 1.0)}] AS via
