// Derives the layer of nodes from the edges, which are the truth: Superseded while a node that isn't deleted supersedes
// it (or an imported archive said so), else Current. Its passages follow. The single place that changes these labels.
// The node is locked before its edges are read: two transactions that take away its last two heads would else each see the other's.
// params: ns: string, ids: list<string>
// returns: id: string, layer: string
// needs: recallable_id
UNWIND $ids AS id
MATCH (n:Recallable {ns: $ns, id: id}) WHERE NOT n:Deleted
SET n.superseded_key = n.superseded_key
WITH n
CALL (n) {
  OPTIONAL MATCH (n)<-[:SUPERSEDES]-(newer:Recallable {ns: $ns}) WHERE NOT newer:Deleted
  WITH newer ORDER BY newer.created_ts, newer.id LIMIT 1
  RETURN newer
}
WITH n, newer, newer IS NOT NULL OR n.superseded_by IS NOT NULL AS gone
WITH n, gone, CASE WHEN newer.created_ts > n.created_ts THEN newer ELSE n END AS since,
     newer IS NULL AND n.superseded_by IS NOT NULL AND n.superseded_at IS NOT NULL AS archived
SET n.superseded_at = CASE WHEN archived THEN n.superseded_at WHEN gone THEN since.created_at ELSE null END,
    n.superseded_ts = CASE WHEN archived THEN n.superseded_ts WHEN gone THEN since.created_ts ELSE 9223372036854775807 END,
    n.superseded_key = CASE WHEN archived THEN n.superseded_key WHEN gone THEN since.created_key ELSE '~' END
WITH n, CASE WHEN gone THEN ['Superseded', 'Current'] ELSE ['Current', 'Superseded'] END AS layers
SET n:$(layers[0])
REMOVE n:$(layers[1])
WITH n, layers
CALL (n, layers) {
  MATCH (n)-[:HAS_PASSAGE]->(p:Passage)
  SET p.superseded_ts = n.superseded_ts, p.superseded_key = n.superseded_key, p:$(layers[0])
  REMOVE p:$(layers[1])
}
RETURN n.id AS id, layers[0] AS layer
