// One node's fields.
// params: ns: string, id: string
// returns: node: map, labels: list<string>, superseded_by: list<string>
// needs: recallable_id, entity_id
MATCH (n:Recallable|Entity {ns: $ns, id: $id}) WHERE NOT n:Deleted
RETURN n{.*, embedding: null, embedding_b: null, embedding_multilingual: null, terms: null, vector: null, vector_b: null,
         vector_multilingual: null} AS node, labels(n) AS labels,
       [(n)<-[:SUPERSEDES]-(newer) WHERE newer.ns = $ns AND NOT newer:Deleted | newer.id] AS superseded_by
