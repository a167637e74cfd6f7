// A page of nodes in the order of their ids, with their passages; vectors packed, by slot. Deleted nodes are left out.
// params: ns: string, label: string, after: string, limit: integer, vectors: boolean
// returns: id: string, labels: list<string>, properties: map, vectors: map, passages: list<map>
// needs: recallable_id, entity_id
CALL () {
  MATCH (n:Recallable) WHERE n.ns = $ns AND n.id > $after AND $label = 'Recallable' AND NOT n:Deleted
  RETURN n ORDER BY n.id LIMIT $limit
  UNION ALL
  MATCH (n:Entity) WHERE n.ns = $ns AND n.id > $after AND $label = 'Entity' AND NOT n:Deleted
  RETURN n ORDER BY n.id LIMIT $limit
}
RETURN n.id AS id, labels(n) AS labels, n{.*, embedding: null, embedding_b: null, embedding_multilingual: null} AS properties,
  {
    embedding: CASE WHEN $vectors AND n.embedding IS NOT NULL THEN vector(n.embedding, size(n.embedding), FLOAT32) END,
    embedding_b: CASE WHEN $vectors AND n.embedding_b IS NOT NULL THEN vector(n.embedding_b, size(n.embedding_b), FLOAT32) END,
    embedding_multilingual: CASE WHEN $vectors AND n.embedding_multilingual IS NOT NULL
      THEN vector(n.embedding_multilingual, size(n.embedding_multilingual), FLOAT32) END
  } AS vectors,
  COLLECT {
    MATCH (n)-[:HAS_PASSAGE]->(p:Passage)
    RETURN {
      properties: p{.id, .content, .position, .embedding_model, .embedding_model_b, .embedding_model_multilingual},
      embedding: CASE WHEN $vectors AND p.embedding IS NOT NULL THEN vector(p.embedding, size(p.embedding), FLOAT32) END,
      embedding_b: CASE WHEN $vectors AND p.embedding_b IS NOT NULL THEN vector(p.embedding_b, size(p.embedding_b), FLOAT32) END,
      embedding_multilingual: CASE WHEN $vectors AND p.embedding_multilingual IS NOT NULL
        THEN vector(p.embedding_multilingual, size(p.embedding_multilingual), FLOAT32) END
    } ORDER BY p.position, p.id
  } AS passages
ORDER BY id
