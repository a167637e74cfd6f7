// Who holds these keys.
// params: ns: string, keys: list<map>
// returns: kind: string, key: string, id: string, content_hash: string
// needs: recallable_key, entity_key
UNWIND $keys AS held
CALL (held) {
  MATCH (n:Recallable {ns: $ns, kind: held.kind, key: held.key}) RETURN n
  UNION ALL
  MATCH (n:Entity {ns: $ns, kind: held.kind, key: held.key}) RETURN n
}
RETURN n.kind AS kind, n.key AS key, n.id AS id, n.content_hash AS content_hash
