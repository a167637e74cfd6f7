// Every record of who did what is one by namespace and id, so that a batch may be written again.
// params: -
// returns: -
CREATE CONSTRAINT audit_id IF NOT EXISTS FOR (a:Audit) REQUIRE (a.ns, a.id) IS UNIQUE
