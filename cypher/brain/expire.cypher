// Forgets serves and signals from before a time: ids sort by time.
// params: ns: string, before: string, limit: integer
// returns: forgotten: integer
// needs: serve_id, signal_id
CALL () {
  MATCH (s:Serve) WHERE s.ns = $ns AND s.id > '' AND s.id < $before
  RETURN s AS old LIMIT $limit
  UNION ALL
  MATCH (s:Signal) WHERE s.ns = $ns AND s.id > '' AND s.id < $before
  RETURN s AS old LIMIT $limit
}
DETACH DELETE old
RETURN count(*) AS forgotten
