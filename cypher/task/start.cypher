// Starts a task as the active one of its conversation; a constraint refuses the second. `task` holds its properties.
// params: ns: string, task: map
// returns: id: string
CREATE (t:Task)
SET t = $task, t.ns = $ns
RETURN t.id AS id
