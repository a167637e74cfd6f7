// Keeps the trace of a build, joined to its task, to the memories that it let in and to those that it left out.
// trace: properties, admitted: list of {id, block, tokens, relevance, found_by}, dropped: the same with a reason
// params: ns: string, trace: map
// returns: id: string
// needs: task_id, recallable_id
CREATE (t:Trace)
SET t = $trace.properties, t.ns = $ns
WITH t
CALL (t) {
  MATCH (task:Task {ns: $ns, id: t.task_id})
  CREATE (t)-[:OF_TASK]->(task)
}
CALL (t) {
  UNWIND $trace.admitted AS m
  MATCH (n:Recallable {ns: $ns, id: m.id})
  CREATE (t)-[:ADMITTED {block: m.block, tokens: m.tokens, relevance: m.relevance, found_by: m.found_by}]->(n)
}
CALL (t) {
  UNWIND $trace.dropped AS m
  MATCH (n:Recallable {ns: $ns, id: m.id})
  CREATE (t)-[:DROPPED {block: m.block, tokens: m.tokens, relevance: m.relevance, found_by: m.found_by, reason: m.reason}]->(n)
}
RETURN t.id AS id
