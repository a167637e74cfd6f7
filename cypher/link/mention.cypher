// Draws MENTIONS edges from notes to the entities that bear some names, of whatever kind they are; where several bear one
// name, to that which is no mere concept, else to the oldest. The namespace's node is locked before (see note.namespace).
// A name: name_key, new (properties of the entity to be made where there is none, or null), notes: list of {id, by}; `by` is
// null where a caller asked for the edge. An edge that is there stays as it is.
// params: ns: string, names: list<map>
// returns: drawn: integer
// needs: entity_name, recallable_id
UNWIND $names AS name
CALL (name) {
  OPTIONAL MATCH (e:Entity {ns: $ns, name_key: name.name_key})
  USING INDEX SEEK e:Entity(ns, name_key, kind)
  WHERE e.kind IS NOT NULL
  WITH e ORDER BY e.kind = 'concept', e.id LIMIT 1
  RETURN e AS known
}
OPTIONAL CALL (name, known) {
  WITH name, known WHERE known IS NULL AND name.new IS NOT NULL
  MERGE (e:Entity {ns: $ns, name_key: name.name_key, kind: name.new.kind})
  ON CREATE SET e += name.new, e.ns = $ns
  RETURN e AS made
}
WITH name, coalesce(known, made) AS e WHERE e IS NOT NULL
CALL (name, e) {
  WITH name, e WHERE e.named IS NULL AND name.new.named IS NOT NULL
  SET e.named = name.new.named  // from now on it is a name that everybody knows
}
UNWIND name.notes AS note
MATCH (n:Recallable {ns: $ns, id: note.id})
MERGE (n)-[r:MENTIONS]->(e)
ON CREATE SET r.ns = $ns, r.by = note.by, r.created_at = datetime()
RETURN count(r) AS drawn
