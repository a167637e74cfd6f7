// A conversation has one active task: only an active one has `active_in`, the conversation it is active in.
// params: -
// returns: -
CREATE CONSTRAINT task_active IF NOT EXISTS FOR (t:Task) REQUIRE (t.ns, t.active_in) IS UNIQUE
