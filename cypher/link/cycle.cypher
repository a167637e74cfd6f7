// The chain that leads from an older node back to the newer one, if there is one.
// params: ns: string, pairs: list<map>
// returns: newer: string, older: string, chain: list<string>
// needs: recallable_id, entity_id
UNWIND $pairs AS pair
CALL (pair) {
  MATCH (newer:Recallable {ns: $ns, id: pair.newer}) RETURN newer UNION ALL MATCH (newer:Entity {ns: $ns, id: pair.newer}) RETURN newer
}
CALL (pair) {
  MATCH (older:Recallable {ns: $ns, id: pair.older}) RETURN older UNION ALL MATCH (older:Entity {ns: $ns, id: pair.older}) RETURN older
}
MATCH path = SHORTEST 1 (older)-[:SUPERSEDES]->+(newer)
RETURN pair.newer AS newer, pair.older AS older, [n IN nodes(path) | n.id] AS chain
LIMIT 1
