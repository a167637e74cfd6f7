// What was done by key in a namespace, the newest first.
// params: ns: string, limit: integer
// returns: done: map
// needs: audit_time
MATCH (a:Audit) WHERE a.ns = $ns AND a.created_ts >= 0
RETURN properties(a) AS done
ORDER BY a.created_ts DESC, a.id DESC LIMIT $limit
