// Replaces what the indexes hold of one node: its words, its vectors, its passages. The vectors of other models than the
// caller's are of the old text, so they go; vectors: list of {name, value}, by property.
// params: ns: string, id: string, vectors: list<map>, passages: list<map>
// returns: passages: integer
// needs: recallable_id
MATCH (n:Recallable {ns: $ns, id: $id}) WHERE NOT n:Deleted
CALL (n) { MATCH (n)-[:HAS_PASSAGE]->(old:Passage) DETACH DELETE old }
REMOVE n.embedding, n.embedding_b, n.embedding_multilingual
WITH n, CASE WHEN n:Superseded THEN 'Superseded' ELSE 'Current' END AS layer
CALL (n) {
  UNWIND $vectors AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, vector.value)
}
CALL (n, layer) {
  UNWIND $passages AS passage
  CREATE (n)-[:HAS_PASSAGE]->(p:Passage:$(layer))
  SET p = passage.properties, p.ns = $ns, p.superseded_ts = n.superseded_ts, p.superseded_key = n.superseded_key
  WITH p, passage
  UNWIND passage.vectors AS vector
  CALL db.create.setNodeVectorProperty(p, vector.name, vector.value)
}
RETURN COUNT { (n)-[:HAS_PASSAGE]->() } AS passages
