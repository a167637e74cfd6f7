// A page of nodes of some kinds, in the order of their ids.
// params: ns: string, kinds: list<string>, label: string, after: string, limit: integer
// returns: node: map, labels: list<string>
// needs: recallable_page, entity_page
CALL () {
  MATCH (n:Recallable) WHERE n.ns = $ns AND n.kind IN $kinds AND n.id > $after AND NOT n:Deleted
    AND ($label = '' OR $label IN labels(n))
  RETURN n ORDER BY n.id LIMIT $limit
  UNION
  MATCH (n:Entity) WHERE n.ns = $ns AND n.kind IN $kinds AND n.id > $after AND NOT n:Deleted
    AND ($label = '' OR $label = 'Entity')
  RETURN n ORDER BY n.id LIMIT $limit
}
RETURN n{.*, embedding: null, embedding_b: null, embedding_multilingual: null, terms: null, vector: null, vector_b: null,
         vector_multilingual: null} AS node, labels(n) AS labels
ORDER BY node.id LIMIT $limit
