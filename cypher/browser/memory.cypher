// A memory with what it superseded, what superseded it, and what else it is linked to.
// For Neo4j Browser: pages and the command line link to it, with the parameters filled in.
// params: ns: string, id: string
// returns: n: node, newer: list<any>, older: list<any>, around: list<any>
// needs: recallable_id, entity_id
MATCH (n:Recallable|Entity {ns: $ns, id: $id})
CALL (n) {
  MATCH path = (n)<-[:SUPERSEDES*1..16]-(m:Recallable|Entity {ns: $ns}) WHERE NOT m:Deleted
  WITH path, m ORDER BY length(path), m.id LIMIT 60
  RETURN collect(path) AS newer
}
CALL (n) {
  MATCH path = (n)-[:SUPERSEDES*1..16]->(m:Recallable|Entity {ns: $ns}) WHERE NOT m:Deleted
  WITH path, m ORDER BY length(path), m.id LIMIT 60
  RETURN collect(path) AS older
}
CALL (n) {
  MATCH path = (n)-[r:!SUPERSEDES]-(m:Recallable|Entity {ns: $ns}) WHERE NOT m:Deleted
  WITH path, m ORDER BY coalesce(r.weight, 1.0) DESC, m.id LIMIT 40
  RETURN collect(path) AS around
}
RETURN n, newer, older, around
