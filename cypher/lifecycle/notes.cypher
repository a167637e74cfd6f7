// A page of the notes that a consolidation reads, the newest first: what is current and has not expired.
// params: ns: string, suffix: string, before: string, now: integer, clip: integer, limit: integer
// returns: id: string, reads: boolean, content: string, hash: string, vectors: list<bytes>, salience: float,
//   created_ts: integer, expires_ts: integer, type: string, tags: list<string>, source: string
// needs: recallable_id
MATCH (n:Recallable) WHERE n.ns = $ns AND n.id < $before
WITH n ORDER BY n.id DESC LIMIT $limit
WITH n, n:Note AND n:Current AND n.expires_ts > $now AS reads
CALL (n, reads) {
  WITH n, reads WHERE reads
  OPTIONAL MATCH (n)-[:HAS_PASSAGE]->(p:Passage)
  RETURN [v IN [n['vector' + $suffix]] + collect(p['vector' + $suffix]) WHERE v IS NOT NULL] AS vectors
  UNION ALL
  WITH n, reads WHERE NOT reads
  RETURN [] AS vectors
}
RETURN n.id AS id, reads, CASE WHEN reads THEN left(n.content, $clip) END AS content, n.content_hash AS hash,
       vectors, n.salience AS salience, n.created_ts AS created_ts,
       n.expires_ts AS expires_ts, n.memory_type AS type, coalesce(n.tags, []) AS tags, n.source AS source
ORDER BY id DESC
