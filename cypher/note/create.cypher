// Stores recallable nodes with what the indexes hold; a long note's words and vectors are on its passages.
// An item: label, properties, vectors, passages: list of {properties, vectors}; vectors: list of {name, value}, by property.
// params: ns: string, items: list<map>
// returns: created: integer
UNWIND $items AS item
CREATE (n:Recallable:Current:$(item.label))
SET n = item.properties, n.ns = $ns
CALL (n, item) {
  UNWIND item.vectors AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, vector.value)
}
CALL (n, item) {
  UNWIND item.passages AS passage
  CREATE (n)-[:HAS_PASSAGE]->(p:Passage:Current)
  SET p = passage.properties, p.ns = $ns
  WITH p, passage
  UNWIND passage.vectors AS vector
  CALL db.create.setNodeVectorProperty(p, vector.name, vector.value)
}
RETURN count(n) AS created
