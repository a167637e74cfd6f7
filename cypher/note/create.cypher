// Stores recallable nodes with what the indexes hold; a long note's words and vectors are on its passages.
// An item: label, properties, embedding (or null), passages: list of {properties, embedding}.
// params: ns: string, items: list<map>
// returns: created: integer
UNWIND $items AS item
CREATE (n:Recallable:Current:$(item.label))
SET n = item.properties, n.ns = $ns
CALL (n, item) {
  WITH n, item WHERE item.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'embedding', item.embedding)
}
CALL (n, item) {
  UNWIND item.passages AS passage
  CREATE (n)-[:HAS_PASSAGE]->(p:Passage:Current)
  SET p = passage.properties, p.ns = $ns
  WITH p, passage WHERE passage.embedding IS NOT NULL
  CALL db.create.setNodeVectorProperty(p, 'embedding', passage.embedding)
}
RETURN count(n) AS created
