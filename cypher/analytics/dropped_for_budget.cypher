// The memories that were relevant and had no room, those most often first.
// params: ns: string, days: integer, limit: integer
// returns: id: string, title: string, times: integer, tokens: integer, relevance: float, last_dropped: datetime
// needs: trace_time
:param ns => 'default';
:param days => 30;
:param limit => 20;
MATCH (t:Trace)-[d:DROPPED {reason: 'memory budget'}]->(n:Recallable)
WHERE t.ns = $ns AND t.created_ts >= (timestamp() - $days * 86400000) * 1000
RETURN n.id AS id, n.title AS title, count(d) AS times, sum(d.tokens) AS tokens, avg(d.relevance) AS relevance,
       max(t.created_at) AS last_dropped
ORDER BY times DESC, id LIMIT $limit
