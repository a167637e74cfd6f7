// Replaces what the indexes hold of one node: its words, its vector, its passages.
// params: ns: string, id: string, embedding: vector, passages: list<map>
// returns: passages: integer
// needs: recallable_id
MATCH (n:Recallable {ns: $ns, id: $id}) WHERE NOT n:Deleted
CALL (n) { MATCH (n)-[:HAS_PASSAGE]->(old:Passage) DETACH DELETE old }
REMOVE n.embedding
WITH n, CASE WHEN n:Superseded THEN 'Superseded' ELSE 'Current' END AS layer
CALL (n) {
  WITH n WHERE $embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'embedding', $embedding)
}
CALL (n, layer) {
  UNWIND $passages AS passage
  CREATE (n)-[:HAS_PASSAGE]->(p:Passage:$(layer))
  SET p = passage.properties, p.ns = $ns, p.superseded_ts = n.superseded_ts, p.superseded_key = n.superseded_key
  WITH p, passage WHERE passage.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(p, 'embedding', passage.embedding)
}
RETURN COUNT { (n)-[:HAS_PASSAGE]->() } AS passages
