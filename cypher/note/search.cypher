// Nodes whose names and words fit, best first, without any floor.
// params: ns: string, lucene: string, kinds: list<string>, limit: integer
// returns: node: map, labels: list<string>, score: float
// needs: current_text, entity_text
CALL () {
  CALL db.index.fulltext.queryNodes('current_text', $lucene, {limit: $limit}) YIELD node, score
  RETURN node AS hit, score
  UNION ALL
  CALL db.index.fulltext.queryNodes('entity_text', $lucene, {limit: $limit}) YIELD node, score
  RETURN node AS hit, score
}
WITH CASE WHEN hit:Passage THEN head([(note)-[:HAS_PASSAGE]->(hit) | note]) ELSE hit END AS n, max(score) AS score
WHERE n.ns = $ns AND NOT n:Deleted AND n.kind IN $kinds
RETURN n{.*, embedding: null, embedding_b: null, embedding_multilingual: null, terms: null, vector: null, vector_b: null,
         vector_multilingual: null} AS node, labels(n) AS labels, score
ORDER BY score DESC, node.id LIMIT $limit
