// Stores recallable nodes that are not there, in the layer that they were in. What `note.create` is for new ones.
// An item: label, layer, properties, vectors: list of {name, value}, passages: list of {properties, vectors}.
// params: ns: string, items: list<map>
// returns: created: integer
UNWIND $items AS item
CREATE (n:Recallable:$(item.label):$(item.layer))
SET n = item.properties, n.ns = $ns
CALL (n, item) {
  UNWIND item.vectors AS vector
  CALL db.create.setNodeVectorProperty(n, vector.name, vector.value)
}
CALL (n, item) {
  UNWIND item.passages AS passage
  CREATE (n)-[:HAS_PASSAGE]->(p:Passage:$(item.layer))
  SET p = passage.properties, p.ns = $ns
  WITH p, passage
  UNWIND passage.vectors AS vector
  CALL db.create.setNodeVectorProperty(p, vector.name, vector.value)
}
RETURN count(n) AS created
