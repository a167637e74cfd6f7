// One trace as it was written.
// params: ns: string, id: string
// returns: trace: map
// needs: trace_id
MATCH (t:Trace {ns: $ns, id: $id})
RETURN properties(t) AS trace
