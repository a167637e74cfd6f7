// Removes traces from before a time, some at once.
// params: ns: string, before: integer, limit: integer
// returns: removed: integer
// needs: trace_time
MATCH (t:Trace) WHERE t.ns = $ns AND t.created_ts < $before
WITH t LIMIT $limit
DETACH DELETE t
RETURN count(*) AS removed
