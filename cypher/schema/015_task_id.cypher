// Every task is one by namespace and id.
// params: -
// returns: -
CREATE CONSTRAINT task_id IF NOT EXISTS FOR (t:Task) REQUIRE (t.ns, t.id) IS UNIQUE
