// The newest traces, without their blocks; from before an id, which tells the time.
// params: ns: string, before: string, limit: integer
// returns: trace: map
// needs: trace_id
MATCH (t:Trace) WHERE t.ns = $ns AND t.id < $before
WITH t ORDER BY t.id DESC LIMIT $limit
OPTIONAL MATCH (t)-[:OF_TASK]->(task:Task {ns: $ns})
RETURN t{.*, blocks_json: null, dropped_json: null, description: left(task.description, 200)} AS trace
ORDER BY trace.id DESC
