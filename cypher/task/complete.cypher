// Completes a task; its conversation is free for the next. Locked before its status is read: only one of two is told `changed`.
// params: ns: string, id: string
// returns: id: string, status: string, completed_at: datetime, changed: boolean
// needs: task_id
MATCH (t:Task {ns: $ns, id: $id})
SET t.locked_at = datetime()
WITH t, t.status = 'active' AS changed
SET t.status = 'completed', t.completed_at = CASE WHEN changed THEN datetime() ELSE t.completed_at END
REMOVE t.active_in
RETURN t.id AS id, t.status AS status, t.completed_at AS completed_at, changed
