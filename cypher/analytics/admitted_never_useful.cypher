// The memories that contexts let in most, and that no feedback ever found useful.
// params: ns: string, days: integer, limit: integer
// returns: id: string, title: string, times: integer, tokens: integer, found_useless: float, last_admitted: datetime
// needs: trace_time
:param ns => 'default';
:param days => 30;
:param limit => 20;
MATCH (t:Trace)-[a:ADMITTED]->(n:Recallable)
WHERE t.ns = $ns AND t.created_ts >= (timestamp() - $days * 86400000) * 1000 AND NOT n:Deleted AND coalesce(n.evidence_for, 0.0) = 0.0
RETURN n.id AS id, n.title AS title, count(a) AS times, sum(a.tokens) AS tokens, coalesce(n.evidence_against, 0.0) AS found_useless,
       max(t.created_at) AS last_admitted
ORDER BY times DESC, id LIMIT $limit
