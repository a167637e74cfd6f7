// Removes nodes for good, with their passages and edges. Only what is deleted already goes: that is out of every layer.
// params: ns: string, ids: list<string>
// returns: nodes: integer, passages: integer, edges: integer
// needs: recallable_id, entity_id
UNWIND $ids AS id
MATCH (n:Recallable|Entity {ns: $ns, id: id}) WHERE n:Deleted
WITH n, COUNT { (n)-[r WHERE type(r) <> 'HAS_PASSAGE']-() } AS edges
CALL (n) {
  OPTIONAL MATCH (n)-[:HAS_PASSAGE]->(p:Passage)
  DETACH DELETE p
  RETURN count(p) AS passages
}
DETACH DELETE n
RETURN count(*) AS nodes, coalesce(sum(passages), 0) AS passages, coalesce(sum(edges), 0) AS edges
