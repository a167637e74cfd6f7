// Soft delete: out of both layers and their indexes at once, its key free again. What it superseded must be relabelled next,
// and what was drawn from it expires (see graph.layers).
// params: ns: string, ids: list<string>
// returns: id: string, older: list<string>, passages: integer, edges: integer
// needs: recallable_id, entity_id
UNWIND $ids AS id
MATCH (n:Recallable|Entity {ns: $ns, id: id}) WHERE NOT n:Deleted
SET n:Deleted, n.deleted_at = datetime(), n.former_key = coalesce(n.key, n.former_key), n.former_name_key = n.name_key
REMOVE n:Current, n:Superseded, n.key, n.name_key
WITH n
CALL (n) {
  OPTIONAL MATCH (n)-[:HAS_PASSAGE]->(p:Passage)
  SET p:Deleted
  REMOVE p:Current, p:Superseded
  RETURN count(p) AS passages
}
RETURN n.id AS id, passages, COUNT { (n)-[r WHERE type(r) <> 'HAS_PASSAGE']-() } AS edges,
       [(n)-[:SUPERSEDES]->(old:Recallable) WHERE old.ns = $ns AND NOT old:Deleted | old.id] AS older
