// Keeps the trace of a build, joined to its task, to the memories that it let in and to those that it left out.
// trace: properties, admitted: list of {id, block, tokens, relevance, score}, dropped: the same with a reason
// params: ns: string, trace: map
// returns: id: string
// needs: task_id, recallable_id
CREATE (t:Trace)
SET t = $trace.properties, t.ns = $ns
WITH t
CALL (t) {
  MATCH (task:Task {ns: $ns, id: t.task_id})
  CREATE (t)-[:OF_TASK {ns: $ns}]->(task)
}
CALL (t) {
  UNWIND $trace.admitted AS memory
  MATCH (n:Recallable {ns: $ns, id: memory.id})
  CREATE (t)-[r:ADMITTED]->(n)
  SET r = memory, r.ns = $ns
}
CALL (t) {
  UNWIND $trace.dropped AS memory
  MATCH (n:Recallable {ns: $ns, id: memory.id})
  CREATE (t)-[r:DROPPED]->(n)
  SET r = memory, r.ns = $ns
}
RETURN t.id AS id
