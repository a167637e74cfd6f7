// Every trace is one by namespace and id.
// params: -
// returns: -
CREATE CONSTRAINT trace_id IF NOT EXISTS FOR (t:Trace) REQUIRE (t.ns, t.id) IS UNIQUE
