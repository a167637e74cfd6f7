// Adds a turn to a task that is active, after the turn before it. The task is locked before its status is read, so no turn
// comes after it was completed, and two turns at once have two positions. Without a turn_id it was not active.
// params: ns: string, id: string, turn: map
// returns: status: string, turn_id: string, position: integer
// needs: task_id
MATCH (t:Task {ns: $ns, id: $id})
SET t.locked_at = datetime()
WITH t
OPTIONAL CALL (t) {
  WITH t WHERE t.status = 'active'
  SET t.turns = t.turns + 1, t.updated_at = $turn.created_at
  CREATE (t)-[:HAS_TURN]->(u:Turn)
  SET u = $turn, u.ns = $ns, u.position = t.turns
  FOREACH (before IN [(t)-[:HAS_TURN]->(b:Turn) WHERE b.position = t.turns - 1 | b] | CREATE (u)-[:FOLLOWS {ns: $ns}]->(before))
  RETURN u
}
RETURN t.status AS status, u.id AS turn_id, u.position AS position
