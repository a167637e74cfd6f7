// A task with its turns, and the completed tasks of its conversation with theirs: the status is the task's, the words are the
// turns'. Both lists have the newest first. `most` says how many of each, and how much of a past text.
// most: turns, tasks, past_turns, clip
// params: ns: string, id: string, most: map
// returns: id: string, description: string, conversation: string, status: string, turns: list<map>, past: list<map>
// needs: task_id, task_conversation
MATCH (t:Task {ns: $ns, id: $id})
CALL (t) {
  OPTIONAL MATCH (t)-[:HAS_TURN]->(u:Turn)
  WITH u ORDER BY u.position DESC LIMIT toInteger($most.turns)
  RETURN collect(u{.id, .role, .text}) AS turns
}
CALL (t) {
  OPTIONAL MATCH (p:Task {ns: $ns, conversation: t.conversation, status: 'completed'}) WHERE p.id <> t.id
  WITH p ORDER BY p.completed_at DESC, p.id DESC LIMIT toInteger($most.tasks)
  CALL (p) {
    OPTIONAL MATCH (p)-[:HAS_TURN]->(u:Turn)
    WITH u ORDER BY u.position DESC LIMIT toInteger($most.past_turns)
    RETURN collect(u{.id, .role, text: left(u.text, $most.clip)}) AS said
  }
  RETURN collect(p{.id, description: left(p.description, $most.clip), turns: said}) AS past
}
RETURN t.id AS id, t.description AS description, t.conversation AS conversation, t.status AS status, turns, past
