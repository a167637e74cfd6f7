// The whole supersession family of a node, from any member, oldest first.
// params: ns: string, id: string, limit: integer
// returns: node: map, labels: list<string>, supersedes: list<string>
// needs: recallable_id, entity_id
MATCH (n:Recallable|Entity {ns: $ns, id: $id}) WHERE NOT n:Deleted
MATCH (n)-[:SUPERSEDES]-{0,64}(m:Recallable|Entity {ns: $ns}) WHERE NOT m:Deleted
WITH DISTINCT m ORDER BY m.created_ts, m.id LIMIT $limit
RETURN m{.*, embedding: null, embedding_b: null, embedding_multilingual: null, terms: null, vector: null, vector_b: null,
         vector_multilingual: null} AS node, labels(m) AS labels,
       [(m)-[:SUPERSEDES]->(o) WHERE o.ns = $ns AND NOT o:Deleted | o.id] AS supersedes
