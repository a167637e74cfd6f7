// The tasks of a conversation by status.
// params: -
// returns: -
CREATE INDEX task_conversation IF NOT EXISTS FOR (t:Task) ON (t.ns, t.conversation, t.status)
