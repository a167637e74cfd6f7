// The chain that leads from an older node back to the newer one, if there is one.
// params: ns: string, pairs: list<map>
// returns: newer: string, older: string, chain: list<string>
// needs: recallable_id, entity_id
UNWIND $pairs AS pair
MATCH (newer:Recallable|Entity {ns: $ns, id: pair.newer})
MATCH (older:Recallable|Entity {ns: $ns, id: pair.older})
MATCH path = SHORTEST 1 (older)-[:SUPERSEDES]->+(newer)
RETURN pair.newer AS newer, pair.older AS older, [n IN nodes(path) | n.id] AS chain
LIMIT 1
