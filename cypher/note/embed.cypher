// Gives texts the vector of a slot's model. One that changed or went since it was read keeps what it has: the note is locked
// before its text is compared, and passages are made anew with their note.
// An item: id, passage (or ''), hash, embedding, packed.
// params: ns: string, suffix: string, model: string, items: list<map>
// returns: embedded: integer
// needs: recallable_id
UNWIND $items AS item
MATCH (n:Recallable {ns: $ns, id: item.id}) WHERE NOT n:Deleted
SET n.superseded_key = n.superseded_key
WITH n, item
CALL (n, item) {
  WITH n, item WHERE item.passage = '' AND coalesce(n.content_hash, '') = item.hash
  RETURN n AS held
  UNION ALL
  MATCH (n)-[:HAS_PASSAGE]->(held:Passage) WHERE held.id = item.passage
  RETURN held
}
SET held['vector' + $suffix] = item.packed, held['embedding_model' + $suffix] = $model
WITH held, item
CALL db.create.setNodeVectorProperty(held, 'embedding' + $suffix, item.embedding)
RETURN count(held) AS embedded
