// Which of these ids there are, deleted nodes included, and what they say.
// params: ns: string, ids: list<string>
// returns: id: string, hash: string
// needs: recallable_id, entity_id
UNWIND $ids AS id
CALL (id) {
  MATCH (n:Recallable {ns: $ns, id: id}) RETURN n UNION ALL MATCH (n:Entity {ns: $ns, id: id}) RETURN n
}
RETURN n.id AS id, coalesce(n.content_hash, '') AS hash
