// Nodes and edges around one node, nearest first, each node once. Hop by hop, as far as there is room for more: ways are not
// counted, since there are too many of them where several nodes have ten thousand edges.
// params: ns: string, id: string, types: list<string>, out: boolean, in: boolean, hops: integer, limit: integer
// returns: node: map, labels: list<string>, distance: integer, via: list<map>
// needs: recallable_id, entity_id
MATCH (n:Recallable|Entity {ns: $ns, id: $id}) WHERE NOT n:Deleted
CALL (n) {
  MATCH (n)-[r]-(m:Recallable|Entity {ns: $ns})
  WHERE m <> n AND NOT m:Deleted AND type(r) IN $types AND (($out AND startNode(r) = n) OR ($in AND endNode(r) = n))
  WITH m, [head(collect(r))] AS way
  ORDER BY m.id LIMIT $limit
  RETURN collect({node: m, way: way}) AS first
}
CALL (n, first) {
  WITH n, first WHERE $hops > 1 AND size(first) < $limit
  UNWIND first AS reached
  WITH n, reached.node AS a, reached.way AS before
  MATCH (a)-[r]-(m:Recallable|Entity {ns: $ns})
  WHERE m <> n AND NOT m:Deleted AND type(r) IN $types AND (($out AND startNode(r) = a) OR ($in AND endNode(r) = a))
  WITH m, head(collect(before + [r])) AS way
  ORDER BY m.id LIMIT $limit
  RETURN collect({node: m, way: way}) AS second
}
CALL (n, first, second) {
  WITH n, first, second WHERE $hops > 2 AND COUNT { UNWIND first + second AS seen RETURN DISTINCT seen.node } < $limit
  UNWIND second AS reached
  WITH n, reached.node AS a, reached.way AS before
  MATCH (a)-[r]-(m:Recallable|Entity {ns: $ns})
  WHERE m <> n AND NOT m:Deleted AND type(r) IN $types AND (($out AND startNode(r) = a) OR ($in AND endNode(r) = a))
  WITH m, head(collect(before + [r])) AS way
  ORDER BY m.id LIMIT $limit
  RETURN collect({node: m, way: way}) AS third
}
UNWIND first + second + third AS reached
WITH reached.node AS m, reached.way AS way ORDER BY size(way)
WITH m, head(collect(way)) AS way
ORDER BY size(way), m.id LIMIT $limit
RETURN m{.*, embedding: null, embedding_b: null, embedding_multilingual: null, terms: null, vector: null, vector_b: null,
         vector_multilingual: null} AS node, labels(m) AS labels, size(way) AS distance,
       [r IN way | {source: startNode(r).id, target: endNode(r).id, relation: toLower(type(r)), weight: coalesce(r.weight, 1.0)}]
         AS via
