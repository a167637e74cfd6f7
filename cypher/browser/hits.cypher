// What a recall found, each with what it superseded.
// For Neo4j Browser: the page links to it, with the parameters filled in.
// params: ns: string, ids: list<string>
// returns: n: node, older: list<any>
// needs: recallable_id
MATCH (n:Recallable {ns: $ns}) WHERE n.id IN $ids
CALL (n) {
  MATCH path = (n)-[:SUPERSEDES*1..16]->(m:Recallable {ns: $ns}) WHERE NOT m:Deleted
  WITH path, m ORDER BY length(path), m.id LIMIT 20
  RETURN collect(path) AS older
}
RETURN n, older ORDER BY n.id
