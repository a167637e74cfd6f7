// Removes what was done before a time, some at once.
// params: ns: string, before: integer, limit: integer
// returns: removed: integer
// needs: audit_time
MATCH (a:Audit) WHERE a.ns = $ns AND a.created_ts < $before
WITH a LIMIT $limit
DELETE a
RETURN count(*) AS removed
