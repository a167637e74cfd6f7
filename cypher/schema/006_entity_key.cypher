// A key names one entity of its kind.
// params: -
// returns: -
CREATE CONSTRAINT entity_key IF NOT EXISTS FOR (n:Entity) REQUIRE (n.ns, n.kind, n.key) IS UNIQUE
