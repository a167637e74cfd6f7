// The active task of a conversation.
// params: ns: string, conversation: string
// returns: id: string
// needs: task_active
MATCH (t:Task {ns: $ns, active_in: $conversation})
RETURN t.id AS id
