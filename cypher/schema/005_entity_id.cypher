// Every entity is one by namespace and id.
// params: -
// returns: -
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE (n.ns, n.id) IS UNIQUE
